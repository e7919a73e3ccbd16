"""Diaries over a store in memory: an entry that cannot be read hides no other one, and pages."""

import pytest

from memoir.ports.records import Amend, RecordKey
from memoir.usecases import diary
from tests.conversation import AGENT, SCOPE, Conversation


@pytest.fixture
def broken_entry() -> Conversation:
    """A diary of three entries, the middle one of which cannot be read."""
    conversation = Conversation()
    conversation.go_to(40)
    key = RecordKey(owner=SCOPE, kind="diary", name=(AGENT, "0000000030"))
    conversation.records.write(Amend(key=key, body='{"summary":7}'))
    return conversation


def test_an_entry_that_cannot_be_read_hides_no_other_and_is_told(broken_entry: Conversation) -> None:
    recalled = diary.recall(broken_entry.engine, scope=SCOPE, subscription_category="max")
    assert [entry.last_round for entry in recalled.entries] == [20, 40]
    assert recalled.unreadable == (30,)
    page = diary.list_diary(broken_entry.engine, scope=SCOPE, before=None, limit=20)
    assert [entry.last_round for entry in page.entries] == [40, 20]
    assert (page.unreadable, page.more) == ((30,), False)
    first = diary.list_diary(broken_entry.engine, scope=SCOPE, before=None, limit=2)
    assert ([entry.last_round for entry in first.entries], first.unreadable, first.more) == (
        [40],
        (30,),
        True,
    )


def test_the_next_diary_is_written_behind_an_entry_that_cannot_be_read(broken_entry: Conversation) -> None:
    broken_entry.go_to(50, first=41)
    assert broken_entry.ranges() == [(1, 20), (31, 40), (41, 50)]


def test_an_entry_that_cannot_be_read_is_mended_by_its_user(broken_entry: Conversation) -> None:
    entry = broken_entry.edit_entry(30, "我记得的。")
    assert (entry.first_round, entry.last_round, entry.edited) == (21, 30, True)
    assert broken_entry.ranges() == [(1, 20), (21, 30), (31, 40)]


def test_an_entry_that_cannot_be_read_can_be_deleted(broken_entry: Conversation) -> None:
    broken_entry.delete_entry(30)
    assert broken_entry.ranges() == [(1, 20), (31, 40)]
    recalled = diary.recall(broken_entry.engine, scope=SCOPE, subscription_category="max")
    assert recalled.unreadable == ()


def test_a_page_of_entries_that_is_exactly_full_has_no_next() -> None:
    conversation = Conversation()
    conversation.go_to(40)
    for limit, more in ((3, False), (2, True)):
        page = diary.list_diary(conversation.engine, scope=SCOPE, before=None, limit=limit)
        assert (len(page.entries), page.more) == (limit, more)
