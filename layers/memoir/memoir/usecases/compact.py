"""Bring a history within its budget before the actor runs.

head, scenario, checkpoint (one read) ─ plan ─ nothing to ask: answer
                                          └─── ask the model ─ check ─ store by compare-and-set ─ answer

Only what is stored is given out. Whatever fails, the history comes back as it was, with the reason.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.clock import utc_text
from memoir.domain.compact import finish
from memoir.domain.compact.checkpoint import CompactRecord, record_document, record_from_plain
from memoir.domain.compact.extract import extracted_summary, is_extracted
from memoir.domain.compact.history import CountTokens, HistoryTurn, Message, read_history
from memoir.domain.compact.plan import Outcome, Reason, Summarise, plan_compaction
from memoir.domain.compact.prompt import summary_characters, summary_parts, summary_prompt
from memoir.domain.compact.request import Compacted, CompactRequest
from memoir.domain.compact.summary import summary_flaw, summary_text
from memoir.domain.context.history import message_tokens
from memoir.domain.language_model import ModelAnswer, Prompt
from memoir.domain.model_text.cleaning import encodable
from memoir.domain.page import PageRoom
from memoir.domain.receipt import Outcome as Told
from memoir.domain.receipt import Receipt
from memoir.domain.revision import NONE_YET, Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import Turn, TurnHead
from memoir.domain.write_token import random_token
from memoir.errors import ModelFailed, RecordCorrupt, RevisionConflict, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports.records import RecordKey, Refused, Write
from memoir.records.documents import Change, StoredDocument, made_by, read_document
from memoir.records.turns import life_check, newest_first, read_turn
from memoir.usecases.governed_reads import GovernedReads

MODEL_SECONDS = 20
"""For all that a model is asked within one call: the function has 28 s, the API 30 s."""

# Another host may note its own failure between our read and our write; that makes our summary no worse.
_TRIES = 3

AsksModel = Callable[[Prompt, float], ModelAnswer]
"""Asks a model, which has so many seconds. Raises ModelFailed."""


def _message_tokens(text: str, tokenizer: str) -> int:
    return message_tokens(text, tokenizer=tokenizer)


@dataclass(frozen=True, kw_only=True)
class CompactPorts:
    """What compaction needs. `ask`: None where there is no model; then summaries are extracted.

    `count`: the tokens of a message's text, by a tokenizer's name.
    """

    reads: GovernedReads
    ask: AsksModel | None
    count: Callable[[str, str], int] = _message_tokens
    monotonic: Callable[[], float] = time.monotonic


def compact(ports: CompactPorts, *, scope: Scope, request: CompactRequest) -> Compacted:
    """Return the history within its budget, or as it was and why.

    One read where no model is needed, two with stored turns; then one transaction. Raises ScenarioUnknown,
    ScenarioForbids (the scenario has no compaction), RequestInvalid, StoreUnavailable (nothing was read).
    """
    key = checkpoint_key(scope)
    scenario, head, found = ports.reads.read(scope, key, scenario_id=request.scenario_id)
    tokenizer = request.tokenizer or scenario.tokenizer

    def count_tokens(text: str) -> int:
        return ports.count(text, tokenizer)

    try:
        stored = read_document(found.get(key))
        record = _record(stored)
    except RecordCorrupt:
        stored, record = None, None
    messages = request.messages
    if messages is None:
        messages = _stored_messages(ports, scope, head, record, limit=request.history_turns)
    plan = plan_compaction(
        read_history(messages, count_tokens=count_tokens),
        record=record,
        budget=request.token_budget,
        settings=scenario.compact,
        count_tokens=count_tokens,
        # What was taken back since may be among what it covers.
        known_stale=bool(stored and stored.round > head.last.round),
    )
    revision = stored.revision if stored else NONE_YET
    if isinstance(plan, Outcome):
        return Compacted(outcome=plan, revision=revision, tokenizer=tokenizer)
    work = _Work(
        ports=ports,
        scope=scope,
        head=head,
        plan=plan,
        record=record or CompactRecord(),
        revision=revision,
        count_tokens=count_tokens,
    )
    outcome = work.summarise()
    return Compacted(outcome=outcome, revision=work.revision, tokenizer=tokenizer, calls=work.calls)


def checkpoint_key(scope: Scope) -> RecordKey:
    """Return the key of a conversation's checkpoint."""
    return RecordKey(owner=scope, kind="checkpoint")


