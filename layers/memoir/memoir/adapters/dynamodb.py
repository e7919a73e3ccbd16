"""One place where DynamoDB's answers become ours: conditions, lost answers, refusals."""

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.adapters.aws import watched_attempts
from memoir.adapters.expressions import Item
from memoir.errors import MemoirError, StoreMisused, StoreUnavailable, WriteOutcomeUnknown

# Another transaction holds an item for some milliseconds: worth a wait, for a failure costs a redelivery.
_BUSY_TRIES = 5
_BUSY_SECONDS = 0.03
_BATCH_TRIES = 4

_BUSY = frozenset({"TransactionConflictException", "TransactionInProgressException"})
_PASSING = _BUSY | {
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "LimitExceededException",
    "InternalServerError",
    "ServiceUnavailable",
    # Reasons of a cancelled transaction:
    "TransactionConflict",
    "ProvisionedThroughputExceeded",
    "ThrottlingError",
}


class ConditionFailed(Exception):
    """Conditions did not hold. `items`: by the number of the write, what is stored there (ALL_OLD).

    `after_ambiguous_send`: an earlier send of the same write may have been executed.
    """

    def __init__(self, items: Mapping[int, Item | None], *, after_ambiguous_send: bool) -> None:
        super().__init__("condition failed")
        self.items = items
        self.after_ambiguous_send = after_ambiguous_send


class _Busy(Exception):
    """Another transaction held an item of this write; nothing was written."""


def get_items(client: Any, *, table_name: str, keys: list[Item]) -> list[Item]:
    """Return the items under *keys* as of the last finished write. Raises StoreUnavailable."""
    if len(keys) == 1:
        answer = _read(client.get_item, TableName=table_name, Key=keys[0], ConsistentRead=True)
        return [answer["Item"]] if "Item" in answer else []
    found: list[Item] = []
    pending: Item = {table_name: {"Keys": keys, "ConsistentRead": True}}
    for _ in range(_BATCH_TRIES):
        answer = _read(client.batch_get_item, RequestItems=pending)
        found += answer["Responses"].get(table_name, [])
        pending = answer.get("UnprocessedKeys") or {}
        if not pending:
            return found
    raise StoreUnavailable(detail="the store left keys unread; try again")


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
        answer = _read(
            client.query,
            TableName=table_name,
            ConsistentRead=True,
            KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
            ExpressionAttributeValues={":pk": {"S": pk}, ":first": {"S": first}, ":last": {"S": last}},
            ScanIndexForward=not backwards,
            Limit=page_items,
            **start,
        )
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def write_item(client: Any, operation: str, *, sleep: Callable[[float], None], **parameters: Any) -> None:
    """Run the write *operation* (`put_item`, `update_item`, `delete_item`).

    Raises ConditionFailed; StoreUnavailable: nothing was written; WriteOutcomeUnknown: no answer came, or one
    that does not say; StoreMisused.
    """
    _tried(getattr(client, operation), sleep=sleep, **parameters)


def transact(client: Any, actions: list[Item], *, sleep: Callable[[float], None]) -> None:
    """Run *actions* as one transaction: all or none. Raises as `write_item`."""
    _tried(client.transact_write_items, sleep=sleep, TransactItems=actions)


def _tried(call: Callable[..., Item], *, sleep: Callable[[float], None], **parameters: Any) -> None:
    """Run a write, again where another transaction held an item of it."""
    for attempt in range(1, _BUSY_TRIES + 1):
        try:
            _write(call, **parameters)
            return
        except _Busy as busy:
            if attempt == _BUSY_TRIES:
                raise StoreUnavailable(detail="other writes held the records; nothing was written") from busy
            sleep(random.uniform(0.5, 1.5) * attempt * _BUSY_SECONDS)


def _write(call: Callable[..., Item], **parameters: Any) -> None:
    with watched_attempts() as attempts:
        try:
            call(**parameters)
        except ClientError as error:
            raise _failed(error, maybe_executed=attempts.maybe_executed) from error
        except BotoCoreError as error:
            raise _no_answer(maybe_executed=attempts.maybe_executed) from error


def _failed(error: ClientError, *, maybe_executed: bool) -> Exception:
    answer: Any = error.response
    code = answer["Error"]["Code"]
    if code == "ConditionalCheckFailedException":
        # The item stands beside `Error`, not in it.
        return ConditionFailed({0: answer.get("Item")}, after_ambiguous_send=maybe_executed)
    codes = [code]
    if code == "TransactionCanceledException":
        reasons: list[Any] = answer.get("CancellationReasons", [])
        failed = {
            index: reason.get("Item")
            for index, reason in enumerate(reasons)
            if reason.get("Code") == "ConditionalCheckFailed"
        }
        if failed:
            return ConditionFailed(failed, after_ambiguous_send=maybe_executed)
        codes = [reason.get("Code") for reason in reasons if reason.get("Code") not in (None, "None")]
        if "TransactionConflict" in codes and not maybe_executed:
            return _Busy()
    elif code in _BUSY and not maybe_executed:
        return _Busy()
    if maybe_executed or all(code in _PASSING for code in codes) or _status(answer) >= 500:
        return _no_answer(maybe_executed=maybe_executed)
    return _misused(codes)


def _read(call: Callable[..., Item], **parameters: Any) -> Item:
    try:
        return call(**parameters)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code not in _PASSING and _status(error.response) < 500:
            raise _misused([code]) from error
        raise StoreUnavailable(detail="the store could not be read; try again") from error
    except BotoCoreError as error:
        raise StoreUnavailable(detail="the store could not be read; try again") from error


def _status(answer: Any) -> int:
    return int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _no_answer(*, maybe_executed: bool) -> MemoirError:
    if maybe_executed:
        return WriteOutcomeUnknown(detail="the store did not say whether it wrote; read back before retrying")
    return StoreUnavailable(detail="the store refused the write; nothing was written, try again")


def _misused(codes: list[str]) -> StoreMisused:
    """Return the error of a request that the store will never take: ours, or the deployment's."""
    return StoreMisused(detail="the store does not take this request", store_code=", ".join(codes))
