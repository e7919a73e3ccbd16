"""The state's worker: after each turn ask a model for the next state, judge its answer, save. Once a turn.

It is off unless the scenario has an instruction. An answer that is no state leaves the stored one as it is;
the receipt says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from memoir.domain.diary.answer.judgement import Retry
from memoir.domain.language_model import ModelAnswer, Prompt
from memoir.domain.model_text.cleaning import encodable
from memoir.domain.receipt import Receipt
from memoir.domain.scenario import Scenario
from memoir.domain.scope import Scope
from memoir.domain.state.answer import MAX_ATTEMPTS, StateJudgement, StateOutcome, judge_state_answer
from memoir.domain.state.prompt import StateTurn, state_prompt
from memoir.domain.state.record import StateRecord, record_document, state_record
from memoir.domain.state.settings import StateSettings
from memoir.domain.turns import Position, RungTurn, Turn
from memoir.errors import ModelFailed
from memoir.ports.models import LanguageModel
from memoir.records.diary import worker_lease_key
from memoir.usecases.follow_turns import follow_turns
from memoir.usecases.governed_work import governed_by, state_rules
from memoir.usecases.lease import Lease
from memoir.usecases.scenarios import governing_keys
from memoir.usecases.state import state_key, stored_record
from memoir.usecases.worker import Effect, View, Worker, WorkerPorts

# A provider may ask for a pause before the second try; longer than this is no pause but a failure.
_LONGEST_PAUSE_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class StatePorts:
    """What writing a state needs. `model`: None where there is none; then no state is written.

    `lease_seconds`: longer than a worker may run. `model_reasons`: as of the diary.
    """

    worker: WorkerPorts
    model: LanguageModel | None
    sleep: Callable[[float], None]
    lease_seconds: int
    model_reasons: bool = False


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What came of asking. `answer`: None where the model gave none."""

    judgement: StateJudgement
    tries: int
    answer: ModelAnswer | None = None

    def facts(self) -> dict[str, Any]:
        """Return what a receipt tells: no texts."""
        facts: dict[str, Any] = {"modelTries": self.tries}
        if self.judgement.code:
            facts["code"] = self.judgement.code
        if self.judgement.flags:
            facts["flags"] = list(self.judgement.flags)
        if self.answer:
            facts["generator"] = self.answer.generator
            facts["inputTokens"] = self.answer.input_tokens
            facts["outputTokens"] = self.answer.output_tokens
        return facts


def write_state(ports: StatePorts, *, scope: Scope, rung: RungTurn) -> list[Receipt]:
    """Bring the state up to every turn that is new to it, and return the receipts of what was done.

    Raises LeaseHeld (another worker is at it) and what `follow_turns` raises: what was done before stands.
    """
    scenario = governed_by(ports.worker, scope, rung)
    key = state_key(scope)
    lease = Lease(
        ports.worker.engine, worker_lease_key(scope, "state"), document=key, seconds=ports.lease_seconds
    )
    worker = Worker(
        name="state",
        key=key,
        step=_Step(ports=ports, scenario_of=scenario, lease=lease),
        cursor=("state",),
        beside=governing_keys(scope, rung.scenario_id, revision=rung.scenario_revision),
        rules=lambda view: state_rules(scenario(view)),
        end=lease.release,
    )
    return follow_turns(ports.worker, worker, scope=scope, rung=rung)


@dataclass(kw_only=True)
class _Step:
    """What one turn makes of a state. Keeps the answers that were paid for."""

    ports: StatePorts
    scenario_of: Callable[[View], Scenario]
    lease: Lease
    paid: dict[tuple[Position, int], _Asked] = field(default_factory=dict)

    def __call__(self, view: View, turn: Turn) -> Effect:
        if self.ports.model is None:
            return Effect(outcome="skipped", reason="no_model")
        if view.stored and view.stored.round > turn.position.round:
            return Effect(outcome="skipped", reason="candidate_stale")
        self.lease.take(revision=view.revision)
        scenario, record = self.scenario_of(view), stored_record(view.stored)
        asked = self.ask(self.ports.model, view, turn, record, scenario.state)
        judged = asked.judgement
        if judged.outcome is StateOutcome.CANDIDATE and judged.document:
            written = state_record(judged.document, scenario_id=scenario.id, settings=scenario.state)
            return Effect(
                outcome="ok",
                reason="saved",
                details=asked.facts(),
                document=record_document(written),
                beside=(self.lease.giving_back(),),
                saved=self.lease.given_back,
            )
        if judged.outcome is StateOutcome.NO_UPDATE:
            return Effect(outcome="skipped", reason=judged.code, details=asked.facts())
        return Effect(outcome="failed", reason=judged.code, details=asked.facts())

    def ask(
        self,
        model: LanguageModel,
        view: View,
        turn: Turn,
        record: StateRecord | None,
        settings: StateSettings,
    ) -> _Asked:
        """Return the answer for *turn*; where it was asked on this revision already, that one."""
        wanted = (turn.position, view.revision)
        if wanted not in self.paid:
            stored = record.state if record else None
            prompt = state_prompt(
                stored=stored,
                turn=StateTurn(
                    round=turn.position.round, user_text=turn.user_text, assistant_text=turn.assistant_text
                ),
                settings=settings,
                reasoning_model=self.ports.model_reasons,
            )

            def judge(answer: ModelAnswer, attempt: int) -> StateJudgement:
                return judge_state_answer(answer, stored=stored, settings=settings, attempt=attempt)

            self.paid[wanted] = _ask(model, prompt, judge=judge, sleep=self.ports.sleep)
        return self.paid[wanted]


def _ask(
    model: LanguageModel,
    prompt: Prompt,
    *,
    judge: Callable[[ModelAnswer, int], StateJudgement],
    sleep: Callable[[float], None],
) -> _Asked:
    """Return what came of asking, twice at most. A cut answer gets twice the room on the second try."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        asked, pause = _ask_once(model, prompt, judge=judge, attempt=attempt)
        retry = asked.judgement.retry
        if retry is Retry.NO or attempt == MAX_ATTEMPTS or pause > _LONGEST_PAUSE_SECONDS:
            return asked
        if retry is Retry.DOUBLED_CAP:
            prompt = replace(prompt, max_tokens=2 * prompt.max_tokens)
        if pause:
            sleep(pause)
    raise AssertionError("the last attempt returns")


def _ask_once(
    model: LanguageModel,
    prompt: Prompt,
    *,
    judge: Callable[[ModelAnswer, int], StateJudgement],
    attempt: int,
) -> tuple[_Asked, float]:
    """Return what came of one call, and for how many seconds the provider asks us to wait."""
    try:
        answer = model.answer(prompt)
    except ModelFailed as failure:
        retry = Retry.SAME if failure.worth_another_try else Retry.NO
        judgement = StateJudgement(outcome=StateOutcome.REJECT, code=failure.code, retry=retry)
        return _Asked(judgement=judgement, tries=attempt), failure.retry_after_seconds
    answer = replace(answer, text=encodable(answer.text))
    return _Asked(judgement=judge(answer, attempt), tries=attempt, answer=answer), 0.0
