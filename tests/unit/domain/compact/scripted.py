"""A scripted model and a store with faults around the use case of compaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.compact.checkpoint import CompactRecord, record_document, record_from_plain
from memoir.domain.compact.history import CountTokens, Message
from memoir.domain.compact.request import Compacted, CompactRequest
from memoir.domain.compact.settings import CompactSettings
from memoir.domain.language_model import ModelAnswer, Prompt, finish_reason_of
from memoir.domain.revision import Revision
from memoir.domain.scenario import DEFAULT
from memoir.domain.scope import Scope
from memoir.domain.turns import Position, TurnHead
from memoir.domain.write_token import random_token
from memoir.errors import ModelFailed, StoreUnavailable, WriteOutcomeUnknown
from memoir.ports.records import Found, RecordKey, Remove, Write
from memoir.records.documents import Change, StoredDocument, read_document
from memoir.records.turns import head_key, head_write
from memoir.usecases.compact import CompactPorts, checkpoint_key, compact
from memoir.usecases.engine import Engine
from memoir.usecases.governed_reads import GovernedReads
from tests.fakes.records import InMemoryRecords

SCOPE = Scope(product="p", user="u", conversation="c")


def expanded(text: Any) -> str:
    """Return a text of the cases, which write long ones as `{"repeat": [text, times]}`."""
    return text if isinstance(text, str) else text["repeat"][0] * text["repeat"][1]


@dataclass
class Model:
    """Says what it was scripted to say, and keeps what it was asked."""

    script: dict[str, Any] | None
    prompts: list[Prompt] = field(default_factory=list)

    def __call__(self, prompt: Prompt, seconds: float) -> ModelAnswer:
        assert 0 < seconds <= 20
        self.prompts.append(prompt)
        if self.script is None or "error" in self.script:
            raise ModelFailed(code="model_timeout" if self.script else "model_failed", detail="no answer")
        text = expanded(self.script["text"])
        if text == "<the messages again>":
            text = prompt.user
        return ModelAnswer(text=text, finish=finish_reason_of(self.script["finish"]), generator="scripted")


@dataclass
class Store:
    """A store whose next write of a checkpoint meets *fault*. `log` names the requests in order.

    conflict: another host has stored *now*. unavailable; lost answer: it was executed, and no one was told.
    deleted: the conversation ends, and its records with it.
    """

    fault: str = ""
    now: CompactRecord | None = None
    records: InMemoryRecords = field(default_factory=InMemoryRecords)
    log: list[str] = field(default_factory=list)

    def read(self, *keys: RecordKey) -> Found:
        """See the port."""
        self.log.append("read")
        return self.records.read(*keys)

    def walk(self, *_: Any, **__: Any) -> Any:
        """No case of these has stored turns."""
        raise AssertionError

    def write(self, *writes: Write) -> None:
        """See the port."""
        self.log.append("write")
        fault, self.fault = self.fault, ""
        if fault == "conflict":
            self.put(self.now or CompactRecord())
        elif fault == "unavailable":
            raise StoreUnavailable(detail="down")
        elif fault == "deleted":
            self.records.write(Remove(key=head_key(SCOPE)))
        self.records.write(*writes)
        if fault == "lost answer":
            raise WriteOutcomeUnknown(detail="no answer")

    def put(self, record: CompactRecord, *, round_: int = 0) -> None:
        """Store *record* as another host does, with the conversation at that round."""
        stored = self.document()
        change = Change(
            key=checkpoint_key(SCOPE),
            expected=stored.revision if stored else Revision(0),
            document=record_document(record),
            token=random_token(),
            round=round_,
        )
        Engine(records=self.records, clock=lambda: 0.0, receipt_days=1).change(change)

    def begin(self) -> None:
        """Let the conversation have turns."""
        last = TurnHead(last=Position(round=9, version=1), last_turn_id="t9", life="first", top=1)
        self.records.write(head_write(SCOPE, TurnHead(), last))

    def document(self) -> StoredDocument | None:
        """Return what is stored."""
        key = checkpoint_key(SCOPE)
        return read_document(self.records.read(key).get(key))

    def record(self) -> CompactRecord:
        """Return the record that is stored, an empty one for none."""
        stored = self.document()
        return record_from_plain(stored.document.value) if stored and stored.document else CompactRecord()


def run(
    messages: Sequence[Message],
    *,
    budget: int,
    settings: CompactSettings | None,
    store: Store,
    model: Model | None,
    count_tokens: CountTokens,
) -> Compacted:
    """Run the use case as a host would, with *settings* for its scenario."""
    engine = Engine(records=store, clock=lambda: 0.0, receipt_days=1)
    ports = CompactPorts(
        reads=GovernedReads(engine, default=replace(DEFAULT, compact=settings)),
        ask=model,
        count=lambda text, tokenizer: count_tokens(text),
    )
    request = CompactRequest(messages=tuple(messages), history_turns=0, token_budget=budget, scenario_id=None)
    return compact(ports, scope=SCOPE, request=request)
