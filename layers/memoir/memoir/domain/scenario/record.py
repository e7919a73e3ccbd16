"""A scenario as it is answered."""

from dataclasses import dataclass
from typing import Any

from memoir.domain.revision import Revision


@dataclass(frozen=True, kw_only=True)
class ScenarioRecord:
    """A scenario as its product wrote it, and its revision; 0 and None for the built-in `default`."""

    revision: Revision
    scenario: dict[str, Any] | None
