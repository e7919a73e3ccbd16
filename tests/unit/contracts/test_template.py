"""The template language: what is in it, and that the rest is refused with its place and a way out."""

import json
from typing import Any

import pytest

from memoir.contracts.template import compile_content
from memoir.domain.scenario.default import DEFAULT, DEFAULT_TEMPLATE
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.template.run import Rendered, run_template
from memoir.domain.template.values import JsonText

NAMES = ("memory", "memoryTable", "compassMemory", "character", "plan")
MEMORY = JsonText(
    '{"scene":"城门","n":1.0,"tiny":1e-7,"big":9007199254740993,"flag":true,"none":null,"empty":"",'
    '"items":[{"name":"剑","n":2},{"name":"","n":3},{"name":"盾","n":4}],'
    '"tags":["a","b"],"map":{"k":"v","a b":"w"}}'
)
VALUES: dict[str, Any] = {
    "memory": MEMORY,
    "memoryTable": "* 0:人物表",
    "compassMemory": "  day one \n day two ",
    "character": "Alena",
}


def program_of(content: str) -> dict[str, Any]:
    body, names, problems = compile_content(content, NAMES, path="/c")
    assert problems == []
    # Stored as JSON and read back: what runs is what JSON can hold.
    return json.loads(json.dumps({"messages": [{"role": "system", "body": body, "names": names}]}))


def rendered(content: str, values: dict[str, Any] | None = None) -> Rendered:
    return run_template(program_of(content), VALUES if values is None else values)


def text_of(content: str) -> str:
    return "".join(message.content for message in rendered(content).messages)


def problem_of(content: str) -> dict[str, Any]:
    _, _, problems = compile_content(content, NAMES, path="/c")
    assert problems, "nothing was refused"
    return problems[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain { text } % #", "plain { text } % #"),
        ("trailing newline\n", "trailing newline\n"),
        ("windows\r\nbreaks", "windows\nbreaks"),
        ("{{ memory.scene }}", "城门"),
        ("{{ memory['scene'] }}|{{ memory.map['a b'] }}", "城门|w"),
        ("{{ memory.items[0].name }}", "剑"),
        ("{{ memory.n }} {{ memory.tiny }} {{ memory.big }}", "1.0 1e-7 9007199254740993"),
        ("{{ memory.flag }}{{ memory.none }}.", "true."),
        ("{{ memory.tags }}", '["a","b"]'),
        ("{{ memory }}", MEMORY.text),
        ("{{ memory|tojson }}", MEMORY.text),
        ("{{ memory.items[0]|tojson }}", '{"name":"剑","n":2}'),
        ("{{ character|upper }} {{ character|lower }}", "ALENA alena"),
        ("[{{ compassMemory|trim }}]", "[day one \n day two]"),
        ("{{ character|truncate(4) }}", "A..."),
        ("{{ character|truncate(4, true, '~') }}", "Ale~"),
        ("{{ character|truncate(length=3, end='') }}", "Ale"),
        ("{{ character|truncate }}", "Alena"),
        ("{{ memory.nowhere|default('none') }}", "none"),
        ("{{ memory.nowhere|upper|default('none') }}", "none"),
        ("{{ memory.empty|default('none') }}.", "."),
        ("{{ memory.empty|default('none', true) }}.", "none."),
        ("{{ memory.nowhere|default(7) }}", "7"),
        ("{{ memory.tags|join(', ') }}", "a, b"),
        ("{{ memory.map|join('+') }}", "k+a b"),
        ("{{ memory.tags|first }}{{ memory.tags|last }}", "ab"),
        ("{{ character|first }}{{ character|last }}", "Aa"),
        ("{{ 'x' if false }}".replace("{{ 'x' if false }}", "{{ plan|indent(2) }}") + ".", "."),
        ("{{ compassMemory|indent(2, true) }}", "    day one \n   day two "),
        ("{% if memory.flag and not memory.none %}yes{% else %}no{% endif %}", "yes"),
        (
            "{% if memory.empty or memory.nowhere %}yes{% elif memory.n == 1 %}one{% else %}no{% endif %}",
            "one",
        ),
        ("{% if 'a' in memory.tags %}in{% endif %}{% if 'z' not in memory.tags %} out{% endif %}", "in out"),
        ("{% if 'len' in character %}in{% endif %}", "in"),
        ("{% if 'k' in memory.map %}in{% endif %}", "in"),
        ("{% if memory.big == 9007199254740992 %}same{% else %}other{% endif %}", "other"),
        ("{% if memory.flag == 1 %}same{% else %}other{% endif %}", "other"),
        ("{% if memory.scene != '城门' %}other{% else %}same{% endif %}", "same"),
        ("{% for x in memory.items %}{{ x.name }}{{ x.n }};{% endfor %}", "剑2;3;盾4;"),
        ("{% for x in memory.items %}{% if x.name %}- {{ x.name }}\n{% endif %}{% endfor %}", "- 剑\n- 盾\n"),
        ("{% for k in memory.map %}{{ k }},{% endfor %}", "k,a b,"),
        ("a {#- no -#} b", "ab"),
        ("a {%- if memory.flag -%} b {%- endif %}", "ab"),
        ("{% raw %}{{ memory.scene }}{% endraw %}", "{{ memory.scene }}"),
    ],
)
def test_what_is_in_the_language_renders(content: str, text: str) -> None:
    assert text_of(content) == text


