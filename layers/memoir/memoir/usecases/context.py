"""Read what a scenario names of a conversation, and put it together for the next turn.

head, scenario, all sources (one read) ─ stored history ─ Hinos's memory ─ build ─ tell ─ compare
                                         └─ each only where it is asked for ─┘
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from memoir.domain.context.answer import AnsweredContext, context_answer
from memoir.domain.context.build import Context, build_context
from memoir.domain.context.compare import Comparison, compare_recalls
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.manifest import encode_manifest, make_manifest
from memoir.domain.context.prepare import hinos_body
from memoir.domain.context.request import ContextRequest, SuppliedHinos, check_request
from memoir.domain.context.telling import Advice
from memoir.domain.hinos import PreparedMemory
from memoir.domain.page import MAX_PAGE_BYTES, PageRoom
from memoir.domain.scenario import DEFAULT, Scenario
from memoir.domain.scope import Scope
from memoir.domain.turns import Turn, TurnHead
from memoir.errors import TooLarge
from memoir.ports.records import Found
from memoir.records.turns import newest_first, read_turn
from memoir.usecases.context_sources import Reading, Recalled, keys_of, recall_compared, recall_sources
from memoir.usecases.engine import Engine
from memoir.usecases.mark_round import keep_memory
from memoir.usecases.scenarios import governing, governing_keys

PreparesHinos = Callable[..., PreparedMemory]
"""Asks Hinos: `(scope=, body=, request_id=)`. What it raises stops the generation."""


@dataclass(frozen=True, kw_only=True)
class _History:
    messages: tuple[HistoryMessage, ...] = ()
    rounds: tuple[int, int] | None = None
    bounded: bool = False


class Contexts:
    """Answers context calls.

    It remembers the scenarios that it met, so that all their sources are read in one request with the
    scenario itself. Where a scenario has changed since, they are read again.
    """

    _REMEMBERED = 1_000

    def __init__(self, engine: Engine, *, prepare_hinos: PreparesHinos, default: Scenario = DEFAULT) -> None:
        """Take the *engine*, how Hinos is asked, and the built-in scenario."""
        self._engine = engine
        self._prepare_hinos = prepare_hinos
        self._default = default
        self._met: dict[tuple[str, str], Scenario] = {}

    def answer(self, *, scope: Scope, request: ContextRequest, request_id: str) -> AnsweredContext:
        """Return what the next turn of a conversation gets.

        One read; a write where it gives a memory that no turn has kept; a Query more for stored history, and
        for a diary whose newest summaries are not beside its head.
        Raises ScenarioUnknown, RequestInvalid (what the scenario does not know; a missing source with
        `onMissing` fail), MessagesRefused, HinosFailed, HinosNotConfigured (with `prepare`: generation must
        stop), LimitExceeded (`budget_too_small`, `template_too_large`), TooLarge (`context_too_large`),
        StoreUnavailable, RecordCorrupt.
        """
        scenario, head, found = self._read(scope, request.scenario_id or self._default.id)
        check_request(request, scenario)
        keep_memory(self._engine, scope, head, found)
        history = self._history(scope, request, head)
        reading = Reading(engine=self._engine, scope=scope, scenario=scenario, found=found, request=request)
        recalled = recall_sources(reading)
        prepared = None
        if request.hinos and request.hinos.prepare:
            prepared = self._prepare(reading, recalled, history, request_id=request_id)
            supplied = SuppliedHinos(claim_id=prepared.claim_id, memory=prepared.memory)
            reading = replace(reading, request=replace(request, hinos=supplied))
            recalled = recall_sources(reading)
        context = _built(reading, recalled, history)
        comparison, failure = _compared(reading, recalled)
        return AnsweredContext(
            context=context,
            text=_text(context, head, scenario, history, prepared=prepared, comparison=comparison),
            comparison=comparison,
            comparison_failure=failure,
        )

    def _read(self, scope: Scope, scenario_id: str) -> tuple[Scenario, TurnHead, Found]:
        """Return the scenario, the head and the documents that it names, all of one moment."""
        place = (scope.product, scenario_id)
        known = self._met.get(place, self._default if scenario_id == self._default.id else None)
        while True:
            keys = keys_of(scope, known) if known else ()
            head, found = self._engine.read_together(scope, *governing_keys(scope, scenario_id), *keys)
            scenario = governing(found, scope, scenario_id, default=self._default)
            if set(keys_of(scope, scenario)) <= set(keys):
                self._remember(place, scenario)
                return scenario, head, found
            known = scenario

    def _remember(self, place: tuple[str, str], scenario: Scenario) -> None:
        if len(self._met) >= self._REMEMBERED:
            self._met.clear()
        self._met[place] = scenario

    def _prepare(
        self, reading: Reading, recalled: Recalled, history: "_History", *, request_id: str
    ) -> PreparedMemory:
        """Ask Hinos for its memory, telling it the input as it is without."""
        request = reading.request
        body = hinos_body(
            _built(reading, recalled, history, telling=False),
            request_id=request_id,
            scenario_id=reading.scenario.id,
            source=(request.hinos.source if request.hinos else None) or {},
        )
        return self._prepare_hinos(scope=reading.scope, body=body, request_id=request_id)

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


def _built(reading: Reading, recalled: Recalled, history: _History, *, telling: bool = True) -> Context:
    """Return the context of what was recalled. Without *telling* nothing that is missing fails it."""
    request = reading.request
    scenario = reading.scenario if telling else replace(reading.scenario, on_missing="tell")
    context = build_context(
        scenario=scenario,
        sources=recalled.sources,
        values=request.values,
        history=history.messages,
        budget=request.token_budget,
        tokenizer=request.tokenizer,
        audience=request.audience,
    )
    advice = recalled.advice
    if history.bounded:
        detail = f"only {len(history.messages) // 2} stored turns have room in an answer"
        advice = (*advice, Advice(code="history_bounded", detail=detail))
    return replace(context, warnings=(*context.warnings, *advice))


def _compared(reading: Reading, recalled: Recalled) -> tuple[Comparison | None, str]:
    """Return how the recall of Axon differs from the answer, under `axon_shadow`; or why it is not known."""
    if not reading.scenario.compared_sources():
        return None, ""
    try:
        here = {source.variable: source.text for source in recalled.sources if source.kind == "profile"}
        there = {source.variable: source.text for source in recall_compared(reading)}
        return compare_recalls(here, there), ""
    except Exception as error:  # whatever it is: a comparison fails no turn
        return None, type(error).__name__


def _messages(turn: Turn) -> tuple[HistoryMessage, ...]:
    said = (("user", turn.user_text), ("assistant", turn.assistant_text))
    return tuple(HistoryMessage(role=role, content=text, turn_id=turn.turn_id) for role, text in said)


def _text(
    context: Context,
    head: TurnHead,
    scenario: Scenario,
    history: _History,
    *,
    prepared: PreparedMemory | None,
    comparison: Comparison | None,
) -> str:
    manifest = make_manifest(
        context,
        generation=head.generation,
        head=head.last,
        scenario_id=scenario.id,
        scenario_revision=scenario.revision,
        history_rounds=_placed_rounds(context, history),
        comparison=comparison,
    )
    hinos: dict[str, Any] | None = vars(prepared) if prepared else None
    text = context_answer(
        context, generation=head.generation, manifest=encode_manifest(manifest), hinos=hinos
    )
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
