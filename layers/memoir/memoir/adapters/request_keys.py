"""Idempotency keys in DynamoDB: one small item each, for a day."""

import time
from typing import Any

from memoir.adapters import keys
from memoir.adapters.dynamodb import ConditionFailed, write_item
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken
from memoir.errors import IdempotencyKeyReused
from memoir.ports import Clock

_KEPT_SECONDS = 86_400


class DynamoDbRequestKeys:
    """The RequestKeys port on one DynamoDB table."""

    def __init__(self, *, client: Any, table_name: str, clock: Clock = time.time) -> None:
        """Keep keys in *table_name*."""
        self._client = client
        self._table_name = table_name
        self._clock = clock

    def bind(self, scope: Scope, token: WriteToken) -> None:
        """See `RequestKeys.bind`. One PutItem."""
        now = int(self._clock())
        try:
            write_item(
                self._client,
                "put_item",
                TableName=self._table_name,
                Item={
                    **keys.bound_request(scope, token.name),
                    "body_hash": {"S": token.body_hash},
                    "expires_at": {"N": str(now + _KEPT_SECONDS)},
                },
                ConditionExpression="attribute_not_exists(pk) OR body_hash = :body OR expires_at <= :now",
                ExpressionAttributeValues={":body": {"S": token.body_hash}, ":now": {"N": str(now)}},
            )
        except ConditionFailed as failure:
            raise IdempotencyKeyReused(detail="this idempotency key stands for another request") from failure
