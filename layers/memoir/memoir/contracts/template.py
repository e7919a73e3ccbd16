"""Templates as hosts write them, in Jinja's syntax, made into the JSON program that is stored and run.

Jinja2 only parses: the tree is walked, and whatever the language does not have is refused with its line, its
column and what to write instead. No module but these three `template…` imports it.
"""

from collections.abc import Callable, Collection
from typing import Any

from jinja2 import TemplateSyntaxError, nodes

from memoir.contracts.template_filters import filter_arguments
from memoir.contracts.template_syntax import (
    COMPUTED,
    PlacedEnvironment,
    constant,
    instead_of,
    macro_hint,
    normalised,
    place,
)
from memoir.domain.template.limits import MAX_NESTING, MAX_PATH_STEPS
from memoir.errors import Problem

MAX_PROBLEMS = 20
"""Of one message; who has more has one mistake many times."""


def compile_content(
    content: str, names: Collection[str], *, path: str
) -> tuple[list[Any], list[str], list[Problem]]:
    """Return (body, variables, problems) of one message's *content*, which may name the variables *names*.

    With problems, the body is not to be used. See `domain.template.run` for what a body is.
    """
    text = normalised(content)
    walk = _Walk(text, names, path=path)
    environment = PlacedEnvironment(keep_trailing_newline=True)
    try:
        tree = environment.parse(text)
        return walk.body(tree.body, 0), sorted(walk.named), walk.problems
    except TemplateSyntaxError as error:
        walk.refuse(error.lineno, "template_syntax", error.message or "is no template")
    except RecursionError:
        walk.refuse(0, "template_too_deep", f"nested deeper than {MAX_NESTING}")
    except ValueError:  # a number of more digits than Python reads
        walk.refuse(0, "template_syntax", "a number with too many digits")
    return [], [], walk.problems


class _Refused(Exception):
    """A problem was noted; what it is in has no program."""


