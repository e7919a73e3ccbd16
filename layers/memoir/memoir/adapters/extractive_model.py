"""The model that needs no model: what is central in the dialogue, in its own words. The local default."""

from memoir.diary_ports import ModelAnswer, WritingJob
from memoir.domain.diary.extractive.extractive import GENERATOR, extract_diary, extracted_answer
from memoir.domain.language_model import FinishReason


class ExtractiveModel:
    """The LanguageModel port, deterministic and free."""

    def write(self, job: WritingJob) -> ModelAnswer:
        """See `LanguageModel.write`. Never fails."""
        extracted = extract_diary(
            rounds=job.rounds,
            previous_summary=job.previous_summary,
            character=job.character,
            summary_chars=job.prompt.summary_chars,
            diary_chars=job.prompt.diary_chars,
        )
        text = extracted_answer(extracted, with_diary=job.prompt.asks_diary)
        return ModelAnswer(text=text, finish=FinishReason.STOP, generator=GENERATOR)
