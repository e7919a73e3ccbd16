"""The client. `_sync.py` is made from this file by `make client`: change this one."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from memoir_client._auth import ClientCredentials, StaticToken
from memoir_client._errors import RevisionConflict, error_of
from memoir_client._policy import Document, Tries, document_of, may_repeat, new_key

Json = dict[str, Any]


class AsyncMemoir:
    """One product's access to the service at *url*.

    *timeout*: of one try, in s. *retries*: beyond the first try. *deadline*: of a call with all its tries.
    """

    def __init__(
        self,
        url: str,
        *,
        auth: ClientCredentials | StaticToken,
        timeout: float = 10.0,
        retries: int = 2,
        deadline: float = 30.0,
        transport: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is sent yet. *transport*: of httpx, where its own will not do."""
        self._url = url.rstrip("/")
        self._auth = auth
        self._retries, self._deadline, self._clock = retries, deadline, clock
        self._http = httpx.AsyncClient(timeout=timeout, transport=transport)

    async def __aenter__(self) -> "AsyncMemoir":
        """Use the client in a `with`."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def conversation(self, conversation_id: str, *, user: str | None = None) -> "AsyncConversation":
        """Return a conversation of *user*, None where the token is the user's own."""
        return AsyncConversation(self, conversation_id, user=user)

    async def conversations(self, *, user: str | None = None, **page: Any) -> Json:
        """Return a page of a user's conversations, newest first."""
        return await self.call("GET", "/v1/conversations", user=user, query=page)

    async def profile(self, *, user: str | None = None) -> Document:
        """Return the user's profile."""
        return document_of(await self.text("GET", "/v1/profile", user=user), "profile")

    async def put_profile(self, profile: Json, *, expected: int, user: str | None = None) -> int:
        """Replace the user's profile and return its new revision."""
        body = {"expectedRevision": expected, "profile": profile}
        return int((await self.call("PUT", "/v1/profile", body, user=user))["revision"])

    async def scenario(self, scenario_id: str) -> Document:
        """Return a scenario."""
        return document_of(await self.text("GET", f"/v1/scenarios/{scenario_id}"), "scenario")

    async def put_scenario(self, scenario_id: str, scenario: Json, *, expected: int) -> Json:
        """Save a scenario, with the scope `memory/admin`."""
        body = {"expectedRevision": expected, "scenario": scenario}
        return await self.call("PUT", f"/v1/scenarios/{scenario_id}", body)

    async def call(self, method: str, path: str, body: Any = None, **how: Any) -> Json:
        """Send one request and return its answer. See `text`."""
        answer: Json = json.loads(await self.text(method, path, body, **how) or "{}")
        return answer

    async def text(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        user: str | None = None,
        query: Json | None = None,
        key: str | None = None,
        repeats: bool = True,
    ) -> str:
        """Send one request, repeat it where that is safe and may help, and return the answer's text.

        A write carries an idempotency key, the same in every repeat; *key*: one of the caller's own.
        Raises MemoirError.
        """
        key = key or (None if method == "GET" else new_key())
        tries, refreshed = Tries(self._retries, self._deadline, self._clock), False
        while True:
            tries.made += 1
            status, text, headers = await self._once(
                method, path, body, user=user, query=query, key=key, seconds=tries.seconds_left
            )
            if 200 <= status < 300:
                return text
            error = error_of(
                status, _problem(text), request_id=headers.get("x-request-id", ""), key=key or ""
            )
            if status == 401 and not refreshed:
                self._auth.forget()
                refreshed = True
                continue
            pause = tries.pause(headers.get("retry-after"))
            if not (repeats and may_repeat(status, error.code)) or pause is None:
                raise error
            await asyncio.sleep(pause)

    async def _once(
        self,
        method: str,
        path: str,
        body: Any,
        *,
        user: str | None,
        query: Json | None,
        key: str | None,
        seconds: float,
    ) -> tuple[int, str, Any]:
        """Send one request once; status 0 and what went wrong where no answer came."""
        headers = {"accept": "application/json"}
        headers |= {"x-user-id": user} if user else {}
        headers |= {"idempotency-key": key} if key else {}
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        try:
            headers["authorization"] = f"Bearer {await self._token()}"
            answer = await self._http.request(
                method,
                f"{self._url}{path}",
                params={name: value for name, value in (query or {}).items() if value is not None},
                content=content,
                headers=headers,
                timeout=max(0.001, min(self._http.timeout.read or seconds, seconds)),
            )
            return answer.status_code, answer.text, answer.headers
        except httpx.TransportError as failure:
            detail = f"no answer: {type(failure).__name__}"
            return 0, json.dumps({"code": "not_reached", "detail": detail}), {}

    async def _token(self) -> str:
        asked = self._auth.request()
        if asked is not None:
            answer = await self._http.post(asked["url"], content=asked["content"], headers=asked["headers"])
            if answer.status_code != 200:
                raise error_of(401, {"code": "token_refused", "detail": f"status {answer.status_code}"})
            self._auth.keep(answer.json())
        return self._auth.current()


