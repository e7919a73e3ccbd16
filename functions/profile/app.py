"""GET and PUT /v1/profile: a user's JSON profile, across conversations."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import profile_answer, revision_answer
from memoir.edge.http import Route, lazily, serve
from memoir.edge.request import Request
from memoir.usecases.documents import profile_key, read_json_document, replace_json_document


def get(request: Request) -> Any:
    """Read the profile and its revision."""
    return read_json_document(wiring.engine(), profile_key(request.user))


def put(request: Request) -> Any:
    """Replace the profile whole."""
    return replace_json_document(
        wiring.engine(),
        profile_key(request.user),
        expected=request.body.expected_revision,
        document=request.body.document,
        token=request.token,
    )


ROUTES = {
    "GET /v1/profile": Route(run=get, answer=profile_answer, event="profile.read"),
    "PUT /v1/profile": Route(
        reads=lazily("memoir.contracts.documents", "read_put_profile"),
        run=put,
        answer=revision_answer,
        event="profile.updated",
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
