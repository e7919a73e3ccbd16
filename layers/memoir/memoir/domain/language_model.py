"""What a language model is asked and what it answers, in one vocabulary for all providers."""

from dataclasses import dataclass
from enum import StrEnum


class FinishReason(StrEnum):
    """Why a model stopped. It never decides alone: providers are wrong about it in both directions."""

    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What a model is sent: instructions, data, and the cap of its answer in tokens.

    *wants_json*: the answer has to be a JSON object.
    """

    system: str
    user: str
    max_tokens: int
    wants_json: bool = True


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """What a model answered. `generator` names it; token counts are the provider's, 0 where it gives none."""

    text: str
    finish: FinishReason
    generator: str
    input_tokens: int = 0
    output_tokens: int = 0


_NAMES = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.CONTENT_FILTER,
}


def finish_reason_of(name: object) -> FinishReason:
    """Return what a provider's name for it means (OpenAI-compatible, Bedrock Converse), unknown if none."""
    return _NAMES.get(str(name).casefold(), FinishReason.UNKNOWN)
