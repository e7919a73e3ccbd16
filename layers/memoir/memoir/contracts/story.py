"""`PUT …/story`, `POST …/story/prepare` and `POST …/story/settle`."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.json_document import JsonDocument
from memoir.domain.json_value import part_text
from memoir.domain.revision import Revision, check_expected_revision
from memoir.domain.story.claim import MAX_CLAIM_CHARACTERS
from memoir.domain.story.document import story_document
from memoir.domain.story.settle import Settlement
from memoir.errors import RequestInvalid
from memoir.strict_json import compact_json, read_json


class _PutStory(Contract):
    expected_revision: Any
    story: Any


class _Prepare(Contract):
    pass


class _Settle(Contract):
    claim: str
    events: list[Any] = Field(default_factory=list)
    world: dict[str, Any] = Field(default_factory=dict)
    narrative: str | None = None


@dataclass(frozen=True, kw_only=True)
class PutStory:
    """A checked request to replace a story."""

    expected_revision: Revision
    story: JsonDocument
    compact_body: str


@dataclass(frozen=True, kw_only=True)
class SettleStory:
    """A request to settle a story on a claim."""

    claim: str
    settlement: Settlement
    compact_body: str = field(repr=False)


def read_put_story(body: bytes) -> PutStory:
    """Return the request that *body* is. Raises JsonMalformed, RequestInvalid, LimitExceeded, TooLarge."""
    value = read_json(body)
    request = read_contract(_PutStory, value)
    expected = check_expected_revision(request.expected_revision)
    text = compact_json(body, value)
    return PutStory(
        expected_revision=expected,
        story=story_document(request.story, text=part_text(text, "story")),
        compact_body=text,
    )


def read_prepare_story(body: bytes) -> None:
    """Check that *body* is `{}`. Raises JsonMalformed, RequestInvalid."""
    read_contract(_Prepare, read_json(body))


def read_settle_story(body: bytes) -> SettleStory:
    """Return the request that *body* is; the domain checks events and facts.

    Raises JsonMalformed, RequestInvalid, LimitExceeded, each naming the place.
    """
    value = read_json(body)
    request = read_contract(_Settle, value)
    if not 1 <= len(request.claim) <= MAX_CLAIM_CHARACTERS:
        raise RequestInvalid(path="/claim", detail=f"/claim: must be 1 to {MAX_CLAIM_CHARACTERS} characters")
    text = compact_json(body, value)
    texts = {name: part_text(text, name) for name in ("events", "world") if name in value}
    return SettleStory(
        claim=request.claim,
        settlement=Settlement(
            events=request.events, world=request.world, narrative=request.narrative, texts=texts
        ),
        compact_body=text,
    )