@pytest.mark.parametrize(
    ("content", "line", "column", "code", "hint"),
    [
        ("{{ memory.scene }} {{ 1 + 1 }}", 1, 23, "template_refused", "compute it"),
        ("a\nb {{ 'x' * 10 }}", 2, 6, "template_refused", "compute it"),
        ("{{ memory.a ~ 'b' }}", 1, 4, "template_refused", "one after the other"),
        ("{{ memory.a if memory.b }}", 1, 4, "template_refused", "{% if"),
        ("{{ memory.a() }}", 1, 12, "template_refused", "no calls"),
        ("{{ range(9) }}", 1, 9, "template_refused", "no calls"),
        ("{{ memory.items[0:2] }}", 1, 17, "template_refused", "an index is"),
        ("{{ memory.items[-1] }}", 1, 17, "template_refused", "filter last"),
        ("{{ memory[character] }}", 1, 11, "template_refused", "a number from 0 or a text"),
        ("{{ [1] }}", 1, 4, "template_refused", "List"),
        ("{{ 'text' }}", 1, 4, "template_refused", "Const"),
        ("{{ not memory }}", 1, 4, "template_refused", "Not"),
        ("{% if memory is defined %}{% endif %}", 1, 14, "template_refused", "{% if path %}"),
        ("{% if memory.n > 1 %}{% endif %}", 1, 18, "template_refused", "=="),
        ("{% if 1 == 1 == 1 %}{% endif %}", 1, 12, "template_refused", "two things"),
        ("{% set x = 1 %}", 1, 4, "template_refused", "where it is needed"),
        ("{% macro m() %}{% endmacro %}", 1, 4, "template_refused", "where it is needed"),
        ("{% call m() %}{% endcall %}", 1, 4, "template_refused", "where it is needed"),
        ("{% include 'x' %}", 1, 4, "template_refused", "into this message"),
        ("{% extends 'x' %}", 1, 4, "template_refused", "into this message"),
        ("{% import 'x' as y %}", 1, 4, "template_refused", "into this message"),
        ("{% block b %}{% endblock %}", 1, 4, "template_refused", "without a block"),
        ("{% filter upper %}{% endfilter %}", 1, 4, "template_refused", "behind the path"),
        ("{% with x = 1 %}{% endwith %}", 1, 4, "template_refused", "where it is needed"),
        ("{% autoescape true %}{% endautoescape %}", 1, 4, "template_refused", "nothing is escaped"),
        ("{% do x %}", 1, 4, "template_syntax", "unknown tag"),
        ("{% for x in memory if x %}{% endfor %}", 1, 4, "template_refused", "inside it"),
        ("{% for a, b in memory %}{% endfor %}", 1, 4, "template_refused", "one name"),
        ("{% for memory in memory %}{% endfor %}", 1, 8, "template_name_taken", "another name"),
        ("{% for x in memory %}{{ loop.index }}{% endfor %}", 1, 25, "template_unknown_variable", "loop"),
        ("{% for x in memory %}{% endfor %}{{ x }}", 1, 37, "template_unknown_variable", "x"),
        ("{{ memory|eval }}", 1, 11, "template_filter", "no filter eval"),
        ("{{ memory|d('x') }}", 1, 11, "template_filter", "no filter d"),
        ("{{ memory|truncate(character) }}", 1, 11, "template_filter", "constant"),
        ("{{ memory|truncate(99999999999) }}", 1, 11, "template_filter", "at most"),
        ("{{ memory|indent(65) }}", 1, 11, "template_filter", "at most 64"),
        ("{{ memory|join(attribute='x') }}", 1, 11, "template_filter", "no further argument"),
        ("{{ memory|upper(1) }}", 1, 11, "template_filter", "at most 0"),
        ("{{ memory|upper(*x) }}", 1, 11, "template_filter", "constants"),
        ("{{char}}", 1, 3, "template_unknown_variable", "`values`"),
        ("x\n{{getvar::mood}}", 2, 9, "template_macro", "SillyTavern"),
        ("{{setvar::mood::1}}", 1, 9, "template_macro", "SillyTavern"),
        ("{{random:a,b}}", 1, 9, "template_macro", "SillyTavern"),
        ("{{// note}}", 1, 3, "template_macro", "SillyTavern"),
        ("{{ memory", 1, 4, "template_syntax", "unexpected end"),
        ("{% if memory %}", 1, 14, "template_syntax", "endif"),
        ("{{ memory.a $ }}", 1, 13, "template_syntax", "unexpected char"),
    ],
)
def test_all_else_is_refused_with_its_place_and_a_way_out(
    content: str, line: int, column: int, code: str, hint: str
) -> None:
    problem = problem_of(content)
    assert (problem["code"], problem["line"], problem["column"]) == (code, line, column)
    assert problem["path"] == "/c"
    assert hint in str(problem["detail"])


