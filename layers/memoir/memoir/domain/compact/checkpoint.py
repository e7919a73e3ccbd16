"""Checkpoints: a stored summary, which turns it stands for, and whether it still does."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

from memoir.domain.compact.history import HistoryTurn
from memoir.domain.json_document import MAX_DOCUMENT_BYTES, JsonDocument, json_document
from memoir.errors import RecordCorrupt

RECENT_TURNS = 200
"""How many covered turns are kept by id and hash. All of them are in the chained hash: the record stays small
however long the conversation gets.
"""
CHECKPOINT_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class CoveredTurn:
    """A covered turn as it was read."""

    id: str
    hash: str


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A summary of *count* turns from *first_turn_id* to *through_turn_id*.

    *chain*: the hash of all of them in order. *recent*: the newest 200. *next_turn_id*: the first turn that
    was left out, by which a window that starts behind the checkpoint is known to have no gap.
    """

    summary: str
    count: int
    first_turn_id: str
    through_turn_id: str
    next_turn_id: str
    chain: str
    recent: tuple[CoveredTurn, ...]
    tokens: int
    generator: str
    version: int = CHECKPOINT_VERSION


@dataclass(frozen=True, kw_only=True)
class FailedTry:
    """The last try that gave no summary: the newest turn there was, and why."""

    through_turn_id: str
    code: str


@dataclass(frozen=True, kw_only=True)
class CompactRecord:
    """What is stored for a conversation: its checkpoint, and the failure after it."""

    checkpoint: Checkpoint | None = None
    failed: FailedTry | None = None


class Standing(StrEnum):
    """How a checkpoint stands to a history."""

    NONE = "none"
    COVERS = "covers"  # its turns are in the history, unchanged
    BEFORE = "before"  # the history starts right behind it
    STALE = "stale"  # a covered turn changed; the originals are all in the history
    LOST = "lost"  # a covered turn changed; the originals are not all here
    GAP = "gap"  # turns between the checkpoint and the history are missing


@dataclass(frozen=True, kw_only=True)
class Match:
    """How a checkpoint stands to a history, and how many of its turns are covered.

    *is_window*: turns that the checkpoint stands for are not in the history; it is not whole without.
    """

    standing: Standing
    covered: int = 0
    is_window: bool = False


def match_checkpoint(
    checkpoint: Checkpoint | None, turns: tuple[HistoryTurn, ...], *, known_stale: bool = False
) -> Match:
    """Return how *checkpoint* stands to *turns*. *known_stale*: a covered turn changed elsewhere."""
    if checkpoint is None or not checkpoint.count or not turns:
        return Match(standing=Standing.NONE)
    ids = [turn.id for turn in turns]
    recent = {turn.id: turn.hash for turn in checkpoint.recent}
    if checkpoint.through_turn_id in ids:
        covered = ids.index(checkpoint.through_turn_id) + 1
        if not known_stale and _unchanged(checkpoint, turns[:covered]):
            return Match(standing=Standing.COVERS, covered=covered, is_window=covered < checkpoint.count)
        return Match(standing=Standing.STALE if _is_whole(checkpoint, ids) else Standing.LOST)
    if any(turn_id in recent for turn_id in ids):  # the turn that it ended with is gone
        return Match(standing=Standing.STALE if _is_whole(checkpoint, ids) else Standing.LOST)
    if known_stale:
        return Match(standing=Standing.LOST)
    follows = ids[0] == checkpoint.next_turn_id
    return Match(standing=Standing.BEFORE if follows else Standing.GAP, is_window=follows)


def new_checkpoint(
    *,
    summary: str,
    turns: tuple[HistoryTurn, ...],
    next_turn_id: str,
    after: Checkpoint | None,
    tokens: int,
    generator: str,
) -> Checkpoint:
    """Return the checkpoint of *summary*, which stands for *turns* and for what *after* stood for."""
    covered = [CoveredTurn(id=turn.id, hash=turn.hash) for turn in turns]
    recent = [*(after.recent if after else ()), *covered][-RECENT_TURNS:]
    return Checkpoint(
        summary=summary,
        count=(after.count if after else 0) + len(turns),
        first_turn_id=after.first_turn_id if after else turns[0].id,
        through_turn_id=turns[-1].id,
        next_turn_id=next_turn_id,
        chain=_chained(after.chain if after else "", turns),
        recent=tuple(recent),
        tokens=tokens,
        generator=generator,
    )


def record_document(record: CompactRecord) -> JsonDocument:
    """Return *record* as it is stored. Raises TooLarge `checkpoint_too_large` beyond 65,536 bytes."""
    return json_document(_plain(asdict(record)), name="checkpoint", max_bytes=MAX_DOCUMENT_BYTES)


def record_from_plain(value: Mapping[str, Any]) -> CompactRecord:
    """Return the record that *value* holds. Members it does not know are ignored. Raises RecordCorrupt."""
    try:
        known = value.get("checkpoint") and _known(Checkpoint, value["checkpoint"])
        if known:
            known["recent"] = tuple(CoveredTurn(**turn) for turn in known["recent"])
        failed = value.get("failed") and FailedTry(**_known(FailedTry, value["failed"]))
        return CompactRecord(checkpoint=Checkpoint(**known) if known else None, failed=failed or None)
    except (TypeError, KeyError, AttributeError) as error:
        raise RecordCorrupt(
            detail=f"a stored checkpoint breaks its own rules: {type(error).__name__}"
        ) from None


def _unchanged(checkpoint: Checkpoint, covered: tuple[HistoryTurn, ...]) -> bool:
    """Compare the whole chain where the history begins where the checkpoint does, else the recent turns."""
    if covered[0].id == checkpoint.first_turn_id:
        return _chained("", covered) == checkpoint.chain
    here = [CoveredTurn(id=turn.id, hash=turn.hash) for turn in covered]
    if len(here) >= checkpoint.count:  # turns before the first that it covers: it does not stand for them
        return False
    known = list(checkpoint.recent)
    shared = min(len(here), len(known))
    return here[-shared:] == known[-shared:]


def _is_whole(checkpoint: Checkpoint, ids: list[str]) -> bool:
    """Tell whether the history begins where the checkpoint did, or where all that it covered is known.

    A first turn that was replaced (another greeting) is no window as long as no covered turn came before it.
    """
    recent = [turn.id for turn in checkpoint.recent]
    if ids[0] == checkpoint.first_turn_id:
        return True
    return checkpoint.count == len(recent) and ids[0] not in recent


def _chained(start: str, turns: Iterable[HistoryTurn]) -> str:
    chain = start
    for turn in turns:
        chain = hashlib.sha256(f"{chain} {len(turn.id)} {turn.id} {turn.hash}".encode()).hexdigest()[:32]
    return chain


def _known(kind: type[Checkpoint] | type[FailedTry], value: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: item for name, item in value.items() if name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
