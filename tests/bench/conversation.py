"""What a turn costs after 10 and after 10,000 rounds: requests and CPU of storing and applying it."""

import time
from typing import Any

from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.adapters.table_store import DynamoDbTableStore
from memoir.adapters.turn_store import DynamoDbTurnStore
from tests.fakes.turns import RecordingDoorbell

from memoir.adapters.event_bus import NoEvents
from memoir.adapters.keys import position_text
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import NewTurn, Position, RungTurn
from memoir.domain.write_token import random_token
from memoir.usecases.edit_table import TablePorts, edit_table
from memoir.usecases.table import replace_table
from memoir.usecases.turns import record_turn
from tests.bench.client import local_client
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
    receipts = DynamoDbReceiptStore(client=client, table_name=TABLE_NAME, kept_days=30)
    documents = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME)
    tables = DynamoDbTableStore(client=client, table_name=TABLE_NAME, documents=documents, receipts=receipts)
    turns = DynamoDbTurnStore(client=client, table_name=TABLE_NAME)
    ports = TablePorts(
        tables=tables,
        turns=turns,
        receipts=receipts,
        events=NoEvents(),
        clock=time.time,
        has_time=lambda: True,
    )
    _fill(client, scope, rounds)
    sheet = {"name": "s", "columns": ["a", "b"], "rows": [["x", "0"]]}
    table = {"sheets": [sheet]}
    replace_table(tables=tables, scope=scope, expected=Revision(0), table=table, token=random_token())
    requests: list[str] = []
    client.meta.events.register("before-call.dynamodb", lambda model, **_: requests.append(model.name))
    started = time.process_time()
    for number in range(TURNS):
        edit = f'<tableEdit>updateRow(0, 0, {{"1":"{number + 1}"}})</tableEdit>'
        new = NewTurn(turn_id=f"n{number}", user_text="", assistant_text=edit)
        recorded = record_turn(
            turns=turns, doorbell=RecordingDoorbell(), clock=time.time, scope=scope, new=new
        )
        position = Position(round=recorded.round, version=1)
        rung = RungTurn(
            position=position, turn_id=new.turn_id, scenario_id="default", subscription_category=None
        )
        edit_table(ports, scope=scope, rung=rung)
    milliseconds = (time.process_time() - started) * 1000 / TURNS
    return len(requests) // TURNS, milliseconds


def _fill(client: Any, scope: Scope, rounds: int) -> None:
    """Put *rounds* turns where they would be, the head and the cursor behind them."""
    from memoir.adapters.turn_item import turn_item

    from memoir.adapters import keys
    from memoir.domain.turns import Turn

    items = [
        turn_item(
            scope,
            Turn(
                position=Position(round=number, version=1),
                turn_id=f"t{number}",
                user_text="你好",
                assistant_text="她点头。" * 20,
                scenario_id="default",
                subscription_category=None,
                table_revision=0,
                recorded_at="2026-01-02T03:04:05Z",
            ),
        )
        for number in range(1, rounds + 1)
    ]
    for first in range(0, len(items), 25):
        batch = [{"PutRequest": {"Item": item}} for item in items[first : first + 25]]
        client.batch_write_item(RequestItems={TABLE_NAME: batch})
    last = position_text(Position(round=rounds, version=1))
    head = {
        **keys.turn_head(scope),
        "last_position": {"S": last},
        "last_turn_id": {"S": f"t{rounds}"},
        "accepted_through": {"N": "0"},
    }
    client.put_item(TableName=TABLE_NAME, Item=head)
    client.put_item(TableName=TABLE_NAME, Item={**keys.cursor(scope, "table"), "place": {"S": last}})


if __name__ == "__main__":
    main()
