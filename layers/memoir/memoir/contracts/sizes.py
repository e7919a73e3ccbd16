"""How large the bodies of requests may be: what the contract allows, every character escaped as \\uXXXX."""

from memoir.domain.json_document import MAX_DOCUMENT_BYTES
from memoir.domain.table.limits import MAX_REPLY_BYTES
from memoir.domain.turns import MAX_TEXT_BYTES

_AROUND = 16 * 1024
_ESCAPED = 6

DOCUMENT_BODY_BYTES = 8 * MAX_DOCUMENT_BYTES
TURN_BODY_BYTES = 2 * _ESCAPED * MAX_TEXT_BYTES + _AROUND
EDITS_BODY_BYTES = _ESCAPED * MAX_REPLY_BYTES + _AROUND
SCENARIO_BODY_BYTES = _ESCAPED * 128 * 1024 + _AROUND
HINOS_BODY_BYTES = 2 * 1024 * 1024
COMPACT_BODY_BYTES = 5 * 1024 * 1024
CONTEXT_BODY_BYTES = 4 * 1024 * 1024
