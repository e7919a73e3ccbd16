"""Every file in events/ is replayed by its function's real handler, on moto, in the order of the names.

Each function begins with an empty table. What is expected stands here; a file without a row fails.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

EVENTS = Path(__file__).resolve().parents[2] / "events"

# Status and, where it is an error, its code.
HTTP: dict[str, list[tuple[str, int, str | None]]] = {
    "memory": [
        ("01-get-none", 200, None),
        ("02-put-first", 200, None),
        ("03-put-first-again", 200, None),
        ("04-put-conflict", 409, "revision_conflict"),
        ("05-put-no-object", 400, "not_an_object"),
        ("06-put-not-json", 400, "json_malformed"),
        ("07-put-not-declared-json", 415, "media_type_unsupported"),
        ("08-put-too-deep", 422, "json_too_deep"),
        ("09-get-no-user", 400, "user_id_missing"),
        ("10-get-own-token", 200, None),
        ("11-get-forbidden-user", 403, "forbidden"),
        ("12-get-bad-id", 400, "conversation_id_invalid"),
    ],
    "conversations": [("get", 200, None), ("get-bad-before", 400, "before_invalid")],
    "scenarios": [
        ("01-get-default", 200, None),
        ("02-get-unknown", 404, "scenario_unknown"),
        ("03-put-not-admin", 403, "forbidden"),
        ("04-put", 200, None),
        ("05-put-bad", 422, "scenario_invalid"),
        ("06-get", 200, None),
        ("07-list", 200, None),
        ("08-delete", 200, None),
        ("09-get-deleted", 404, "scenario_unknown"),
    ],
    "profile": [("01-get-none", 200, None), ("02-put-first", 200, None), ("03-get", 200, None)],
    "health": [("get", 200, None), ("get-openapi", 200, None), ("no-such-route", 404, "not_found")],
    "turns": [
        ("01-post", 202, None),
        ("02-post-again", 202, None),
        ("03-post-other-text", 409, "turn_conflict"),
        ("04-post-regenerated", 202, None),
        ("05-accept", 202, None),
        ("06-get", 200, None),
        ("07-post-bad", 400, "request_invalid"),
    ],
    "receipts": [("get", 200, None), ("get-bad-limit", 400, "limit_invalid")],
    "table": [
        ("01-get-none", 200, None),
        ("02-put", 200, None),
        ("03-edits-of-a-reply", 200, None),
        ("04-edits-as-json", 200, None),
        ("05-edits-conflict", 409, "revision_conflict"),
        ("06-put-bad", 400, "table_invalid"),
    ],
    "state": [
        ("01-get-none", 200, None),
        ("02-put", 200, None),
        ("03-project-actor", 200, None),
        ("04-project-nobody", 400, "request_invalid"),
        ("05-candidate-none", 200, None),
        ("06-candidate-changes", 200, None),
        ("07-candidate-stale", 409, "candidate_stale"),
        ("08-put-bad", 400, "state_invalid"),
    ],
    "story": [
        ("01-get-none", 200, None),
        ("02-put", 200, None),
        ("03-put-bad", 400, "story_invalid"),
        ("04-prepare-none-accepted", 409, "story_conflict"),
        ("05-settle-not-accepted", 409, "story_conflict"),
        ("06-settle-no-claim", 400, "claim_invalid"),
        ("07-events-none", 404, "not_found"),
    ],
    "rewind": [
        ("list-none", 200, None),
        ("post-bad", 400, "request_invalid"),
        ("post-no-turn", 404, "not_found"),
    ],
    "compact": [
        ("post-bad", 400, "member_missing"),
        ("post-not-configured", 422, "compact_not_configured"),
        ("post-unknown-scenario", 404, "scenario_unknown"),
    ],
    "context": [
        ("post", 200, None),
        ("post-unknown-scenario", 404, "scenario_unknown"),
        ("post-bad", 400, "number_invalid"),
    ],
    # No Hinos is configured here; the proxy's own tests bring one.
    "hinos": [
        ("01-prepare", 503, "hinos_not_configured"),
        ("02-prepare-not-users-turn", 503, "hinos_not_configured"),
        ("03-commit", 503, "hinos_not_configured"),
    ],
    "diary": [
        ("01-get", 200, None),
        ("02-recall", 200, None),
        ("03-put-unknown", 404, "not_found"),
        ("04-delete-unknown", 404, "not_found"),
    ],
}

# How many messages of the batch have to come again.
SQS: dict[str, list[tuple[str, int]]] = {
    function: [("poison", 2), ("rung", 0), ("rung-thrice", 0)]
    for function in ("edit_table", "write_diary", "write_state")
}


class Context:
    """What a worker asks of Lambda's context."""

    def get_remaining_time_in_millis(self) -> int:
        return 300_000


def replay(function: str, name: str) -> dict[str, Any]:
    event = json.loads((EVENTS / function / f"{name}.json").read_text())
    module = importlib.import_module(f"functions.{function}.app")
    answer: dict[str, Any] = module.handler(event, Context())
    return answer


def test_every_event_has_an_expectation_and_every_function_an_event() -> None:
    files = sorted(str(path.relative_to(EVENTS).with_suffix("")) for path in EVENTS.glob("*/*.json"))
    rows = [f"{function}/{row[0]}" for table in (HTTP, SQS) for function in table for row in table[function]]
    assert files == sorted(rows)
    functions = sorted(path.parent.name for path in EVENTS.parent.glob("functions/*/app.py"))
    assert functions == sorted([*HTTP, *SQS])


@pytest.mark.usefixtures("wired")
@pytest.mark.parametrize("function", HTTP)
def test_the_http_events_of_a_function_get_their_answers(function: str) -> None:
    for name, status, code in HTTP[function]:
        answer = replay(function, name)
        body = json.loads(answer["body"])
        assert (answer["statusCode"], body.get("code")) == (status, code), name
        problem = answer["headers"]["content-type"] == "application/problem+json"
        assert problem == (status >= 400), name
        assert answer["headers"]["x-request-id"] == "JKJaXmPLvHcESHA="


@pytest.mark.usefixtures("wired")
@pytest.mark.parametrize("function", SQS)
def test_the_sqs_events_of_a_worker_leave_in_the_queue_what_failed(function: str) -> None:
    for name, failed in SQS[function]:
        assert len(replay(function, name)["batchItemFailures"]) == failed, name
