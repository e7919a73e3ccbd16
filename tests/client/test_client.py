"""The client against a server that drops, delays and lies: each row of the table in docs/client.md."""

import asyncio
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

import memoir_client
from memoir_client import (
    AsyncMemoir,
    ClientCredentials,
    Memoir,
    MemoirError,
    NotAuthenticated,
    NotReached,
    RevisionConflict,
    StaticToken,
    StoryConflict,
    TooLarge,
    TurnConflict,
    WriteOutcomeUnknown,
)
from memoir_client import _async as async_module
from memoir_client import _sync as sync_module
from tests.client.make_sync import sync_text

Step = httpx.Response | Exception


def problem(status: int, code: str, **facts: Any) -> httpx.Response:
    body = {"type": "about:blank", "title": "t", "status": status, "code": code, "detail": "d", **facts}
    return httpx.Response(status, json=body, headers={"x-request-id": "r1"})


def ok(**body: Any) -> httpx.Response:
    return httpx.Response(200, json=body)


class Server:
    """Answers by its script, the last answer for ever; keeps what it was sent."""

    def __init__(self, *script: Step) -> None:
        self.script = list(script)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, Exception):
            raise step
        return httpx.Response(step.status_code, headers=step.headers, content=step.content)

    @property
    def keys(self) -> list[str | None]:
        return [request.headers.get("idempotency-key") for request in self.requests]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(sync_module.time, "sleep", found.append)
    monkeypatch.setattr(async_module.asyncio, "sleep", sleep)
    return found


Run = Callable[[Server, Callable[[Any], Any]], Any]


def run_sync(server: Server, act: Callable[[Any], Any], **how: Any) -> Any:
    with Memoir("https://x", auth=StaticToken("t"), transport=httpx.MockTransport(server), **how) as memoir:
        return act(memoir.conversation("c1", user="u"))


def run_async(server: Server, act: Callable[[Any], Any], **how: Any) -> Any:
    async def run() -> Any:
        transport = httpx.MockTransport(server)
        async with AsyncMemoir("https://x", auth=StaticToken("t"), transport=transport, **how) as memoir:
            return await act(memoir.conversation("c1", user="u"))

    return asyncio.run(run())


@pytest.fixture(params=[run_sync, run_async], ids=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Any:
    return request.param


def put(chat: Any) -> Any:
    return chat.memory.put({"a": 1}, expected=0)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("x"),
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        problem(503, "store_unavailable"),
        problem(503, "doorbell_failed"),
        problem(503, "write_outcome_unknown"),
        httpx.Response(502, text="<html>"),
        httpx.Response(504, json={"message": "Endpoint request timed out"}),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        httpx.Response(503, json={"message": "Service Unavailable"}),
    ],
    ids=lambda failure: str(getattr(failure, "status_code", type(failure).__name__)),
)
def test_what_a_repeat_may_mend_is_sent_again_with_the_same_key(run: Any, failure: Step) -> None:
    server = Server(failure, failure, ok(revision=1))
    assert run(server, put).revision == 1
    assert len(server.requests) == 3
    assert len(set(server.keys)) == 1 and server.keys[0]
    assert {request.content for request in server.requests} == {server.requests[0].content}


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (problem(409, "revision_conflict", currentRevision=7), RevisionConflict),
        (problem(409, "turn_conflict"), TurnConflict),
        (problem(409, "story_conflict", moved="anchor"), StoryConflict),
        (problem(413, "memory_too_large", sizeBytes=70_000, limitBytes=65_536), TooLarge),
        (problem(400, "not_an_object"), MemoirError),
        (problem(404, "scenario_unknown"), MemoirError),
        (problem(500, "record_corrupt"), MemoirError),
        (problem(503, "hinos_not_configured"), MemoirError),
        (problem(502, "hinos_unavailable"), MemoirError),
        (problem(504, "hinos_timeout"), MemoirError),
    ],
    ids=lambda value: getattr(value, "__name__", str(getattr(value, "status_code", ""))),
)
def test_what_no_repeat_mends_is_told_at_once(run: Any, failure: httpx.Response, kind: type) -> None:
    server = Server(failure, ok(revision=1))
    with pytest.raises(kind) as raised:
        run(server, put)
    assert len(server.requests) == 1
    assert (raised.value.status, raised.value.request_id) == (failure.status_code, "r1")
    facts = {
        "revision_conflict": ("current_revision", 7),
        "story_conflict": ("moved", "anchor"),
        "memory_too_large": ("limit_bytes", 65_536),
    }
    if raised.value.code in facts:
        name, value = facts[raised.value.code]
        assert getattr(raised.value, name) == value


def test_an_outcome_that_stays_unknown_carries_its_key(run: Any) -> None:
    server = Server(problem(503, "write_outcome_unknown"))
    with pytest.raises(WriteOutcomeUnknown) as raised:
        run(server, put)
    assert len(server.requests) == 3
    assert raised.value.key == server.keys[0]


def test_a_server_that_is_not_there_is_told(run: Any) -> None:
    with pytest.raises(NotReached):
        run(Server(httpx.ConnectError("x")), lambda chat: chat.memory.get())


