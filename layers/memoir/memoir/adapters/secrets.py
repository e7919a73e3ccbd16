"""Secrets Manager: a credential is read when it is needed and kept for some minutes, never logged."""

import time
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from memoir.errors import StoreUnavailable

_KEPT_SECONDS = 300


class Secret:
    """The text of one secret. One that was rotated is used at most five minutes later."""

    def __init__(self, client: Any, arn: str) -> None:
        """Read *arn* through *client*, a low-level Secrets Manager client."""
        self._client = client
        self._arn = arn
        self._text = ""
        self._read_at: float | None = None

    def __call__(self) -> str:
        """Return the text, trimmed. Raises StoreUnavailable where it could not be read yet."""
        now = time.monotonic()
        if self._read_at is None or now - self._read_at > _KEPT_SECONDS:
            try:
                text = self._client.get_secret_value(SecretId=self._arn)["SecretString"]
                self._text, self._read_at = str(text).strip(), now
            except (ClientError, BotoCoreError, KeyError) as error:
                if self._read_at is None:
                    raise StoreUnavailable(
                        detail="a credential could not be read from Secrets Manager"
                    ) from error
        return self._text
