"""One place where DynamoDB's answers become ours: conditions, lost answers, refusals."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.adapters.aws import watched_attempts
from memoir.errors import StoreUnavailable, WriteOutcomeUnknown

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


def read_item(client: Any, *, table_name: str, key: Item) -> Item | None:
    """Return the item as of the last finished write. Raises StoreUnavailable."""
    try:
        answer = client.get_item(TableName=table_name, Key=key, ConsistentRead=True)
    except (ClientError, BotoCoreError) as error:
        raise StoreUnavailable(detail="the store could not be read; try again") from error
    item: Item | None = answer.get("Item")
    return item


def write_item(client: Any, operation: str, **parameters: Any) -> None:
    """Run the conditional write *operation* (`put_item`, `update_item`).

    Raises ConditionFailed; StoreUnavailable: nothing was written; WriteOutcomeUnknown: no answer came, or one
    that does not say.
    """
    with watched_attempts() as attempts:
        try:
            getattr(client, operation)(ReturnValuesOnConditionCheckFailure="ALL_OLD", **parameters)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                stored: Any = error.response.get("Item")  # beside `Error`, not in it
                raise ConditionFailed(item=stored, after_ambiguous_send=attempts.maybe_executed) from error
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error
        except BotoCoreError as error:
            raise _failed_write(maybe_executed=attempts.maybe_executed) from error


def _failed_write(*, maybe_executed: bool) -> StoreUnavailable | WriteOutcomeUnknown:
    if maybe_executed:
        return WriteOutcomeUnknown(detail="the store did not say whether it wrote; read back before retrying")
    return StoreUnavailable(detail="the store refused the write; nothing was written, try again")