@dataclass(kw_only=True)
class _Work:
    """A plan that needs a summary, carried out. `revision`: of the checkpoint that is stored."""

    ports: CompactPorts
    scope: Scope
    head: TurnHead
    plan: Summarise
    record: CompactRecord
    revision: Revision
    count_tokens: CountTokens
    calls: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    def summarise(self) -> Outcome:
        """Ask, check, store, and return the answer."""
        code, finished = self._asked()
        if finished is None:
            self._note_failure(code)
            return finish.failed(self.plan, code)
        for _ in range(_TRIES):
            try:
                self.revision = self._store(finished)
                return finished.outcome
            except RevisionConflict:
                now = self._read()
                if now is None or now.checkpoint != self.record.checkpoint:
                    break
            except (Refused, StoreUnavailable, WriteOutcomeUnknown):
                return finish.failed(self.plan, Reason.NOT_STORED)
        return finish.after_conflict(self.plan, now or CompactRecord(), count_tokens=self.count_tokens)

    def _asked(self) -> tuple[str, finish.Finished | None]:
        """Return what is to be stored, or the code of why there is none. Each turn is read once."""
        plan = self.plan
        summary = plan.after.summary if plan.after else ""
        generator = ""
        deadline = self.ports.monotonic() + MODEL_SECONDS
        for part in summary_parts(plan.turns):
            try:
                answer = self._answer(part, previous=summary, seconds=deadline - self.ports.monotonic())
            except ModelFailed as failure:
                return failure.code, None
            flaw = summary_flaw(answer, turns=part, may_quote=is_extracted(answer))
            if flaw:
                return str(flaw), None
            summary, generator = summary_text(answer.text), answer.generator
        done = finish.finish(plan, summary=summary, generator=generator, count_tokens=self.count_tokens)
        return (done, None) if isinstance(done, str) else ("", done)

    def _answer(self, part: tuple[HistoryTurn, ...], *, previous: str, seconds: float) -> ModelAnswer:
        max_tokens = self.plan.max_tokens
        if self.ports.ask is None:
            characters = summary_characters(part, max_tokens=max_tokens)
            answer = extracted_summary(part, previous=previous, characters=characters)
        else:
            if seconds <= 0:
                raise ModelFailed(code="model_timeout", detail="no time was left for the model")
            self.calls += 1
            answer = self.ports.ask(summary_prompt(part, previous=previous, max_tokens=max_tokens), seconds)
        for name, count in (("inputTokens", answer.input_tokens), ("outputTokens", answer.output_tokens)):
            self.facts[name] = self.facts.get(name, 0) + count
        self.facts["generator"] = answer.generator
        return replace(answer, text=encodable(answer.text))

    def _store(self, finished: finish.Finished) -> Revision:
        """Store the checkpoint, if the conversation is still the one that was read.

        Raises RevisionConflict, Refused (it is another one), StoreUnavailable, WriteOutcomeUnknown.
        """
        beside: tuple[Write, ...] = ()
        if self.head.begun:
            checkpoint = finished.record.checkpoint
            told = self._receipt("ok", str(finished.outcome.status), covers=checkpoint and checkpoint.count)
            beside = (life_check(self.scope, self.head), self.ports.reads.engine.receipt(self.scope, told))
        change = Change(
            key=checkpoint_key(self.scope),
            expected=self.revision,
            document=finished.document,
            token=random_token(),
            round=self.head.last.round,
            beside=beside,
        )
        try:
            return self.ports.reads.engine.change(change)
        except WriteOutcomeUnknown:
            made = made_by(self.ports.reads.engine.records.read(change.key).get(change.key), change.token)
            if made is None:
                raise
            return made

    def _read(self) -> CompactRecord | None:
        """Read what another host stored meanwhile, None where it cannot be read."""
        key = checkpoint_key(self.scope)
        try:
            stored = read_document(self.ports.reads.engine.records.read(key).get(key))
            self.revision = stored.revision if stored else NONE_YET
            return _record(stored)
        except (StoreUnavailable, RecordCorrupt):
            return None

    def _note_failure(self, code: str) -> None:
        """Note that there was no summary, so that the next turns do not pay for another try."""
        engine = self.ports.reads.engine
        change = Change(
            key=checkpoint_key(self.scope),
            expected=self.revision,
            document=record_document(finish.with_failure(self.record, self.plan, code)),
            token=random_token(),
            round=self.head.last.round,
        )
        try:
            self.revision = engine.change(change)
            if self.head.begun:
                engine.note(self.scope, self._receipt("failed", code))
        except (RevisionConflict, StoreUnavailable, WriteOutcomeUnknown):
            return  # the next call asks again

    def _receipt(self, outcome: Told, reason: str, **details: Any) -> Receipt:
        head, saved = self.head, outcome == "ok"
        return Receipt(
            worker="compact",
            position=head.last,
            turn_id=head.last_turn_id or "",
            outcome=outcome,
            reason=reason,
            revision_before=self.revision - (not saved),
            revision_after=self.revision + saved,
            created_at=utc_text(self.ports.reads.engine.clock()),
            details={"modelTries": self.calls, **self.facts, **details},
        )


def _stored_messages(
    ports: CompactPorts, scope: Scope, head: TurnHead, record: CompactRecord | None, *, limit: int
) -> tuple[Message, ...]:
    """Return stored turns as messages, oldest first: back to the checkpoint, and *limit* at most."""
    through = record.checkpoint.through_turn_id if record and record.checkpoint else None
    turns: list[Turn] = []
    room = PageRoom()
    before = head.last.round + 1
    for name, stored in newest_first(ports.reads.engine.records, scope, before_round=before, limit=limit):
        turn = read_turn(name, stored)
        if not room.takes(turn.user_text, turn.assistant_text):
            break
        turns.append(turn)
        if len(turns) == limit or turn.turn_id == through:
            break
    messages: list[Message] = []
    for turn in reversed(turns):
        messages.append(Message(turn_id=turn.turn_id, role="user", content=turn.user_text))
        messages.append(Message(turn_id=turn.turn_id, role="assistant", content=turn.assistant_text))
    return tuple(messages)


def _record(stored: StoredDocument | None) -> CompactRecord:
    return record_from_plain(stored.document.value) if stored and stored.document else CompactRecord()
