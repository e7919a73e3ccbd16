"""GET and PUT …/table, POST …/table/edits: the memory table of a conversation."""

from typing import Any

from memoir import wiring
from memoir.contracts.answers import edits_answer, revision_answer, table_answer
from memoir.contracts.sizes import EDITS_BODY_BYTES
from memoir.edge.http import Route, lazily, serve
from memoir.edge.paging import read_revision
from memoir.edge.request import Request
from memoir.usecases import table
from memoir.usecases.kept_revisions import kept_table


def get(request: Request) -> Any:
    """Read the table, its revision and the text for the model, or a revision that is kept."""
    revision = read_revision(request.query)
    if revision is not None:
        return kept_table(wiring.engine(), scope=request.conversation, revision=revision)
    return table.read_table(wiring.engine(), scope=request.conversation)


def put(request: Request) -> Any:
    """Replace the table whole."""
    return table.replace_table(
        wiring.engine(),
        scope=request.conversation,
        expected=request.body.expected_revision,
        table=request.body.table,
        token=request.token,
    )


def edit(request: Request) -> Any:
    """Apply edits and report what became of each."""
    return table.edit_by_host(
        wiring.engine(),
        scope=request.conversation,
        expected=request.body.expected_revision,
        reply=request.body.reply,
        token=request.token,
    )


ROUTES = {
    "GET /v1/conversations/{id}/table": Route(run=get, answer=table_answer, event="table.read"),
    "PUT /v1/conversations/{id}/table": Route(
        reads=lazily("memoir.contracts.table", "read_put_table"),
        run=put,
        answer=revision_answer,
        event="table.replaced",
    ),
    "POST /v1/conversations/{id}/table/edits": Route(
        reads=lazily("memoir.contracts.table", "read_post_edits"),
        max_bytes=EDITS_BODY_BYTES,
        run=edit,
        answer=edits_answer,
        event="table.edited",
        keeps=True,
    ),
}


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Answer one request of API Gateway."""
    return serve(event, ROUTES, wiring.Service)
