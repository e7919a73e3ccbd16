"""POST …/hinos/prepare before a reply and POST …/hinos/commit after it: the external memory service Hinos."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import committed_answer, prepared_answer
from memoir.contracts.sizes import HINOS_BODY_BYTES
from memoir.edge.http import Route, lazily, serve
from memoir.edge.request import Request
from memoir.usecases import hinos


def prepare(request: Request) -> Any:
    """Ask for what Hinos prepares for the coming reply."""
    return hinos.prepare(
        wiring.hinos(), scope=request.conversation, body=request.body, request_id=request.request_id
    )


def commit(request: Request) -> Any:
    """Tell Hinos what was said under a claim."""
    return hinos.commit(
        wiring.hinos(),
        scope=request.conversation,
        turn=request.body,
        request_id=request.request_id,
        token=request.token,
    )


ROUTES = {
    "POST /v1/conversations/{id}/hinos/prepare": Route(
        reads=lazily("memoir.contracts.hinos", "read_prepare"),
        max_bytes=HINOS_BODY_BYTES,
        run=prepare,
        answer=prepared_answer,
        event="hinos.prepared",
        needs=wiring.hinos,
    ),
    "POST /v1/conversations/{id}/hinos/commit": Route(
        reads=lazily("memoir.contracts.hinos", "read_commit"),
        max_bytes=HINOS_BODY_BYTES,
        run=commit,
        answer=committed_answer,
        event="hinos.committed",
        needs=wiring.hinos,
        keeps=True,
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
