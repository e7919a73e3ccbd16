"""GET and PUT …/table, POST …/table/edits: the memory table of a conversation."""

import json
from typing import Any

from memoir import wiring
from memoir.domain.table.text import memory_table_text
from memoir.edge.http import Request, Response, serve
from memoir.edge.observe import scope_facts
from memoir.usecases import table


def get_table(request: Request) -> Response:
    """Answer the table, its revision and the text for the model."""
    record = table.read_table(tables=wiring.tables(), scope=request.conversation)
    answer = {
        "revision": record.revision,
        "throughRound": record.through_round,
        "table": record.document.to_json() if record.document else None,
        "memoryTable": memory_table_text(record.document) if record.document else "",
    }
    return _answer(request, answer, event="table.read", revision_after=record.revision)


def put_table(request: Request) -> Response:
    """Replace the table whole."""
    from memoir.contracts.table import read_put_table

    scope, put = request.conversation, read_put_table(request.json_body())
    revision = table.replace_table(
        tables=wiring.tables(),
        scope=scope,
        expected=put.expected_revision,
        table=put.table,
        token=request.write_token(put.compact_body),
    )
    return _answer(
        request,
        {"revision": revision},
        event="table.replaced",
        revision_before=put.expected_revision,
        revision_after=revision,
    )


def post_edits(request: Request) -> Response:
    """Apply edits and report what became of each."""
    from memoir.contracts.table import MAX_EDITS_BODY_BYTES, read_post_edits

    scope = request.conversation
    post = read_post_edits(request.json_body(max_bytes=MAX_EDITS_BODY_BYTES))
    report = table.edit_by_host(
        tables=wiring.tables(),
        scope=scope,
        expected=post.expected_revision,
        reply=post.reply,
        token=request.write_token(post.compact_body),
    )
    return _answer(
        request,
        report,
        event="table.edited",
        revision_before=report["baseRevision"],
        revision_after=report["revision"],
        **report["counts"],
    )


def _answer(
    request: Request, body: dict[str, Any], *, event: str, revision_after: int, **facts: int
) -> Response:
    return Response(
        body=json.dumps(body, ensure_ascii=False),
        headers={"etag": f'"{revision_after}"'},
        event=event,
        facts={**scope_facts(request.conversation), "revision_after": revision_after, **facts},
    )


ROUTES = {
    "GET /v1/conversations/{id}/table": get_table,
    "PUT /v1/conversations/{id}/table": put_table,
    "POST /v1/conversations/{id}/table/edits": post_edits,
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES)
