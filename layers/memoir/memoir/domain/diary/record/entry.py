"""What is stored of a diary: one entry per range, and one head per conversation and agent."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from memoir.domain.diary.prompt.rounds import DialogueRound, RoundRange, text_hash
from memoir.domain.diary.record.recent import RecentSummaries, RecentSummary, recent_from_plain
from memoir.errors import RecordCorrupt


@dataclass(frozen=True, kw_only=True)
class CoveredRound:
    """A round as it was when the entry was written."""

    round: int
    turn_id: str
    text_hash: str


@dataclass(frozen=True, kw_only=True)
class SummaryBase:
    """What an entry's summary was written from: *version* of the entry that ends at *last_round*."""

    last_round: int
    version: int


@dataclass(frozen=True, kw_only=True)
class DiaryEntry:
    """The stored diary of rounds *first_round* to *last_round*.

    *summary*: the story up to *last_round*, empty where the model gave none and the previous one stands.
    *diary*: the character's own entry, empty where none was asked for. *generator*: which model, or
    `extractive`. *created_at_ms*: the server's time; the texts are never searched for dates. *partial*: the
    diary text was cut off and left out. *stale_reason*: empty for an entry that is recalled. *version* counts
    what a job or the user made of the range, *generation* the rewinds that came before it.
    """

    first_round: int
    last_round: int
    covered: tuple[CoveredRound, ...]
    summary: str
    diary: str = ""
    generator: str
    prompt_version: str
    finish_reason: str
    parse_path: str
    created_at_ms: int
    base: SummaryBase | None = None
    version: int = 1
    partial: bool = False
    truncated_input: bool = False
    edited: bool = False
    stale_reason: str = ""
    flags: tuple[str, ...] = ()
    generation: int = 0

    @property
    def range(self) -> RoundRange:
        """The rounds from first to last."""
        return RoundRange(first=self.first_round, last=self.last_round)

    @property
    def stale(self) -> bool:
        """The entry no longer tells what happened, and is not recalled."""
        return bool(self.stale_reason)

    @property
    def recalled(self) -> RecentSummary:
        """What a recall gives back of it."""
        return RecentSummary(
            first_round=self.first_round,
            last_round=self.last_round,
            summary="" if self.stale else self.summary,
            version=self.version,
        )

    @property
    def usable(self) -> bool:
        """A summary may be written from it."""
        return not self.stale and bool(self.summary)


@dataclass(frozen=True, kw_only=True)
class DiaryCut:
    """A rewind to *to_round*: entries that end behind it and are of an older generation are void."""

    to_round: int
    generation: int


@dataclass(frozen=True, kw_only=True)
class DiaryHead:
    """Where the diary of one conversation and agent stands.

    *watermark*: the last round that is covered. *failed_at_round*: see DiaryProgress, *failure_code*: why.
    *recent*: the newest summaries, None where a head of before kept none. *empties*: ranges that were found
    to hold nothing new. *cuts*: what rewinds took back.
    """

    watermark: int = 0
    failed_at_round: int | None = None
    failure_code: str = ""
    stale_ranges: tuple[RoundRange, ...] = ()
    tombstones: tuple[RoundRange, ...] = ()
    recent: RecentSummaries | None = None
    empties: tuple[RoundRange, ...] = ()
    cuts: tuple[DiaryCut, ...] = ()

    def voids(self, last_round: int, *, generation: int) -> bool:
        """Tell whether the entry that ends at *last_round* was taken back."""
        return any(last_round > cut.to_round and generation < cut.generation for cut in self.cuts)


FIRST_HEAD = DiaryHead(recent=RecentSummaries())
"""The head of a diary that has no entry yet."""


@dataclass(frozen=True, kw_only=True)
class DiaryPage:
    """Entries, newest first, and whether there are more before the last of them.

    `unreadable`: end rounds of entries of the page that break their own rules; they are kept as they are.
    """

    entries: tuple[DiaryEntry, ...]
    more: bool
    unreadable: tuple[int, ...] = ()


def written_by_user(covers: RoundRange, *, created_at_ms: int) -> DiaryEntry:
    """Return an entry for *covers* that no model has written, where the one that was there is unreadable."""
    return DiaryEntry(
        first_round=covers.first,
        last_round=covers.last,
        covered=(),
        summary="",
        generator="user",
        prompt_version="",
        finish_reason="",
        parse_path="",
        created_at_ms=created_at_ms,
    )


def covered_rounds(rounds: tuple[DialogueRound, ...]) -> tuple[CoveredRound, ...]:
    """Return what an entry keeps of the rounds that it was written from, by number."""
    return tuple(
        CoveredRound(round=item.round, turn_id=item.turn_id, text_hash=text_hash(item))
        for item in sorted(rounds, key=lambda item: item.round)
    )


def entry_as_plain(entry: DiaryEntry) -> dict[str, Any]:
    """Return *entry* as plain JSON values."""
    return asdict(entry)


def head_as_plain(head: DiaryHead) -> dict[str, Any]:
    """Return *head* as plain JSON values."""
    return asdict(head)


def entry_from_plain(value: Mapping[str, Any]) -> DiaryEntry:
    """Return the entry that *value* holds. Members it does not know are ignored. Raises RecordCorrupt."""
    known = _known_members(DiaryEntry, value)
    try:
        known["covered"] = tuple(CoveredRound(**item) for item in known["covered"])
        known["base"] = SummaryBase(**known["base"]) if known.get("base") else None
        known["flags"] = tuple(known.get("flags", ()))
        entry = DiaryEntry(**known)
        sound = 1 <= entry.first_round <= entry.last_round and isinstance(entry.summary, str)
    except (TypeError, KeyError) as error:
        raise RecordCorrupt(detail=f"a stored diary entry breaks its own rules: {error}") from None
    if not sound:
        raise RecordCorrupt(detail="a stored diary entry breaks its own rules; it is kept as it is")
    return entry


def head_from_plain(value: Mapping[str, Any]) -> DiaryHead:
    """Return the head that *value* holds. Members it does not know are ignored. Raises RecordCorrupt."""
    known = _known_members(DiaryHead, value)
    try:
        known["cuts"] = tuple(DiaryCut(**item) for item in known.get("cuts", ()))
        for name in ("stale_ranges", "tombstones", "empties"):
            known[name] = tuple(RoundRange(**item) for item in known.get(name, ()))
        known["recent"] = recent_from_plain(known["recent"]) if known.get("recent") else None
        head = DiaryHead(**known)
        sound = head.watermark >= 0
    except (TypeError, KeyError) as error:
        raise RecordCorrupt(detail=f"a stored diary head breaks its own rules: {error}") from None
    if not sound:
        raise RecordCorrupt(detail="a stored diary head breaks its own rules; it is kept as it is")
    return head


def _known_members(kind: type[DiaryEntry] | type[DiaryHead], value: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: item for name, item in value.items() if name in names}
