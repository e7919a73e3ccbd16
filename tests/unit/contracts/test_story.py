import json
from typing import Any

import pytest

from memoir.contracts.story import read_prepare_story, read_put_story, read_settle_story
from memoir.errors import MemoirError, RequestInvalid

STORY: dict[str, Any] = {"anchor": None, "world": {}, "events": [], "narrative": ""}


def test_a_story_is_read_with_its_revision() -> None:
    read = read_put_story(json.dumps({"expectedRevision": 1, "story": STORY}).encode())
    assert (read.expected_revision, read.story.value) == (1, STORY)


def test_a_story_that_breaks_a_rule_is_refused_by_its_place() -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_put_story(json.dumps({"expectedRevision": 1, "story": {**STORY, "world": []}}).encode())
    assert refusal.value.path == "/story/world"


def test_a_settlement_keeps_the_spelling_of_its_numbers() -> None:
    read = read_settle_story(b'{"claim":"c","world":{"a": 1.50},"events":[]}')
    assert (read.claim, read.settlement.world, read.settlement.narrative) == ("c", {"a": 1.5}, None)
    assert read.settlement.texts == {"events": "[]", "world": '{"a":1.50}'}


@pytest.mark.parametrize(
    "body", [b"{}", b'{"claim":""}', b'{"claim":7}', b'{"claim":"c","events":{}}', b'{"claim":"c","x":1}']
)
def test_a_settlement_that_is_not_as_agreed_is_refused(body: bytes) -> None:
    with pytest.raises(RequestInvalid):
        read_settle_story(body)


def test_prepare_takes_an_empty_object() -> None:
    read_prepare_story(b"{}")
    for body in (b"", b"[]", b'{"a":1}'):
        with pytest.raises(MemoirError):
            read_prepare_story(body)
