"""POST …/hinos/prepare before a reply and POST …/hinos/commit after it: the external memory service Hinos."""

import json
from typing import Any

from memoir import wiring
from memoir.edge.http import Request, Response, problem, serve
from memoir.edge.observe import scope_facts
from memoir.usecases import hinos


def post_prepare(request: Request) -> Response:
    """Answer what Hinos prepared for the coming reply."""
    from memoir.contracts.hinos import MAX_HINOS_BODY_BYTES, read_prepare

    scope, ports = request.conversation, wiring.hinos()
    body = read_prepare(request.json_body(max_bytes=MAX_HINOS_BODY_BYTES))
    prepared = hinos.prepare(ports, scope=scope, body=body, request_id=request.request_id)
    return Response(
        body=json.dumps(vars(prepared), ensure_ascii=False),
        event="hinos.prepared",
        facts={**scope_facts(scope), "turn": prepared.turn, "characters": len(prepared.memory)},
    )


def post_commit(request: Request) -> Response:
    """Tell Hinos what was said under a claim."""
    from memoir.contracts.hinos import MAX_HINOS_BODY_BYTES, read_commit

    scope, ports = request.conversation, wiring.hinos()
    commit = read_commit(request.json_body(max_bytes=MAX_HINOS_BODY_BYTES))
    if token := request.request_token():
        wiring.request_keys().bind(scope, token)
    done = hinos.commit(
        ports,
        scope=scope,
        claim_id=commit.claim_id,
        user=commit.user,
        assistant=commit.assistant,
        request_id=request.request_id,
    )
    if done.failure and wiring.settings().memory_ingest == "required":
        return problem(done.failure)
    answer: dict[str, Any] = {"committed": done.committed} | ({"error": done.error} if done.error else {})
    return Response(
        body=json.dumps(answer),
        event="hinos.committed" if done.committed else "hinos.commit_failed",
        facts={**scope_facts(scope), "error_code": done.error},
    )


ROUTES = {
    "POST /v1/conversations/{id}/hinos/prepare": post_prepare,
    "POST /v1/conversations/{id}/hinos/commit": post_commit,
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
