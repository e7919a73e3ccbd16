"""What a turn costs after 10 and after 10,000 rounds: requests and CPU of storing and applying it."""

import time
from typing import Any

from memoir.adapters.event_bus import NoEvents
from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turn_place import Placement
from memoir.domain.turns import NewTurn, Position, RungTurn, Turn, TurnHead
from memoir.domain.write_token import random_token
from memoir.ports.records import Amend
from memoir.records.positions import position_text
from memoir.records.turns import cursor_key, head_write, turn_writes
from memoir.usecases.edit_table import edit_table
from memoir.usecases.engine import Engine
from memoir.usecases.table import replace_table
from memoir.usecases.turns import record_turn
from memoir.usecases.worker import WorkerPorts
from tests.bench.client import local_client
from tests.fakes.doorbell import RecordingDoorbell
from tests.tables import TABLE_NAME

TURNS = 30


def main() -> None:
    """Print requests and CPU for a turn of a short and of a long conversation."""
    print("\nconversation: a turn with an edit, stored and applied, after so many rounds")
    with local_client() as client:
        if client is not None:
            costs = {rounds: _cost(client, rounds) for rounds in (10, 10_000)}
            for rounds, (requests, milliseconds) in costs.items():
                ratio = milliseconds / costs[10][1]
                print(
                    f"  {rounds:6} rounds: {requests} requests, {milliseconds:.1f} ms CPU, ratio {ratio:.2f}"
                )


def _cost(client: Any, rounds: int) -> tuple[int, float]:
    scope = Scope(product="p", user="u", conversation=f"c{rounds}")
    records = DynamoDbRecords(client=client, table_name=TABLE_NAME)
    engine = Engine(records=records, clock=time.time, receipt_days=30)
    doorbell = RecordingDoorbell()
    ports = WorkerPorts(engine=engine, events=NoEvents(), doorbell=doorbell, has_time=lambda: True)
    _fill(records, scope, rounds)
    sheet = {"name": "s", "columns": ["a", "b"], "rows": [["x", "0"]]}
    table = {"sheets": [sheet]}
    replace_table(engine, scope=scope, expected=Revision(0), table=table, token=random_token())
    requests: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: requests.append(model.name))
    started = time.process_time()
    for number in range(TURNS):
        edit = f'<tableEdit>updateRow(0, 0, {{"1":"{number + 1}"}})</tableEdit>'
        new = NewTurn(turn_id=f"n{number}", user_text="", assistant_text=edit)
        recorded = record_turn(engine, doorbell=doorbell, scope=scope, new=new, token=random_token())
        position = Position(round=recorded.round, version=1)
        rung = RungTurn(
            position=position, turn_id=new.turn_id, scenario_id="default", subscription_category=None
        )
        edit_table(ports, scope=scope, rung=rung)
    milliseconds = (time.process_time() - started) * 1000 / TURNS
    return len(requests) // TURNS, milliseconds


def _fill(records: DynamoDbRecords, scope: Scope, rounds: int) -> None:
    """Put *rounds* turns where they would be, the head and the cursor behind them."""
    last = Position(round=rounds, version=1)
    head = TurnHead(last=last, last_turn_id=f"t{rounds}", life="l", top=1)
    writes = [_turn_write(scope, number) for number in range(1, rounds + 1)]
    for first in range(0, len(writes), 100):
        records.write(*writes[first : first + 100])
    records.write(
        head_write(scope, TurnHead(), head),
        Amend(key=cursor_key(scope, "table"), facts={"place": position_text(last)}),
    )


def _turn_write(scope: Scope, number: int) -> Any:
    turn = Turn(
        position=Position(round=number, version=1),
        turn_id=f"t{number}",
        user_text="你好",
        assistant_text="她点头。" * 20,
        scenario_id="default",
        subscription_category=None,
        table_revision=0,
        recorded_at="2026-01-02T03:04:05Z",
    )
    placement = Placement(before=TurnHead(), after=TurnHead(last=turn.position))
    return turn_writes(scope, turn, placement, replaces=None)[0]


if __name__ == "__main__":
    main()
