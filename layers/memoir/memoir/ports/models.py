"""Language models."""

from typing import Protocol

from memoir.domain.language_model import ModelAnswer, Prompt


class LanguageModel(Protocol):
    """Something that answers prompts."""

    def answer(self, prompt: Prompt) -> ModelAnswer:
        """Return the answer to *prompt*, whatever it says. Raises ModelFailed: there is none."""
