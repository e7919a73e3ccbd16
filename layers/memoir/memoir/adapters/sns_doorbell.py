"""The doorbell: one SNS FIFO publish a turn, fanned out to one SQS FIFO queue a worker.

Subscriptions filter on the attribute `workers`. The message group is the conversation. Queue deduplication is
switched off by a fresh id: workers must stand repeated messages anyway, and a dropped ring would be lost.
"""

import hashlib
import json
import secrets
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.adapters.keys import partition
from memoir.domain.scope import Scope
from memoir.domain.turns import RungTurn
from memoir.errors import StoreUnavailable


class SnsDoorbell:
    """The Doorbell port on an SNS FIFO topic."""

    def __init__(self, *, client: Any, topic_arn: str) -> None:
        """Publish to *topic_arn* through *client*, a low-level SNS client."""
        self._client = client
        self._topic_arn = topic_arn

    def ring(self, scope: Scope, *, workers: tuple[str, ...], turn: RungTurn) -> None:
        """See `Doorbell.ring`. One Publish."""
        message = {
            "product": scope.product,
            "user": scope.user,
            "conversation": scope.conversation,
            "round": turn.position.round,
            "version": turn.position.version,
            "turnId": turn.turn_id,
            "scenarioId": turn.scenario_id,
            "subscriptionCategory": turn.subscription_category,
            "life": turn.life,
            "scenarioRevision": turn.scenario_revision,
            "agent": turn.agent,
        }
        try:
            self._client.publish(
                TopicArn=self._topic_arn,
                Message=json.dumps(message),  # ASCII: queues refuse U+FFFE and control characters
                MessageGroupId=hashlib.sha256(partition(scope).encode()).hexdigest(),
                MessageDeduplicationId=secrets.token_hex(16),
                MessageAttributes={
                    "workers": {"DataType": "String.Array", "StringValue": json.dumps(list(workers))}
                },
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreUnavailable(detail="the background was not rung") from error
