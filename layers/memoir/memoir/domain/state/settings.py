"""What a scenario says of the state: which categories there are, and whose eyes they are for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from memoir.errors import RequestInvalid

TEXT = "text"
"""The name under which `visibility` speaks of the state's `text`. No category is called so."""


class Audience(StrEnum):
    """Who reads."""

    ACTOR = "actor"
    DIRECTOR = "director"


class Visibility(StrEnum):
    """Whom a record is for. The director sees everything all the same."""

    ACTOR = "actor"
    DIRECTOR = "director"
    BOTH = "both"


@dataclass(frozen=True, kw_only=True)
class StateSettings:
    """The scenario's `state`. A category or `text` that *visibility* does not name is for both.

    *categories*: None where the scenario names none: any is allowed then.

    *instruction*: what the background writer is told to keep; empty: hosts alone write the state.
    """

    categories: tuple[str, ...] | None = None
    visibility: Mapping[str, Visibility] = field(default_factory=lambda: MappingProxyType({}))
    instruction: str = ""

    def allows(self, category: str) -> bool:
        """Tell whether the state may have *category*."""
        return self.categories is None or category in self.categories

    def of_text(self) -> Visibility:
        """Return whom the state's `text` is for."""
        return self.visibility.get(TEXT, Visibility.BOTH)

    def of_record(self, category: str, record: Mapping[str, Any]) -> Visibility:
        """Return whom *record* is for: its own word, else its category's.

        What these settings do not know (a category that was taken out, a visibility that is none) is the
        director's: a change of the scenario must not show the actor what was hidden.
        """
        if not self.allows(category):
            return Visibility.DIRECTOR
        own = record.get("visibility", self.visibility.get(category, Visibility.BOTH))
        return Visibility(own) if own in tuple(Visibility) else Visibility.DIRECTOR


def read_audience(query: Mapping[str, str]) -> Audience:
    """Return whom the projection is for. Raises RequestInvalid: anything but `actor` and `director`."""
    audience = query.get("audience", "")
    if audience not in tuple(Audience):
        raise RequestInvalid(path="audience", detail="audience: must be actor or director")
    return Audience(audience)
