"""`PUT /v1/conversations/{id}/memory`: the body, and nothing else than these two members."""

from dataclasses import dataclass
from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.json_document import JsonDocument
from memoir.domain.memory import memory_document
from memoir.domain.revision import Revision, check_expected_revision
from memoir.strict_json import compact_json, member_text, read_json


class _PutMemory(Contract):
    expected_revision: Any
    memory: Any


@dataclass(frozen=True, kw_only=True)
class PutMemory:
    """A checked request to replace a memory."""

    expected_revision: Revision
    memory: JsonDocument


def read_put_memory(body: bytes) -> PutMemory:
    """Return the request that *body* is.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge, each naming the place.
    """
    value = read_json(body)
    request = read_contract(_PutMemory, value)
    expected = check_expected_revision(request.expected_revision)
    text = compact_json(body, value)
    memory = memory_document(
        request.memory, text=member_text(text, member="memory", beside="expectedRevision")
    )
    return PutMemory(expected_revision=expected, memory=memory)
