"""What a host is told of a story."""

from dataclasses import dataclass

from memoir.domain.json_document import JsonDocument
from memoir.domain.revision import Revision


@dataclass(frozen=True, kw_only=True)
class ReadStory:
    """A story at a revision, None before the first. *paged*: how many older events stand in pages."""

    revision: Revision
    story: JsonDocument | None
    paged: int = 0


@dataclass(frozen=True, kw_only=True)
class PreparedStory:
    """A claim, and what it stands on."""

    claim: str
    revision: Revision
    turn_id: str


@dataclass(frozen=True, kw_only=True)
class EventPage:
    """Events that moved out of a story, in order, as JSON text. *first*: the number of the first of them."""

    text: str
    first: int