class AsyncConversation:
    """One conversation: its memory, turns, table, diary, state, story, context, and its rewinds."""

    def __init__(self, memoir: AsyncMemoir, conversation_id: str, *, user: str | None) -> None:
        """Bind the scope: no later argument can change it."""
        self._memoir, self._user = memoir, user
        self._base = f"/v1/conversations/{conversation_id}"
        self.memory = AsyncMemory(self)

    async def call(self, method: str, path: str, body: Any = None, **how: Any) -> Json:
        """Send one request under the conversation. See `AsyncMemoir.text`."""
        return await self._memoir.call(method, f"{self._base}{path}", body, user=self._user, **how)

    async def document(self, path: str, member: str, **query: Any) -> Document:
        """Read a document under the conversation."""
        text = await self._memoir.text("GET", f"{self._base}{path}", user=self._user, query=query)
        return document_of(text, member)

    # Turns

    async def say(
        self, turn_id: str, *, user: str, assistant: str, context: Json | None = None, **members: Any
    ) -> Json:
        """Report a completed reply. *context*: the answer of `context` that its model was given."""
        body = {"turnId": turn_id, "user": {"text": user}, "assistant": {"text": assistant}, **members}
        if context is not None:
            body["recalled"] = {**context["revisions"], "context": context["context"]}
        return await self.call("POST", "/turns", body)

    async def accept(self, turn_id: str) -> Json:
        """Note that the user accepted a turn, and with it all that led to it."""
        return await self.call("POST", f"/turns/{turn_id}/accept")

    async def turns(self) -> AsyncIterator[Json]:
        """Yield all turns, newest first, a page at a time."""
        async for turn in self._all("/turns", "turns"):
            yield turn

    async def receipts(self) -> AsyncIterator[Json]:
        """Yield all receipts, newest first, a page at a time."""
        async for receipt in self._all("/receipts", "receipts"):
            yield receipt

    async def _all(self, path: str, member: str) -> AsyncIterator[Json]:
        query: Json = {"limit": 100}
        while True:
            page = await self.call("GET", path, query=query)
            for item in page[member]:
                yield item
            if "next" not in page:
                return
            query["before"] = page["next"]

    # What the next turn gets

    async def context(self, **body: Any) -> Json:
        """Return what the next turn gets. Members as of `POST …/context`."""
        return await self.call("POST", "/context", body)

    async def compact(self, messages: list[Json], *, token_budget: int, **members: Any) -> Json:
        """Bring a history within its budget."""
        return await self.call(
            "POST", "/compact", {"messages": messages, "tokenBudget": token_budget, **members}
        )

    # Table and diary

    async def table(self, *, revision: int | None = None) -> Json:
        """Return the table, and its text for the model."""
        return await self.call("GET", "/table", query={"revision": revision})

    async def put_table(self, table: Json, *, expected: int) -> int:
        """Replace the table and return its new revision."""
        body = {"expectedRevision": expected, "table": table}
        return int((await self.call("PUT", "/table", body))["revision"])

    async def edit_table(self, edits: list[Json], *, expected: int) -> Json:
        """Apply edits and return the report of each."""
        return await self.call("POST", "/table/edits", {"expectedRevision": expected, "edits": edits})

    async def recall(self, *, category: str | None = None, scenario_id: str | None = None) -> Json:
        """Return what the next turn gets back of the diary."""
        query = {"subscriptionCategory": category, "scenarioId": scenario_id}
        return await self.call("GET", "/diary/recall", query=query)

    async def diary(self, **query: Any) -> Json:
        """Return a page of diary entries, newest first."""
        return await self.call("GET", "/diary", query=query)

    async def edit_diary(self, end_round: int, *, summary: str, diary: str = "") -> Json:
        """Put the user's own texts into an entry."""
        return await self.call("PUT", f"/diary/{end_round}", {"summary": summary, "diary": diary})

    async def delete_diary(self, end_round: int) -> Json:
        """Delete an entry for good."""
        return await self.call("DELETE", f"/diary/{end_round}")

    # State and story

    async def state(self, *, revision: int | None = None) -> Document:
        """Return the whole state, as the director sees it."""
        return await self.document("/state", "state", revision=revision)

    async def put_state(self, state: Json, *, expected: int, **members: Any) -> int:
        """Replace the state and return its new revision."""
        body = {"expectedRevision": expected, "state": state, **members}
        return int((await self.call("PUT", "/state", body))["revision"])

    async def propose_state(self, candidate: Json | None, *, expected: int, **members: Any) -> Json:
        """Propose the next state, None for no update."""
        body = {"expectedRevision": expected, "candidate": candidate, **members}
        return await self.call("POST", "/state/candidates", body)

    async def project_state(self, audience: str, *, scenario_id: str | None = None) -> Json:
        """Return what an audience may see of the state."""
        query = {"audience": audience, "scenarioId": scenario_id}
        return await self.call("GET", "/state/projection", query=query)

    async def story(self, *, revision: int | None = None) -> Json:
        """Return the story."""
        return await self.call("GET", "/story", query={"revision": revision})

    async def prepare_story(self) -> Json:
        """Return a claim on the story's revision and the accepted turn."""
        return await self.call("POST", "/story/prepare", {})

    async def settle_story(self, claim: str, **members: Any) -> int:
        """Lay what was confirmed onto the story and return its new revision."""
        return int((await self.call("POST", "/story/settle", {"claim": claim, **members}))["revision"])

    # History

    async def rewind(self, to_round: int, **members: Any) -> Json:
        """Bring every kind back to the end of a round."""
        return await self.call("POST", "/rewind", {"toRound": to_round, **members})

    async def undo_rewind(self, generation: int) -> Json:
        """Take the newest rewind back, while no turn followed it."""
        return await self.call("POST", "/rewind", {"undo": generation})

    # Hinos

    async def prepare_hinos(self, body: Json) -> Json:
        """Ask Hinos for its memory."""
        return await self.call("POST", "/hinos/prepare", body, repeats=False)

    async def commit_hinos(self, claim_id: str, *, user: str, assistant: str) -> Json:
        """Tell Hinos what was said. Never repeated by itself."""
        body = {"claim_id": claim_id, "user": user, "assistant": assistant}
        return await self.call("POST", "/hinos/commit", body, repeats=False)


