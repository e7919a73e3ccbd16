"""A host that keeps a state and a story and has its history compacted, and knows what was acknowledged."""

import re
from typing import Any

from tests.simulation.calls import FINE, Answer, Calls, Faults
from tests.simulation.host import Host

SCENARIO = "scene"
BUDGET = 900
_TOKENS = 100
_TRIES = 4
_MARK = re.compile(r"甲(\d+)乙")


class SceneHost:
    """Writes of a conversation's state and story. `state`, `events`: what was acknowledged."""

    def __init__(self, calls: Calls, host: Host) -> None:
        """Call the API by *calls*, with the turns of *host*."""
        self._calls = calls
        self._host = host
        self.state: tuple[int, Any] = (0, None)
        self.events: list[str] = []
        body = {"memoryRuntime": "personalization", "compact": {"maxSummaryTokens": 200}}
        saved = calls.admin(
            "PUT",
            "/v1/scenarios/{scenarioId}",
            {"expectedRevision": 0, "scenario": body},
            scenarioId=SCENARIO,
        )
        assert saved.status == 200, saved

    # State

    def propose(self, text: str | None, *, key: str | None, based_on: int | None, faults: Faults) -> None:
        """Propose the next state, or none; where the outcome is unknown, look or repeat."""
        expected, before = self.state
        state = None if text is None else {"text": text, "records": {}}
        body = {"expectedRevision": expected, "candidate": state}
        body |= {} if based_on is None else {"basedOn": {"round": based_on}}
        answer = self._calls.http("POST", "/state/candidates", body, key=key, faults=faults)
        _check_status(answer, 200, 400, 409)
        if answer.status >= 500:
            answer = self._looked(body, state, key=key)
        if answer.status == 200 and answer.json.get("changed"):
            self._moved(answer.json["revision"], expected, state)
        elif answer.status == 200 and not faults.hooks:
            assert state in (None, before), (state, self.state, answer)
        elif answer.status == 409 and answer.code == "revision_conflict":
            assert self.state[0] > expected, (self.state, answer)
        if answer.status in (200, 409) and key and answer.code in ("", "revision_conflict"):
            self._repeated("POST", "/state/candidates", body, key, answer)

    def put_state(self, text: str, *, key: str | None, faults: Faults) -> None:
        """Replace the state."""
        expected, _ = self.state
        state = {"text": text, "records": {}}
        body = {"expectedRevision": expected, "state": state}
        answer = self._calls.http("PUT", "/state", body, key=key, faults=faults)
        _check_status(answer, 200, 409)
        if answer.status >= 500 and key:
            answer = self._calls.http("PUT", "/state", body, key=key)
        elif answer.status >= 500:
            seen = self._read_state()
            answer = _seen(seen["state"] == state, seen["revision"])
        if answer.status == 200:
            self._moved(answer.json["revision"], expected, state)
        else:
            assert answer.status == 503 or self.state[0] > expected, (self.state, answer)

    def _moved(self, revision: int, expected: int, state: Any) -> None:
        if revision == expected + 1:
            assert self.state[0] == expected, (self.state, revision)
            self.state = (revision, state)

    def _looked(self, body: dict[str, Any], state: Any, *, key: str | None) -> Answer:
        if key:
            return self._calls.http("POST", "/state/candidates", body, key=key)
        seen = self._read_state()
        changed = state is not None and seen["state"] == state and seen["revision"] > body["expectedRevision"]
        return _seen(changed, seen["revision"])

    def _repeated(self, method: str, path: str, body: Any, key: str, answer: Answer) -> None:
        """A key gets the same answer again; what was refused may be taken or refused later."""
        again = self._calls.http(method, path, body, key=key)
        if answer.status == 200:
            assert (again.status, again.json) == (200, answer.json), (answer, again)

    def _read_state(self) -> Any:
        seen = self._calls.http("GET", "/state")
        assert seen.status == 200, seen
        return seen.json

    # Story

    def settle(self, number: int, *, key: str | None, faults: Faults) -> None:
        """Settle an event on the accepted turn, once, whatever happens meanwhile."""
        event = {"id": f"e{number}", "text": f"第{number}件事。"}
        for _ in range(_TRIES):
            prepared = self._calls.http("POST", "/story/prepare", {})
            if prepared.status == 409:
                assert not self._host.truth.accepted_through or self._host.in_flight, prepared
                return
            assert prepared.status == 200, prepared
            body = {"claim": prepared.json["claim"], "events": [event], "world": {"n": number}}
            answer = self._calls.http("POST", "/story/settle", body, key=key, faults=faults)
            _check_status(answer, 200, 409)
            if answer.status >= 500:
                answer = self._calls.http("POST", "/story/settle", body, key=key)
            if answer.status == 200:
                break
            assert faults.hooks or faults.faults, answer  # somebody was first
            assert answer.json["moved"] in ("anchor", "revision", "claim"), answer
            faults, key = FINE, None
        assert answer.status == 200, answer
        self.events.append(event["id"])
        same = self._calls.http("POST", "/story/settle", body)
        assert (same.status, same.json) == (200, answer.json), (same, answer)
        if not faults.hooks:
            assert self._calls.http("GET", "/story").json["anchor"] == prepared.json["anchor"]

    # History

    def compact(self, *, faults: Faults) -> None:
        """Have the history compacted: nothing is lost of it, and no discarded reply is told."""
        versions = [listed[-1] for listed in self._host.truth.rounds if listed]
        messages = [
            {"turnId": said.turn_id, "role": role, "content": text or "…", "tokens": _TOKENS}
            for said in versions
            for role, text in (("user", said.user), ("assistant", said.assistant))
        ]
        body = {"scenarioId": SCENARIO, "messages": messages, "tokenBudget": BUDGET}
        answer = self._calls.http("POST", "/compact", body, faults=faults)
        if answer.status != 200:
            _check_status(answer, 503)
            answer = self._calls.http("POST", "/compact", body)
        assert answer.status == 200, answer
        told = answer.json
        kept = [message for message in told["messages"] if message["role"] != "system"]
        assert kept == messages[len(messages) - len(kept) :]
        if told["status"] == "unchanged":
            assert kept == messages
            return
        assert told["tokens"]["total"] <= BUDGET
        assert told["checkpoint"]["coversTurns"] + len(kept) // 2 == len(versions)
        current = {number for said in versions for number in _MARK.findall(said.assistant)}
        assert set(_MARK.findall(told["summary"])) <= current
        again = self._calls.http("POST", "/compact", body).json
        assert (again["status"], again["messages"]) == ("reused", told["messages"]), (told, again)

    def check(self) -> None:
        """Read back all that was acknowledged."""
        state = self._read_state()
        assert (state["revision"], state["state"]) == self.state, (state, self.state)
        story = self._calls.http("GET", "/story")
        assert story.status == 200, story
        assert sorted(event["id"] for event in story.json["events"]) == sorted(self.events)


def _seen(written: bool, revision: int) -> Answer:
    """Return what a look tells of a write whose outcome was unknown."""
    return Answer(status=200 if written else 503, text=f'{{"changed":true,"revision":{revision}}}')


def _check_status(answer: Answer, *expected: int) -> None:
    """A failure is a fault's doing, or it is ours."""
    if answer.status not in expected:
        assert answer.status == 503 or answer.crashed, answer
        assert answer.faults, answer