def test_every_mistake_of_a_message_is_told_at_once() -> None:
    _, _, problems = compile_content(
        "{{ a }}{{ b }}{% if c %}{{ d|e }}{{ memory|e }}{% endif %}", NAMES, path=""
    )
    assert [problem["column"] for problem in problems] == [4, 11, 21, 28, 44]


@pytest.mark.parametrize(("depth", "fits"), [(8, True), (9, False)])
def test_blocks_nest_eight_deep(depth: int, fits: bool) -> None:
    content = "{% if memory %}" * depth + "x" + "{% endif %}" * depth
    _, _, problems = compile_content(content, NAMES, path="")
    assert (problems == []) is fits


@pytest.mark.parametrize(("count", "fits"), [(8, True), (9, False)])
def test_eight_filters_stand_behind_one_value(count: int, fits: bool) -> None:
    _, _, problems = compile_content("{{ memory" + "|upper" * count + " }}", NAMES, path="")
    assert (problems == []) is fits


def test_a_value_is_no_template() -> None:
    hostile = "{{ memoryTable }} {% if x %} \\1 \\g<0> $1 <system>"
    assert rendered("{{ character }}|", {"character": hostile}).messages[0].content == hostile + "|"


@pytest.mark.parametrize(
    ("content", "printed"),
    [
        ("{{ memory.scene }}", {"memory"}),
        ("{% if memory.none %}{{ memoryTable }}{% endif %}x", set()),
        ("{% if memory %}x{% endif %}", set()),
        ("{{ memory.nowhere }}x", set()),
        ("{{ memory.empty }}x", set()),
        ("{{ memory.nowhere|default('x') }}", set()),
        ("{{ memory.none|default('x') }}", set()),
        ("{{ memoryTable|truncate(3) }}", set()),
        ("{{ memoryTable|truncate(4) }}", {"memoryTable"}),
        ("{{ memory.empty|indent(3, true) }}x", set()),
        ("{{ plan|indent(3, true) }}x", set()),
        ("{% for x in memory.items %}{{ x.name }}{% endfor %}", {"memory"}),
        ("{% for x in memory.items %}{{ character }}{% endfor %}", {"character"}),
        ("{% for x in memory.nowhere %}{{ character }}{% endfor %}x", set()),
        ("{% raw %}{{ memory }}{% endraw %}", set()),
        ("{# {{ memory }} #}x", set()),
        ("{{ memory.scene|upper|lower|trim }}", {"memory"}),
        ("{{ memoryTable|truncate(5)|last }}", set()),
        ("{{ memoryTable|truncate(5)|first }}", {"memoryTable"}),
    ],
)
def test_a_variable_is_referenced_where_its_text_is_printed(content: str, printed: set[str]) -> None:
    assert {span.variable for span in rendered(content).spans} == printed


def test_a_list_of_nothing_joined_prints_nothing_of_its_variable() -> None:
    result = rendered("{{ memory.x|join('-') }}", {"memory": JsonText('{"x":["","",""]}')})
    assert result.messages[0].content == "--"
    assert result.spans == ()


def test_spans_stand_where_the_text_is() -> None:
    result = rendered("A {{ memory.scene }} B {{ character|truncate(4) }}")
    content = result.messages[0].content
    assert [(s.variable, content[s.start : s.end]) for s in result.spans] == [
        ("memory", "城门"),
        ("character", "A"),
    ]


def test_absent_paths_are_told_and_print_nothing() -> None:
    result = rendered("x{{ memory.a.b }}{{ plan }}{% for x in memory.scene %}y{% endfor %}")
    assert result.messages[0].content == "x"
    assert result.absent == ("memory.a.b", "plan", "memory.scene")


def test_a_blank_message_is_left_out_and_told() -> None:
    program = {
        "messages": [
            *program_of(" \n{{ plan }}\t")["messages"],
            {"history": True},
            *program_of("x")["messages"],
        ]
    }
    result = run_template(program, VALUES)
    assert (result.blank, result.history_at, [m.index for m in result.messages]) == ((0,), 0, [2])


def test_the_default_scenario_is_what_the_parser_makes_of_its_template() -> None:
    sources = [
        {"id": source.id, "agentRef": source.agent_ref, "variable": source.variable}
        for source in DEFAULT.memory_sources
    ]
    written = {
        "memoryRuntime": "axon_go",
        "memorySources": sources,
        "documents": ["memory"],
        "template": DEFAULT_TEMPLATE,
    }
    assert read_scenario(written, scenario_id="default", compile_content=compile_content) == DEFAULT
