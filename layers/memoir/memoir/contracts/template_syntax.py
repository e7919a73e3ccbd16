"""What of Jinja is not in the template language, and what to write instead; and where in a text that is."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.lexer import Lexer

INSTEAD = {
    "CondExpr": "write {% if … %}…{% else %}…{% endif %}",
    "Concat": "write the parts one after the other",
    "Call": "there are no calls; write a path such as {{ memory.scene }}",
    "Test": "write {% if path %} for what is there and not empty, or compare with ==",
    "Slice": "write one index, such as items[0], or the filters first, last, truncate",
    "Assign": "write the path where it is needed",
    "AssignBlock": "write the text where it is needed",
    "Macro": "write the text where it is needed",
    "CallBlock": "write the text where it is needed",
    "Include": "write the text into this message",
    "Import": "write the text into this message",
    "FromImport": "write the text into this message",
    "Extends": "write the text into this message",
    "Block": "write the text without a block",
    "FilterBlock": "put the filter behind the path: {{ path|filter }}",
    "With": "write the path where it is needed",
    "ScopedEvalContextModifier": "nothing is escaped; leave it out",
    "List": "compare with == and join by or",
    "Tuple": "compare with == and join by or",
    "Dict": "write a path such as {{ memory.scene }}",
}
COMPUTED = "compute it before you send it, and give it as a value or in the memory"

_MAX_INTEGER = 2**63 - 1

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MACRO = re.compile(
    r"\s*(?:[\w-]+\s*::|//|(?:random|roll|pick|trim|newline|noop|idle_duration|datetimeformat)\b)"
)
_MACRO_HINT = "macros of SillyTavern are not in the language; give the text as a value and write {{ name }}"


class PlacedLexer(Lexer):
    """Jinja's lexer, whose tokens carry their offset in the text in place of a line number."""

    def tokeniter(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> Iterator[tuple[int, str, str]]:
        """Yield (offset, kind, text) for all tokens of *source*, whose line breaks are `\\n`."""
        at = 0
        try:
            for _, kind, text in super().tokeniter(source, name, filename, state):
                # Only white space beside a `-` mark lies between two tokens.
                at = max(source.find(text, at), 0)
                yield at, kind, text
                at += len(text)
        except TemplateSyntaxError as error:
            raise TemplateSyntaxError(error.message or "", at) from None


class PlacedEnvironment(Environment):
    """Jinja's environment with that lexer, so that every node of the tree knows its offset as `lineno`."""

    @property
    def lexer(self) -> Lexer:
        """The lexer."""
        return PlacedLexer(self)


def normalised(text: str) -> str:
    """Return *text* with each line break as `\\n`, as Jinja reads it."""
    return _LINE_BREAK.sub("\n", text)


def place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of *offset*, both from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def macro_hint(text: str, offset: int) -> str:
    """Return what to say if *offset* lies in a macro of SillyTavern, else nothing."""
    opened = text.rfind("{{", 0, offset + 2)
    if opened < 0 or "}}" in text[opened:offset]:
        return ""
    return _MACRO_HINT if _MACRO.match(text, opened + 2) else ""


def constant(node: Any) -> Any:
    """Return the value of a constant that JSON can hold, `...` for anything else."""
    value = node.value if isinstance(node, nodes.Const) else ...
    if type(value) is int and abs(value) > _MAX_INTEGER:
        return ...
    if type(value) is float and not isfinite(value):
        return ...
    if type(value) is str and any("\ud800" <= character <= "\udfff" for character in value):
        return ...
    return value


def instead_of(node: Any) -> str:
    """Return what to write instead of *node*."""
    return INSTEAD.get(type(node).__name__, COMPUTED)
