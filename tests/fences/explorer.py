"""Run operations in every order that their requests to the store can come in.

An operation is a function of what the store answers it. So it needs no thread: it is run from its start with
the answers that it has had so far, up to its next request, and what it asks for then is remembered. One step
of a schedule answers one request, or of a read of several records one record, in any order: each is true, all
of them need not have been true together. Where two schedules come to the same store and the same answers,
what follows is explored once and counts for both.
"""

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memoir.ports.records import Record, RecordKey, Refused
from tests.fences.replay import Operation, Read, Run, Violation
from tests.fences.store import Next, Store

_SHARED = ("head", "table", "cursor")
"""Kinds of record that one operation reads and another changes. Any other is read with the first of these."""


class Judge(Protocol):
    """What has to hold."""

    def after_write(self, operation: str, before: Store, after: Store) -> None:
        """Raise Violation if the write that *operation* did breaks an invariant."""

    def at_end(self, store: Store, outcomes: Mapping[str, Any]) -> None:
        """Raise Violation if the store is not what it has to be. *outcomes*: what was returned or raised."""


class Schedule(NamedTuple):
    """How a schedule goes on from some state: its steps, and the violation that it ends with."""

    steps: tuple[tuple[str, str], ...]
    violation: str

    @property
    def switches(self) -> int:
        """How often another operation goes on."""
        return sum(here[0] != there[0] for here, there in zip(self.steps, self.steps[1:], strict=False))

    def __str__(self) -> str:
        steps = "".join(f"\n  {operation:8} {step}" for operation, step in self.steps)
        return f"{self.violation}{steps}"


@dataclass
class Explored:
    """So many schedules, so many of them wrong, and one of these with few switches."""

    schedules: int
    wrong: int
    example: Schedule | None = None

    def __str__(self) -> str:
        return f"{self.wrong:,} of {self.schedules:,} schedules are wrong. {self.example or ''}"


class _State(NamedTuple):
    """The store, how far each operation is, and what each has got of a read that is not complete."""

    store: Store
    runs: tuple[Run, ...]
    got: tuple[tuple[tuple[int, Record | None], ...], ...]


class Explorer:
    """All schedules of *operations*, by name, from the store *start*."""

    def __init__(self, start: Store, operations: Mapping[str, Operation], judge: Judge) -> None:
        self._names = tuple(operations)
        self._judge = judge
        self._stores: dict[Any, Store] = {}
        self._known: dict[Any, Explored] = {}
        self._start = _State(
            self._one(start),
            tuple(Run(operation) for operation in operations.values()),
            tuple(() for _ in operations),
        )

    def explore(self) -> Explored:
        """Follow every schedule to its end or its first violation."""
        gc.disable()  # all that is made is kept: looking through it takes a third of the time
        try:
            return self._explore(self._start)
        finally:
            gc.enable()

    def replay(self, schedule: Schedule) -> None:
        """Follow one schedule, as `explore` found it. Raises the Violation that it comes to."""
        state = self._start
        for name, told in schedule.steps:
            operation = self._names.index(name)
            state = dict(self._steps(state, operation, state.runs[operation]))[told]()
        self._judge.at_end(state.store, self._outcomes(state))

    @property
    def states(self) -> int:
        """How many different states the schedules came through."""
        return len(self._known)

    def _explore(self, state: _State) -> Explored:
        name = (
            id(state.store),
            tuple(map(id, state.runs)),
            tuple(tuple((place, id(record)) for place, record in got) for got in state.got),
        )
        if name not in self._known:
            self._known[name] = self._follow(state)
        return self._known[name]

    def _follow(self, state: _State) -> Explored:
        total = Explored(0, 0)
        for operation, run in enumerate(state.runs):
            for step, go in self._steps(state, operation, run):
                _add(total, (self._names[operation], step), self._branch(go))
        if total.schedules:
            return total
        return _ended(lambda: self._judge.at_end(state.store, self._outcomes(state)))

    def _outcomes(self, state: _State) -> dict[str, Any]:
        assert all(run.request is None for run in state.runs), "an operation was left in the middle"
        return {name: run.outcome for name, run in zip(self._names, state.runs, strict=True)}

    def _branch(self, go: Callable[[], _State]) -> Explored:
        try:
            state = go()
        except Violation as violation:
            # What would follow does not matter any more: it counts as one schedule.
            return Explored(1, 1, Schedule((), str(violation)))
        return self._explore(state)

    def _steps(self, state: _State, operation: int, run: Run) -> Iterator[tuple[str, Callable[[], _State]]]:
        request = run.request
        if isinstance(request, Read):
            got = dict(state.got[operation])
            shared = any(key.kind in _SHARED for key in request.keys)
            for place, key in enumerate(request.keys):
                if place not in got and (key.kind in _SHARED or not shared):
                    yield f"reads {_told(key)}", lambda p=place: self._read(state, operation, p)
        elif isinstance(request, Next):
            yield (
                f"walks {request.kind}s",
                lambda: self._moved(state, operation, state.store.next(request), state.store),
            )
        elif request is not None:
            yield f"writes {', '.join(w.label for w in request)}", lambda: self._write(state, operation)

    def _read(self, state: _State, operation: int, place: int) -> _State:
        request = state.runs[operation].request
        assert isinstance(request, Read)
        now = {place}
        if not state.got[operation]:
            now.update(other for other, key in enumerate(request.keys) if key.kind not in _SHARED)
        records = ((one, state.store.get(request.keys[one])) for one in now)
        got = tuple(sorted((*state.got[operation], *records), key=lambda one: one[0]))
        if len(got) == len(request.keys):
            return self._moved(state, operation, tuple(record for _, record in got), state.store)
        return state._replace(got=_put(state.got, operation, got))

    def _write(self, state: _State, operation: int) -> _State:
        request = state.runs[operation].request
        assert isinstance(request, tuple)
        try:
            after = self._one(state.store.written(request))
        except Refused as refused:
            return self._moved(state, operation, tuple(refused.held.items()), state.store)
        self._judge.after_write(self._names[operation], state.store, after)
        return self._moved(state, operation, None, after)

    def _moved(self, state: _State, operation: int, answer: Any, store: Store) -> _State:
        run = state.runs[operation].answered(answer)
        if isinstance(run.outcome, Violation):
            raise run.outcome
        return _State(store, _put(state.runs, operation, run), _put(state.got, operation, ()))

    def _one(self, store: Store) -> Store:
        return self._stores.setdefault(store.content, store)


def _add(total: Explored, step: tuple[str, str], part: Explored) -> None:
    total.schedules += part.schedules
    total.wrong += part.wrong
    if part.example is not None:
        example = Schedule((step, *part.example.steps), part.example.violation)
        if total.example is None or _cost(example) < _cost(total.example):
            total.example = example


def _cost(schedule: Schedule) -> tuple[int, int]:
    return schedule.switches, len(schedule.steps)


def _ended(judge: Callable[[], None]) -> Explored:
    try:
        judge()
    except Violation as violation:
        return Explored(1, 1, Schedule((), str(violation)))
    return Explored(1, 0)


def _put(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _told(key: RecordKey) -> str:
    return " ".join((key.kind, *key.name))
