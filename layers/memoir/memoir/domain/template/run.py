"""Run a template: the JSON program made of it when its scenario was saved, on the values of one call.

A program is `{"messages": [{"role", "body": [node…], "names": [variable…]} | {"history": true}]}`. A node is
a text, or one of
    ["print", expression]
    ["if", [[condition, [node…]]…], [node…]]
    ["for", name, expression, [node…]]
an expression ["path", variable, key…], ["const", value], ["filter", name, expression, argument…], ["not", e],
["and", e…], ["or", e…], ["==", e, e], ["!=", e, e] or ["in", e, e].
Values are data: nothing in them is ever read as a template.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memoir.domain.template.filters import apply_filter, check_characters, piece_of
from memoir.domain.template.limits import CHARACTERS_A_STEP, JSON_CHARACTERS_A_STEP, MAX_STEPS
from memoir.domain.template.values import (
    ABSENT,
    JsonText,
    Number,
    Piece,
    Values,
    inside,
    is_true,
    items_of,
    plain_text,
    same,
)
from memoir.errors import LimitExceeded

Program = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Span:
    """Where something of *variable* stands: in the content of the template's message of that index."""

    message: int
    variable: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class PromptMessage:
    """A message as it goes to the model. *index*: its place in the template."""

    index: int
    role: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A rendered template. *history_at*: before which of *messages* the history goes, if anywhere.

    *absent*: printed or looped paths that led nowhere. *blank*: indexes of messages that were left out, being
    white space alone. *steps*: how far it ran, of at most 20,000.
    """

    messages: tuple[PromptMessage, ...]
    history_at: int | None
    spans: tuple[Span, ...]
    absent: tuple[str, ...]
    blank: tuple[int, ...]
    steps: int


def run_template(program: Program, values: Values) -> Rendered:
    """Return the messages of *program* with *values* filled in, and where each value went.

    Raises LimitExceeded `template_too_large`: more than 20,000 steps or 262,144 characters; RecordCorrupt.
    """
    run = _Run(values)
    messages: list[PromptMessage] = []
    blank: list[int] = []
    history_at: int | None = None
    for index, message in enumerate(program["messages"]):
        if "history" in message:
            history_at = len(messages)
            continue
        content = run.message(index, message["body"])
        if content is None:
            blank.append(index)
        else:
            messages.append(PromptMessage(index=index, role=message["role"], content=content))
    return Rendered(
        messages=tuple(messages),
        history_at=history_at,
        spans=tuple(run.spans),
        absent=tuple(run.absent),
        blank=tuple(blank),
        steps=run.steps,
    )


class _Run:
    """One run: what it has cost, what stands where, and what the names of loops stand for."""

    def __init__(self, values: Values) -> None:
        self.spans: list[Span] = []
        self.absent: dict[str, None] = {}
        self.steps = 0
        self._characters = 0
        # Name -> (value, the variable that it comes from).
        self._names: dict[str, tuple[Any, str]] = {name: (value, name) for name, value in values.items()}

    def message(self, index: int, body: list[Any]) -> str | None:
        """Return the content of one message, None for white space alone."""
        pieces: list[str] = []
        spans: list[Span] = []
        at = 0
        for text, variable in self._nodes(body):
            self._characters += len(text)
            check_characters(self._characters)
            if variable is not None and text:
                spans.append(Span(message=index, variable=variable, start=at, end=at + len(text)))
            pieces.append(text)
            at += len(text)
        content = "".join(pieces)
        if not content.strip():
            return None
        self.spans += spans
        return content

    def _nodes(self, nodes: list[Any]) -> Iterator[tuple[str, str | None]]:
        for node in nodes:
            self._charge()
            if isinstance(node, str):
                yield node, None
            elif node[0] == "print":
                yield from self._print(node[1])
            elif node[0] == "if":
                yield from self._nodes(self._branch(node))
            else:
                yield from self._loop(node)

    def _print(self, expression: list[Any]) -> Iterator[tuple[str, str | None]]:
        value, variable = self._value(expression)
        if value is ABSENT:
            self.absent[_path_text(expression)] = None
            return
        piece = piece_of(value)
        if isinstance(value, list | dict):
            self._charge(len(piece.own) // JSON_CHARACTERS_A_STEP)
        yield piece.before, None
        yield piece.own, variable
        yield piece.after, None

    def _branch(self, node: list[Any]) -> list[Any]:
        for condition, body in node[1]:
            if is_true(self._value(condition)[0]):
                return list(body)
        return list(node[2])

    def _loop(self, node: list[Any]) -> Iterator[tuple[str, str | None]]:
        _, name, expression, body = node
        value, variable = self._value(expression)
        items = items_of(value)
        if items is None:
            self.absent[_path_text(expression)] = None
            return
        for item in items:
            self._charge()
            self._names[name] = (item, variable or "")
            yield from self._nodes(body)
        self._names.pop(name, None)

    def _value(self, expression: list[Any]) -> tuple[Any, str | None]:
        """Return what *expression* stands for, and the variable that it comes from."""
        self._charge()
        kind = expression[0]
        if kind == "path":
            value, variable = self._names.get(expression[1], (ABSENT, None))
            for key in expression[2:]:
                value = inside(value, key)
            return value, variable
        if kind == "const":
            return _constant(expression[1]), None
        if kind == "filter":
            value, variable = self._value(expression[2])
            return self._filtered(expression[1], value, expression[3:]), variable
        return self._truth(kind, expression[1:]), None

    def _filtered(self, name: str, value: Any, arguments: list[Any]) -> Any:
        self._charge(_size(value) // CHARACTERS_A_STEP)
        result = apply_filter(name, value, arguments)
        if isinstance(result, Piece):
            check_characters(len(result.text))
            written = name in _WRITE_JSON or isinstance(value, list | dict)
            price = JSON_CHARACTERS_A_STEP if written else CHARACTERS_A_STEP
            self._charge(len(result.text) // price)
        return result

    def _truth(self, kind: str, operands: list[Any]) -> bool:
        if kind == "not":
            return not is_true(self._value(operands[0])[0])
        if kind == "and":
            return all(is_true(self._value(operand)[0]) for operand in operands)
        if kind == "or":
            return any(is_true(self._value(operand)[0]) for operand in operands)
        one, other = (self._value(operand)[0] for operand in operands)
        self._charge((_size(one) + _size(other)) // CHARACTERS_A_STEP)
        if kind == "in":
            return self._within(one, other)
        return same(one, other) == (kind == "==")

    def _within(self, one: Any, other: Any) -> bool:
        items = items_of(other)
        if items is not None:
            self._charge(len(items) // 16)
            return any(same(one, item) for item in items)
        if not isinstance(one, str | Piece) or not isinstance(other, str | Piece):
            return False
        return plain_text(one) in plain_text(other)

    def _charge(self, steps: int = 0) -> None:
        self.steps += 1 + steps
        if self.steps > MAX_STEPS:
            raise LimitExceeded(
                code="template_too_large",
                value=self.steps,
                limit=MAX_STEPS,
                path="/template",
                detail=f"the template takes more than {MAX_STEPS} steps with these values",
            )


_WRITE_JSON = frozenset({"tojson", "join"})


def _size(value: Any) -> int:
    """Return about how long the text of *value* is, where it is a text."""
    if isinstance(value, str | list | dict):
        return len(value)
    return len(value.text) if isinstance(value, Piece | JsonText) else 0


def _constant(value: Any) -> Any:
    return Number(str(value)) if type(value) in (int, float) else value


def _path_text(expression: list[Any]) -> str:
    while expression[0] == "filter":
        expression = expression[2]
    if expression[0] != "path":
        return ""
    name, *keys = expression[1:]
    return str(name) + "".join(f".{key}" if isinstance(key, str) else f"[{key}]" for key in keys)
