"""Turns in DynamoDB: an item for each version of a round, one for each turn id, and a head.

A turn is stored by one transaction (text, id, head), so that a number is never given twice and no id is ever
without its turn. DynamoDB recognises the SDK's own repeat of a transaction by its request token.
"""

from typing import Any

from memoir.adapters import keys
from memoir.adapters.dynamodb import (
    ConditionFailed,
    Item,
    ItemsBusy,
    batch_get,
    query,
    read_item,
    read_revision,
    transact,
    write_item,
)
from memoir.adapters.turn_item import (
    HEAD_ATTRIBUTES,
    KNOWN_ATTRIBUTES,
    read_head,
    read_known,
    read_turn,
    turn_item,
)
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Lookup, Placement, Position, Turn, TurnHead
from memoir.ports import TurnRace

# What a page may hold, so that the answer stays below Lambda's 6 MB.
_MAX_PAGE_BYTES = 4 * 1024 * 1024

_RANGE_PAGE_ITEMS = 100


class DynamoDbTurnStore:
    """The TurnStore port on one DynamoDB table."""

    def __init__(self, *, client: Any, table_name: str) -> None:
        """Use *table_name* through *client*, a low-level client of `memoir.adapters.aws`."""
        self._client = client
        self._table_name = table_name

    def head(self, scope: Scope) -> TurnHead:
        """See `TurnStore.head`. One GetItem."""
        return read_head(read_item(self._client, table_name=self._table_name, key=keys.turn_head(scope)))

    def look_up(self, scope: Scope, *, turn_ids: tuple[str, ...]) -> Lookup:
        """See `TurnStore.look_up`. One BatchGetItem, of everything but the texts."""
        head_key, table_key = keys.turn_head(scope), keys.table_document(scope)
        id_keys = {turn_id: keys.turn_id(scope, turn_id) for turn_id in turn_ids}
        found = batch_get(
            self._client,
            table_name=self._table_name,
            keys=[head_key, table_key, *id_keys.values()],
            attributes=("revision", *HEAD_ATTRIBUTES, *KNOWN_ATTRIBUTES),
        )
        table = found.get(table_key["sk"]["S"])
        return Lookup(
            head=read_head(found.get(head_key["sk"]["S"])),
            known={
                turn_id: read_known(found[key["sk"]["S"]])
                for turn_id, key in id_keys.items()
                if key["sk"]["S"] in found
            },
            table_revision=read_revision(table) if table else 0,
        )

    def add(self, scope: Scope, turn: Turn, *, placement: Placement) -> None:
        """See `TurnStore.add`. One TransactWriteItems."""
        new_id = {
            **keys.turn_id(scope, turn.turn_id),
            "place": {"S": keys.position_text(turn.position)},
            "text_hash": {"S": turn.text_hash},
            "scenario_id": {"S": turn.scenario_id},
        }
        if turn.subscription_category:
            new_id["subscription_category"] = {"S": turn.subscription_category}
        writes = [
            self._put(turn_item(scope, turn)),
            self._put(new_id),
            self._head_update(scope, placement),
        ]
        if placement.supersedes:
            writes.append(
                {
                    "Update": {
                        "TableName": self._table_name,
                        "Key": keys.turn_id(scope, placement.supersedes),
                        "UpdateExpression": "SET superseded = :true",
                        "ExpressionAttributeValues": {":true": {"BOOL": True}},
                    }
                }
            )
        try:
            transact(self._client, writes)
        except (ConditionFailed, ItemsBusy) as lost:
            raise TurnRace from lost

    def accept(self, scope: Scope, *, turn_id: str, turn_round: int) -> None:
        """See `TurnStore.accept`. One UpdateItem."""
        try:
            write_item(
                self._client,
                "update_item",
                TableName=self._table_name,
                Key=keys.turn_head(scope),
                UpdateExpression="SET accepted_through = :round",
                ConditionExpression="accepted_through < :round",
                ExpressionAttributeValues={":round": {"N": str(turn_round)}},
            )
        except ConditionFailed:
            return  # it stands there already, or further on

    def page(self, scope: Scope, *, before_round: int, limit: int) -> tuple[Turn, ...]:
        """See `TurnStore.page`. One Query for each MiB that is stored; ends early at 4 MiB of text."""
        turns: list[Turn] = []
        size_bytes = 0
        for item in query(
            self._client,
            table_name=self._table_name,
            pk=keys.conversation_pk(scope),
            first=keys.turn_sk(START),
            last=keys.turn_sk(Position(round=before_round)),
            backwards=True,
            page_items=limit + 1,
        ):
            turn = read_turn(item)
            if turns and turns[-1].position.round == turn.position.round:
                continue  # an older version of the round
            size_bytes += len(turn.user_text.encode()) + len(turn.assistant_text.encode())
            if len(turns) == limit or (turns and size_bytes > _MAX_PAGE_BYTES):
                break
            turns.append(turn)
        return tuple(turns)

    def between(self, scope: Scope, *, first_round: int, last_round: int) -> tuple[Turn, ...]:
        """See `TurnStore.between`. One Query for each MiB that is stored."""
        newest: dict[int, Turn] = {}
        for item in query(
            self._client,
            table_name=self._table_name,
            pk=keys.conversation_pk(scope),
            first=keys.turn_sk(Position(round=first_round)),
            last=keys.turn_sk(Position(round=last_round + 1)),
            page_items=_RANGE_PAGE_ITEMS,
        ):
            turn = read_turn(item)
            newest[turn.position.round] = turn  # versions come in order
        return tuple(newest.values())

    def since(self, scope: Scope, *, after: Position, limit: int) -> tuple[Turn, ...]:
        """See `TurnStore.since`. One Query for each MiB that is stored."""
        turns: list[Turn] = []
        for item in query(
            self._client,
            table_name=self._table_name,
            pk=keys.conversation_pk(scope),
            first=keys.turn_sk(Position(round=after.round, version=after.version + 1)),
            last=keys.LAST_TURN_SK,
            page_items=limit,
        ):
            turns.append(read_turn(item))
            if len(turns) == limit:
                break
        return tuple(turns)

    def _put(self, item: Item) -> Item:
        return {
            "Put": {
                "TableName": self._table_name,
                "Item": item,
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    def _head_update(self, scope: Scope, placement: Placement) -> Item:
        before, after = placement.before, placement.after
        unmoved = "attribute_not_exists(pk)" if before.last == START else "last_position = :before"
        values = {
            ":last": {"S": keys.position_text(after.last)},
            ":turn_id": {"S": after.last_turn_id},
            ":accepted": {"N": str(after.accepted_through)},
        }
        if before.last != START:
            values[":before"] = {"S": keys.position_text(before.last)}
            values[":accepted_before"] = {"N": str(before.accepted_through)}
            unmoved += " AND accepted_through = :accepted_before"
        return {
            "Update": {
                "TableName": self._table_name,
                "Key": keys.turn_head(scope),
                "UpdateExpression": "SET last_position = :last, last_turn_id = :turn_id, "
                "accepted_through = :accepted",
                "ConditionExpression": unmoved,
                "ExpressionAttributeValues": values,
            }
        }
