"""What the routes of the story answer."""

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from memoir.contracts.answers import Answer, Spliced

if TYPE_CHECKING:
    from memoir.domain.story.read import EventPage, PreparedStory, ReadStory


class Anchor(TypedDict):
    """The turn that a story stands on."""

    turnId: str


class StoryAnswer(TypedDict):
    """A story. `pagedEvents`: how many older events have moved out of it."""

    revision: int
    anchor: Anchor | None
    world: dict[str, Any]
    events: list[dict[str, Any]]
    narrative: str
    pagedEvents: int


class PreparedStoryAnswer(TypedDict):
    """A claim, and what it stands on."""

    claim: str
    revision: int
    anchor: Anchor


class EventsAnswer(TypedDict):
    """Events that moved out of a story, in order. `first`: the number of the first of them."""

    first: int
    events: Any
    next: NotRequired[str]


def story_answer(read: "ReadStory") -> Answer:
    """Return the answer to a read of a story, number by number as it was accepted."""
    facts = {"revision_after": read.revision, "paged_events": read.paged}
    if read.story is None:
        body: StoryAnswer = {
            "revision": read.revision,
            "anchor": None,
            "world": {},
            "events": [],
            "narrative": "",
            "pagedEvents": 0,
        }
        return Answer(body=body, etag=str(read.revision), facts=facts)
    anchor = "" if "anchor" in read.story.value else '"anchor":null,'
    text = f'{{"revision":{read.revision},"pagedEvents":{read.paged},{anchor}{read.story.text[1:]}'
    return Answer(body=Spliced(text), etag=str(read.revision), facts=facts)


def prepared_story_answer(prepared: "PreparedStory") -> Answer:
    """Return a claim and what it stands on."""
    body: PreparedStoryAnswer = {
        "claim": prepared.claim,
        "revision": prepared.revision,
        "anchor": {"turnId": prepared.turn_id},
    }
    return Answer(body=body, facts={"revision_before": prepared.revision})


def events_answer(page: "EventPage") -> Answer:
    """Return a page of events that moved out of a story."""
    body: EventsAnswer = {"first": page.first, "events": Spliced(page.text)}
    return Answer(body=body, next_place=str(page.first) if page.first > 1 else None)
