"""GET and PUT …/story, GET …/story/events, POST …/story/prepare and …/story/settle."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import revision_answer
from memoir.contracts.story_answers import events_answer, prepared_story_answer, story_answer
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_before_round, read_revision
from memoir.edge.request import Request
from memoir.usecases import story
from memoir.usecases.kept_revisions import kept_story


def get(request: Request) -> Any:
    """Read the story and its revision, or a revision that is kept."""
    revision = read_revision(request.query)
    if revision is not None:
        return kept_story(wiring.engine(), scope=request.conversation, revision=revision)
    return story.read_story(wiring.engine(), scope=request.conversation)


def events(request: Request) -> Any:
    """Read a page of the events that moved out of it."""
    before = read_before_round(request.query)
    return story.read_events(wiring.engine(), scope=request.conversation, before=before)


def put(request: Request) -> Any:
    """Replace the story whole."""
    return story.replace_story(
        wiring.engine(),
        scope=request.conversation,
        expected=request.body.expected_revision,
        story=request.body.story,
        token=request.token,
    )


def prepare(request: Request) -> Any:
    """Claim the revision and the accepted turn."""
    return story.prepare(wiring.engine(), scope=request.conversation)


def settle(request: Request) -> Any:
    """Lay what was confirmed onto the story."""
    return story.settle(
        wiring.engine(),
        scope=request.conversation,
        claimed=request.body.claim,
        settlement=request.body.settlement,
        token=request.token,
    )


ROUTES = {
    "GET /v1/conversations/{id}/story": Route(run=get, answer=story_answer, event="story.read"),
    "GET /v1/conversations/{id}/story/events": Route(
        run=events, answer=events_answer, event="story.events_read"
    ),
    "PUT /v1/conversations/{id}/story": Route(
        reads=lazily("memoir.contracts.story", "read_put_story"),
        run=put,
        answer=revision_answer,
        event="story.replaced",
    ),
    "POST /v1/conversations/{id}/story/prepare": Route(
        reads=lazily("memoir.contracts.story", "read_prepare_story"),
        run=prepare,
        answer=prepared_story_answer,
        event="story.prepared",
    ),
    "POST /v1/conversations/{id}/story/settle": Route(
        reads=lazily("memoir.contracts.story", "read_settle_story"),
        run=settle,
        answer=revision_answer,
        event="story.settled",
        keeps=True,
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
