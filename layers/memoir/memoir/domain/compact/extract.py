"""A summary without a model: the central sentences of the turns, in their own words."""

from collections.abc import Sequence

from memoir.domain.compact.history import HistoryTurn
from memoir.domain.diary.extractive.extractive import GENERATOR, extract_diary
from memoir.domain.diary.prompt.rounds import DialogueRound
from memoir.domain.language_model import FinishReason, ModelAnswer


def extracted_summary(part: Sequence[HistoryTurn], *, previous: str, characters: int) -> ModelAnswer:
    """Return a summary of *part* and of the *previous* one, of at most *characters*. Deterministic."""
    extracted = extract_diary(
        rounds=[_round(number, turn) for number, turn in enumerate(part, start=1)],
        previous_summary=previous,
        character="",
        summary_chars=characters,
        diary_chars=0,
    )
    return ModelAnswer(text=extracted.summary, finish=FinishReason.STOP, generator=GENERATOR)


def is_extracted(answer: ModelAnswer) -> bool:
    """Tell whether *answer* is made of sentences of the turns."""
    return answer.generator == GENERATOR


def _round(number: int, turn: HistoryTurn) -> DialogueRound:
    said: dict[bool, list[str]] = {True: [], False: []}
    for message in turn.messages:
        said[message.role == "user"].append(message.content)
    return DialogueRound(
        round=number,
        turn_id=turn.id,
        user_text="\n".join(said[True]),
        assistant_text="\n".join(said[False]),
    )
