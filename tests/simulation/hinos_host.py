"""A host that commits claims of Hinos's, repeats what it does not know, and checks what it is told."""

from typing import Any

from tests.simulation.calls import Answer, Calls, Faults

_SCRIPTS = (
    (),
    (),
    (),
    ("refused", "refused"),
    ("refused",),
    ("cut",),
    ("status_500",),
    ("not_json",),
    ("crash",),
)
_CHAT = {"system": "s", "messages": [{"role": "user", "content": "u"}]}


class HinosHost:
    """Commits claims, each with texts of its own."""

    def __init__(self, calls: Calls) -> None:
        """Call the API by *calls*."""
        self._calls = calls
        self._bodies: list[dict[str, str]] = []
        self._unclear: set[str] = set()

    def commit(self, *, script: int, repeats: int, faults: Faults) -> None:
        """Prepare a claim and commit it; repeat the commit *repeats* times, and until it is answered."""
        prepared = self._calls.http("POST", "/hinos/prepare", _CHAT)
        assert prepared.status == 200, prepared
        body = {"claim_id": prepared.json["claim_id"], "user": "u", "assistant": "a"}
        self._bodies.append(body)
        self._calls.world.hinos.script = list(_SCRIPTS[script % len(_SCRIPTS)])
        first = self._send(body, faults)
        if first.crashed or len(first.faults) > 1 or script % len(_SCRIPTS) > 4:
            self._unclear.add(body["claim_id"])
        if first.status == 503 or first.crashed:
            assert first.faults or "crash" in _SCRIPTS[script % len(_SCRIPTS)], first
        self._calls.world.hinos.script = []
        told = [first] + [self._send(body, None) for _ in range(repeats)]
        self._check(body, self._told(body))
        said = [answer.json["committed"] for answer in told if answer.status == 200]
        assert True not in said or self._told(body)["committed"], told

    def _send(self, body: dict[str, str], faults: Faults | None) -> Answer:
        answer = self._calls.http("POST", "/hinos/commit", body, faults=faults or Faults())
        assert answer.status in (200, 410, 503) or answer.crashed, answer
        return answer

    def check(self) -> None:
        """What is told of each claim is still true. One that was never sent may have expired."""
        for body in self._bodies:
            answer = self._send(body, None)
            if answer.status == 410:
                assert not self._calls.world.hinos.sent[body["claim_id"]], answer
            else:
                self._check(body, answer.json)

    def _check(self, body: dict[str, str], told: Any) -> None:
        """A claim was sent once at most, what is told of it is true, and one not sent was told of."""
        hinos, claim_id = self._calls.world.hinos, body["claim_id"]
        assert hinos.sent[claim_id] <= 1, (claim_id, hinos.sent)
        if told["committed"]:
            assert claim_id in hinos.committed, (claim_id, told)
            return
        assert claim_id not in hinos.committed or self._may_be_unknown(claim_id), (claim_id, told, hinos)
        assert hinos.sent[claim_id] or self._was_told(claim_id), ("nobody was told", claim_id, told)

    def _may_be_unknown(self, claim_id: str) -> bool:
        """Tell whether no one could know or note that Hinos took it.

        Its answer was lost, the function died, or the store failed again and again. One fault of the store's
        has to be made good.
        """
        return claim_id in self._unclear

    def _told(self, body: dict[str, str]) -> Any:
        for _ in range(3):
            answer = self._send(body, None)
            if answer.status == 200:
                return answer.json
        raise AssertionError(answer)

    def _was_told(self, claim_id: str) -> bool:
        return any(claim_id in event["Detail"] for event in self._calls.world.aws.events)
