"""The sources of a context: which records each is read from, and what each gives of what was read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from memoir.domain.context.request import ContextRequest
from memoir.domain.context.source import Missing, RecalledSource
from memoir.domain.context.telling import Advice
from memoir.domain.diary.due.plan import next_round_at
from memoir.domain.diary.due.tiers import tier_of
from memoir.domain.diary.record.agent_ref import AgentRef, canonical_agent_ref
from memoir.domain.diary.record.head import progress_of
from memoir.domain.diary.record.recall import MAX_RECALL_BYTES, compass_memory
from memoir.domain.diary.record.recent import RecentSummary
from memoir.domain.scenario import Scenario
from memoir.domain.scenario.variables import DIRECTOR_ONLY, KIND_OF_VARIABLE, SourceKind
from memoir.domain.scope import Scope
from memoir.domain.state.projection import audience_text
from memoir.domain.state.record import StateRecord, read_record, reading_settings
from memoir.domain.state.settings import Audience
from memoir.domain.story.document import read_stored
from memoir.domain.story.text import narrative_text, world_text
from memoir.domain.table.text import memory_table_text
from memoir.errors import RecordCorrupt, StoreUnavailable
from memoir.ports.records import Found, RecordKey
from memoir.records.diary import diary_head_key, read_diary_head
from memoir.records.documents import read_document
from memoir.usecases.diary import recall
from memoir.usecases.documents import memory_key, profile_key
from memoir.usecases.edit_table import stored_state, table_key
from memoir.usecases.engine import Engine
from memoir.usecases.state import state_key
from memoir.usecases.story import story_key


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What a context is made of, and what to look at."""

    sources: tuple[RecalledSource, ...]
    advice: tuple[Advice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One context call's view of what was read for it."""

    engine: Engine
    scope: Scope
    scenario: Scenario
    found: Found
    request: ContextRequest


def keys_of(scope: Scope, scenario: Scenario) -> tuple[RecordKey, ...]:
    """Return the records of all sources of *scenario*, also of those that are only compared, each once."""
    compared = (source.variable for source in scenario.compared_sources())
    variables = (*scenario.variables(), *compared)
    keys = (_key(scope, scenario, variable) for variable in variables)
    return tuple(dict.fromkeys(key for key in keys if key is not None))


def recall_sources(reading: Reading) -> Recalled:
    """Return a source for each variable that the scenario answers; one that cannot be read says why."""
    sources: list[RecalledSource] = []
    advice: tuple[Advice, ...] = ()
    for variable in reading.scenario.variables():
        kind = KIND_OF_VARIABLE[variable]
        if kind == "diary":
            source, advice = _diary(reading, or_read=_from_entries)
            sources.append(source)
        elif kind == "hinos":
            sources += _hinos(reading, variable)
        else:
            sources.append(_document(reading, variable, kind))
    return Recalled(sources=tuple(sources), advice=advice)


def recall_compared(reading: Reading) -> Iterator[RecalledSource]:
    """Yield what `axon_shadow` compares, of what was read already: it costs no request of its own."""
    for compared in reading.scenario.compared_sources():
        kind = KIND_OF_VARIABLE[compared.variable]
        if kind == "diary":
            yield _diary(reading, or_read=_nothing)[0]
        else:
            yield _document(reading, compared.variable, kind)


def _key(scope: Scope, scenario: Scenario, variable: str) -> RecordKey | None:
    kind = KIND_OF_VARIABLE[variable]
    if kind == "diary":
        return diary_head_key(scope, _agent(scenario))
    if kind == "memory":
        return memory_key(scope)
    if kind == "profile":
        return profile_key(scope.owner)
    if kind == "state":
        return state_key(scope)
    if kind == "story":
        return story_key(scope)
    return table_key(scope) if kind == "table" else None


def _agent(scenario: Scenario) -> AgentRef:
    source = scenario.source("compassMemory")
    return canonical_agent_ref(source.agent_ref if source else "")


_Told = tuple[RecalledSource, tuple[Advice, ...]]


def _diary(reading: Reading, *, or_read: Callable[[Reading, RecalledSource], _Told]) -> _Told:
    """Return the newest summaries that are kept beside the diary's head, in one read with everything else.

    Where it keeps fewer than are recalled, and there may be more, *or_read* has them.
    """
    source = RecalledSource(variable="compassMemory", kind="diary")
    try:
        head = read_diary_head(read_document(reading.found.get(_diary_key(reading))))
    except RecordCorrupt as error:
        return replace(source, missing=could_not(error)), ()
    wanted = reading.scenario.recall_count(reading.request.subscription_category)
    summaries = head.recent.newest(wanted) if head.recent else None
    if summaries is None:
        return or_read(reading, source)
    if not summaries:
        next_at = next_round_at(
            policy=reading.scenario.diary.policy,
            progress=progress_of(head, accepted_rounds=()),
            tier=tier_of(reading.request.subscription_category),
        )
        return replace(source, missing=Missing(reason="not_due", next_at=next_at)), ()
    return _with_summaries(source, summaries), ()


def _diary_key(reading: Reading) -> RecordKey:
    return diary_head_key(reading.scope, _agent(reading.scenario))


def _with_summaries(source: RecalledSource, summaries: tuple[RecentSummary, ...]) -> RecalledSource:
    text, _ = compass_memory(summaries, max_bytes=MAX_RECALL_BYTES)
    return replace(source, text=text, versions=tuple((one.last_round, one.version) for one in summaries))


def _nothing(reading: Reading, source: RecalledSource) -> _Told:
    return replace(source, missing=Missing(reason="unavailable")), ()


def _from_entries(reading: Reading, source: RecalledSource) -> _Told:
    try:
        recalled = recall(
            reading.engine,
            scope=reading.scope,
            subscription_category=reading.request.subscription_category,
            scenario=reading.scenario,
        )
    except (StoreUnavailable, RecordCorrupt) as error:
        return replace(source, missing=could_not(error)), ()
    if not recalled.compass_memory:
        missing = Missing(reason="not_due", next_at=recalled.next_at)
        return replace(source, missing=Missing(reason="corrupt") if recalled.unreadable else missing), ()
    rounds = ", ".join(map(str, recalled.unreadable))
    advice = Advice(
        code="diary_unreadable",
        variable="compassMemory",
        detail=f"compassMemory lacks the entries that end at round {rounds}: they could not be read",
    )
    source = _with_summaries(source, tuple(entry.recalled for entry in recalled.entries))
    return source, ((advice,) if recalled.unreadable else ())


def _document(reading: Reading, variable: str, kind: SourceKind) -> RecalledSource:
    source = RecalledSource(variable=variable, kind=kind)
    key = _key(reading.scope, reading.scenario, variable)
    try:
        stored = read_document(reading.found.get(key)) if key else None
        if stored is None or stored.document is None:
            return replace(source, missing=Missing(reason="empty"))
        source = replace(source, revision=stored.revision)
        if kind == "table":
            return replace(source, text=memory_table_text(stored_state(stored).document))
        if kind == "state":
            return replace(source, text=_state_text(reading, variable, read_record(stored.document)))
        if kind == "story":
            text_of = world_text if variable == "storyWorld" else narrative_text
            return replace(source, text=text_of(read_stored(stored.document).story))
    except RecordCorrupt as error:
        return replace(source, missing=could_not(error))
    return replace(source, text=stored.document.text, is_json=True)


def _state_text(reading: Reading, variable: str, record: StateRecord) -> str:
    """Return what an audience sees of the state. For the actor, the director's is not even put together."""
    audience = Audience.DIRECTOR if variable == DIRECTOR_ONLY else Audience.ACTOR
    if audience is Audience.DIRECTOR and reading.request.audience == "actor":
        return ""
    scenario = reading.scenario
    settings = reading_settings(record, scenario_id=scenario.id, settings=scenario.state)
    return audience_text(record.state, audience=audience, settings=settings)


def _hinos(reading: Reading, variable: str) -> list[RecalledSource]:
    supplied = reading.request.hinos
    if supplied is None or supplied.memory is None:
        return []
    return [RecalledSource(variable=variable, kind="hinos", text=supplied.memory)]


def could_not(error: StoreUnavailable | RecordCorrupt) -> Missing:
    """Return why a source that could not be read is missing."""
    return Missing(reason="corrupt" if isinstance(error, RecordCorrupt) else "unavailable")
