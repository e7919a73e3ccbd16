"""What a host asks of a context: for whom, with which history, and within how much room."""

from dataclasses import dataclass, field
from typing import Any

from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.source import Audience
from memoir.domain.scenario.scenario import Scenario
from memoir.domain.scenario.variables import GIVEN_VALUES
from memoir.errors import RequestInvalid


@dataclass(frozen=True, kw_only=True)
class SuppliedHinos:
    """What the host brings of Hinos: a prepared memory, or the wish that it be prepared now.

    `source`: what Hinos is told of the request beside its id and scenario, as Hinos's protocol has it.
    """

    claim_id: str | None = None
    memory: str | None = None
    prepare: bool = False
    source: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ContextRequest:
    """A checked request for a context. `history_turns`: so many stored turns are it."""

    scenario_id: str | None = None
    audience: Audience = "actor"
    subscription_category: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    history: tuple[HistoryMessage, ...] = ()
    history_turns: int | None = None
    token_budget: int | None = None
    tokenizer: str | None = None
    hinos: SuppliedHinos | None = None


def check_request(request: ContextRequest, scenario: Scenario) -> None:
    """Check that the request gives only values and a memory that *scenario* knows. Raises RequestInvalid."""
    if request.hinos and "hinosMemory" not in scenario.variables():
        detail = f"/hinos: the scenario {scenario.id!r} has no source hinosMemory"
        raise RequestInvalid(code="source_not_configured", path="/hinos", detail=detail)
    known = {*scenario.values, *GIVEN_VALUES}
    for name in request.values:
        if name not in known:
            raise RequestInvalid(
                code="value_unknown",
                path=f"/values/{name}",
                detail=f"/values/{name}: no value of the scenario; there are {', '.join(sorted(known))}",
            )
