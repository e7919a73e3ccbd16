"""A scripted model and store around the pure functions of compaction, as a use case would run them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memoir.domain.compact import finish
from memoir.domain.compact.checkpoint import CompactRecord
from memoir.domain.compact.history import CountTokens, Message, read_history
from memoir.domain.compact.plan import Outcome, Reason, Summarise, plan_compaction
from memoir.domain.compact.prompt import summary_parts, summary_prompt
from memoir.domain.compact.settings import CompactSettings
from memoir.domain.compact.summary import summary_flaw, summary_text
from memoir.domain.language_model import ModelAnswer, Prompt, finish_reason_of
from memoir.errors import ModelFailed, RevisionConflict, StoreUnavailable


def expanded(text: Any) -> str:
    """Return a text of the cases, which write long ones as `{"repeat": [text, times]}`."""
    return text if isinstance(text, str) else text["repeat"][0] * text["repeat"][1]


@dataclass
class Model:
    """Says what it was scripted to say, and keeps what it was asked."""

    script: dict[str, Any] | None
    prompts: list[Prompt] = field(default_factory=list)

    def __call__(self, prompt: Prompt) -> ModelAnswer:
        self.prompts.append(prompt)
        if self.script is None or "error" in self.script:
            raise ModelFailed(code="model_timeout" if self.script else "model_failed", detail="no answer")
        text = expanded(self.script["text"])
        if text == "<the messages again>":
            text = prompt.user
        return ModelAnswer(text=text, finish=finish_reason_of(self.script["finish"]), generator="scripted")


@dataclass
class Store:
    """One record by compare-and-set. `log` names the requests in order."""

    record: CompactRecord
    write: str = "works"
    now: CompactRecord | None = None
    stored: CompactRecord | None = None
    log: list[str] = field(default_factory=list)

    def read(self) -> CompactRecord:
        self.log.append("read")
        return self.record

    def put(self, record: CompactRecord) -> None:
        self.log.append("write")
        if self.write == "conflict":
            raise RevisionConflict(expected_revision=0, current_revision=1, detail="moved")
        if self.write == "unavailable":
            raise StoreUnavailable(detail="down")
        self.stored = record

    def note_failure(self, record: CompactRecord) -> None:
        self.log.append("note")
        self.record = record


def compact(
    messages: list[Message],
    *,
    budget: int,
    settings: CompactSettings | None,
    store: Store,
    model: Callable[[Prompt], ModelAnswer],
    count_tokens: CountTokens,
    known_stale: bool = False,
) -> Outcome:
    """Read, plan, ask, check, store, answer: what the use case will do with real ports."""
    history = read_history(messages, count_tokens=count_tokens)
    record = store.read()
    plan = plan_compaction(
        history,
        record=record,
        budget=budget,
        settings=settings,
        count_tokens=count_tokens,
        known_stale=known_stale,
    )
    if isinstance(plan, Outcome):
        return plan
    code, finished = _asked(plan, model, count_tokens)
    if finished is None:
        store.note_failure(finish.with_failure(record, plan, code))
        return finish.failed(plan, code)
    try:
        store.put(finished.record)
    except RevisionConflict:
        return finish.after_conflict(plan, store.now or CompactRecord(), count_tokens=count_tokens)
    except StoreUnavailable:
        return finish.failed(plan, Reason.NOT_STORED)
    return finished.outcome


def _asked(
    plan: Summarise, model: Callable[[Prompt], ModelAnswer], count_tokens: CountTokens
) -> tuple[str, finish.Finished | None]:
    previous = plan.after.summary if plan.after else ""
    for part in summary_parts(plan.turns):
        try:
            answer = model(summary_prompt(part, previous=previous, max_tokens=plan.max_tokens))
        except ModelFailed as failure:
            return failure.code, None
        flaw = summary_flaw(answer, turns=part)
        if flaw:
            return flaw, None
        previous = summary_text(answer.text)
    done = finish.finish(plan, summary=previous, generator="scripted", count_tokens=count_tokens)
    return (done, None) if isinstance(done, str) else ("", done)
