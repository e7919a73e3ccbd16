"""The table as template.yaml describes it, for stores that tests start themselves."""

from typing import Any

TABLE_NAME = "memoir-test"


def create_table(client: Any, *, name: str = TABLE_NAME) -> None:
    """Create the table through *client*, a low-level DynamoDB client."""
    client.create_table(
        TableName=name,
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
