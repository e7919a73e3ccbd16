"""Write tokens: how a store recognises its own write when the answer to it was lost."""

import base64
import hashlib
import secrets
from dataclasses import dataclass

NAME_CHARACTERS = 12
BODY_HASH_CHARACTERS = 8


@dataclass(frozen=True, kw_only=True)
class WriteToken:
    """The name of one write. Two writes of one `name` are the same request if their `body_hash` is equal.

    `name` has 12 base64 characters (72 bits). `body_hash` has 8 (48 bits), or none where the name is random
    and can meet no second body.
    """

    name: str
    body_hash: str = ""


def idempotent_token(*, idempotency_key: str, body: str) -> WriteToken:
    """Return the token of a request that carries an idempotency key: the same key is the same write."""
    return WriteToken(
        name=_hashed(idempotency_key)[:NAME_CHARACTERS], body_hash=_hashed(body)[:BODY_HASH_CHARACTERS]
    )


def random_token() -> WriteToken:
    """Return the token of a request that carries no idempotency key: it covers the store's own retries."""
    return WriteToken(name=secrets.token_urlsafe(9))


def _hashed(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()
