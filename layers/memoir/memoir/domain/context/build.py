"""Put together what the next turn gets: render the template, place the history, trim, and tell all of it.

sources ─ run template ─ place history ─ fits? ── yes ─ tell
              ^                            └─ no ─ leave out old history; where that is not enough,
              └──── without the source of the lowest priority that is printed ───────┘
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoir.domain.context.history import (
    Group,
    HistoryMessage,
    first_that_fits,
    history_groups,
    message_tokens,
    needed_from,
)
from memoir.domain.context.source import (
    Audience,
    Missing,
    RecalledSource,
    check_missing,
    configured_sources,
)
from memoir.domain.context.telling import Advice, context_warnings
from memoir.domain.scenario.scenario import Scenario
from memoir.domain.template.run import Program, Rendered, Span, run_template
from memoir.domain.template.values import JsonText
from memoir.errors import LimitExceeded

HISTORY_ALONE: Program = {"messages": [{"history": True}]}
"""What a scenario without a template renders."""


@dataclass(frozen=True, kw_only=True)
class CutSource:
    """A source that was left out to keep the budget. `tokens`: what its printed text came to, about."""

    variable: str
    tokens: int


@dataclass(frozen=True, kw_only=True)
class CutHistory:
    """What was left out of the history, oldest first."""

    messages: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the next turn gets, and what became of each source.

    Every variable of the scenario is in exactly one of `referenced` (something of it stands in `messages`),
    `unreferenced` (recalled, and the template printed nothing of it), `missing` and `cut_sources`. `spans`:
    where each stands, by the template's messages. `history`: the messages of it that were placed.
    """

    audience: Audience
    sources: tuple[RecalledSource, ...]
    variables: dict[str, str | JsonText]
    revisions: dict[str, int]
    messages: tuple[HistoryMessage, ...]
    history: tuple[HistoryMessage, ...]
    spans: tuple[Span, ...]
    referenced: tuple[str, ...]
    unreferenced: tuple[str, ...]
    missing: dict[str, Missing]
    cut_sources: tuple[CutSource, ...]
    cut_history: CutHistory | None
    tokens: int
    token_limit: int | None
    tokenizer: str
    warnings: tuple[Advice, ...]


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """A rendering that keeps the budget, with the history from group *first* on."""

    rendered: Rendered
    first: int
    tokens: int
    cut: tuple[CutSource, ...]


def build_context(
    *,
    scenario: Scenario,
    sources: Sequence[RecalledSource],
    values: Mapping[str, str] | None = None,
    history: Sequence[HistoryMessage] = (),
    budget: int | None = None,
    tokenizer: str | None = None,
    audience: Audience = "actor",
) -> Context:
    """Return what the next turn gets of *sources*, *values* and *history*, within *budget* tokens.

    Old history is left out first, never the newest user message nor what follows it; then sources, by
    ascending priority, later ones first among equals.
    Raises LimitExceeded: `budget_too_small` (its value is the least that would do), `template_too_large`;
    what `check_missing` raises.
    """
    counted_by = tokenizer or scenario.tokenizer
    recalled = configured_sources(scenario, sources, audience=audience)
    check_missing(scenario, recalled)
    program = scenario.program or HISTORY_ALONE
    placed = any("history" in message for message in program["messages"])
    groups = history_groups(history, tokenizer=counted_by) if placed else ()
    known = {source.variable: source.value for source in recalled if source.missing is None}
    given = {name: text for name, text in (values or {}).items() if name not in scenario.variables()}
    given["audience"] = audience
    fitted = _fit(scenario, program, known, given, groups, budget=budget, tokenizer=counted_by)
    kept = [message for group in groups[fitted.first :] for message in group.messages]
    cut = {source.variable for source in fitted.cut}
    printed = {span.variable for span in fitted.rendered.spans}
    return Context(
        audience=audience,
        sources=recalled,
        variables=known,
        revisions={s.variable: s.revision for s in recalled if s.revision is not None and not s.missing},
        messages=_placed(fitted.rendered, kept),
        history=tuple(kept),
        spans=fitted.rendered.spans,
        referenced=tuple(name for name in known if name in printed),
        unreferenced=tuple(name for name in known if name not in printed and name not in cut),
        missing={source.variable: source.missing for source in recalled if source.missing},
        cut_sources=fitted.cut,
        cut_history=_cut_history(groups[: fitted.first]),
        tokens=fitted.tokens,
        token_limit=budget,
        tokenizer=counted_by,
        warnings=context_warnings(
            scenario,
            fitted.rendered,
            unreferenced=[name for name in known if name not in printed and name not in cut],
            without=cut | {source.variable for source in recalled if source.missing},
            history_left_out=bool(history) and not placed,
        ),
    )


def _fit(
    scenario: Scenario,
    program: Program,
    known: Mapping[str, str | JsonText],
    given: Mapping[str, str],
    groups: Sequence[Group],
    *,
    budget: int | None,
    tokenizer: str,
) -> _Fitted:
    """Render without as few sources as it takes, and choose the history that fits beside them."""
    left = dict(known)
    cut: list[CutSource] = []
    while True:
        rendered = run_template(program, {**given, **left})
        fixed = sum(message_tokens(m.content, tokenizer=tokenizer) for m in rendered.messages)
        first = 0 if budget is None else first_that_fits(groups, room=budget - fixed)
        if first is not None:
            total = fixed + sum(group.tokens for group in groups[first:])
            return _Fitted(rendered=rendered, first=first, tokens=total, cut=tuple(cut))
        victim = _next_cut(scenario, rendered, left)
        if victim is None:
            least = fixed + sum(group.tokens for group in groups[needed_from(groups) :])
            raise _too_small(least, budget or 0)
        del left[victim]
        cut.append(CutSource(variable=victim, tokens=_printed_tokens(rendered, victim, tokenizer=tokenizer)))


def _next_cut(scenario: Scenario, rendered: Rendered, left: Mapping[str, object]) -> str | None:
    printed = {span.variable for span in rendered.spans}
    candidates = [
        variable for variable in reversed(scenario.variables()) if variable in printed & left.keys()
    ]
    return min(candidates, key=scenario.priority, default=None)


def _printed_tokens(rendered: Rendered, variable: str, *, tokenizer: str) -> int:
    contents = {message.index: message.content for message in rendered.messages}
    spans = (span for span in rendered.spans if span.variable == variable)
    text = "".join(contents[span.message][span.start : span.end] for span in spans)
    return message_tokens(text, tokenizer=tokenizer)


def _placed(rendered: Rendered, history: Sequence[HistoryMessage]) -> tuple[HistoryMessage, ...]:
    messages = [HistoryMessage(role=m.role, content=m.content) for m in rendered.messages]
    if rendered.history_at is not None:
        messages[rendered.history_at : rendered.history_at] = history
    return tuple(messages)


def _cut_history(groups: Sequence[Group]) -> CutHistory | None:
    if not groups:
        return None
    return CutHistory(
        messages=sum(len(group.messages) for group in groups), tokens=sum(group.tokens for group in groups)
    )


def _too_small(least: int, budget: int) -> LimitExceeded:
    return LimitExceeded(
        code="budget_too_small",
        value=least,
        limit=budget,
        path="/tokenBudget",
        detail=f"/tokenBudget: {budget} tokens; without any source and with the newest user message alone it "
        f"takes {least}",
    )
