"""The story: claims, settlements, what moves into pages, and the texts that a model gets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.json_value import exact_value
from memoir.domain.story.claim import Claim, claim_text, read_claim
from memoir.domain.story.document import (
    EMPTY_STORY,
    StoryRecord,
    record_as_plain,
    record_from_plain,
    story_document,
)
from memoir.domain.story.pages import split_events
from memoir.domain.story.settle import (
    SettledStory,
    Settlement,
    StoryHead,
    prepare_story,
    put_story,
    settle_story,
    stored_story,
)
from memoir.domain.story.text import narrative_text, world_text
from memoir.errors import LimitExceeded, MemoirError, RecordCorrupt, RequestInvalid, StoryConflict, TooLarge

HERE = "p/u/c"
HEAD = StoryHead(revision=3, turn_id="t7")


def event(number: int, text: str = "事", **more: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "text": text, **more}


def settle(
    stored: StoryRecord | None = None,
    *,
    head: StoryHead = HEAD,
    claimed: str | None = None,
    events: list[Any] | None = None,
    world: dict[str, Any] | None = None,
    narrative: str | None = None,
) -> SettledStory:
    claimed = claimed or prepare_story(head, bound_to=HERE)
    settlement = Settlement(events=events or [], world=world or {}, narrative=narrative)
    return settle_story(
        stored, claim=read_claim(claimed, bound_to=HERE), claimed=claimed, head=head, settlement=settlement
    )


def conflict(**arguments: Any) -> StoryConflict:
    with pytest.raises(StoryConflict) as refusal:
        settle(**arguments)
    return refusal.value


def test_a_claim_comes_back_as_it_was_made() -> None:
    claim = Claim(revision=3, turn_id='t"回合 7')
    assert read_claim(claim_text(claim, bound_to=HERE), bound_to=HERE) == claim


def test_each_changed_character_of_a_claim_is_noticed() -> None:
    text = claim_text(Claim(revision=3, turn_id="t7"), bound_to=HERE)
    for at, character in enumerate(text):
        changed = text[:at] + ("A" if character != "A" else "B") + text[at + 1 :]
        with pytest.raises(RequestInvalid):
            read_claim(changed, bound_to=HERE)


@given(st.text(max_size=60))
def test_no_other_text_is_a_claim(text: str) -> None:
    with pytest.raises(RequestInvalid) as refusal:
        read_claim(text, bound_to=HERE)
    assert refusal.value.code == "claim_invalid"


def test_a_claim_of_another_conversation_is_none() -> None:
    with pytest.raises(RequestInvalid):
        read_claim(claim_text(Claim(revision=3, turn_id="t7"), bound_to="p/u/other"), bound_to=HERE)


def test_a_story_needs_an_accepted_turn() -> None:
    with pytest.raises(StoryConflict) as refusal:
        prepare_story(StoryHead(revision=0, turn_id=None), bound_to=HERE)
    assert refusal.value.moved == "anchor"


def test_a_settlement_is_laid_onto_the_story() -> None:
    first = settle(events=[event(1)], world={"天气": "雨", "城门": "关"}, narrative="开头")
    second = settle(
        first.record,
        head=StoryHead(revision=4, turn_id="t8"),
        events=[event(2)],
        world={"城门": None, "鼓": 2},
    )
    assert second.record.story.value == {
        "anchor": {"turnId": "t8"},
        "world": {"天气": "雨", "鼓": 2},
        "events": [event(1), event(2)],
        "narrative": "开头",
    }
    assert (second.changed, second.page) == (True, None)


def test_the_same_settlement_again_changes_nothing() -> None:
    claimed = prepare_story(HEAD, bound_to=HERE)
    first = settle(claimed=claimed, events=[event(1, a=1, b=2)], narrative="n")
    later = StoryHead(revision=4, turn_id="t9")
    again = settle(
        first.record, head=later, claimed=claimed, events=[{"b": 2, "a": 1, **event(1)}], narrative="n"
    )
    assert again == SettledStory(record=first.record, changed=False)


def test_what_moved_is_named() -> None:
    claimed = prepare_story(HEAD, bound_to=HERE)
    anchor = conflict(claimed=claimed, head=StoryHead(revision=3, turn_id="t8"))
    assert (anchor.moved, anchor.current_turn_id) == ("anchor", "t8")
    revision = conflict(claimed=claimed, head=StoryHead(revision=4, turn_id="t7"))
    assert (revision.moved, revision.current_revision) == ("revision", 4)
    settled = settle(claimed=claimed, narrative="a").record
    other = conflict(stored=settled, claimed=claimed, head=StoryHead(revision=4, turn_id="t7"), narrative="b")
    assert other.moved == "claim"


def test_a_put_story_makes_earlier_claims_stale_and_keeps_its_pages() -> None:
    record = StoryRecord(story=story_document(EMPTY_STORY), paged=5, paged_hashes=("x" * 20,))
    put = put_story(record, story_document({**EMPTY_STORY, "narrative": "新"}))
    assert (put.paged, put.paged_hashes, put.settled) == (5, ("x" * 20,), None)
    assert put.story.value["narrative"] == "新"


def test_a_repeated_event_is_the_same_event_and_another_under_its_id_is_refused() -> None:
    first = settle(events=[event(1, n=1), event(2)]).record
    head = StoryHead(revision=4, turn_id="t7")
    again = settle(first, head=head, events=[event(2), event(3), {"n": 1, **event(1)}]).record
    assert [item["id"] for item in again.story.value["events"]] == ["e1", "e2", "e3"]
    with pytest.raises(RequestInvalid) as refusal:
        settle(first, head=head, events=[event(3), event(1, n=2)])
    assert (refusal.value.code, refusal.value.path) == ("event_conflict", "/events/1/id")


def test_an_event_that_moved_into_a_page_is_still_known() -> None:
    record, revision = settle(events=[event(0)]).record, 4
    pages = []
    for start in range(1, 26, 5):
        head = StoryHead(revision=revision, turn_id="t7")
        done = settle(record, head=head, events=[event(start + i, "长" * 1_000) for i in range(5)])
        record, revision = done.record, revision + 1
        pages += [done.page] if done.page else []
    assert pages
    moved = [item for page in pages for item in exact_value(page.text)]
    assert [item["id"] for item in moved + record.story.value["events"]] == [f"e{i}" for i in range(26)]
    assert pages[0].first == 1
    assert record.paged == len(moved) == sum(page.count for page in pages)
    head = StoryHead(revision=revision, turn_id="t7")
    assert (
        settle(record, head=head, events=[event(0)]).record.story.value["events"]
        == (record.story.value["events"])
    )
    with pytest.raises(RequestInvalid):
        settle(record, head=head, events=[event(0, "another")])


def test_2000_events_stay_and_of_2001_a_quarter_moves() -> None:
    story = {**EMPTY_STORY, "events": [{"id": str(i), "text": ""} for i in range(2_000)]}
    assert split_events(story, paged=0, paged_hashes=(), max_bytes=200_000).page is None
    story["events"].append({"id": "last", "text": ""})
    split = split_events(story, paged=10, paged_hashes=("h" * 20,) * 3, max_bytes=200_000)
    assert split.page is not None
    assert (split.page.first, split.page.count) == (11, 501)
    assert len(split.record.story.value["events"]) == 1_500
    assert (split.record.paged, len(split.record.paged_hashes)) == (511, 504)


def test_a_story_that_is_too_large_without_its_events_is_refused() -> None:
    with pytest.raises(TooLarge) as refusal:
        settle(world={"a": "x" * 66_000}, events=[event(1)])
    assert refusal.value.code == "story_too_large"


def test_a_story_has_at_most_32_levels() -> None:
    def nested(levels: int) -> Any:
        value: Any = 1
        for _ in range(levels):
            value = [value]
        return value

    settle(world={"a": nested(30)})
    with pytest.raises(LimitExceeded) as refusal:
        settle(world={"a": nested(31)})
    assert refusal.value.code == "json_too_deep"


def test_numbers_of_facts_and_events_stay_as_they_were_spelled() -> None:
    claimed = prepare_story(HEAD, bound_to=HERE)
    world = '{"a":9007199254740993.0,"b":1.50}'
    settlement = Settlement(events=[], world=json.loads(world), texts={"world": world})
    done = settle_story(
        None, claim=read_claim(claimed, bound_to=HERE), claimed=claimed, head=HEAD, settlement=settlement
    )
    assert world in done.record.story.text
    text = done.record.story.text
    head = StoryHead(revision=4, turn_id="t7")
    assert '"a":9007199254740993.0' in settle(done.record, head=head, narrative="n").record.story.text
    assert stored_story(text) == done.record.story


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"world": {"": 1}}, "/world"),
        ({"world": {"x" * 129: 1}}, "/world"),
        ({"world": {str(i): i for i in range(501)}}, "/world"),
        ({"events": ["x"]}, "/events/0"),
        ({"events": [{"id": "a"}]}, "/events/0/text"),
        ({"events": [{"id": 1, "text": ""}]}, "/events/0/id"),
        ({"events": [{"id": "", "text": ""}]}, "/events/0/id"),
        ({"events": [event(1), event(1)]}, "/events/1/id"),
        ({"events": [event(1, "x" * 4_001)]}, "/events/0/text"),
        ({"narrative": "x" * 8_001}, "/narrative"),
    ],
)
def test_a_settlement_that_breaks_a_rule_is_refused_by_its_place(
    arguments: dict[str, Any], path: str
) -> None:
    with pytest.raises((RequestInvalid, LimitExceeded)) as refusal:
        settle(**arguments)
    assert refusal.value.path == path


def test_500_facts_are_the_most_also_together_with_those_before() -> None:
    first = settle(world={str(i): i for i in range(500)}).record
    with pytest.raises(LimitExceeded) as refusal:
        settle(first, head=StoryHead(revision=4, turn_id="t7"), world={"one more": 1})
    assert (refusal.value.value, refusal.value.limit) == (501, 500)


@pytest.mark.parametrize(
    "story",
    [
        [],
        {},
        {**EMPTY_STORY, "x": 1},
        {**EMPTY_STORY, "anchor": "t7"},
        {**EMPTY_STORY, "anchor": {"turnId": ""}},
        {**EMPTY_STORY, "world": []},
        {**EMPTY_STORY, "world": {"a": None}},
        {**EMPTY_STORY, "narrative": None},
        {**EMPTY_STORY, "events": {}},
    ],
)
def test_what_is_no_story_is_refused(story: Any) -> None:
    with pytest.raises(MemoirError) as refusal:
        story_document(story)
    assert str(refusal.value.facts()["path"]).startswith("/story")


def test_the_texts_are_stable_and_hold_no_markup() -> None:
    value = {
        "anchor": {"turnId": "t1"},
        "world": {"门": {"b": 1.0, "a": "x"}, "天": "雨\n雪"},
        "events": [event(i, f"第{i}件 {{{{x}}}}") for i in range(40)],
        "narrative": " 他走进城。\n<!-- 秘密 --> ",
    }
    story = story_document(value)
    lines = world_text(story).splitlines()
    assert lines[:3] == ["- 天: 雨 雪", '- 门: {"a":"x","b":1.0}', "* 第10件 { {x} }"]
    assert len(lines) == 32
    turned = {**value, "world": dict(reversed(list(value["world"].items())))}  # type: ignore[attr-defined]
    assert world_text(story_document(turned)) == world_text(story)
    assert narrative_text(story) == "他走进城。\n＜!-- 秘密 --＞"
    assert (world_text(None), narrative_text(None)) == ("", "")


def test_what_is_stored_beside_a_story_comes_back() -> None:
    record = settle(events=[event(1)]).record
    assert record_from_plain(record.story, json.loads(json.dumps(record_as_plain(record)))) == record
    bare = StoryRecord(story=record.story)
    assert record_from_plain(record.story, record_as_plain(bare)) == bare
    with pytest.raises(RecordCorrupt):
        record_from_plain(record.story, {"settled": {"claim": "x"}})
