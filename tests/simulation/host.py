"""A careful host: it calls the API, settles every unknown outcome as a client would, and knows the truth.

What was acknowledged stands in its fields; `check` reads all of it back.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.simulation.calls import FINE, Answer, Calls, Faults

SHEETS = (
    {"name": "人物", "columns": ["名", "物"], "rows": []},
    {"name": "主", "columns": ["记"], "rows": []},
)
HOSTS_SHEET = "主"
_TRIES = 4


@dataclass(frozen=True, kw_only=True)
class Said:
    """A turn that was acknowledged."""

    turn_id: str
    user: str
    assistant: str
    accepted: bool = False
    replaces: str | None = None

    def body(self) -> dict[str, Any]:
        """Return the body that reports it."""
        body: dict[str, Any] = {
            "turnId": self.turn_id,
            "user": {"text": self.user},
            "assistant": {"text": self.assistant},
            "accepted": self.accepted,
        }
        return body | ({"replaces": self.replaces} if self.replaces else {})


@dataclass
class Truth:
    """What was acknowledged. `rounds`: the versions of each round. `log`: (round, order, act, arguments)."""

    rounds: list[list[Said]] = field(default_factory=list)
    accepted_through: int = 0
    memory: tuple[int, Any] = (0, None)
    host_rows: list[str] = field(default_factory=list)
    diary: dict[int, str | None] = field(default_factory=dict)
    log: list[tuple[int, int, str, tuple[Any, ...]]] = field(default_factory=list)

    def noted(self, act: str, *arguments: Any, turn_round: int = 0) -> None:
        """Keep an act for a run without faults: turns by round, other acts behind what was said then."""
        last = turn_round or len(self.rounds)
        self.log.append((last, 0 if turn_round else 1, act, arguments))


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """A request that was answered under an idempotency key."""

    method: str
    path: str
    body: dict[str, Any]
    key: str
    answer: Answer
    rest: dict[str, str]


class Host:
    """The caller of one conversation."""

    def __init__(self, calls: Calls) -> None:
        """Call the API by *calls*."""
        self.calls = calls
        self.truth = Truth()
        self.in_flight = 0
        self.keyed: list[Keyed] = []

    # Turns

    def say(self, said: Said, *, faults: Faults = FINE) -> bool:
        """Report a turn; where the outcome is unknown, report it again. False: its round was closed."""
        self.in_flight += 1
        answer = self._settled("POST", "/turns", said.body(), faults=faults)
        self.in_flight -= 1
        if answer.status == 409 and said.replaces and (self.in_flight or self._closed(said)):
            return False
        assert answer.status == 202, answer
        self._keep(said, answer.json["round"])
        return True

    def _closed(self, said: Said) -> bool:
        return not self.truth.rounds or said.replaces not in [v.turn_id for v in self.truth.rounds[-1]]

    def _keep(self, said: Said, number: int) -> None:
        """Note where a turn stands. One that was sent inside the sending of another may be noted first."""
        rounds = self.truth.rounds
        while len(rounds) < number:
            rounds.append([])
        if said.replaces is None:
            assert not any(version.replaces is None for version in rounds[number - 1]), (said, number)
            rounds[number - 1].insert(0, said)
        else:
            assert number == len(rounds) or rounds[number:], (said, number)
            rounds[number - 1].append(said)
        through = self.truth.accepted_through
        if said.replaces and through <= number:  # else a later round was accepted meanwhile
            through = min(through, number - 1)
        self.truth.accepted_through = max(through, number) if said.accepted else through
        self.truth.noted("say", said, turn_round=number)

    def say_again(self, number: int) -> None:
        """Report the newest turn of a round again: it is known."""
        said = self.truth.rounds[number - 1][-1]
        answer = self.calls.http("POST", "/turns", said.body())
        assert (answer.status, answer.json["round"], answer.json["duplicate"]) == (202, number, True), answer

    def say_other_text(self, number: int) -> None:
        """Report another text under a known id: refused."""
        said = self.truth.rounds[number - 1][-1]
        body = {**said.body(), "user": {"text": said.user + "!"}}
        answer = self.calls.http("POST", "/turns", body)
        assert (answer.status, answer.code) == (409, "turn_conflict"), answer

    def accept(self, number: int, *, faults: Faults = FINE) -> None:
        """Accept the newest turn of a round."""
        said = self.truth.rounds[number - 1][-1]
        answer = self._settled("POST", "/turns/{turnId}/accept", faults=faults, turnId=said.turn_id)
        if answer.status == 409:  # replaced meanwhile
            assert faults.hooks and said != self.truth.rounds[number - 1][-1], answer
            return
        assert (answer.status, answer.json["round"]) == (202, number), answer
        self.truth.accepted_through = max(self.truth.accepted_through, number)

    # Documents

    def put_memory(self, value: Any, *, key: str | None = None, faults: Faults = FINE) -> None:
        """Replace the memory; where the outcome is unknown, read it back or repeat it with its key."""
        expected, _ = self.truth.memory
        body = {"expectedRevision": expected, "memory": value}
        answer = self.calls.http("PUT", "/memory", body, key=key, faults=faults)
        _check_status(answer, 200, 409)
        if answer.status >= 500:
            answer = self._look_at_memory(body, key=key)
        if answer.status == 200 and answer.json["revision"] == expected + 1:
            assert self.truth.memory[0] == expected, (self.truth.memory, answer)
            self.truth.memory = (expected + 1, value)
        else:  # somebody was first, or nothing was written
            assert answer.status != 409 or self.truth.memory[0] > expected, answer
        if answer.status == 200 and key:
            self._remember("PUT", "/memory", body, key=key, answer=answer)

    def _look_at_memory(self, body: dict[str, Any], *, key: str | None) -> Answer:
        if key:
            return self.calls.http("PUT", "/memory", body, key=key)
        seen = self.calls.http("GET", "/memory")
        assert seen.status == 200, seen
        wrote = seen.json["memory"] == body["memory"]
        return Answer(status=200 if wrote else 503, text=seen.text)

    def edit_table(self, row: str, *, key: str | None = None, faults: Faults = FINE) -> None:
        """Insert a row of the host's own."""
        edits = [{"op": "insert", "table": HOSTS_SHEET, "set": {"记": row}}]
        for _ in range(_TRIES):
            revision = self.table()["revision"]
            body = {"expectedRevision": revision, "edits": edits}
            answer = self.calls.http("POST", "/table/edits", body, key=key, faults=faults)
            _check_status(answer, 200, 409)
            if answer.status >= 500 and key:
                answer = self.calls.http("POST", "/table/edits", body, key=key)
            if answer.status == 200 or row in self.rows(HOSTS_SHEET):
                break
            assert answer.status != 409 or faults.hooks, answer
            faults, key = FINE, None
        self._keep_row(row)
        if key and answer.status == 200:
            self._remember("POST", "/table/edits", body, key=key, answer=answer)

    def edit_without_effect(self, row: str, *, key: str, faults: Faults = FINE) -> None:
        """Send an edit under a key that changes no row, or means none."""
        edits = [{"op": "update", "table": HOSTS_SHEET, "match": {"记": row}, "set": {"记": row}}]
        body = {"expectedRevision": self.table()["revision"], "edits": edits}
        answer = self._settled("POST", "/table/edits", body, key=key, faults=faults)
        if answer.status == 409:
            assert faults.hooks, answer
            return
        assert (answer.status, answer.json["changed"]) == (200, False), answer
        self._remember("POST", "/table/edits", body, key=key, answer=answer)

    def put_table(self, row: str, *, faults: Faults = FINE) -> None:
        """Replace the table by what it is and one more row."""
        for _ in range(_TRIES):
            seen = self.table()
            table = seen["table"] or {"sheets": [dict(sheet) for sheet in SHEETS]}
            for sheet in table["sheets"]:
                sheet.pop("rowIds", None)
                sheet["rows"] = [*sheet["rows"], [row]] if sheet["name"] == HOSTS_SHEET else sheet["rows"]
            body = {"expectedRevision": seen["revision"], "table": table}
            answer = self.calls.http("PUT", "/table", body, faults=faults)
            _check_status(answer, 200, 409)
            if answer.status == 200 or row in self.rows(HOSTS_SHEET):
                break
            assert answer.status != 409 or faults.hooks, answer
            faults = FINE
        self._keep_row(row)

    def _keep_row(self, row: str) -> None:
        self.truth.host_rows.append(row)
        self.truth.noted("edit_table", row)

    def table(self) -> Any:
        """Return what GET says of the table."""
        answer = self.calls.http("GET", "/table")
        assert answer.status == 200, answer
        return answer.json

    def rows(self, sheet_name: str) -> list[str]:
        """Return the first cells of a sheet."""
        table = self.table()["table"] or {"sheets": []}
        return [row[0] for sheet in table["sheets"] if sheet["name"] == sheet_name for row in sheet["rows"]]

    # Diary

    def entries(self) -> list[Any]:
        """Return all entries, oldest first."""
        answer = self.calls.http("GET", "/diary", limit="100")
        assert answer.status == 200, answer
        return list(reversed(answer.json["entries"]))

    def put_diary(self, end: int, summary: str, *, key: str | None = None, faults: Faults = FINE) -> None:
        """Write the user's own text into an entry."""
        body = {"summary": summary}
        answer = self._settled("PUT", "/diary/{endRound}", body, key=key, faults=faults, endRound=str(end))
        assert answer.status == 200, answer
        self.truth.diary[end] = summary
        self.truth.noted("put_diary", end, summary)
        if key:
            self._remember("PUT", "/diary/{endRound}", body, key=key, answer=answer, endRound=str(end))

    def delete_diary(self, end: int, *, faults: Faults = FINE) -> None:
        """Delete an entry."""
        answer = self._settled("DELETE", "/diary/{endRound}", faults=faults, endRound=str(end))
        assert answer.status == 200, answer
        self.truth.diary[end] = None
        self.truth.noted("delete_diary", end)

    # Settling

    def _settled(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, faults: Faults, **rest: str
    ) -> Answer:
        """Send a request that may be repeated, and repeat it where it failed or its outcome is unknown."""
        answer = self.calls.http(method, path, body, key=key, faults=faults, **rest)
        _check_status(answer, 200, 202, 409)
        if answer.status >= 500:
            answer = self.calls.http(method, path, body, key=key, **rest)
        return answer

    def _remember(self, method: str, path: str, body: Any, *, key: str, answer: Answer, **rest: str) -> None:
        """Keep an answer under a key, and ask for it at once."""
        self.keyed.append(Keyed(method=method, path=path, body=body, key=key, answer=answer, rest=rest))
        self.repeat(-1)

    def repeat(self, number: int) -> None:
        """Send a keyed request again: the same answer. Send another body under its key: 422."""
        if not self.keyed:
            return
        kept = self.keyed[number % len(self.keyed)]
        again = self.calls.http(kept.method, kept.path, kept.body, key=kept.key, **kept.rest)
        assert (again.status, again.json) == (kept.answer.status, kept.answer.json), (kept, again)
        name = next(name for name in ("memory", "summary", "edits") if name in kept.body)
        other = {**kept.body, name: {"memory": {}, "summary": "另一份。", "edits": []}[name]}
        refused = self.calls.http(kept.method, kept.path, other, key=kept.key, **kept.rest)
        assert (refused.status, refused.code) == (422, "idempotency_key_reused"), (kept, refused)


def _check_status(answer: Answer, *expected: int) -> None:
    """A failure is a fault's doing, or it is ours."""
    if answer.status not in expected:
        assert answer.status == 503 or answer.crashed, answer
        assert answer.faults, answer
