"""Secrets Manager: a credential is read once, when it is first needed, and never logged."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.errors import StoreUnavailable


def read_secret(client: Any, arn: str) -> str:
    """Return the text of the secret. Raises StoreUnavailable."""
    try:
        text: str = client.get_secret_value(SecretId=arn)["SecretString"]
        return text
    except (ClientError, BotoCoreError, KeyError) as error:
        raise StoreUnavailable(detail="a credential could not be read from Secrets Manager") from error
