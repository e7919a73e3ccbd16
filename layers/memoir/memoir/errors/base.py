"""The root of every error."""

from dataclasses import dataclass, fields
from typing import ClassVar

Problem = dict[str, str | int]  # path, code, detail; where it helps line and column, or rule
Fact = str | int | float | bool | list[Problem] | None


@dataclass(eq=False, kw_only=True)
class MemoirError(Exception):
    """A failure with a stable `code`, a sentence for people in `detail`, and its facts as fields."""

    code: ClassVar[str] = "internal_error"
    detail: str

    def __str__(self) -> str:
        return self.detail

    def facts(self) -> dict[str, Fact]:
        """Return the fields beside `detail` and `code` that are set, by their snake_case names."""
        named = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("detail", "code")}
        return {name: value for name, value in named.items() if value is not None}
