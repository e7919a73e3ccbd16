"""Scenarios: read, replace, delete and list them, and find the one that governs a conversation's data."""

from typing import Any

from memoir.domain.revision import Revision
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scenario.record import ScenarioRecord
from memoir.domain.scope import ProductScope, Scope, UserScope
from memoir.domain.write_token import WriteToken, random_token
from memoir.errors import RecordCorrupt, RevisionConflict, ScenarioUnknown
from memoir.ports.records import Found, RecordKey
from memoir.records.documents import Change, StoredDocument, read_document
from memoir.records.scenarios import (
    scenario_copy,
    scenario_copy_key,
    scenario_document,
    scenario_key,
    stored_scenario,
)
from memoir.usecases.engine import Engine

KEPT_SECONDS = 5
_KEPT_SCENARIOS = 1_000

# Somebody may save between our look and our deletion; each try looks anew.
_TRIES = 3


def governing_keys(owner: Scope | UserScope, scenario_id: str, *, revision: int = 0) -> tuple[RecordKey, ...]:
    """Return what has to be read with the data that a scenario governs.

    *revision*: the one that a turn named, whose copy counts where the scenario was deleted since.
    """
    copy = (scenario_copy_key(owner, scenario_id, revision),) if revision else ()
    return (scenario_key(owner, scenario_id), *copy)


def governing(
    found: Found,
    owner: Scope | UserScope,
    scenario_id: str,
    *,
    revision: int = 0,
    default: Scenario = DEFAULT,
) -> Scenario:
    """Return the scenario of that id among what was read. Raises ScenarioUnknown, RecordCorrupt.

    *default*: the built-in one, for the id `default` where the product has not saved its own.
    """
    for key in governing_keys(owner, scenario_id, revision=revision):
        stored = read_document(found.get(key))
        scenario = stored_scenario(stored, scenario_id) if stored else None
        if scenario is not None:
            return scenario
    if scenario_id == default.id:
        return default
    raise ScenarioUnknown(path="/scenarioId", detail=f"/scenarioId: there is no scenario {scenario_id!r}")


class KeptScenarios:
    """Finds scenarios where no data is read with them, and keeps each for 5 s, which no answer may exceed.

    A new revision counts everywhere 5 s after it was saved.
    """

    def __init__(self, engine: Engine, *, default: Scenario = DEFAULT) -> None:
        """Take the *engine*, and the built-in scenario."""
        self._engine = engine
        self._default = default
        self._kept: dict[tuple[str, str], tuple[float, Scenario]] = {}

    def find(self, scope: Scope, scenario_id: str | None) -> Scenario:
        """Return the scenario of that id, `default` for none.

        Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt.
        """
        scenario_id = scenario_id or self._default.id
        place, now = (scope.product, scenario_id), self._engine.clock()
        read_at, scenario = self._kept.get(place, (0.0, self._default))
        if now - KEPT_SECONDS < read_at <= now:
            return scenario
        found = self._engine.records.read(*governing_keys(scope, scenario_id))
        scenario = governing(found, scope, scenario_id, default=self._default)
        if len(self._kept) >= _KEPT_SCENARIOS:
            self._kept.clear()
        self._kept[place] = (now, scenario)
        return scenario


def read_one(engine: Engine, *, owner: ProductScope, scenario_id: str) -> ScenarioRecord:
    """Return a scenario. Raises ScenarioUnknown, StoreUnavailable, RecordCorrupt."""
    stored = _stored(engine, owner, scenario_id)
    if stored is None or stored.document is None:
        if scenario_id == DEFAULT.id and stored is None:
            return ScenarioRecord(revision=Revision(0), scenario=None)
        raise ScenarioUnknown(
            path="scenarioId",
            detail=f"there is no scenario {scenario_id!r}",
            current_revision=stored.revision if stored else 0,
        )
    return ScenarioRecord(revision=stored.revision, scenario=stored.document.value["scenario"])


def replace_one(
    engine: Engine,
    *,
    owner: ProductScope,
    scenario_id: str,
    expected: Revision,
    text: str,
    program: dict[str, Any] | None,
    token: WriteToken,
) -> Revision:
    """Replace a checked scenario and keep a copy of its revision. One transaction.

    Raises RevisionConflict, IdempotencyKeyReused, StoreUnavailable: nothing was written; WriteOutcomeUnknown.
    """
    document = scenario_document(text, program)
    copy = scenario_copy(owner, scenario_id, revision=expected + 1, document=document)
    return engine.change(
        Change(
            key=scenario_key(owner, scenario_id),
            expected=expected,
            document=document,
            token=token,
            beside=(copy,),
        )
    )


def delete_one(engine: Engine, *, owner: ProductScope, scenario_id: str) -> Revision:
    """Delete a scenario; its revisions stay for the turns that name them. Deleting again is safe.

    Raises ScenarioUnknown (there never was one), RevisionConflict, StoreUnavailable, WriteOutcomeUnknown.
    """
    for left in reversed(range(_TRIES)):
        stored = _stored(engine, owner, scenario_id)
        if stored is None:
            raise ScenarioUnknown(path="scenarioId", detail=f"there is no scenario {scenario_id!r}")
        if stored.document is None:
            return stored.revision
        key = scenario_key(owner, scenario_id)
        change = Change(key=key, expected=stored.revision, document=None, token=random_token())
        try:
            return engine.change(change)
        except RevisionConflict:
            if not left:
                raise
    raise AssertionError("the last try deletes or raises")


def list_all(
    engine: Engine, *, owner: ProductScope, after: str | None, limit: int
) -> tuple[tuple[tuple[str, int, str], ...], str | None]:
    """Return at most *limit* scenarios (id, revision, runtime) by id, behind *after*, and the next place."""
    listed: list[tuple[str, int, str]] = []
    first = (after,) if after else ()
    for name, record in engine.records.walk(owner, "scenario", first=first, page=limit + 2):
        try:
            stored = read_document(record)
        except RecordCorrupt:
            continue
        if name == first or stored is None or stored.document is None:
            continue
        if len(listed) == limit:
            return tuple(listed), listed[-1][0]
        runtime = stored.document.value["scenario"].get("memoryRuntime", "personalization")
        listed.append((name[0], stored.revision, runtime))
    return tuple(listed), None


def _stored(engine: Engine, owner: ProductScope, scenario_id: str) -> StoredDocument | None:
    key = scenario_key(owner, scenario_id)
    return read_document(engine.records.read(key).get(key))
