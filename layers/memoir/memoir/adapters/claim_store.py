"""Claims in DynamoDB: a conditional write decides who may commit."""

from typing import Any

from memoir.adapters import keys
from memoir.adapters.dynamodb import ConditionFailed, Item, write_item
from memoir.domain.hinos import Claim, ClaimState
from memoir.domain.scope import Scope
from memoir.errors import NotFound, RecordCorrupt

# What became of a claim can be asked for a day after it has expired.
_KEPT_SECONDS = 86_400


class DynamoDbClaimStore:
    """The ClaimStore port on one DynamoDB table."""

    def __init__(self, *, client: Any, table_name: str) -> None:
        """Keep claims in *table_name*."""
        self._client = client
        self._table_name = table_name

    def keep(self, scope: Scope, claim_id: str, *, valid_until: float) -> None:
        """See `ClaimStore.keep`. One PutItem; a claim that is kept already stays as it is."""
        item = {
            **keys.claim(scope, claim_id),
            "claim_state": {"S": "prepared"},
            "valid_until": {"N": str(int(valid_until))},
            "expires_at": {"N": str(int(valid_until) + _KEPT_SECONDS)},
        }
        try:
            self._write("put_item", Item=item, ConditionExpression="attribute_not_exists(pk)")
        except ConditionFailed:
            return

    def take(self, scope: Scope, claim_id: str, *, texts: str, now: float) -> Claim | None:
        """See `ClaimStore.take`. One UpdateItem."""
        try:
            self._write(
                "update_item",
                Key=keys.claim(scope, claim_id),
                UpdateExpression="SET claim_state = :committing, texts_hash = :texts",
                ConditionExpression="claim_state = :prepared AND valid_until > :now",
                ExpressionAttributeValues={
                    ":committing": {"S": "committing"},
                    ":prepared": {"S": "prepared"},
                    ":texts": {"S": texts},
                    ":now": {"N": str(now)},
                },
            )
        except ConditionFailed as failure:
            if failure.item is None:
                raise NotFound(
                    path="/claim_id", detail="/claim_id: this conversation has no such claim"
                ) from failure
            return _claim(failure.item)
        return None

    def settle(self, scope: Scope, claim_id: str, *, state: ClaimState, error_code: str = "") -> None:
        """See `ClaimStore.settle`. One UpdateItem."""
        try:
            self._write(
                "update_item",
                Key=keys.claim(scope, claim_id),
                UpdateExpression="SET claim_state = :state, error_code = :code",
                ConditionExpression="claim_state = :committing",
                ExpressionAttributeValues={
                    ":state": {"S": state},
                    ":code": {"S": error_code},
                    ":committing": {"S": "committing"},
                },
            )
        except ConditionFailed:
            return  # a lost answer's own retry: it is settled

    def _write(self, operation: str, **parameters: Any) -> None:
        write_item(self._client, operation, TableName=self._table_name, **parameters)


def _claim(item: Item) -> Claim:
    try:
        return Claim(
            state=item["claim_state"]["S"],
            texts_hash=item.get("texts_hash", {}).get("S", ""),
            valid_until=float(item["valid_until"]["N"]),
            error_code=item.get("error_code", {}).get("S", ""),
        )
    except (KeyError, ValueError):
        raise RecordCorrupt(detail="a stored claim breaks its own rules; it is kept as it is") from None
