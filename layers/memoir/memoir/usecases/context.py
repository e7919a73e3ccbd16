"""Read what a scenario names of a conversation, and put it together for the next turn.

head, scenario, memory, table, profile (one read) ─ the diary's newest entries ─ stored history ─ build ─ tell
"""

import json
from dataclasses import dataclass, replace

from memoir.domain.context.answer import AnsweredContext, context_answer
from memoir.domain.context.build import Context, build_context
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.manifest import encode_manifest, make_manifest
from memoir.domain.context.request import ContextRequest, check_values
from memoir.domain.context.source import Missing, RecalledSource
from memoir.domain.context.telling import Advice
from memoir.domain.page import MAX_PAGE_BYTES, PageRoom
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scenario.variables import KIND_OF_VARIABLE, SourceKind
from memoir.domain.scope import Scope
from memoir.domain.table.text import memory_table_text
from memoir.domain.turns import Turn, TurnHead
from memoir.errors import RecordCorrupt, RequestInvalid, StoreUnavailable, TooLarge
from memoir.ports.records import Found, RecordKey
from memoir.records.documents import read_document
from memoir.records.turns import newest_first, read_turn
from memoir.usecases.diary import recall
from memoir.usecases.documents import memory_key, profile_key
from memoir.usecases.edit_table import stored_state, table_key
from memoir.usecases.engine import Engine
from memoir.usecases.scenarios import governing, governing_keys


@dataclass(frozen=True, kw_only=True)
class _History:
    messages: tuple[HistoryMessage, ...] = ()
    rounds: tuple[int, int] | None = None
    bounded: bool = False


class Contexts:
    """Answers context calls.

    It remembers which kinds of source a scenario named last, so that all of them are read in one request with
    the scenario itself. Where the scenario has changed since, they are read again.
    """

    _REMEMBERED = 1_000

    def __init__(self, engine: Engine, *, default: Scenario = DEFAULT) -> None:
        """Take the *engine*, and the built-in scenario."""
        self._engine = engine
        self._default = default
        self._named: dict[tuple[str, str], tuple[SourceKind, ...]] = {}

    def answer(self, *, scope: Scope, request: ContextRequest) -> AnsweredContext:
        """Return what the next turn of a conversation gets.

        One read, and a Query each for the diary and the stored history where they are asked for.
        Raises ScenarioUnknown, RequestInvalid (a value that the scenario does not know; a missing source with
        `onMissing` fail), LimitExceeded (`budget_too_small`, `template_too_large`), TooLarge
        (`context_too_large`), StoreUnavailable, RecordCorrupt.
        """
        if request.hinos and request.hinos.prepare:
            detail = "/hinos/prepare: prepare the memory first, and give its claim_id and memory here"
            raise RequestInvalid(code="prepare_not_supported", path="/hinos/prepare", detail=detail)
        scenario, head, found = self._read(scope, request.scenario_id or self._default.id)
        check_values(request, scenario)
        history = self._history(scope, request, head)
        sources, advice = self._recall(scope, request, scenario, found)
        context = build_context(
            scenario=scenario,
            sources=sources,
            values=request.values,
            history=history.messages,
            budget=request.token_budget,
            tokenizer=request.tokenizer,
            audience=request.audience,
        )
        if history.bounded:
            detail = f"only {len(history.messages) // 2} stored turns have room in an answer"
            advice = (*advice, Advice(code="history_bounded", detail=detail))
        context = replace(context, warnings=(*context.warnings, *advice))
        return AnsweredContext(context=context, text=_text(context, head, scenario, history))

    def _read(self, scope: Scope, scenario_id: str) -> tuple[Scenario, TurnHead, Found]:
        """Return the scenario, the head and the documents that it names, all of one moment."""
        place = (scope.product, scenario_id)
        named = self._named.get(place, self._default.reads() if scenario_id == self._default.id else ())
        while True:
            keys = [key for kind in named if (key := _document_key(scope, kind))]
            head, found = self._engine.read_together(scope, *governing_keys(scope, scenario_id), *keys)
            scenario = governing(found, scope, scenario_id, default=self._default)
            reads = tuple(KIND_OF_VARIABLE[variable] for variable in scenario.variables())
            if set(reads) <= set(named):
                return scenario, head, found
            named = self._remember(place, reads)

    def _remember(self, place: tuple[str, str], reads: tuple[SourceKind, ...]) -> tuple[SourceKind, ...]:
        if len(self._named) >= self._REMEMBERED:
            self._named.clear()
        self._named[place] = reads
        return reads

    def _recall(
        self, scope: Scope, request: ContextRequest, scenario: Scenario, found: Found
    ) -> tuple[list[RecalledSource], tuple[Advice, ...]]:
        sources: list[RecalledSource] = []
        advice: tuple[Advice, ...] = ()
        for variable in scenario.variables():
            kind = KIND_OF_VARIABLE[variable]
            if kind == "diary":
                source, advice = self._diary(scope, request, scenario)
                sources.append(source)
            elif kind == "hinos":
                sources += _hinos(request, variable)
            else:
                sources.append(_document(scope, variable, kind, found))
        return sources, advice

    def _diary(
        self, scope: Scope, request: ContextRequest, scenario: Scenario
    ) -> tuple[RecalledSource, tuple[Advice, ...]]:
        source = RecalledSource(variable="compassMemory", kind="diary")
        try:
            recalled = recall(
                self._engine,
                scope=scope,
                subscription_category=request.subscription_category,
                scenario=scenario,
            )
        except (StoreUnavailable, RecordCorrupt) as error:
            return replace(source, missing=_could_not(error)), ()
        if not recalled.compass_memory:
            missing = Missing(reason="not_due", next_at=recalled.next_at)
            return replace(source, missing=Missing(reason="corrupt") if recalled.unreadable else missing), ()
        versions = tuple((entry.last_round, entry.version) for entry in recalled.entries)
        rounds = ", ".join(map(str, recalled.unreadable))
        advice = Advice(
            code="diary_unreadable",
            variable="compassMemory",
            detail=f"compassMemory lacks the entries that end at round {rounds}: they could not be read",
        )
        source = replace(source, text=recalled.compass_memory, versions=versions)
        return source, ((advice,) if recalled.unreadable else ())

    def _history(self, scope: Scope, request: ContextRequest, head: TurnHead) -> _History:
        """Return the history: as it was given, or so many of the stored turns, oldest first."""
        if not request.history_turns:
            return _History(messages=request.history)
        turns: list[Turn] = []
        room, bounded = PageRoom(), False
        for name, record in newest_first(
            self._engine.records, scope, before_round=head.last.round + 1, limit=request.history_turns
        ):
            turn = read_turn(name, record)
            bounded = not room.takes(turn.user_text, turn.assistant_text)
            if bounded:
                break
            turns.append(turn)
            if len(turns) == request.history_turns:
                break
        if not turns:
            return _History()
        messages = tuple(message for turn in reversed(turns) for message in _messages(turn))
        rounds = (turns[-1].position.round, turns[0].position.round)
        return _History(messages=messages, rounds=rounds, bounded=bounded)


