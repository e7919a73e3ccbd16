"""Errors: one class for each code that callers act on; every other code is a MemoirError.

MemoirError
├── NotReached             no answer came: nothing is known of a request without a key
├── NotAuthenticated       401, also after one refresh of the token
├── RevisionConflict       409, with `current_revision`: read, judge anew, write
├── TurnConflict           409: the turn id stands for another text
├── StoryConflict          409, with `moved`
├── TooLarge               413, with `size_bytes` and `limit_bytes`
└── WriteOutcomeUnknown    503, also after repeats: read back; `key` is the idempotency key
"""

from typing import Any


class MemoirError(Exception):
    """What the service refused or could not do. `facts`: the members of the problem beside its code."""

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        status: int = 0,
        facts: dict[str, Any] | None = None,
        request_id: str = "",
        key: str = "",
    ) -> None:
        """Take what the problem says. *key*: the idempotency key of the request, where it had one."""
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.status, self.detail = code, status, detail
        self.facts, self.request_id, self.key = facts or {}, request_id, key


class NotReached(MemoirError):
    """No answer came within the deadline."""


class NotAuthenticated(MemoirError):
    """The token is not accepted."""


class RevisionConflict(MemoirError):
    """The write was based on another revision than the current one."""

    @property
    def current_revision(self) -> int:
        """The revision that stands now."""
        return int(self.facts.get("currentRevision", 0))


class TurnConflict(MemoirError):
    """The turn id stands for a turn with another text."""


class StoryConflict(MemoirError):
    """What a story's claim stands on has moved."""

    @property
    def moved(self) -> str:
        """What moved: `anchor`, `revision` or `claim`."""
        return str(self.facts.get("moved", ""))


class TooLarge(MemoirError):
    """More bytes than allowed."""

    @property
    def size_bytes(self) -> int:
        """How many there are."""
        return int(self.facts.get("sizeBytes", 0))

    @property
    def limit_bytes(self) -> int:
        """How many are allowed."""
        return int(self.facts.get("limitBytes", 0))


class WriteOutcomeUnknown(MemoirError):
    """Nobody knows whether the write was executed: read back before trying again."""


_BY_CODE: dict[str, type[MemoirError]] = {
    "revision_conflict": RevisionConflict,
    "turn_conflict": TurnConflict,
    "story_conflict": StoryConflict,
    "write_outcome_unknown": WriteOutcomeUnknown,
    "not_reached": NotReached,
}
_BY_STATUS: dict[int, type[MemoirError]] = {401: NotAuthenticated, 413: TooLarge}
_PLAIN = {"type", "title", "status", "code", "detail"}


def error_of(status: int, problem: dict[str, Any], *, request_id: str = "", key: str = "") -> MemoirError:
    """Return the error that an answer is. What is no problem of ours has the code `http_<status>`."""
    code = str(problem.get("code") or f"http_{status}")
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, MemoirError)
    facts = {name: value for name, value in problem.items() if name not in _PLAIN}
    detail = str(problem.get("detail") or problem.get("message") or "")
    return kind(detail, code=code, status=status, facts=facts, request_id=request_id, key=key)
