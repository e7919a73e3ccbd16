"""Which records are of one side of a rewind, and what a cursor and a document say of their generation."""

import pytest

from memoir.domain.turns import Position, TurnHead
from memoir.errors import RecordCorrupt, StoreUnavailable
from memoir.ports.records import Found, Put, Record, RecordKey, Refused
from memoir.records.documents import read_document
from memoir.records.turns import cursor_key, head_key, is_torn, pass_write, read_cursor, turn_key
from memoir.usecases.edit_table import table_key
from tests.fences.store import Direct, Store
from tests.fences.world import SCOPE, engine_on

CURSOR = cursor_key(SCOPE, "table")
REWOUND = TurnHead(last=Position(round=1, version=1), generation=2, stamped=("table",))
HEAD_FACTS = {"last_position": "0000000001#000001", "generation": 2, "stamped": "table"}


def of_generation(generation: int, **facts: int) -> Record:
    return Record(facts={"generation": generation, **facts} if generation else facts)


def test_records_without_stamps_and_a_head_that_was_never_rewound_belong_together() -> None:
    head = TurnHead(last=Position(round=1, version=1))
    assert not is_torn(head, {table_key(SCOPE): of_generation(0), CURSOR: of_generation(0)})


@pytest.mark.parametrize("key", [table_key(SCOPE), CURSOR], ids=lambda key: key.kind)
@pytest.mark.parametrize(("generation", "torn"), [(0, True), (1, True), (2, False), (3, True)])
def test_a_stamped_record_has_the_generation_of_the_head(key: RecordKey, generation: int, torn: bool) -> None:
    assert is_torn(REWOUND, {key: of_generation(generation)}) is torn


def test_a_record_of_a_kind_that_rewinds_leave_alone_may_be_older_than_the_head_but_not_newer() -> None:
    turn = turn_key(SCOPE, Position(round=1, version=1))
    assert not is_torn(REWOUND, {turn: of_generation(1)})
    assert is_torn(REWOUND, {turn: of_generation(3)})


def test_a_stamped_kind_that_was_not_found_is_not_torn() -> None:
    assert not is_torn(REWOUND, {})


class Moving(Direct):
    """Shows a torn read so many times. `reads` counts."""

    def __init__(self, store: Store, *, torn: int) -> None:
        super().__init__(store)
        self.torn = torn
        self.reads = 0

    def read(self, *keys: RecordKey) -> Found:
        self.reads += 1
        found = super().read(*keys)
        torn = self.reads <= self.torn
        return {**found, table_key(SCOPE): of_generation(1, revision=1)} if torn else found


def rewound_store() -> Store:
    table = Record(facts={"generation": 2, "revision": 2}, body="{}")
    return Store().written(
        (
            Put(key=head_key(SCOPE), record=Record(facts=HEAD_FACTS)),
            Put(key=table_key(SCOPE), record=table),
        )
    )


def test_a_torn_read_is_read_again() -> None:
    records = Moving(rewound_store(), torn=2)
    head, found = engine_on(records).read_together(SCOPE, table_key(SCOPE))
    assert (head.generation, found[table_key(SCOPE)].number("generation"), records.reads) == (2, 2, 3)


def test_what_stays_torn_is_given_up_after_three_reads() -> None:
    records = Moving(rewound_store(), torn=3)
    with pytest.raises(StoreUnavailable):
        engine_on(records).read_together(SCOPE, table_key(SCOPE))
    assert records.reads == 3


def passed(records: Direct, turn_round: int, *, generation: int) -> None:
    records.write(pass_write(CURSOR, Position(round=turn_round, version=1), generation=generation))


def place(records: Direct) -> int:
    return read_cursor(records.store.get(CURSOR)).round


def test_a_cursor_is_made_and_moves_on_within_its_generation() -> None:
    records = Direct(Store())
    passed(records, 1, generation=0)
    passed(records, 2, generation=0)
    assert place(records) == 2


@pytest.mark.parametrize("turn_round", [2, 1])
def test_a_cursor_stays_where_it_is_for_a_turn_that_it_has_passed(turn_round: int) -> None:
    records = Direct(Store())
    passed(records, 2, generation=0)
    with pytest.raises(Refused):
        passed(records, turn_round, generation=0)
    assert place(records) == 2


@pytest.mark.parametrize("generation", [0, 1, 3])
def test_a_cursor_is_not_moved_by_a_worker_of_another_generation(generation: int) -> None:
    records = Direct(Store())
    passed(records, 1, generation=2)
    with pytest.raises(Refused) as refused:
        passed(records, 2, generation=generation)
    assert place(records) == 1
    held = refused.value.held["cursor"]
    assert held is not None
    assert held.number("generation") == 2


def test_a_cursor_that_is_made_has_the_generation_that_was_read() -> None:
    assert pass_write(CURSOR, Position(round=1, version=1), generation=2).facts["generation"] == 2


def test_a_document_is_absent_at_the_revision_that_says_so() -> None:
    stored = read_document(Record(facts={"revision": 3, "absent": 3, "round": 1}, body='{"old": 1}'))
    assert stored is not None
    assert (stored.revision, stored.document, stored.round) == (3, None, 1)


def test_a_document_that_was_written_after_it_was_absent_is_there() -> None:
    stored = read_document(Record(facts={"revision": 4, "absent": 3}, body='{"new": 1}'))
    assert stored is not None
    assert stored.document is not None
    assert stored.document.value == {"new": 1}


def test_a_document_without_a_body_is_corrupt_unless_it_is_absent() -> None:
    with pytest.raises(RecordCorrupt):
        read_document(Record(facts={"revision": 4, "absent": 3}))
