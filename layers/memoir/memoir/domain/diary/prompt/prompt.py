"""How a model is asked for a diary."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.prompt.instructions import (
    PROMPT_VERSION,
    instructions,
    neutralised,
    section_names,
)
from memoir.domain.diary.prompt.language import CHINESE, JAPANESE, UNKNOWN, language_of
from memoir.domain.diary.prompt.rounds import DialogueRound, cut_middle, fit_dialogue
from memoir.domain.language_model import Prompt
from memoir.domain.model_text.cleaning import clean_model_text

MAX_NAME_CHARACTERS = 60
TOKENS_PER_CHARACTER = 2
TOKENS_FOR_THE_FORM = 200
LETTERS_PER_CHARACTER = 3
"""What 300 Chinese characters say takes about 900 letters."""


@dataclass(frozen=True, kw_only=True)
class PromptLimits:
    """Lengths in characters. Those of summary and diary are for Chinese, alphabets get three times that."""

    summary_chars: int = 300
    diary_chars: int = 400
    max_dialogue_chars: int = 48_000
    max_previous_chars: int = 6_000


@dataclass(frozen=True, kw_only=True)
class DiaryPrompt(Prompt):
    """What a language model is sent, and what it was asked for.

    *diary_chars* is 0 where no diary was asked for. *language*: of the dialogue. *truncated_input*: the
    dialogue was cut to fit, with marks.
    """

    summary_chars: int
    diary_chars: int
    language: str
    truncated_input: bool
    prompt_version: str = PROMPT_VERSION

    @property
    def asks_diary(self) -> bool:
        """The answer is to hold a diary beside the summary."""
        return self.diary_chars > 0


def build_prompt(
    *,
    rounds: Sequence[DialogueRound],
    previous_summary: str,
    character: str,
    store: Store,
    reasoning_model: bool = False,
    limits: PromptLimits | None = None,
) -> DiaryPrompt:
    """Return the prompt for *rounds*, which are sorted, have text, and are story text (`rounds_to_write`).

    The instructions are Chinese for a Chinese dialogue and English for any other; they name the language to
    write in. All data stands in the user message, our own marks in it neutralised. Text beyond *limits* is
    cut in the middle of the longest messages, marked, and reported.
    """
    limits = limits or PromptLimits()
    language = dialogue_language(rounds, previous_summary=previous_summary)
    scale = 1 if language in (CHINESE, JAPANESE) else LETTERS_PER_CHARACTER
    with_diary = store is Store.SUMMARY_AND_DIARY
    fitted = fit_dialogue(rounds, max_chars=limits.max_dialogue_chars)
    name = _one_line(character) or section_names(language)["character"]
    asked = limits.summary_chars + (limits.diary_chars if with_diary else 0)
    values = {
        "summary_chars": str(limits.summary_chars * scale),
        "diary_chars": str(limits.diary_chars * scale),
        "character": name,
    }
    return DiaryPrompt(
        system=instructions(language=language, with_diary=with_diary, values=values),
        user=_user_text(fitted.rounds, previous_summary, language=language, limits=limits, character=name),
        max_tokens=(asked * TOKENS_PER_CHARACTER + TOKENS_FOR_THE_FORM) * (2 if reasoning_model else 1),
        summary_chars=limits.summary_chars * scale,
        diary_chars=limits.diary_chars * scale if with_diary else 0,
        language=language,
        truncated_input=fitted.truncated or len(previous_summary) > limits.max_previous_chars,
    )


def with_doubled_cap(prompt: DiaryPrompt) -> DiaryPrompt:
    """Return *prompt* with room for twice as long an answer: for the one retry after a cut answer."""
    return replace(prompt, max_tokens=prompt.max_tokens * 2)


def dialogue_language(rounds: Sequence[DialogueRound], *, previous_summary: str = "") -> str:
    """Return the language of the dialogue, or of the previous summary where it is too short to tell."""
    sample = "\n".join(f"{item.user_text[:2000]}\n{item.assistant_text[:2000]}" for item in rounds)
    language = language_of(sample)
    return language_of(previous_summary) if language == UNKNOWN else language


def _user_text(
    rounds: Sequence[DialogueRound],
    previous_summary: str,
    *,
    language: str,
    limits: PromptLimits,
    character: str,
) -> str:
    names = section_names(language)
    previous = cut_middle(clean_model_text(previous_summary).strip(), max_chars=limits.max_previous_chars)
    parts = [f"〔{names['previous']}〕", neutralised(previous) or names["none"]]
    parts.append(f"〔{names['rounds']} {rounds[0].round}–{rounds[-1].round}〕" if rounds else "")
    for item in rounds:
        speakers = (
            (_one_line(item.user_name) or names["user"], item.user_text),
            (_one_line(item.assistant_name) or character, item.assistant_text),
        )
        parts += (f"〔{name}〕{neutralised(text.strip())}" for name, text in speakers if text.strip())
    return "\n".join(parts)


def _one_line(name: str) -> str:
    """Return a name that cannot leave its place: 60 characters of one line, no marks, quotes, braces."""
    words = neutralised(clean_model_text(name)).split()
    return " ".join(words).translate(_NOT_IN_NAMES)[:MAX_NAME_CHARACTERS].strip()


_NOT_IN_NAMES = {ord(character): None for character in '"“”{}<>$'}
