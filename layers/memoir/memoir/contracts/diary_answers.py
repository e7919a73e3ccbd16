"""What the diary's routes answer."""

from typing import TYPE_CHECKING, NotRequired, TypedDict

from memoir.contracts.answers import Answer
from memoir.domain.clock import utc_text

if TYPE_CHECKING:
    from memoir.domain.diary.record.entry import DiaryEntry, DiaryPage
    from memoir.domain.diary.record.recall import DiaryRecall


class EntryAnswer(TypedDict):
    """A diary entry."""

    firstRound: int
    lastRound: int
    summary: str
    diary: NotRequired[str]
    generator: str
    createdAt: str
    version: int
    edited: bool
    stale: bool
    partial: bool


class DiaryAnswer(TypedDict):
    """A page of entries, newest first. `unreadable`: end rounds of entries that break their own rules."""

    entries: list[EntryAnswer]
    unreadable: NotRequired[list[int]]
    next: NotRequired[str]


class RecallAnswer(TypedDict):
    """What the next turn gets back of the diary."""

    compassMemory: str
    entries: list[EntryAnswer]
    nextAt: int
    staleCount: int
    truncated: bool
    warnings: NotRequired[list[str]]


class DeletedAnswer(TypedDict):
    """A deleted entry."""

    lastRound: int
    deleted: bool


def entry_answer(entry: "DiaryEntry") -> Answer:
    """Return the answer to an edited entry."""
    return Answer(body=_entry(entry), facts={"round": entry.last_round})


def deleted_answer(end_round: int) -> Answer:
    """Return the answer to a deletion."""
    body: DeletedAnswer = {"lastRound": end_round, "deleted": True}
    return Answer(body=body, facts={"round": end_round})


def diary_answer(page: "DiaryPage") -> Answer:
    """Return a page of entries."""
    body: DiaryAnswer = {"entries": [_entry(entry) for entry in page.entries]}
    if page.unreadable:
        body["unreadable"] = list(page.unreadable)
    ends = (*(entry.last_round for entry in page.entries), *page.unreadable)
    following = str(min(ends)) if page.more else None
    return Answer(body=body, next_place=following, facts={"entries": len(page.entries)})


def recall_answer(recalled: "DiaryRecall") -> Answer:
    """Return what is recalled."""
    body: RecallAnswer = {
        "compassMemory": recalled.compass_memory,
        "entries": [_entry(entry) for entry in recalled.entries],
        "nextAt": recalled.next_at,
        "staleCount": recalled.stale_count,
        "truncated": recalled.truncated,
    }
    if recalled.unreadable:
        body["warnings"] = [
            f"the entry that ends at round {last} cannot be read; DELETE or PUT mends it"
            for last in recalled.unreadable
        ]
    return Answer(body=body, facts={"entries": len(recalled.entries)})


def _entry(entry: "DiaryEntry") -> EntryAnswer:
    body: EntryAnswer = {
        "firstRound": entry.first_round,
        "lastRound": entry.last_round,
        "summary": entry.summary,
        "generator": entry.generator,
        "createdAt": utc_text(entry.created_at_ms / 1000),
        "version": entry.version,
        "edited": entry.edited,
        "stale": entry.stale,
        "partial": entry.partial,
    }
    if entry.diary:
        body["diary"] = entry.diary
    return body
