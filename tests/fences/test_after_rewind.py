"""What a conversation does after a rewind: rounds are given again, and the next turn is like any other."""

from dataclasses import replace
from typing import Any

from memoir.domain.turns import START, NewTurn
from memoir.records.turns import head_key, read_head
from memoir.usecases.list_turns import list_turns
from memoir.usecases.table import read_table
from tests.fences.rewind import Rewind
from tests.fences.store import Direct
from tests.fences.world import (
    SCOPE,
    World,
    engine_on,
    ring,
    said,
    say,
    work,
)

BY_INDEX = '<tableEdit>insertRow(0, {"0":"new","1":"model"})\nupdateRow(0, 0, {"1":"told"})</tableEdit>'


def rewound(to_round: int, *turns: str, table: bool = True) -> Direct:
    records = Direct(World(turns=turns, judged=len(turns), table=table).store())
    Rewind(to_round=to_round)(engine_on(records), SCOPE)
    return records


def follow(records: Direct, new: NewTurn) -> Any:
    say(records, new)
    head = read_head(records.store.get(head_key(SCOPE)))
    return work(engine_on(records), ring(new.turn_id, head.last, life=head.life))


def rows(records: Direct) -> list[tuple[str, ...]]:
    document = read_table(engine_on(records), scope=SCOPE).document
    return [row.cells for sheet in document.sheets for row in sheet.rows] if document else []


def test_the_next_turn_may_name_rows_by_their_index() -> None:
    records = rewound(1, "A", "B")
    follow(records, replace(said("new"), assistant_text=BY_INDEX))
    assert rows(records) == [("A", "told"), ("new", "model")]


def test_the_next_turn_takes_the_round_that_was_taken_back_and_a_version_of_its_own() -> None:
    records = rewound(1, "A", "B", "C")
    assert say(records, said("new")).round == 2
    listed = list_turns(engine_on(records), scope=SCOPE, before=None, limit=20).turns
    assert [(turn.turn_id, turn.position.round, turn.position.version) for turn in listed] == [
        ("new", 2, 2),
        ("A", 1, 1),
    ]


def test_a_conversation_can_be_taken_back_to_before_its_first_turn() -> None:
    records = rewound(0, "A", "B")
    before = read_head(records.store.get(head_key(SCOPE)))
    assert (before.last, before.generation) == (START, 1)
    assert list_turns(engine_on(records), scope=SCOPE, before=None, limit=20).turns == ()
    follow(records, said("new"))
    assert rows(records) == [("new", "model")]
    assert read_head(records.store.get(head_key(SCOPE))).life == before.life
