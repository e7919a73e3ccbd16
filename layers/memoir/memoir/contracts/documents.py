"""`PUT` of a JSON document: `{"expectedRevision": n, "<name>": {…}}`, exactly these two members."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import create_model

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision, check_expected_revision
from memoir.strict_json import compact_json, member_text, read_json


@dataclass(frozen=True, kw_only=True)
class PutDocument:
    """A checked request to replace a document."""

    expected_revision: Revision
    document: JsonDocument


def read_put_memory(body: bytes) -> PutDocument:
    """Return the request to replace a memory. Raises as `read_put`."""
    return read_put(body, name="memory")


def read_put_profile(body: bytes) -> PutDocument:
    """Return the request to replace a profile. Raises as `read_put`."""
    return read_put(body, name="profile")


def read_put(body: bytes, *, name: str) -> PutDocument:
    """Return the request that *body* is; *name*: of the member that holds the document.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge, each naming the place.
    """
    value = read_json(body)
    request = read_contract(put_contract(name), value)
    members = dict(request)
    expected = check_expected_revision(members["expected_revision"])
    text = compact_json(body, value)
    document = json_document(
        members[name], name=name, text=member_text(text, member=name, beside="expectedRevision")
    )
    return PutDocument(expected_revision=expected, document=document)


@cache
def put_contract(name: str) -> type[Contract]:
    """Return the contract of a `PUT` whose document is the member *name*."""
    fields: dict[str, Any] = {"expected_revision": (Any, ...), name: (Any, ...)}
    return create_model(f"Put{name}", __base__=Contract, **fields)
