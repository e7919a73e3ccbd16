"""The memory table in DynamoDB: a document, a cursor beside it, and a receipt with every effect.

The document says through which turn it was made, so that an edit and its cursor are one write. A turn without
edits moves a small item of its own instead, for DynamoDB bills the whole document to change one attribute of
it. The worker has gone as far as the further of the two.
"""

import time
from typing import Any

from memoir.adapters import keys
from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.adapters.dynamodb import ConditionFailed, Item, ItemsBusy, batch_get, transact
from memoir.adapters.packing import pack, unpack
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.adapters.turn_item import read_head, read_turn
from memoir.domain.json_document import JsonDocument
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import START, Position
from memoir.domain.write_token import WriteToken
from memoir.errors import StoreUnavailable
from memoir.ports import Clock, DocumentKey, KeptAnswer, TableView

_ANSWER_SECONDS = 86_400
_ANSWER_BYTES = 100


class DynamoDbTableStore:
    """The TableStore port on one DynamoDB table."""

    def __init__(
        self,
        *,
        client: Any,
        table_name: str,
        documents: DynamoDbDocumentStore,
        receipts: DynamoDbReceiptStore,
        clock: Clock = time.time,
    ) -> None:
        """Keep tables in *table_name*, with *documents* and *receipts* of the same."""
        self._client = client
        self._table_name = table_name
        self._documents = documents
        self._receipts = receipts
        self._clock = clock

    def read(self, scope: Scope, *, hint: Position = START, token: WriteToken | None = None) -> TableView:
        """See `TableStore.read`. One BatchGetItem."""
        table, cursor, head = keys.table_document(scope), keys.cursor(scope, "table"), keys.turn_head(scope)
        wanted = [table, cursor, head]
        if hint != START:
            wanted.append(keys.turn(scope, hint))
        if token:
            wanted.append(keys.kept_answer(scope, token.name))
        found = batch_get(self._client, table_name=self._table_name, keys=wanted)
        passed = found.get(cursor["sk"]["S"])
        turn = found.get(keys.turn_sk(hint))
        return TableView(
            stored=self._documents.stored(found.get(table["sk"]["S"])),
            passed=keys.read_position(passed["place"]["S"]) if passed else START,
            head=read_head(found.get(head["sk"]["S"])),
            turn=read_turn(turn) if turn else None,
            answered=self._answered(found, scope, token) if token else None,
        )

    def replace(
        self,
        scope: Scope,
        *,
        expected: Revision,
        state: JsonDocument,
        token: WriteToken,
        receipt: Receipt | None = None,
        answer: KeptAnswer | None = None,
    ) -> Revision:
        """See `TableStore.replace`. One UpdateItem, or one TransactWriteItems with what goes beside."""
        beside: tuple[Item, ...] = ()
        if receipt:
            beside += (self._receipts.put_write(scope, receipt),)
        if answer:
            beside += (self._keep(scope, answer),)
        key = DocumentKey(scope=scope, kind="table")
        return self._documents.replace(key, expected=expected, document=state, token=token, beside=beside)

    def pass_by(self, scope: Scope, *, position: Position, receipt: Receipt) -> None:
        """See `TableStore.pass_by`. One TransactWriteItems of two small items."""
        try:
            transact(
                self._client, [self._cursor_write(scope, position), self._receipts.put_write(scope, receipt)]
            )
        except ConditionFailed:
            return  # another worker has passed it: its receipt stands
        except ItemsBusy as busy:
            raise StoreUnavailable(detail="another worker held the cursor; nothing was written") from busy

    def _keep(self, scope: Scope, answer: KeptAnswer) -> Item:
        item = {
            **keys.kept_answer(scope, answer.token.name),
            "body_hash": {"S": answer.token.body_hash},
            "body": pack(answer.text, beside_bytes=_ANSWER_BYTES),
            "expires_at": {"N": str(int(self._clock()) + _ANSWER_SECONDS)},
        }
        return {"Put": {"TableName": self._table_name, "Item": item}}

    def _answered(self, found: dict[str, Item], scope: Scope, token: WriteToken) -> KeptAnswer | None:
        item = found.get(keys.kept_answer(scope, token.name)["sk"]["S"])
        if item is None or float(item["expires_at"]["N"]) <= self._clock():
            return None
        kept = WriteToken(name=token.name, body_hash=item["body_hash"]["S"])
        return KeptAnswer(token=kept, text=unpack(item["body"]))

    def _cursor_write(self, scope: Scope, position: Position) -> Item:
        return {
            "Update": {
                "TableName": self._table_name,
                "Key": keys.cursor(scope, "table"),
                "UpdateExpression": "SET place = :place",
                "ConditionExpression": "attribute_not_exists(pk) OR place < :place",
                "ExpressionAttributeValues": {":place": {"S": keys.position_text(position)}},
            }
        }
