"""`POST …/hinos/prepare` and `POST …/hinos/commit`: names are Hinos's own where its protocol fixes them."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.hinos import Commit
from memoir.errors import MessagesRefused
from memoir.strict_json import read_json


class _Message(Contract):
    role: Literal["user", "assistant"]
    content: str


class _Prepare(Contract):
    system: str
    messages: list[_Message]
    source: dict[str, Any] = Field(default_factory=dict)


class _Commit(Contract):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=None)

    claim_id: str
    user: str
    assistant: str


def read_prepare(body: bytes) -> dict[str, Any]:
    """Return what is sent to Hinos: the system message first, then the chat, whose last is the user's.

    Raises JsonMalformed, RequestInvalid; MessagesRefused: the last message is not the current user's.
    """
    request = read_contract(_Prepare, read_json(body))
    if not request.messages or request.messages[-1].role != "user":
        raise MessagesRefused(path="/messages", detail="/messages: the last one must be the current user's")
    chat = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"messages": [{"role": "system", "content": request.system}, *chat], "source": request.source}


def read_commit(body: bytes) -> Commit:
    """Return the turn to commit. Raises JsonMalformed, RequestInvalid."""
    request = read_contract(_Commit, read_json(body))
    return Commit(claim_id=request.claim_id, user=request.user, assistant=request.assistant)
