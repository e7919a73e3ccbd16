"""Runs a history: each step on what is there by then, at last all rings; and the same without faults."""

import json
import uuid
from collections.abc import Callable
from typing import Any

from tests.simulation.calls import FINE, Calls, Faults
from tests.simulation.hinos_host import HinosHost
from tests.simulation.host import SHEETS, Host, Said, Truth
from tests.simulation.lambdas import Lambdas
from tests.simulation.programs import Step
from tests.simulation.scene_host import SceneHost
from tests.simulation.truth import check_no_discarded_reply, check_read_back, inserted, outcome, reply

# Things that a store, a parser or a prompt may stumble over. No sentence, so that no diary tells them.
HOSTILE = (
    "",
    "\x01\x02\x00\x1f",
    "\n\n\r\n",
    "\"\\'`",
    "<tableEdit>",
    "</think>",
    "{{memoryTable}}",
    "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    "\u2028\ufffe",
)
LONG = ("\x01" * 90_000, "\n" * 130_000, '"' * 130_000)

LEASE_SECONDS = 400
"""After so long, the lease of a worker that is gone has run out."""

_IDS = uuid.UUID("12345678-1234-5678-1234-567812345678")
LARGE_SHEETS = tuple(
    {
        "name": f"大{sheet}",
        "columns": ["字"],
        "rows": [[f"{row}"] for row in range(200)],
        "rowIds": [str(uuid.uuid5(_IDS, f"{sheet}-{row}")) for row in range(200)],
    }
    for sheet in range(4)
)


