"""Is a history of reads and compare-and-set writes linearizable? A checker for one register with a revision.

Every operation has a call and a return time. The question is whether each can be given one moment in between
so that a register, worked on at these moments one after the other, would have given the same answers. An
operation whose outcome is unknown may have happened at any moment after its call, or never.

The search is Wing and Gong's, with the states already tried remembered: pick, among the operations that no
other has to precede, one that the register agrees with, and go on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

INFINITY = float("inf")


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One call and its answer.

    read: `revision` and `value` are what it returned. write: `expected` and `value` are what was asked;
    `outcome` ok has the new `revision`, conflict has the current one, unknown has none.
    """

    kind: Literal["read", "write"]
    called: float
    returned: float
    outcome: Literal["ok", "conflict", "unknown"] = "ok"
    expected: int = 0
    revision: int = 0
    value: str | None = None


State = tuple[int, str | None]
START: State = (0, None)


def is_linearizable(history: Sequence[Operation]) -> bool:
    """Return whether *history*, all of one key, can be explained by a register that starts empty."""
    operations = sorted(history, key=lambda operation: operation.called)
    certain = frozenset(index for index, operation in enumerate(operations) if operation.outcome != "unknown")
    tried: set[tuple[frozenset[int], State]] = set()
    waiting = [(frozenset[int](), START)]
    while waiting:
        done, state = waiting.pop()
        if certain <= done:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        for index in _may_be_next(operations, done):
            after = _after(operations[index], state)
            if after is not None:
                waiting.append((done | {index}, after))
    return False


def _may_be_next(operations: Sequence[Operation], done: frozenset[int]) -> list[int]:
    """Return the operations that were called before any that is left had returned."""
    left = [index for index in range(len(operations)) if index not in done]
    first_return = min(_return_of(operations[index]) for index in left)
    return [index for index in left if operations[index].called <= first_return]


def _return_of(operation: Operation) -> float:
    return INFINITY if operation.outcome == "unknown" else operation.returned


def _after(operation: Operation, state: State) -> State | None:
    """Return the register's state after *operation*, None where it would have answered otherwise."""
    revision, _ = state
    if operation.kind == "read":
        return state if (operation.revision, operation.value) == state else None
    matches = revision == operation.expected
    if operation.outcome == "conflict":
        return state if not matches and operation.revision == revision else None
    if not matches or (operation.outcome == "ok" and operation.revision != revision + 1):
        return None
    return revision + 1, operation.value
