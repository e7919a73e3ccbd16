"""An operation as a function of what the store answers it, run from its start up to its next request."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memoir.errors import MemoirError
from memoir.ports.records import Found, Owner, Record, RecordKey, Records, Refused, Write
from tests.fences.store import Name, Next

Operation = Callable[[Records], Any]


class Read(NamedTuple):
    """The request for several records."""

    keys: tuple[RecordKey, ...]


Request = Read | Next | tuple[Write, ...]


class Violation(AssertionError):
    """An invariant is broken."""


class _Asked(BaseException):
    """The operation has come to its next request."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class _Replayed:
    """The store of an operation that is run with the answers that it has had so far."""

    def __init__(self, answers: tuple[Any, ...]) -> None:
        self._answers = iter(answers)

    def read(self, *keys: RecordKey) -> Found:
        wanted = tuple(dict.fromkeys(keys))
        found = self._ask(Read(wanted))
        return {key: record for key, record in zip(wanted, found, strict=True) if record is not None}

    def walk(
        self,
        owner: Owner,
        kind: str,
        *,
        first: Name = (),
        last: Name = ("~",),
        backwards: bool = False,
        page: int = 100,
    ) -> Iterator[tuple[Name, Record]]:
        seen = None
        while found := self._ask(Next(owner, kind, first, last, backwards, seen)):
            seen = found[0]
            yield found

    def write(self, *writes: Write) -> None:
        held = self._ask(writes)
        if held is not None:
            raise Refused(dict(held))

    def _ask(self, request: Request) -> Any:
        for answer in self._answers:
            return answer
        raise _Asked(request)


@dataclass(eq=False)
class Run:
    """An operation that has had these answers: what it asks for next, or what it returned or raised."""

    operation: Operation
    answers: tuple[Any, ...] = ()
    request: Request | None = None
    outcome: Any = None
    after: dict[Any, "Run"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self.outcome = self.operation(_Replayed(self.answers))
        except _Asked as asked:
            self.request = asked.request
        except (MemoirError, Violation) as error:
            self.outcome = error

    def answered(self, answer: Any) -> "Run":
        """Return the run after one more answer. Of each content there is one record, so its id names it."""
        name = _name_of(answer)
        if name not in self.after:
            self.after[name] = Run(self.operation, (*self.answers, answer))
        return self.after[name]


def _name_of(answer: Any) -> Any:
    return tuple(map(_name_of, answer)) if isinstance(answer, tuple) else _id(answer)


def _id(value: Any) -> Any:
    return id(value) if isinstance(value, Record) else value
