"""One place where DynamoDB's answers become ours: conditions, lost answers, refusals."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.adapters.aws import watched_attempts
from memoir.domain.revision import Revision
from memoir.errors import RecordCorrupt, StoreUnavailable, WriteOutcomeUnknown

Item = dict[str, Any]
"""An item in DynamoDB's notation: {"name": {"S": "text"}}."""


class ConditionFailed(Exception):
    """The condition of a write did not hold. `item` is what is stored (ALL_OLD), None where nothing is.

    `after_ambiguous_send`: an earlier send of the same write may have been executed.
    """

    def __init__(self, *, item: Item | None, after_ambiguous_send: bool) -> None:
        super().__init__("condition failed")
        self.item = item
        self.after_ambiguous_send = after_ambiguous_send


class ItemsBusy(Exception):
    """Another transaction held an item of this one; nothing was written."""


def read_item(client: Any, *, table_name: str, key: Item) -> Item | None:
    """Return the item as of the last finished write. Raises StoreUnavailable."""
    try:
        answer = client.get_item(TableName=table_name, Key=key, ConsistentRead=True)
    except (ClientError, BotoCoreError) as error:
        raise StoreUnavailable(detail="the store could not be read; try again") from error
    item: Item | None = answer.get("Item")
    return item


def write_item(client: Any, operation: str, **parameters: Any) -> Item:
    """Run the conditional write *operation* (`put_item`, `update_item`) and return its answer.

    Raises ConditionFailed; StoreUnavailable: nothing was written; WriteOutcomeUnknown: no answer came, or one
    that does not say.
    """
    with watched_attempts() as attempts:
        try:
            answer: Item = getattr(client, operation)(
                ReturnValuesOnConditionCheckFailure="ALL_OLD", **parameters
            )
            return answer
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                stored: Any = error.response.get("Item")  # beside `Error`, not in it
                raise ConditionFailed(item=stored, after_ambiguous_send=attempts.maybe_executed) from error
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error
        except BotoCoreError as error:
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error


def transact(client: Any, writes: list[Item]) -> None:
    """Run *writes* as one transaction: all or none.

    Raises ConditionFailed (its item is that of the first write whose condition failed), ItemsBusy,
    StoreUnavailable: nothing was written; WriteOutcomeUnknown.
    """
    with watched_attempts() as attempts:
        try:
            client.transact_write_items(TransactItems=writes)
        except ClientError as error:
            if error.response["Error"]["Code"] == "TransactionCanceledException":
                raise _cancelled(error, after_ambiguous_send=attempts.maybe_executed) from error
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error
        except BotoCoreError as error:
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error


def _cancelled(error: ClientError, *, after_ambiguous_send: bool) -> Exception:
    answer: Any = error.response
    reasons: list[Any] = answer.get("CancellationReasons", [])
    for reason in reasons:
        if reason.get("Code") == "ConditionalCheckFailed":
            return ConditionFailed(item=reason.get("Item"), after_ambiguous_send=after_ambiguous_send)
    if any(reason.get("Code") == "TransactionConflict" for reason in reasons):
        return ItemsBusy()
    return _failed_write(maybe_executed=after_ambiguous_send)


def batch_get(
    client: Any, *, table_name: str, keys: list[Item], attributes: tuple[str, ...] = ()
) -> dict[str, Item]:
    """Return the items of one partition under *keys* by their sort key, as of the last finished write.

    *attributes*: only these, and the sort key. Raises StoreUnavailable.
    """
    request: Item = {"Keys": keys, "ConsistentRead": True}
    if attributes:
        request["ProjectionExpression"] = ", ".join(("sk", *attributes))
    found: dict[str, Item] = {}
    pending: Item = {table_name: request}
    for _ in range(_BATCH_TRIES):
        try:
            answer = client.batch_get_item(RequestItems=pending)
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(detail="the store could not be read; try again") from error
        found.update({item["sk"]["S"]: item for item in answer["Responses"].get(table_name, [])})
        pending = answer.get("UnprocessedKeys") or {}
        if not pending:
            return found
    raise StoreUnavailable(detail="the store left keys unread; try again")


_BATCH_TRIES = 3


def query(
    client: Any,
    *,
    table_name: str,
    pk: str,
    first: str,
    last: str,
    page_items: int,
    backwards: bool = False,
) -> Iterator[Item]:
    """Yield the items of a partition with *first* ≤ sk ≤ *last*, in order, *page_items* (or 1 MiB) a request.

    Raises StoreUnavailable.
    """
    start: Item = {}
    while True:
        try:
            answer = client.query(
                TableName=table_name,
                ConsistentRead=True,
                KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
                ExpressionAttributeValues={":pk": {"S": pk}, ":first": {"S": first}, ":last": {"S": last}},
                ScanIndexForward=not backwards,
                Limit=page_items,
                **start,
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(detail="the store could not be read; try again") from error
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def read_revision(item: Item) -> Revision:
    """Return the revision of a stored document. Raises RecordCorrupt if it is no positive integer."""
    text = item.get("revision", {}).get("N", "")
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise RecordCorrupt(detail="a stored document has no positive revision; it is kept as it is")
    return Revision(int(text))


def _failed_write(*, maybe_executed: bool) -> StoreUnavailable | WriteOutcomeUnknown:
    if maybe_executed:
        return WriteOutcomeUnknown(detail="the store did not say whether it wrote; read back before retrying")
    return StoreUnavailable(detail="the store refused the write; nothing was written, try again")
