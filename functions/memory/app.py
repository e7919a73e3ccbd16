"""GET and PUT /v1/conversations/{id}/memory: the JSON memory of a conversation."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import memory_answer, revision_answer
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_revision
from memoir.edge.request import Request
from memoir.usecases.documents import memory_key, read_json_document, replace_json_document
from memoir.usecases.kept_revisions import kept_memory


def get(request: Request) -> Any:
    """Read the memory and its revision, or a revision that is kept."""
    revision = read_revision(request.query)
    if revision is not None:
        return kept_memory(wiring.engine(), scope=request.conversation, revision=revision)
    return read_json_document(wiring.engine(), memory_key(request.conversation))


def put(request: Request) -> Any:
    """Replace the memory whole, where the scenario's `memorySchema` lets it."""
    schemas = wiring.memory_schemas()
    return replace_json_document(
        wiring.engine(),
        memory_key(request.conversation),
        expected=request.body.expected_revision,
        document=request.body.document,
        token=request.token,
        before_update=schemas.check_of(request.conversation, request.query.get("scenarioId")),
    )


ROUTES = {
    "GET /v1/conversations/{id}/memory": Route(run=get, answer=memory_answer, event="memory.read"),
    "PUT /v1/conversations/{id}/memory": Route(
        reads=lazily("memoir.contracts.documents", "read_put_memory"),
        run=put,
        answer=revision_answer,
        event="memory.updated",
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
