"""How long a message that failed stays out of sight: by itself the queue's whole visibility timeout."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

MAX_SECONDS = 900


def postpone(client: Any, record: Any, seconds: int) -> None:
    """Let *record*, as Lambda was given it, come again after *seconds*; if that fails, the queue decides."""
    _, _, _, _, account, name = record["eventSourceARN"].split(":")
    try:
        url = client.get_queue_url(QueueName=name, QueueOwnerAWSAccountId=account)["QueueUrl"]
        client.change_message_visibility(
            QueueUrl=url,
            ReceiptHandle=record["receiptHandle"],
            VisibilityTimeout=min(max(seconds, 0), MAX_SECONDS),
        )
    except (ClientError, BotoCoreError):
        return
