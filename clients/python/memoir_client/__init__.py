"""The client of Memoir, sync (`Memoir`) and async (`AsyncMemoir`): it knows what may be repeated, and how."""

from memoir_client._async import AsyncConversation, AsyncMemoir
from memoir_client._auth import ClientCredentials, StaticToken
from memoir_client._errors import (
    MemoirError,
    NotAuthenticated,
    NotReached,
    RevisionConflict,
    StoryConflict,
    TooLarge,
    TurnConflict,
    WriteOutcomeUnknown,
)
from memoir_client._policy import Document
from memoir_client._sync import Conversation, Memoir

__all__ = [
    "AsyncConversation",
    "AsyncMemoir",
    "ClientCredentials",
    "Conversation",
    "Document",
    "Memoir",
    "MemoirError",
    "NotAuthenticated",
    "NotReached",
    "RevisionConflict",
    "StaticToken",
    "StoryConflict",
    "TooLarge",
    "TurnConflict",
    "WriteOutcomeUnknown",
]