def _document_key(scope: Scope, kind: SourceKind) -> RecordKey | None:
    if kind == "memory":
        return memory_key(scope)
    if kind == "profile":
        return profile_key(scope.owner)
    return table_key(scope) if kind == "table" else None


def _document(scope: Scope, variable: str, kind: SourceKind, found: Found) -> RecalledSource:
    source = RecalledSource(variable=variable, kind=kind)
    key = _document_key(scope, kind)
    try:
        stored = read_document(found.get(key)) if key else None
        if stored is None or stored.document is None:
            return replace(source, missing=Missing(reason="empty"))
        source = replace(source, revision=stored.revision)
        if kind == "table":
            return replace(source, text=memory_table_text(stored_state(stored).document))
    except RecordCorrupt as error:
        return replace(source, missing=_could_not(error))
    return replace(source, text=stored.document.text, is_json=True)


def _hinos(request: ContextRequest, variable: str) -> list[RecalledSource]:
    if request.hinos is None or request.hinos.memory is None:
        return []
    return [RecalledSource(variable=variable, kind="hinos", text=request.hinos.memory)]


def _could_not(error: StoreUnavailable | RecordCorrupt) -> Missing:
    return Missing(reason="corrupt" if isinstance(error, RecordCorrupt) else "unavailable")


def _messages(turn: Turn) -> tuple[HistoryMessage, ...]:
    said = (("user", turn.user_text), ("assistant", turn.assistant_text))
    return tuple(HistoryMessage(role=role, content=text, turn_id=turn.turn_id) for role, text in said)


def _text(context: Context, head: TurnHead, scenario: Scenario, history: _History) -> str:
    manifest = make_manifest(
        context,
        generation=head.generation,
        head=head.last,
        scenario_id=scenario.id,
        scenario_revision=scenario.revision,
        history_rounds=_placed_rounds(context, history),
    )
    text = context_answer(context, generation=head.generation, manifest=encode_manifest(manifest))
    size_bytes = len(json.dumps(text))
    if size_bytes > MAX_PAGE_BYTES:
        raise TooLarge(
            code="context_too_large",
            size_bytes=size_bytes,
            limit_bytes=MAX_PAGE_BYTES,
            detail=f"the context has {size_bytes} bytes, escaped, the limit is {MAX_PAGE_BYTES}: "
            "ask for less history, or for a tokenBudget",
        )
    return text


def _placed_rounds(context: Context, history: _History) -> tuple[int, int] | None:
    """Return the first and last round that stand in the messages, where the history was ours."""
    if history.rounds is None or not context.history:
        return None
    kept_turns = len({message.turn_id for message in context.history})
    stored = list(dict.fromkeys(message.turn_id for message in history.messages))
    skipped = len(stored) - kept_turns
    return history.rounds[0] + skipped, history.rounds[1]
