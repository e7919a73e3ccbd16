"""Whose data it is: product, user, conversation. Comes from the verified token and the URL path alone."""

import re
from dataclasses import dataclass

from memoir.errors import RequestInvalid

MAX_ID_CHARACTERS = 128

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CONVERSATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]*")


@dataclass(frozen=True, kw_only=True)
class ProductScope:
    """One product."""

    product: str


@dataclass(frozen=True, kw_only=True)
class UserScope:
    """One user of one product."""

    product: str
    user: str

    def conversation(self, conversation_id: str) -> "Scope":
        """Return the scope of one of this user's conversations. Raises RequestInvalid for a bad id."""
        return Scope(
            product=self.product, user=self.user, conversation=check_conversation_id(conversation_id)
        )


@dataclass(frozen=True, kw_only=True)
class Scope:
    """One conversation of one user of one product."""

    product: str
    user: str
    conversation: str

    @property
    def owner(self) -> UserScope:
        """The user whose conversation it is."""
        return UserScope(product=self.product, user=self.user)


def check_conversation_id(value: str) -> str:
    """Return *value* if it may name a conversation: 1–128 of `A-Za-z0-9._:@-`, first a letter or digit."""
    if len(value) > MAX_ID_CHARACTERS or not _CONVERSATION_ID.fullmatch(value):
        raise RequestInvalid(
            code="conversation_id_invalid",
            path="conversationId",
            detail="conversationId: must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ - "
            "and begin with a letter or a digit",
        )
    return value


def check_opaque_id(value: str, *, path: str) -> str:
    """Return *value* if it may name a user or a product: 1–128 printable characters, one a letter or digit.

    Compared exactly, never normalised. A lone `*`, `%` or blank is refused: it reads like a wildcard.
    """
    if not 1 <= len(value) <= MAX_ID_CHARACTERS:
        raise RequestInvalid(
            code="id_invalid", path=path, detail=f"{path}: must be 1 to {MAX_ID_CHARACTERS} characters"
        )
    if not value.isprintable() or not _LETTER_OR_DIGIT.search(value):
        raise RequestInvalid(
            code="id_invalid",
            path=path,
            detail=f"{path}: must be printable characters, at least one of them a letter or a digit",
        )
    return value


def check_path_id(value: str, *, path: str) -> str:
    """Return *value* if it may name a turn: an opaque id that can stand in a path.

    API Gateway decodes a path before it cuts it: what means something there could never be reached.
    """
    for mark in "/%?#\\":
        if mark in value:
            raise RequestInvalid(
                code="id_invalid",
                path=path,
                detail=f"{path}: must not hold {mark!r}, for it stands in paths",
            )
    return check_opaque_id(value, path=path)