class Runner:
    """One run of a history in a world of its own."""

    def __init__(self, world: Lambdas, *, rounds: int = 0, large: bool = False) -> None:
        """Begin a conversation that has its sheets, and *rounds* of which no ring was delivered yet.

        *large*: beside them, sheets that are as large as the limits allow, with long row ids.
        """
        world.reset()
        self.calls = Calls(world)
        self.host = Host(self.calls)
        self.hinos = HinosHost(self.calls)
        self.scene = SceneHost(self.calls, self.host)
        self.numbers = 0
        self.keys = 0
        self.leased_until = 0.0
        self.nested: list[str] = []
        self._set_sheets([*SHEETS, *LARGE_SHEETS] if large else [*SHEETS])
        for _ in range(rounds):
            self._say(Step(act="say", a=1), FINE)

    def _set_sheets(self, sheets: list[Any]) -> None:
        table = {"sheets": sheets}
        answer = self.calls.http("PUT", "/table", {"expectedRevision": 0, "table": table})
        assert answer.status == 200, answer

    def run(self, steps: list[Step]) -> None:
        """Run all steps, then check all that has to hold."""
        for step in steps:
            self.take(step)
        check_read_back(self.host)
        self.drain()
        check_read_back(self.host)
        check_no_discarded_reply(self.host)
        self.hinos.check()
        self.scene.check()

    def take(self, step: Step) -> None:
        """Run one step."""
        hooks = {}
        if step.meanwhile is not None:
            number, inner = step.meanwhile
            hooks[number] = lambda: self._nested(inner)
        act: Callable[[Step, Faults], None] = getattr(self, f"_{step.act}")
        self.nested.append(step.act)
        act(step, Faults(faults=dict(step.faults), hooks=hooks))
        self.nested.pop()

    def _nested(self, step: Step) -> None:
        if step.act in ("regenerate", "accept") and "regenerate" in self.nested:
            return  # which of two regenerated replies is the newer one, their callers cannot know
        self.take(step)

    def _wait(self, step: Step, faults: Faults) -> None:
        """Let some time pass."""
        self.calls.world.clock.now += 1

    # What the host says

    def _say(self, step: Step, faults: Faults, *, replaces: str | None = None) -> None:
        self.numbers += 1
        number = self.numbers
        edit = (inserted(number), "", self._update(step), self._delete(step))[step.a % 4]
        more = LONG[step.b % 3] if step.a == 15 and step.b == 15 else HOSTILE[step.b % len(HOSTILE)]
        said = Said(
            turn_id=f"t{number}",
            user=HOSTILE[step.a % len(HOSTILE)],
            assistant=reply(number, edit=edit, more="" if "<" in more else more),
            accepted=step.b % 5 == 4,
            replaces=replaces,
        )
        self.host.say(said, faults=faults)

    def _update(self, step: Step) -> str:
        row = max(1, self.numbers - 1 - step.b % 3)
        edit = {"op": "update", "table": "人物", "match": {"名": f"{row}"}, "set": {"物": f"{self.numbers}"}}
        return json.dumps({"edits": [edit]})

    def _delete(self, step: Step) -> str:
        row = max(1, self.numbers - 1 - step.b % 3)
        return json.dumps({"edits": [{"op": "delete", "table": "人物", "match": {"名": f"{row}"}}]})

    def _regenerate(self, step: Step, faults: Faults) -> None:
        if self.host.truth.rounds and self.host.truth.rounds[-1]:
            self._say(step, faults, replaces=self.host.truth.rounds[-1][-1].turn_id)

    def _burst(self, step: Step, faults: Faults) -> None:
        """Say 5 to 10 rounds at once; the faults are the first one's. Rings pile up, or are delivered."""
        for number in range(5 + step.a % 6):
            self._say(Step(act="say", a=(step.a + number) % 12, b=step.b), faults if not number else FINE)
            if step.b % 2:
                for worker in ("table", "diary"):
                    self._deliver_first(worker)

    def _again(self, step: Step, faults: Faults) -> None:
        rounds = self.host.truth.rounds
        if rounds and all(rounds):
            act = self.host.say_other_text if step.b % 3 == 0 else self.host.say_again
            act(1 + step.a % len(rounds))

    def _accept(self, step: Step, faults: Faults) -> None:
        rounds = self.host.truth.rounds
        if rounds and all(rounds):
            self.host.accept(len(rounds) - step.a % min(2, len(rounds)), faults=faults)

    # Queues

    def _queue(self, step: Step) -> tuple[str, list[str]]:
        worker = ("table", "diary")[step.a % 2]
        return worker, self.calls.world.aws.queues[worker]

    def _deliver(self, step: Step, faults: Faults) -> None:
        """Deliver one ring or two, wherever in the queue they are; what fails goes back."""
        worker, queue = self._queue(step)
        if queue:
            self._deliver_from(worker, queue, step.b % len(queue), step, faults)

    def _write(self, step: Step, faults: Faults) -> None:
        """Deliver the newest ring of the diary, where the model may take long."""
        queue = self.calls.world.aws.queues["diary"]
        if queue:
            self._deliver_from("diary", queue, len(queue) - 1, step, faults)

    def _deliver_from(self, worker: str, queue: list[str], at: int, step: Step, faults: Faults) -> None:
        taken = queue[at : at + 1 + step.b % 2]
        del queue[at : at + len(taken)]
        self.calls.world.clock.now += (0, 1_000)[step.b % 2]
        may_fail = bool(self.nested[1:]) or self.calls.world.clock.now < self.leased_until
        failed = self.calls.deliver(worker, *taken, faults=faults, may_fail=may_fail)
        if faults.faults or failed != []:  # a worker that failed may have left its lease
            self.leased_until = self.calls.world.clock.now + LEASE_SECONDS
        queue[at:at] = taken if failed is None else failed

    def _deliver_first(self, worker: str) -> None:
        queue = self.calls.world.aws.queues[worker]
        if queue:
            self.calls.deliver_until_taken(worker, queue.pop(0))

    def _lose(self, step: Step, faults: Faults) -> None:
        _, queue = self._queue(step)
        if queue:
            queue.pop(step.b % len(queue))

    def _double(self, step: Step, faults: Faults) -> None:
        _, queue = self._queue(step)
        if queue:
            queue.append(queue[step.b % len(queue)])

    # Documents and diary

    def _memory(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        value = {"n": self.numbers, "text": HOSTILE[step.b % len(HOSTILE)]}
        self.host.put_memory(value, key=self._key(step), faults=faults)

    def _edit(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        self.host.edit_table(f"主{self.numbers}", key=self._key(step), faults=faults)

    def _keyed_edit(self, step: Step, faults: Faults) -> None:
        """Send edits that may have no effect, under a key."""
        row = ("", "主1", "主2")[step.b % 3]
        self.host.edit_without_effect(row, key=f"key-{step.act}-{self._count()}", faults=faults)

    def _repeat(self, step: Step, faults: Faults) -> None:
        self.host.repeat(step.a)

    def _edits(self, step: Step, faults: Faults) -> None:
        """Edit 5 to 10 times; the faults are the first one's."""
        for number in range(5 + step.a % 6):
            self._edit(step, faults if not number else FINE)

    def _put_table(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        self.host.put_table(f"主{self.numbers}", faults=faults)

    def _put_diary(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        if end := self._entry(step):
            self.host.put_diary(end, f"用户写的{self.numbers}。", key=self._key(step), faults=faults)

    def _delete_diary(self, step: Step, faults: Faults) -> None:
        if end := self._entry(step):
            self.host.delete_diary(end, faults=faults)

    def _entry(self, step: Step) -> int:
        ends = [entry["lastRound"] for entry in self.host.entries()]
        return ends[step.a % len(ends)] if ends else 0

    def _key(self, step: Step) -> str | None:
        return f"key-{self._count()}" if step.a % 2 else None

    def _count(self) -> int:
        self.keys += 1
        return self.keys

    def _commit(self, step: Step, faults: Faults) -> None:
        self.hinos.commit(script=step.a, repeats=step.b % 3, faults=faults)

    # State, story, history

    def _propose(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        text = (f"景{self.numbers}", None, f"景{self.numbers % 2}")[step.a % 3]
        based_on = (None, len(self.host.truth.rounds), step.b)[step.b % 3]
        self.scene.propose(text, key=self._key(step), based_on=based_on or None, faults=faults)

    def _put_state(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        self.scene.put_state(f"景{self.numbers}", key=self._key(step), faults=faults)

    def _settle(self, step: Step, faults: Faults) -> None:
        self.numbers += 1
        self.scene.settle(self.numbers, key=self._key(step), faults=faults)

    def _compact(self, step: Step, faults: Faults) -> None:
        self.scene.compact(faults=faults)

    # The end

    def drain(self) -> None:
        """Bring the newest turn's ring to each worker until nothing changes."""
        if not self.host.truth.rounds:
            return
        for queue in self.calls.world.aws.queues.values():
            queue.clear()
        self.host.say_again(len(self.host.truth.rounds))
        for worker, queue in self.calls.world.aws.queues.items():
            ring = queue.pop()
            self.calls.deliver_until_taken(worker, ring)
            self.calls.deliver_until_taken(worker, ring)


def without_faults(world: Lambdas, truth: Truth, *, large: bool = False) -> dict[str, Any]:
    """Do what was acknowledged in a fresh world, each ring delivered at once, and return what comes of it."""
    runner = Runner(world, large=large)
    for _, _, act, arguments in sorted(truth.log, key=lambda entry: entry[:2]):
        if "diary" not in act or _has_entry(runner, arguments[0]):
            getattr(runner.host, act)(*arguments)
        for worker, queue in runner.calls.world.aws.queues.items():
            while queue:
                runner.calls.deliver_until_taken(worker, queue.pop(0))
    return outcome(runner.host)


def _has_entry(runner: Runner, end: int) -> bool:
    """Tell whether an entry ends there. Where none does, the comparison at the end says so."""
    return any(entry["lastRound"] == end for entry in runner.host.entries())
