"""Entries and heads as plain values: they come back as they were, and a broken one is an error."""

import json
from dataclasses import replace
from typing import Any

import pytest

from memoir.domain.diary.prompt.rounds import RoundRange
from memoir.domain.diary.record.agent_ref import canonical_agent_ref
from memoir.domain.diary.record.entry import (
    DiaryHead,
    covered_rounds,
    entry_as_plain,
    entry_from_plain,
    head_as_plain,
    head_from_plain,
)
from memoir.errors import RecordCorrupt
from tests.unit.domain.diary.builders import chat_round, entry


def stored(value: dict[str, Any]) -> dict[str, Any]:
    text: dict[str, Any] = json.loads(json.dumps(value))
    return text


def test_an_entry_comes_back_as_it_was_stored() -> None:
    for kept in (entry(1, 20), replace(entry(21, 30, base=20), flags=("finish_length",), partial=True)):
        assert entry_from_plain(stored(entry_as_plain(kept))) == kept


def test_a_head_comes_back_as_it_was_stored() -> None:
    head = DiaryHead(watermark=20, failed_at_round=25, tombstones=(RoundRange(first=1, last=20),))
    assert head_from_plain(stored(head_as_plain(head))) == head
    assert head_from_plain({}) == DiaryHead()


def test_members_of_a_later_version_are_ignored() -> None:
    assert entry_from_plain({**entry_as_plain(entry(1, 20)), "mood": 1}) == entry(1, 20)


@pytest.mark.parametrize(
    "change",
    [
        {"first_round": 21},
        {"first_round": 0},
        {"last_round": "x"},
        {"summary": None},
        {"covered": [{}]},
        {"base": [1]},
    ],
)
def test_a_broken_entry_is_corrupt(change: dict[str, Any]) -> None:
    with pytest.raises(RecordCorrupt):
        entry_from_plain({**entry_as_plain(entry(1, 20)), **change})


@pytest.mark.parametrize("value", [{"watermark": -1}, {"watermark": "x"}, {"tombstones": [3]}])
def test_a_broken_head_is_corrupt(value: dict[str, Any]) -> None:
    with pytest.raises(RecordCorrupt):
        head_from_plain(value)


def test_an_entry_without_a_needed_member_is_corrupt() -> None:
    plain = entry_as_plain(entry(1, 20))
    del plain["covered"]
    with pytest.raises(RecordCorrupt):
        entry_from_plain(plain)


def test_covered_rounds_name_turn_and_text_in_order() -> None:
    kept = covered_rounds((chat_round(2), chat_round(1)))
    assert [(item.round, item.turn_id) for item in kept] == [(1, "t1"), (2, "t2")]
    assert kept[0].text_hash == kept[1].text_hash


def test_herikaserver_603_one_agent_has_one_spelling() -> None:
    assert canonical_agent_ref(" |Lydia ") == canonical_agent_ref("LYDIA") == canonical_agent_ref("lydia|")
    assert canonical_agent_ref("lydia2") != canonical_agent_ref("lydia")
