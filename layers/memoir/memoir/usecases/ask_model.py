"""Ask a model for a diary: at most two tries, each answer read and judged."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from memoir.diary_ports import LanguageModel, ModelAnswer, WritingJob
from memoir.domain.diary.answer.judgement import AcceptanceRules, Judgement, Outcome, Retry, judge_diary
from memoir.domain.diary.answer.reading import DiaryReading, read_diary
from memoir.domain.diary.prompt.prompt import with_doubled_cap
from memoir.domain.model_text.cleaning import encodable
from memoir.errors import ModelFailed

# A provider may ask for a pause before the second try; longer than this is no pause but a failure.
_LONGEST_PAUSE_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What came of asking. `answer` and `reading`: None where the model gave none. `tries` counts calls."""

    judgement: Judgement
    tries: int
    answer: ModelAnswer | None = None
    reading: DiaryReading | None = None

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
        if self.reading:
            facts["parsePath"] = self.reading.parse_path.value
        return facts


def ask_model(model: LanguageModel, job: WritingJob, *, sleep: Callable[[float], None]) -> Asked:
    """Return the answer that is accepted, says that nothing is new, or the last one that was rejected.

    A cut answer gets twice the room on the second try. Never raises ModelFailed: its code is the judgement's.
    """
    rules = AcceptanceRules()
    for attempt in range(1, rules.max_attempts + 1):
        asked, pause = _ask_once(model, job, attempt=attempt, rules=rules)
        retry = asked.judgement.retry
        if retry is Retry.NO or attempt == rules.max_attempts:
            return asked
        if retry is Retry.DOUBLED_CAP:
            job = WritingJob(
                prompt=with_doubled_cap(job.prompt),
                rounds=job.rounds,
                previous_summary=job.previous_summary,
                character=job.character,
            )
        if pause > _LONGEST_PAUSE_SECONDS:
            return asked
        if pause:
            sleep(pause)
    raise AssertionError("the last try returns")


def _ask_once(
    model: LanguageModel, job: WritingJob, *, attempt: int, rules: AcceptanceRules
) -> tuple[Asked, float]:
    """Return what came of one call, and for how many seconds the provider asks us to wait."""
    try:
        given = model.write(job)
    except ModelFailed as failure:
        again = failure.worth_another_try and attempt < rules.max_attempts
        judgement = Judgement(
            outcome=Outcome.REJECT, code=failure.code, retry=Retry.SAME if again else Retry.NO
        )
        return Asked(judgement=judgement, tries=attempt), failure.retry_after_seconds
    answer = replace(given, text=encodable(given.text))  # a half surrogate could be neither kept nor told
    reading = read_diary(answer.text, diary_asked=job.prompt.asks_diary)
    judgement = judge_diary(
        reading,
        prompt=job.prompt,
        finish=answer.finish,
        attempt=attempt,
        previous_summary=job.previous_summary,
        rules=rules,
    )
    return Asked(judgement=judgement, tries=attempt, answer=answer, reading=reading), 0.0
