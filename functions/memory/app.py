"""GET and PUT /v1/conversations/{id}/memory: the JSON memory of a conversation."""

from typing import Any

from memoir import wiring
from memoir.edge.http import Request, Response, document_response, serve
from memoir.edge.observe import scope_facts
from memoir.usecases import memory


def get_memory(request: Request) -> Response:
    """Answer the memory and its revision."""
    record = memory.read_memory(documents=wiring.documents(), scope=request.conversation)
    return document_response(
        request, name="memory", revision=record.revision, document=record.memory, event="memory.read"
    )


def put_memory(request: Request) -> Response:
    """Replace the memory whole."""
    from memoir.contracts.memory import read_put_memory  # pydantic: only where a body is read

    scope = request.conversation
    put = read_put_memory(request.json_body())
    revision = memory.update_memory(
        documents=wiring.documents(),
        scope=scope,
        expected=put.expected_revision,
        memory=put.memory,
        token=request.write_token(put.compact_body),
    )
    return Response(
        body=f'{{"revision":{revision}}}',
        headers={"etag": f'"{revision}"'},
        event="memory.updated",
        facts={
            **scope_facts(scope),
            "revision_before": put.expected_revision,
            "revision_after": revision,
            "bytes": put.memory.size_bytes,
        },
    )


ROUTES = {
    "GET /v1/conversations/{id}/memory": get_memory,
    "PUT /v1/conversations/{id}/memory": put_memory,
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
