"""The memory function's real handler, on moto: what callers are told when things go wrong."""

import base64
import json
from typing import Any

import pytest

from functions.memory import app
from tests.tables import TABLE_NAME

EMPTY = {"revision": 0, "memory": None}


def call(method: str, body: Any = None, *, raw: bool = False, **headers: str) -> dict[str, Any]:
    text = body if raw or body is None else json.dumps(body)
    event = {
        "routeKey": f"{method} /v1/conversations/{{id}}/memory",
        "headers": {
            "Content-Type": "application/json",
            "X-User-Id": "u",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        },
        "pathParameters": {"id": "c1"},
        "requestContext": {
            "requestId": "made-by-the-api",
            "authorizer": {
                "jwt": {
                    "claims": {"client_id": "p", "sub": "p", "scope": "[memory/act-as-user memory/admin]"}
                }
            },
        },
        "body": text,
    }
    return app.handler(event, None)


def body_of(answer: dict[str, Any]) -> Any:
    return json.loads(answer["body"])


@pytest.fixture(autouse=True)
def client(wired: Any) -> Any:
    return wired


def test_an_etag_that_the_caller_has_saves_the_body() -> None:
    assert call("PUT", {"expectedRevision": 0, "memory": {"a": 1}})["headers"]["etag"] == '"1"'
    fresh = call("GET", if_none_match='"1"')
    assert (fresh["statusCode"], fresh["body"], fresh["headers"]["etag"]) == (304, "", '"1"')
    assert body_of(call("GET", if_none_match='"0"')) == {"revision": 1, "memory": {"a": 1}}


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256])
def test_an_idempotency_key_that_is_none_is_refused(key: str) -> None:
    answer = call("PUT", {"expectedRevision": 0, "memory": {}}, idempotency_key=key)
    assert (answer["statusCode"], body_of(answer)["code"]) == (400, "idempotency_key_invalid")
    assert body_of(call("GET")) == EMPTY


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "application/x-www-form-urlencoded"},
        {"content_type": ""},
        {"content_type": "application/json; charset=gbk"},
        {"content_encoding": "gzip"},
    ],
)
def test_a_body_that_is_not_declared_as_json_is_refused(headers: dict[str, str]) -> None:
    answer = call("PUT", {"expectedRevision": 0, "memory": {}}, **headers)
    assert (answer["statusCode"], body_of(answer)["code"]) == (415, "media_type_unsupported")
    assert body_of(call("GET")) == EMPTY


def test_a_charset_of_utf_8_is_json() -> None:
    declared = "application/json; charset=UTF-8"
    assert call("PUT", {"expectedRevision": 0, "memory": {}}, content_type=declared)["statusCode"] == 200


def test_bytes_that_are_no_utf_8_are_refused_however_they_arrive() -> None:
    event = '{"expectedRevision":0,"memory":{"a":"\ufffd"}}'
    mangled = call("PUT", event, raw=True, content_length=str(len(event.encode()) - 2))
    assert (mangled["statusCode"], body_of(mangled)["code"]) == (400, "json_malformed")
    sent = call("PUT", event, raw=True, content_length=str(len(event.encode())))
    assert sent["statusCode"] == 200


def test_a_body_in_base64_is_read() -> None:
    raw = base64.b64encode(b'{"expectedRevision":0,"memory":{"a":"\xe4\xb8\xad"}}').decode()
    event_answer = _call_base64(raw)
    assert event_answer["statusCode"] == 200
    assert body_of(call("GET"))["memory"] == {"a": "中"}
    bad = _call_base64(base64.b64encode(b'{"expectedRevision":1,"memory":{"a":"\xff"}}').decode())
    assert bad["statusCode"] == 400


def _call_base64(body: str) -> dict[str, Any]:
    event = {
        "routeKey": "PUT /v1/conversations/{id}/memory",
        "headers": {"content-type": "application/json", "x-user-id": "u"},
        "pathParameters": {"id": "c1"},
        "requestContext": {
            "requestId": "r",
            "authorizer": {"jwt": {"claims": {"client_id": "p", "sub": "p", "scope": "memory/act-as-user"}}},
        },
        "body": body,
        "isBase64Encoded": True,
    }
    return app.handler(event, None)


def test_a_huge_body_is_refused_before_it_is_parsed() -> None:
    answer = call("PUT", "[" * (512 * 1024 + 1), raw=True)
    assert (answer["statusCode"], body_of(answer)["code"]) == (413, "body_too_large")
    assert body_of(answer)["limitBytes"] == 512 * 1024


def test_the_callers_request_id_is_passed_on_where_it_is_one() -> None:
    assert call("GET", x_request_id="mine.1")["headers"]["x-request-id"] == "mine.1"
    for odd in ("a b", "x" * 129, "<script>"):
        assert call("GET", x_request_id=odd)["headers"]["x-request-id"] == "made-by-the-api"


def test_a_corrupt_record_is_an_error_that_tells_nothing_of_it(client: Any) -> None:
    call("PUT", {"expectedRevision": 0, "memory": {"secret": "text"}})
    key = {"pk": {"S": "P#p#U#u#C#c1"}, "sk": {"S": "D#memory"}}
    item = client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    client.put_item(TableName=TABLE_NAME, Item={**item, "revision": {"N": "0"}})
    answer = call("GET")
    assert (answer["statusCode"], body_of(answer)["code"]) == (500, "record_corrupt")
    assert "secret" not in answer["body"]


def test_no_log_line_holds_a_memory_a_user_or_a_header(caplog: pytest.LogCaptureFixture) -> None:
    call(
        "PUT", {"expectedRevision": 0, "memory": {"secret-name": "secret-text"}}, idempotency_key="secret-key"
    )
    call("PUT", {"expectedRevision": 0, "memory": {"secret-name": "secret-text"}})
    call("PUT", '{"secret-name":', raw=True)
    logged = str([vars(record) for record in caplog.records])
    assert "memory.updated" in logged
    assert "request.rejected" in logged
    assert "secret" not in logged
    assert "'u'" not in logged


def test_a_fault_of_ours_is_told_as_one_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    context = {"requestId": "r", "authorizer": 5}
    answer = app.handler({"routeKey": "GET /v1/conversations/{id}/memory", "requestContext": context}, None)
    body = body_of(answer)
    assert (answer["statusCode"], body["code"]) == (500, "internal_error")
    assert "Traceback" not in answer["body"]
    assert any(record.message == "request.crashed" for record in caplog.records)