class AsyncMemory:
    """The JSON memory of a conversation."""

    def __init__(self, conversation: AsyncConversation) -> None:
        """Bind the conversation."""
        self._conversation = conversation

    async def get(self, *, revision: int | None = None) -> Document:
        """Return the memory, None at revision 0; or a revision that is kept."""
        return await self._conversation.document("/memory", "memory", revision=revision)

    async def put(self, memory: Json, *, expected: int, key: str | None = None) -> Document:
        """Replace the whole memory. Raises RevisionConflict: read and judge anew."""
        body = {"expectedRevision": expected, "memory": memory}
        answer = await self._conversation.call("PUT", "/memory", body, key=key)
        return Document(revision=answer["revision"], value=memory)

    async def change(self, judge: Callable[[Any], Json | None], *, tries: int = 3) -> Document:
        """Read the memory, let *judge* make the next one of it, write it; judged anew after each conflict.

        *judge* returns None to leave it as it is. Raises RevisionConflict after so many *tries*.
        """
        for left in reversed(range(tries)):
            current = await self.get()
            wanted = judge(current.value)
            if wanted is None:
                return current
            try:
                return await self.put(wanted, expected=current.revision)
            except RevisionConflict:
                if not left:
                    raise
        raise ValueError("tries must be at least 1")


def _problem(text: str) -> Json:
    try:
        problem = json.loads(text)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