class _Walk:
    """The walk through the tree of one message."""

    def __init__(self, text: str, names: Collection[str], *, path: str) -> None:
        self.named: set[str] = set()
        self.problems: list[Problem] = []
        self._text, self._path = text, path
        self._variables = set(names)
        self._loops: list[str] = []

    def refuse(self, offset: int, code: str, detail: str) -> _Refused:
        """Note a problem at *offset*."""
        line, column = place(self._text, offset)
        hint = macro_hint(self._text, offset)
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(
                {
                    "path": self._path,
                    "code": "template_macro" if hint else code,
                    "detail": f"line {line}, column {column}: {hint or detail}",
                    "line": line,
                    "column": column,
                }
            )
        return _Refused()

    def body(self, statements: list[nodes.Node], depth: int) -> list[Any]:
        """Return the program of *statements*; what is refused is noted and left out."""
        program: list[Any] = []
        for statement in statements:
            parts = statement.nodes if isinstance(statement, nodes.Output) else [statement]
            for part in parts:
                try:
                    read = self._block(part, depth) if isinstance(part, nodes.Stmt) else self._output(part)
                    program.append(read)
                except _Refused:
                    continue
        return program

    def _block(self, node: nodes.Stmt, depth: int) -> list[Any]:
        if depth >= MAX_NESTING:
            raise self.refuse(node.lineno, "template_too_deep", f"nested deeper than {MAX_NESTING} blocks")
        if isinstance(node, nodes.If):
            return self._if(node, depth)
        if isinstance(node, nodes.For):
            return self._for(node, depth)
        raise self._not_in_language(node)

    def _output(self, node: nodes.Node) -> Any:
        if isinstance(node, nodes.TemplateData):
            return node.data
        if not isinstance(node, nodes.Name | nodes.Getattr | nodes.Getitem | nodes.Filter):
            raise self._not_in_language(node)
        return ["print", self._operand(node, 0)]

    def _if(self, node: nodes.If, depth: int) -> list[Any]:
        branches = []
        for branch in (node, *node.elif_):
            condition = self._or_noted(self._condition, branch.test)
            branches.append([condition, self.body(branch.body, depth + 1)])
        return ["if", branches, self.body(node.else_, depth + 1)]

    def _for(self, node: nodes.For, depth: int) -> list[Any]:
        if node.test or node.recursive or node.else_:
            raise self.refuse(
                node.lineno,
                "template_refused",
                "a loop has no if, else or recursive; write {% if %} inside it",
            )
        if not isinstance(node.target, nodes.Name):
            raise self.refuse(
                node.lineno, "template_refused", "a loop has one name; write {% for x in path %} and x.member"
            )
        name = node.target.name
        if name in self._variables or name in self._loops:
            raise self.refuse(
                node.target.lineno,
                "template_name_taken",
                f"{name} has a meaning already; choose another name",
            )
        path = self._or_noted(self._operand, node.iter)
        self._loops.append(name)
        body = self.body(node.body, depth + 1)
        self._loops.pop()
        return ["for", name, path, body]

    def _or_noted(self, read: Callable[[Any, int], list[Any]], node: nodes.Node) -> list[Any]:
        """Return what *read* makes of *node*. A refusal is noted, and the block is looked at."""
        try:
            return read(node, 0)
        except _Refused:
            return []

    def _condition(self, node: nodes.Node, depth: int) -> list[Any]:
        if depth >= MAX_NESTING:
            raise self.refuse(node.lineno, "template_too_deep", f"more than {MAX_NESTING} nested operators")
        if isinstance(node, nodes.Not):
            return ["not", self._condition(node.node, depth + 1)]
        if isinstance(node, nodes.And | nodes.Or):
            operands = self._chain(node, type(node))
            kind = "and" if isinstance(node, nodes.And) else "or"
            return [kind, *(self._condition(operand, depth + 1) for operand in operands)]
        if isinstance(node, nodes.Compare):
            return self._comparison(node)
        return self._operand(node, depth)

    def _chain(self, node: nodes.BinExpr, kind: type[nodes.BinExpr]) -> list[nodes.Expr]:
        """Return the operands of `a and b and c`, which Jinja nests to the left, in their order."""
        operands: list[nodes.Expr] = []
        left: nodes.Expr = node
        while isinstance(left, kind):
            operands.append(left.right)
            left = left.left
        return [left, *reversed(operands)]

    def _comparison(self, node: nodes.Compare) -> list[Any]:
        operation = node.ops[0].op if len(node.ops) == 1 else ""
        kind = {"eq": "==", "ne": "!=", "in": "in", "notin": "in"}.get(operation)
        if kind is None:
            detail = "compare two things with == != in, or not in; " + COMPUTED
            raise self.refuse(node.ops[0].expr.lineno, "template_refused", detail)
        compared = [kind, self._operand(node.expr, 0), self._operand(node.ops[0].expr, 0)]
        return ["not", compared] if operation == "notin" else compared

    def _operand(self, node: nodes.Node, depth: int) -> list[Any]:
        """Return a path or constant, with the filters behind it."""
        chain: list[nodes.Filter] = []
        inner: nodes.Node | None = node
        while isinstance(inner, nodes.Filter):
            chain.append(inner)
            inner = inner.node
        if len(chain) + depth > MAX_NESTING:
            raise self.refuse(
                node.lineno, "template_too_deep", f"more than {MAX_NESTING} filters on one value"
            )
        expression = self._path_of(inner, at=node) if constant(inner) is ... else ["const", constant(inner)]
        for link in reversed(chain):
            arguments = filter_arguments(link)
            if isinstance(arguments, str):
                raise self.refuse(link.lineno, "template_filter", arguments)
            expression = ["filter", link.name, expression, *arguments]
        return expression

    def _path_of(self, node: nodes.Node | None, *, at: nodes.Node) -> list[Any]:
        keys: list[str | int] = []
        inner: nodes.Node | None = node
        while isinstance(inner, nodes.Getattr | nodes.Getitem):
            keys.append(inner.attr if isinstance(inner, nodes.Getattr) else self._key(inner))
            inner = inner.node
        if not isinstance(inner, nodes.Name):
            raise self._not_in_language(inner or at)
        if len(keys) > MAX_PATH_STEPS:
            raise self.refuse(
                inner.lineno, "template_too_deep", f"a path of more than {MAX_PATH_STEPS} steps"
            )
        self._check_name(inner)
        return ["path", inner.name, *reversed(keys)]

    def _key(self, node: nodes.Getitem) -> str | int:
        key = node.arg.value if isinstance(node.arg, nodes.Const) else None
        if type(key) is str or (type(key) is int and key >= 0):
            return key
        wanted = "an index is a number from 0 or a text; for the last item write the filter last"
        raise self.refuse(node.arg.lineno, "template_refused", wanted)

    def _check_name(self, node: nodes.Name) -> None:
        if node.name in self._loops:
            return
        if node.name not in self._variables:
            known = ", ".join(sorted(self._variables)) or "none"
            raise self.refuse(
                node.lineno,
                "template_unknown_variable",
                f"there is no variable {node.name}; there are {known}. Name others in the scenario's "
                "`values`, or configure their source",
            )
        self.named.add(node.name)

    def _not_in_language(self, node: nodes.Node) -> _Refused:
        if isinstance(node, nodes.Scope):  # what Jinja puts around an autoescape block, without a place
            node = node.body[0]
        named = type(node).__name__
        return self.refuse(
            node.lineno, "template_refused", f"{named} is not in the language; {instead_of(node)}"
        )
