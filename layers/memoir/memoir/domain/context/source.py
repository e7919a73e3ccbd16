"""What was recalled for a turn: for each variable a text or JSON, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memoir.domain.scenario.scenario import Scenario
from memoir.domain.scenario.variables import DIRECTOR_ONLY, KIND_OF_VARIABLE, SourceKind
from memoir.domain.template.values import JsonText
from memoir.errors import MemoirError, RecordCorrupt, RequestInvalid, StoreUnavailable

Audience = Literal["actor", "director"]

MissingReason = Literal["empty", "not_due", "unavailable", "corrupt", "not_supplied", "not_for_audience"]
"""empty: there is nothing yet. not_due: no diary yet, the first one is due at `next_at`. not_supplied: the
request should have brought it. not_for_audience: it is the director's, and the actor asks."""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Why a variable has no value. `next_at`: the round in which it is due."""

    reason: MissingReason
    next_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class RecalledSource:
    """The value of a variable: `text`, which is the exact text of a document where `is_json`.

    `revision` is None for what has none. `versions`: of the diary entries in it, as (end round, version).
    """

    variable: str
    kind: SourceKind
    text: str = ""
    is_json: bool = False
    revision: int | None = None
    versions: tuple[tuple[int, int], ...] = ()
    missing: Missing | None = None

    @property
    def value(self) -> str | JsonText:
        """The value as a template takes it."""
        return JsonText(self.text) if self.is_json else self.text


def configured_sources(
    scenario: Scenario, sources: Sequence[RecalledSource], *, audience: Audience
) -> tuple[RecalledSource, ...]:
    """Return one source for each variable of *scenario*, in its order; what is missing says why.

    What *sources* has beside them is left out. The director's state is missing for the actor, whatever
    *sources* says.
    """
    given = {source.variable: source for source in sources}
    return tuple(
        _checked(given.get(variable), variable, audience=audience) for variable in scenario.variables()
    )


def _checked(source: RecalledSource | None, variable: str, *, audience: Audience) -> RecalledSource:
    if source is None:
        source = RecalledSource(variable=variable, kind=KIND_OF_VARIABLE[variable])
        missing = Missing(reason="not_supplied")
    elif source.missing is not None:
        missing = source.missing
    else:
        missing = Missing(reason="empty")
    if variable == DIRECTOR_ONLY and audience == "actor":
        missing = Missing(reason="not_for_audience")
    elif source.missing is None and source.text.strip():
        return source
    return replace(source, text="", missing=missing)


def check_missing(scenario: Scenario, sources: Sequence[RecalledSource]) -> None:
    """Check what *scenario* wants where a source could not be read (`onMissing`).

    `fail` raises StoreUnavailable, RecordCorrupt or RequestInvalid `source_not_supplied`; `tell` raises
    nothing. That there is nothing yet fails nothing.
    """
    if scenario.on_missing != "fail":
        return
    for source in sources:
        error = _failure(source)
        if error is not None:
            raise error


def _failure(source: RecalledSource) -> MemoirError | None:
    reason = source.missing.reason if source.missing else ""
    if reason == "unavailable":
        return StoreUnavailable(detail=f"{source.variable} could not be read, and the scenario needs it")
    if reason == "corrupt":
        return RecordCorrupt(detail=f"what is stored of {source.variable} breaks its own rules")
    if reason == "not_supplied":
        detail = f"/: the request does not bring {source.variable}, and the scenario needs it"
        return RequestInvalid(code="source_not_supplied", path="/", detail=detail)
    return None
