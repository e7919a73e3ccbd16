"""Ask for a diary: at most two tries, each answer read and judged, whoever writes it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.diary.answer.judgement import AcceptanceRules, Judgement, Outcome, Retry, judge_diary
from memoir.domain.diary.answer.reading import DiaryReading, read_diary
from memoir.domain.diary.extractive.extractive import GENERATOR, extract_diary, extracted_answer
from memoir.domain.diary.prompt.prompt import DiaryPrompt, with_doubled_cap
from memoir.domain.diary.prompt.rounds import DialogueRound
from memoir.domain.language_model import FinishReason, ModelAnswer
from memoir.domain.model_text.cleaning import encodable
from memoir.errors import ModelFailed
from memoir.ports.models import LanguageModel

# A provider may ask for a pause before the second try; longer than this is no pause but a failure.
_LONGEST_PAUSE_SECONDS = 20


@dataclass(frozen=True, kw_only=True)
class WritingJob:
    """A diary to write: the prompt for a model, and the same as values for a writer that reads no prompts."""

    prompt: DiaryPrompt
    rounds: tuple[DialogueRound, ...]
    previous_summary: str
    character: str


Writer = Callable[[WritingJob], ModelAnswer]
"""A way of writing a diary. Raises ModelFailed where it gives no answer."""


def model_writer(model: LanguageModel) -> Writer:
    """Return the writer that asks *model*."""
    return lambda job: model.answer(job.prompt)


def extractive_writer(job: WritingJob) -> ModelAnswer:
    """Return what is central in the dialogue, in its own words. Deterministic and free; never fails."""
    extracted = extract_diary(
        rounds=job.rounds,
        previous_summary=job.previous_summary,
        character=job.character,
        summary_chars=job.prompt.summary_chars,
        diary_chars=job.prompt.diary_chars,
    )
    text = extracted_answer(extracted, with_diary=job.prompt.asks_diary)
    return ModelAnswer(text=text, finish=FinishReason.STOP, generator=GENERATOR)


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


def ask_for_diary(write: Writer, job: WritingJob, *, sleep: Callable[[float], None]) -> Asked:
    """Return the answer that is accepted, says that nothing is new, or the last one that was rejected.

    A cut answer gets twice the room on the second try. Never raises ModelFailed: its code is the judgement's.
    """
    rules = AcceptanceRules()
    asked, pause = _ask_once(write, job, attempt=1, rules=rules)
    for attempt in range(2, rules.max_attempts + 1):
        if asked.judgement.retry is Retry.NO or pause > _LONGEST_PAUSE_SECONDS:
            break
        if asked.judgement.retry is Retry.DOUBLED_CAP:
            job = replace(job, prompt=with_doubled_cap(job.prompt))
        if pause:
            sleep(pause)
        asked, pause = _ask_once(write, job, attempt=attempt, rules=rules)
    return asked


def _ask_once(write: Writer, job: WritingJob, *, attempt: int, rules: AcceptanceRules) -> tuple[Asked, float]:
    """Return what came of one call, and for how many seconds the provider asks us to wait."""
    try:
        given = write(job)
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
