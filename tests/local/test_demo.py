"""The demo's story, told on the local stack in both languages: whatever it says is so."""

import pytest

from tests.api import Api
from tests.demo.chapters import CHAPTERS
from tests.demo.telling import LANGUAGES, Teller


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_story_holds(api: Api, language: str, capsys: pytest.CaptureFixture[str]) -> None:
    teller = Teller(language)
    for chapter in CHAPTERS:
        chapter(api, teller)
    told = capsys.readouterr().out
    assert told.count("✓") > 35
    assert not [line for line in told.splitlines() if "{" in line and "✓" in line]
