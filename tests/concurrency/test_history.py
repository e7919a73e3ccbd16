"""The checker accepts what a register can do and rejects each thing that it cannot."""

from typing import Any

import pytest

from tests.concurrency.history import Operation, is_linearizable


def read(called: float, returned: float, revision: int, value: str | None) -> Operation:
    return Operation(kind="read", called=called, returned=returned, revision=revision, value=value)


def write(called: float, returned: float, expected: int, value: str, **answer: Any) -> Operation:
    answer.setdefault("revision", expected + 1)
    return Operation(kind="write", called=called, returned=returned, expected=expected, value=value, **answer)


A1 = write(0, 1, 0, "a")

GOOD = {
    "one after the other": [A1, read(2, 3, 1, "a"), write(4, 5, 1, "b"), read(6, 7, 2, "b")],
    "a read beside a write sees the old": [A1, write(2, 5, 1, "b"), read(3, 4, 1, "a")],
    "a read beside a write sees the new": [A1, write(2, 5, 1, "b"), read(3, 4, 2, "b")],
    "of two writers one wins": [write(0, 3, 0, "a"), write(1, 2, 0, "b", outcome="conflict", revision=1)],
    "unknown and never seen": [A1, write(2, 3, 1, "b", outcome="unknown"), read(4, 5, 1, "a")],
    "unknown and seen": [A1, write(2, 3, 1, "b", outcome="unknown"), read(4, 5, 2, "b")],
    "unknown and seen late": [
        A1,
        write(2, 3, 1, "b", outcome="unknown"),
        read(4, 5, 1, "a"),
        read(6, 7, 2, "b"),
    ],
}

BAD = {
    "a lost update": [A1, write(2, 3, 1, "b"), read(4, 5, 1, "a")],
    "two successes of one revision": [A1, write(2, 3, 1, "b"), write(4, 5, 1, "c")],
    "two successes of one revision at once": [A1, write(2, 5, 1, "b"), write(3, 4, 1, "c")],
    "a stale read after a success": [A1, write(2, 3, 1, "b"), read(4, 5, 2, "b"), read(6, 7, 1, "a")],
    "a false conflict": [A1, write(2, 3, 1, "b", outcome="conflict", revision=1), read(4, 5, 1, "a")],
    "a conflict that tells another revision": [A1, write(2, 3, 0, "b", outcome="conflict", revision=5)],
    "a conflict whose write took effect": [
        A1,
        write(2, 3, 1, "b", outcome="conflict", revision=2),
        read(4, 5, 2, "b"),
    ],
    "a revision that jumps": [write(0, 1, 0, "a", revision=2)],
    "a value that nobody wrote": [A1, read(2, 3, 1, "z")],
    "unknown and taken back": [
        A1,
        write(2, 3, 1, "b", outcome="unknown"),
        read(4, 5, 2, "b"),
        read(6, 7, 1, "a"),
    ],
}


@pytest.mark.parametrize("history", GOOD.values(), ids=GOOD)
def test_what_a_register_can_do_is_accepted(history: list[Operation]) -> None:
    assert is_linearizable(history)


@pytest.mark.parametrize("history", BAD.values(), ids=BAD)
def test_what_no_register_does_is_rejected(history: list[Operation]) -> None:
    assert not is_linearizable(history)
