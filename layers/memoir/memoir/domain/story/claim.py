"""Claims: an opaque text that says what a settlement stands on. It holds no secret and proves no right."""

import base64
import binascii
import json
from dataclasses import dataclass

from memoir.domain.story.document import digest
from memoir.errors import RequestInvalid

MAX_CLAIM_CHARACTERS = 1_000
_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The revision and the accepted turn that a settlement is prepared on."""

    revision: int
    turn_id: str


def claim_text(claim: Claim, *, bound_to: str) -> str:
    """Return *claim* as text. *bound_to* names the conversation: elsewhere the text is no claim."""
    body = json.dumps([_VERSION, claim.revision, claim.turn_id], separators=(",", ":"))
    packed = base64.urlsafe_b64encode(body.encode()).decode().rstrip("=")
    return f"{packed}.{_seal(packed, bound_to)}"


def read_claim(text: str, *, bound_to: str) -> Claim:
    """Return the claim that *text* is. Raises RequestInvalid `claim_invalid`: changed, foreign, or none."""
    packed, _, seal = text.partition(".")
    if len(text) > MAX_CLAIM_CHARACTERS or seal != _seal(packed, bound_to):
        raise _invalid()
    try:
        body = json.loads(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        version, revision, turn_id = body
    except (ValueError, TypeError, binascii.Error):
        raise _invalid() from None
    if version != _VERSION or type(revision) is not int or not isinstance(turn_id, str):
        raise _invalid()
    return Claim(revision=revision, turn_id=turn_id)


def _seal(packed: str, bound_to: str) -> str:
    return digest(f"story {len(bound_to)} {bound_to} {packed.encode('utf-8', 'replace').hex()}")


def _invalid() -> RequestInvalid:
    return RequestInvalid(
        code="claim_invalid", path="/claim", detail="/claim: is no claim of this conversation"
    )
