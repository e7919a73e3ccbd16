"""Diaries: a record for each entry by its last round, a head behind them, a lease, a quota, failed answers.

The head's name sorts behind every entry's, so that one walk backwards reads the head and the newest entries,
however long the conversation is. The head is a document; its revision is what a save compares.
"""

import json
from typing import Any

from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import (
    FIRST_HEAD,
    DiaryEntry,
    DiaryHead,
    entry_as_plain,
    entry_from_plain,
    head_as_plain,
    head_from_plain,
)
from memoir.domain.json_document import JsonDocument
from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt
from memoir.ports.records import ABSENT, Amend, Fact, Is, Put, Record, RecordKey, Stands, stands
from memoir.records.documents import StoredDocument
from memoir.records.positions import round_name

MAX_RAW_BYTES = 16 * 1024
_RAW_SECONDS = 7 * 86_400
_QUOTA_KEPT_SECONDS = 62 * 86_400


def entry_key(scope: Scope, agent: AgentRef, last_round: int) -> RecordKey:
    """Return the key of the entry that ends at *last_round*."""
    return RecordKey(owner=scope, kind="diary", name=(agent, round_name(last_round)))


def diary_head_key(scope: Scope, agent: AgentRef) -> RecordKey:
    """Return the key of a diary's head. It sorts behind all its entries: `~` after digits."""
    return RecordKey(owner=scope, kind="diary", name=(agent, "~"))


def lease_key(scope: Scope, agent: AgentRef) -> RecordKey:
    """Return the key of the lease for writing a diary."""
    return RecordKey(owner=scope, kind="lease", name=(agent,))


def worker_lease_key(scope: Scope, worker: str) -> RecordKey:
    """Return the key of the lease for the work of *worker*, which no agent's diary can have."""
    return RecordKey(owner=scope, kind="lease", name=("worker", worker))


def quota_key(scope: Scope, month: str) -> RecordKey:
    """Return the key of how many diaries a user has had in *month*. It belongs to the user."""
    return RecordKey(owner=scope.owner, kind="quota", name=("diary", month))


def read_diary_head(stored: StoredDocument | None) -> DiaryHead:
    """Return the head that is stored, the first one for none. Raises RecordCorrupt."""
    if stored is None or stored.document is None:
        return FIRST_HEAD
    return head_from_plain(stored.document.value)


def head_document(head: DiaryHead) -> JsonDocument:
    """Return *head* as a document to store."""
    return _document(head_as_plain(head))


def read_entry(record: Record) -> DiaryEntry:
    """Return the entry that is stored. Raises RecordCorrupt."""
    try:
        value = json.loads(record.body or "")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise RecordCorrupt(detail="a stored diary record is not a JSON object; it is kept as it is")
    return entry_from_plain(value)


def entry_write(scope: Scope, agent: AgentRef, entry: DiaryEntry) -> Put:
    """Return the write of *entry*, for the transaction that moves the head."""
    body = _document(entry_as_plain(entry)).text
    key = entry_key(scope, agent, entry.last_round)
    facts: dict[str, Fact] = {"generation": entry.generation} if entry.generation else {}
    return Put(key=key, record=Record(facts=facts, body=body), name=f"entry {entry.last_round}")


def raw_write(scope: Scope, agent: AgentRef, *, last_round: int, text: str, now: float) -> Put:
    """Return the write that keeps the raw text of a failed answer for some days, cut to 16 KiB."""
    raw = text.encode(errors="replace")[:MAX_RAW_BYTES].decode(errors="ignore")
    key = RecordKey(owner=scope, kind="raw", name=(agent, round_name(last_round)))
    return Put(key=key, record=Record(body=raw, expires_at=int(now) + _RAW_SECONDS))


def lease_take(key: RecordKey, *, owner: str, now: int, seconds: int) -> Amend:
    """Return the write by which *owner* takes a lease that is free, has run out, or is its own."""
    free = (Stands(facts=(Is("leased_until", "<=", now),)), *stands(lease_owner=owner))
    facts: dict[str, Fact] = {"lease_owner": owner, "leased_until": now + seconds}
    return Amend(key=key, facts=facts, when=(*ABSENT, *free))


def lease_return(key: RecordKey, *, owner: str) -> Amend:
    """Return the write by which *owner* gives its lease back, if it still has it."""
    return Amend(key=key, facts={"leased_until": 0}, when=stands(lease_owner=owner))


def quota_charge(key: RecordKey, *, limit: int, now: float) -> Amend:
    """Return the write that uses one of *limit* up, if one is left."""
    left = Stands(facts=(Is("used", "<", limit),))
    return Amend(key=key, add={"used": 1}, when=(*ABSENT, left), expires_at=int(now) + _QUOTA_KEPT_SECONDS)


def _document(value: dict[str, Any]) -> JsonDocument:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return JsonDocument(text=text, value=value, size_bytes=len(text.encode()))