def test_reads_are_repeated_and_carry_no_key(run: Any) -> None:
    server = Server(problem(503, "store_unavailable"), ok(revision=0, memory=None))
    assert run(server, lambda chat: chat.memory.get()).value is None
    assert server.keys == [None, None]


def test_a_commit_of_hinos_is_never_repeated(run: Any) -> None:
    server = Server(httpx.ReadTimeout("x"), ok(committed=True))
    with pytest.raises(NotReached):
        run(server, lambda chat: chat.commit_hinos("c", user="u", assistant="a"))
    assert len(server.requests) == 1


def test_the_deadline_holds_for_all_tries_and_retry_after_is_kept(run: Any, pauses: list[float]) -> None:
    late = problem(503, "store_unavailable")
    late.headers["retry-after"] = "4"
    with pytest.raises(MemoirError):
        run(Server(late), put, deadline=3.0)
    assert pauses == []  # waiting so long would be over the deadline
    with pytest.raises(MemoirError):
        run(Server(late), put, deadline=60.0)
    assert pauses == [4.0, 4.0]


def test_a_token_is_refreshed_once() -> None:
    tokens: list[str] = []

    def server(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/token":
            tokens.append(f"token-{len(tokens)}")
            return ok(access_token=tokens[-1], expires_in=3600)
        good = request.headers["authorization"] == "Bearer token-1"
        return ok(revision=1, memory={}) if good else httpx.Response(401, json={"message": "Unauthorized"})

    auth = ClientCredentials("https://x/token", "id", "secret")
    memoir = Memoir("https://x", auth=auth, transport=httpx.MockTransport(server))
    assert memoir.conversation("c1", user="u").memory.get().revision == 1
    assert memoir.conversation("c1", user="u").memory.get().revision == 1
    assert len(tokens) == 2
    tokens.append("never")
    with pytest.raises(NotAuthenticated):
        auth.forget()
        memoir.conversation("c1", user="u").memory.get()


def test_a_token_is_kept_until_a_minute_before_its_end() -> None:
    now = [0.0]
    auth = ClientCredentials("https://x/token", "id", "secret", clock=lambda: now[0])
    assert auth.request()
    auth.keep({"access_token": "a", "expires_in": 300})
    now[0] = 239.0
    assert auth.request() is None
    now[0] = 241.0
    assert auth.request()
    assert "secret" not in repr(auth)


def test_numbers_are_at_hand_as_they_were_written(run: Any) -> None:
    text = '{"revision":3,"memory":{"n":1.50,"big":9007199254740993}}'
    document = run(Server(httpx.Response(200, text=text)), lambda chat: chat.memory.get())
    assert document.value["big"] == 9007199254740993
    assert document.exact()["n"] == Decimal("1.50")
    assert document.text == text


def test_a_change_is_judged_anew_after_each_conflict(run: Any) -> None:
    seen: list[Any] = []

    def judge(memory: Any) -> Any:
        seen.append(memory)
        return {"n": memory["n"] + 1}

    server = Server(
        ok(revision=1, memory={"n": 1}),
        problem(409, "revision_conflict", currentRevision=2),
        ok(revision=2, memory={"n": 5}),
        ok(revision=3),
    )
    changed = run(server, lambda chat: chat.memory.change(judge))
    assert (changed.revision, changed.value, seen) == (3, {"n": 6}, [{"n": 1}, {"n": 5}])
    sent = [json.loads(request.content) for request in server.requests if request.method == "PUT"]
    assert [body["expectedRevision"] for body in sent] == [1, 2]
    keys = [key for key in server.keys if key]
    assert len(set(keys)) == 2  # another proposal is another write


def test_a_turn_says_what_its_model_was_given(run: Any) -> None:
    server = Server(httpx.Response(202, json={"round": 1}))
    given = {"revisions": {"memory": 4}, "context": "opaque"}
    run(server, lambda chat: chat.say("t1", user="q", assistant="a", context=given))
    assert json.loads(server.requests[0].content)["recalled"] == {"memory": 4, "context": "opaque"}


def test_the_sync_client_is_made_from_the_async_one() -> None:
    assert Path(sync_module.__file__).read_text() == sync_text(), "run `make client`"
    for name, kind in inspect.getmembers(async_module, inspect.isclass):
        if name.startswith("Async") and kind.__module__ == async_module.__name__:
            twin = getattr(sync_module, name.removeprefix("Async"))
            ours = {n: inspect.signature(m) for n, m in inspect.getmembers(kind, inspect.isfunction)}
            theirs = {n: inspect.signature(m) for n, m in inspect.getmembers(twin, inspect.isfunction)}
            renamed = {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__"}
            assert {renamed.get(n, n): list(s.parameters) for n, s in ours.items()} == {
                n: list(s.parameters) for n, s in theirs.items()
            }


def test_the_client_is_small_and_needs_httpx_alone() -> None:
    folder = Path(memoir_client.__file__).parent
    written = [path.read_text() for path in folder.glob("*.py") if path.name != "_sync.py"]
    assert sum(bool(line.strip()) for text in written for line in text.splitlines()) <= 600
    code = "import sys, memoir_client; print({'pydantic', 'boto3', 'memoir'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
