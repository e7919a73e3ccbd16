"""What happens to a conversation in the middle when its scenario changes: what is defined in the README."""

from dataclasses import replace

import pytest

from memoir.domain.diary.due.tiers import PerTier
from memoir.domain.scenario import DEFAULT
from memoir.domain.scenario.reading import read_scenario
from tests.conversation import Conversation, insert

NO_TABLE = replace(
    DEFAULT, memory_sources=tuple(one for one in DEFAULT.memory_sources if one.variable != "memoryTable")
)
PERSONAL = read_scenario({"memoryRuntime": "personalization", "memorySources": []}, scenario_id="default")
ON_ACCEPTANCE = replace(DEFAULT, write_on="accepted")


@pytest.fixture
def chat() -> Conversation:
    conversation = Conversation()
    conversation.set_sheets()
    return conversation


def test_a_source_that_is_removed_is_neither_rung_nor_written_and_what_is_there_stays(
    chat: Conversation,
) -> None:
    late = chat.say_day(1)
    assert chat.edit(late)
    waiting = chat.say_day(2)
    chat.default = NO_TABLE
    assert chat.record("t3", insert("d3")).scheduled == ("diary",)
    assert chat.edit(waiting) == []  # its ring was on its way when the source went
    assert chat.days() == ["d1"]
    assert chat.table_at() == (2, 1)


def test_a_source_that_comes_back_goes_on_where_it_stood(chat: Conversation) -> None:
    chat.edit(chat.say_day(1))
    chat.default = NO_TABLE
    chat.say_day(2)
    chat.default = DEFAULT
    chat.edit(chat.say_day(3))
    assert chat.days() == ["d1", "d2", "d3"]
    assert chat.table_at()[1] == 3


def test_another_runtime_schedules_nothing_and_keeps_all(chat: Conversation) -> None:
    chat.edit(chat.say_day(1))
    chat.go_to(20, first=2)
    chat.default = PERSONAL
    assert chat.record("t21", insert("d21")).scheduled == ()
    assert chat.edit(chat.rung("t21")) == []
    assert chat.write(chat.rung("t21")) == []
    assert (chat.days(), chat.ranges()) == (["d1"], [(1, 20)])
    chat.default = DEFAULT
    chat.go_to(30, first=22)
    assert chat.ranges() == [(1, 20), (21, 30)]


def test_a_new_diary_policy_counts_from_the_next_round_on(chat: Conversation) -> None:
    chat.go_to(20)
    settings = replace(
        DEFAULT.diary,
        policy=replace(DEFAULT.diary.policy, every_rounds=PerTier(default=5, plus=5, ultra=5, max=5)),
    )
    chat.default = replace(DEFAULT, diary=settings)
    chat.go_to(24, first=21)
    assert chat.ranges() == [(1, 20)]
    chat.go_to(31, first=25)
    assert chat.ranges() == [(1, 20), (21, 25), (26, 30)]


def test_before_acceptance_no_reply_has_an_effect_and_a_replaced_one_never_has(chat: Conversation) -> None:
    chat.default = ON_ACCEPTANCE
    first = chat.record("t1", insert("old"))
    assert first.scheduled == ()
    assert chat.edit(chat.rung("t1")) == []
    chat.record("t1b", insert("new"), replaces="t1")
    assert chat.edit(chat.rung("t1")) == chat.edit(chat.rung("t1b")) == []
    assert chat.days() == []
    assert chat.accept("t1b").scheduled == ("table", "diary")
    chat.edit(chat.rung("t1b"))
    assert chat.days() == ["new"]


def test_a_scenario_that_asks_for_acceptance_from_now_on_holds_back_what_is_not_accepted(
    chat: Conversation,
) -> None:
    chat.edit(chat.say_day(1))
    chat.default = ON_ACCEPTANCE
    waiting = chat.say_day(2)
    chat.edit(waiting)
    assert chat.days() == ["d1"]
    chat.default = DEFAULT
    chat.edit(waiting)
    assert chat.days() == ["d1", "d2"]
