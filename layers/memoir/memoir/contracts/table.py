"""`PUT …/table` and `POST …/table/edits`: bodies, and nothing else than their members."""

from dataclasses import dataclass
from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.revision import Revision, check_expected_revision
from memoir.domain.table.json_form import plain_edits
from memoir.domain.table.limits import MAX_COMMANDS, MAX_REPLY_BYTES
from memoir.domain.table.reply import Reply, read_reply
from memoir.domain.table.step import given_edits
from memoir.errors import LimitExceeded, RequestInvalid, TooLarge
from memoir.strict_json import read_json


class _PutTable(Contract):
    expected_revision: Any
    table: Any


class _PostEdits(Contract):
    expected_revision: Any
    text: str | None = None
    edits: list[Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PutTable:
    """A request to replace a table. `table` is parsed JSON that the domain checks."""

    expected_revision: Revision
    table: Any


@dataclass(frozen=True, kw_only=True)
class PostEdits:
    """A request to edit a table: what a reply or a list of edits says."""

    expected_revision: Revision
    reply: Reply


def read_put_table(body: bytes) -> PutTable:
    """Return the request that *body* is. Raises JsonMalformed, RequestInvalid, LimitExceeded."""
    request = read_contract(_PutTable, read_json(body))
    return PutTable(
        expected_revision=check_expected_revision(request.expected_revision),
        table=request.table,
    )


def read_post_edits(body: bytes) -> PostEdits:
    """Return the request that *body* is: `text`, a reply of at most 256 KiB, or `edits`, at most 200.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge, each naming the place.
    """
    request = read_contract(_PostEdits, read_json(body))
    expected = check_expected_revision(request.expected_revision)
    if (request.text is None) == (request.edits is None):
        raise RequestInvalid(path="/text", detail="/text: give either text or edits")
    reply = _reply(request.text) if request.text is not None else _edits(request.edits or [])
    return PostEdits(expected_revision=expected, reply=reply)


def _reply(text: str) -> Reply:
    size_bytes = len(text.encode())
    if size_bytes > MAX_REPLY_BYTES:
        raise TooLarge(
            code="reply_too_large",
            path="/text",
            size_bytes=size_bytes,
            limit_bytes=MAX_REPLY_BYTES,
            detail=f"/text: {size_bytes} bytes of text, the limit is {MAX_REPLY_BYTES}",
        )
    return read_reply(text)


def _edits(edits: list[Any]) -> Reply:
    if len(edits) > MAX_COMMANDS:
        raise LimitExceeded(
            code="too_many_commands",
            value=len(edits),
            limit=MAX_COMMANDS,
            path="/edits",
            detail=f"/edits: {len(edits)} edits, the limit is {MAX_COMMANDS}",
        )
    return given_edits(plain_edits(edits))
