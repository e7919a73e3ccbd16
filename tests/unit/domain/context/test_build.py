"""A context: what is placed, what is trimmed, and that each source is told of exactly once."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoir.domain.context.build import Context, build_context
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.source import Missing, RecalledSource
from memoir.errors import LimitExceeded, RecordCorrupt, RequestInvalid, StoreUnavailable
from tests.unit.domain.context.builders import HISTORY, SYSTEM, diary, memory, said, scenario_of, table

ACTOR_STATE = RecalledSource(variable="actorState", kind="state", text="seen", revision=4)
DIRECTOR_STATE = RecalledSource(variable="directorState", kind="state", text="CANARY", revision=4)


def contents(context: Context) -> list[str]:
    return [message.content for message in context.messages]


def codes(context: Context) -> list[str]:
    return [advice.code for advice in context.warnings]


def test_the_history_stands_where_the_template_says() -> None:
    scenario = scenario_of(SYSTEM, HISTORY, {"role": "user", "content": "last"})
    context = build_context(scenario=scenario, sources=[diary(), table()], history=[said("user", "hello")])
    assert contents(context) == ["day one\n* 0:人物表", "hello", "last"]
    assert [message.role for message in context.messages] == ["system", "user", "user"]
    assert context.referenced == ("compassMemory", "memoryTable")
    assert context.revisions == {"compassMemory": 3, "memoryTable": 7}
    assert context.warnings == ()


def test_a_value_fills_its_name_and_an_absent_one_is_told() -> None:
    scenario = scenario_of("{{ character }} {{ user }} {{ audience }}")
    context = build_context(scenario=scenario, sources=[], values={"character": "Alena"})
    assert contents(context) == ["Alena  actor"]
    assert [(a.code, a.variable) for a in context.warnings] == [("path_absent", "user")]


def test_a_source_that_is_never_printed_is_told_with_the_message_to_expect_it_in() -> None:
    scenario = scenario_of(
        {"role": "user", "content": "x"}, "{% if compassMemory == 'no' %}{{ compassMemory }}{% endif %}y"
    )
    context = build_context(scenario=scenario, sources=[diary(), table()])
    assert context.unreferenced == ("compassMemory", "memoryTable")
    assert [(a.code, a.variable, a.message) for a in context.warnings] == [
        ("source_unreferenced", "compassMemory", 1),
        ("source_unreferenced", "memoryTable", 1),
    ]
    assert "printed nothing" in context.warnings[0].detail
    assert "no message prints it" in context.warnings[1].detail


def test_without_a_template_the_history_goes_alone_and_that_is_told() -> None:
    context = build_context(scenario=scenario_of(), sources=[diary()], history=[said("user", "hi")])
    assert contents(context) == ["hi"]
    assert context.unreferenced == ("compassMemory",)
    assert "no template" in context.warnings[0].detail


def test_a_history_that_the_template_does_not_place_is_told() -> None:
    context = build_context(scenario=scenario_of("x"), sources=[], history=[said("user", "hi")])
    assert (contents(context), context.history) == (["x"], ())
    assert codes(context) == ["history_not_placed"]


def test_a_blank_message_is_left_out_and_told() -> None:
    context = build_context(scenario=scenario_of("{{ memoryTable }}", "x"), sources=[])
    assert contents(context) == ["x"]
    assert [(a.code, a.message) for a in context.warnings] == [("message_blank", 0)]


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        (table(""), Missing(reason="empty")),
        (table(" \n"), Missing(reason="empty")),
        (table("", missing=Missing(reason="not_due", next_at=20)), Missing(reason="not_due", next_at=20)),
        (table("stale", missing=Missing(reason="unavailable")), Missing(reason="unavailable")),
        (table("", missing=Missing(reason="corrupt")), Missing(reason="corrupt")),
        (None, Missing(reason="not_supplied")),
    ],
)
def test_what_is_missing_says_why_and_prints_nothing(source: RecalledSource | None, missing: Missing) -> None:
    sources = [diary(), *([source] if source else [])]
    context = build_context(scenario=scenario_of(SYSTEM), sources=sources)
    assert context.missing == {"memoryTable": missing}
    assert contents(context) == ["day one\n"]
    assert "memoryTable" not in context.variables
    assert codes(context) == []


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (table("", missing=Missing(reason="unavailable")), StoreUnavailable),
        (table("", missing=Missing(reason="corrupt")), RecordCorrupt),
        (None, RequestInvalid),
    ],
)
def test_on_missing_fail_fails_where_a_source_could_not_be_read(source: Any, error: type[Exception]) -> None:
    scenario = scenario_of(SYSTEM, onMissing="fail")
    with pytest.raises(error):
        build_context(scenario=scenario, sources=[diary(), *([source] if source else [])])


def test_on_missing_fail_does_not_mind_what_is_not_there_yet() -> None:
    sources = [diary("", missing=Missing(reason="not_due", next_at=20)), table("")]
    context = build_context(scenario=scenario_of(SYSTEM, onMissing="fail"), sources=sources)
    assert set(context.missing) == {"compassMemory", "memoryTable"}


def test_a_source_that_is_not_configured_is_left_out() -> None:
    context = build_context(scenario=scenario_of(SYSTEM), sources=[diary(), table(), memory()])
    assert set(context.variables) == {"compassMemory", "memoryTable"}


def test_the_directors_state_prints_nothing_for_the_actor_and_that_is_told() -> None:
    scenario = scenario_of("{{ actorState }}{{ directorState }}.", documents=("state",))
    context = build_context(scenario=scenario, sources=[ACTOR_STATE, DIRECTOR_STATE, diary(), table()])
    assert contents(context) == ["seen."]
    assert context.missing["directorState"] == Missing(reason="not_for_audience")
    assert "CANARY" not in repr(context)


def test_a_value_of_the_request_is_no_source() -> None:
    scenario = scenario_of("{{ memoryTable }}.")
    context = build_context(scenario=scenario, sources=[], values={"memoryTable": "forged"})
    assert contents(context) == ["."]


def test_the_director_sees_both_states() -> None:
    scenario = scenario_of("{{ actorState }}{{ directorState }}", documents=("state",))
    context = build_context(scenario=scenario, sources=[ACTOR_STATE, DIRECTOR_STATE], audience="director")
    assert contents(context) == ["seenCANARY"]


def turn(number: int, tokens: int = 100) -> list[HistoryMessage]:
    return [
        said(role, f"{role} {number}", tokens=tokens, turn_id=f"t{number}") for role in ("user", "assistant")
    ]


def test_old_turns_are_left_out_first_and_whole() -> None:
    history = [*turn(1), *turn(2), said("user", "now", tokens=50)]
    context = build_context(scenario=scenario_of(HISTORY), sources=[], history=history, budget=449)
    assert contents(context) == ["user 2", "assistant 2", "now"]
    assert context.cut_history is not None
    assert (context.cut_history.messages, context.cut_history.tokens, context.tokens) == (2, 200, 250)


def test_a_history_that_fits_exactly_is_kept_whole() -> None:
    history = [*turn(1), *turn(2), said("user", "now", tokens=50)]
    context = build_context(scenario=scenario_of(HISTORY), sources=[], history=history, budget=450)
    assert (len(context.messages), context.cut_history) == (5, None)


def test_a_tool_call_and_its_answers_go_together() -> None:
    history = [
        said("user", "look", tokens=10),
        said("assistant", "", tokens=10, tool_calls='[{"id":"c"}]'),
        said("tool", "gate", tokens=10, tool_call_id="c"),
        said("tool", "key", tokens=10, tool_call_id="d"),
        said("assistant", "a gate", tokens=10),
        said("user", "now", tokens=10),
    ]
    context = build_context(scenario=scenario_of(HISTORY), sources=[], history=history, budget=40)
    assert contents(context) == ["a gate", "now"]


def test_what_follows_the_newest_user_message_is_kept() -> None:
    history = [
        *turn(1),
        said("user", "now", tokens=50),
        said("assistant", "", tokens=50),
        said("tool", "r", tokens=50),
    ]
    context = build_context(scenario=scenario_of(HISTORY), sources=[], history=history, budget=150)
    assert [message.role for message in context.messages] == ["user", "assistant", "tool"]


def test_then_the_source_of_the_lowest_priority_is_cut() -> None:
    scenario = scenario_of("{{ compassMemory }}", "{{ memoryTable }}", HISTORY, priorities=(1, 2))
    sources = [diary("日" * 400), table("表" * 400)]
    context = build_context(scenario=scenario, sources=sources, history=[said("user", "now")], budget=600)
    assert [cut.variable for cut in context.cut_sources] == ["compassMemory"]
    assert context.cut_sources[0].tokens > 300
    assert context.referenced == ("memoryTable",)
    assert contents(context) == ["表" * 400, "now"]
    assert "compassMemory" in context.variables


def test_of_equal_priorities_the_later_source_is_cut_first() -> None:
    scenario = scenario_of("{{ compassMemory }}", "{{ memoryTable }}")
    context = build_context(scenario=scenario, sources=[diary("日" * 400), table("表" * 400)], budget=600)
    assert [cut.variable for cut in context.cut_sources] == ["memoryTable"]


def test_room_that_a_cut_source_makes_goes_to_the_history() -> None:
    scenario = scenario_of("{{ memoryTable }}", HISTORY)
    history = [*turn(1), said("user", "now", tokens=50)]
    context = build_context(scenario=scenario, sources=[table("表" * 900)], history=history, budget=400)
    assert contents(context) == ["user 1", "assistant 1", "now"]


def test_a_budget_that_nothing_fits_says_what_would() -> None:
    scenario = scenario_of("fixed", "{{ memoryTable }}", HISTORY)
    history = [*turn(1), said("user", "now", tokens=50)]
    arguments: dict[str, Any] = {"scenario": scenario, "sources": [table("表" * 400)], "history": history}
    with pytest.raises(LimitExceeded) as caught:
        build_context(budget=10, **arguments)
    assert (caught.value.code, caught.value.limit) == ("budget_too_small", 10)
    assert build_context(budget=caught.value.value, **arguments).tokens == caught.value.value
    with pytest.raises(LimitExceeded):
        build_context(budget=caught.value.value - 1, **arguments)


def test_the_tokenizer_of_the_request_goes_before_the_scenarios() -> None:
    scenario = scenario_of(SYSTEM, tokenizer="qwen3")
    sources = [diary("守卫点头接过铜钥匙"), table()]
    assert build_context(scenario=scenario, sources=sources).tokenizer == "qwen3"
    other = build_context(scenario=scenario, sources=sources, tokenizer="cl100k")
    assert other.tokenizer == "cl100k"
    assert other.tokens > build_context(scenario=scenario, sources=sources).tokens


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
PIECES = st.lists(
    st.sampled_from(
        [
            "{{ compassMemory }}",
            "{{ memoryTable|truncate(3) }}",
            "{{ memory }}",
            "{{ memory.a }}",
            "{% if memoryTable %}{{ memory.b|default('none') }}{% endif %}",
            "{% if not memoryTable %}{{ compassMemory }}{% else %}{{ memoryTable }}{% endif %}",
            "{% for x in memory %}{{ x }}{% endfor %}",
            "text ",
            " ",
        ]
    ),
    max_size=4,
).map("".join)
REASONS = st.sampled_from(["empty", "unavailable", "corrupt", "not_supplied"])


def sources_of(text: str, other: str, document: Any, reason: Any) -> list[RecalledSource]:
    missing = Missing(reason=reason) if reason else None
    return [diary(text), table(other, missing=missing), memory(json.dumps(document, ensure_ascii=False))]


@settings(max_examples=200, deadline=None)
@given(
    contents=st.lists(PIECES, min_size=1, max_size=3),
    text=TEXTS,
    other=TEXTS,
    document=st.dictionaries(st.sampled_from(["a", "b"]), TEXTS),
    reason=st.none() | REASONS,
    history=st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), TEXTS), max_size=8),
    budget=st.integers(1, 300),
)
def test_nothing_exceeds_the_budget_and_nothing_is_dropped_in_silence(
    contents: list[str], text: str, other: str, document: Any, reason: Any, history: Any, budget: int
) -> None:
    scenario = scenario_of(*contents, HISTORY, documents=("memory",))
    messages = [said(role, content) for role, content in history]
    arguments: dict[str, Any] = {
        "scenario": scenario,
        "sources": sources_of(text, other, document, reason),
        "history": messages,
    }
    try:
        context = build_context(budget=budget, **arguments)
    except LimitExceeded as error:
        assert error.code == "budget_too_small"
        assert error.value > budget
        context = build_context(budget=error.value, **arguments)
        budget = error.value
    assert context.tokens <= budget
    told = [
        *context.referenced,
        *context.unreferenced,
        *context.missing,
        *(cut.variable for cut in context.cut_sources),
    ]
    assert sorted(told) == sorted(scenario.variables())
    left_out = context.cut_history.messages if context.cut_history else 0
    assert context.history == tuple(messages[left_out:])
    users = [message for message in messages if message.role == "user"]
    assert not users or users[-1] in context.history
    assert len(context.messages) - len(context.history) <= len(contents)


@given(TEXTS)
def test_rendering_executes_no_value(text: str) -> None:
    hostile = "{{ memory }}{% if memoryTable %}" + text + "{% endif %}{# " + text
    context = build_context(scenario=scenario_of("<{{ memoryTable }}>"), sources=[table(hostile)])
    assert contents(context) == [f"<{hostile}>"]
    (span,) = context.spans
    assert (span.start, span.end) == (1, 1 + len(hostile))
