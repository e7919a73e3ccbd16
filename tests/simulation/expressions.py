"""DynamoDB's expressions: read once into trees, evaluated on items in DynamoDB's own notation.

A tree is a tuple whose first member names its kind. Placeholders stay in the tree: one tree serves every
request that has the same text.
"""

import re
from functools import lru_cache
from typing import Any

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

Item = dict[str, Any]
Tree = tuple[Any, ...]

_TOKEN = re.compile(r"\s*(?:(<>|<=|>=|[=<>(),+\-\[\].])|([A-Za-z0-9_:#]+))")
_COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
_FUNCTIONS = ("attribute_exists", "attribute_not_exists", "begins_with", "contains", "size", "attribute_type")
_CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


@lru_cache(maxsize=1)
def _reserved() -> frozenset[str]:
    return frozenset(ReservedKeywords.get_reserved_keywords())


class ExpressionInvalid(Exception):
    """The text is no expression; DynamoDB answers ValidationException."""


class _Reader:
    """Reads tokens from left to right. Key words are known in any case."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise ExpressionInvalid(f"Syntax error in {text!r} at {at}")
            self.tokens.append(match[1] or match[2])
            at = match.end()
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def word(self) -> str:
        return self.peek().upper()

    def take(self, wanted: str | None = None) -> str:
        token = self.peek()
        if not token or (wanted is not None and token.upper() != wanted):
            raise ExpressionInvalid(f"Syntax error; token: {token or '<EOF>'}, wanted: {wanted}")
        self.at += 1
        return token

    def path(self) -> Tree:
        parts: list[str | int] = [self.take()]
        while self.peek() in (".", "["):
            if self.take() == ".":
                parts.append(self.take())
            else:
                parts.append(int(self.take()))
                self.take("]")
        for part in parts:
            if isinstance(part, str) and (not re.match(r"[A-Za-z#_]", part) or part.upper() in _reserved()):
                raise ExpressionInvalid(f"Syntax error, or a reserved word; token: {part}")
        return ("path", *parts)

    def operand(self) -> Tree:
        token = self.peek()
        if token.startswith(":"):
            return ("value", self.take())
        if token.lower() in ("size", "if_not_exists", "list_append") and self._calls():
            return self.call()
        return self.path()

    def call(self) -> Tree:
        name = self.take().lower()
        self.take("(")
        arguments = [self.operand()]
        while self.peek() == ",":
            self.take()
            arguments.append(self.operand())
        self.take(")")
        return (name, *arguments)

    def disjunction(self) -> Tree:
        tree = self.conjunction()
        while self.word() == "OR":
            self.take()
            tree = ("or", tree, self.conjunction())
        return tree

    def conjunction(self) -> Tree:
        tree = self.negation()
        while self.word() == "AND":
            self.take()
            tree = ("and", tree, self.negation())
        return tree

    def negation(self) -> Tree:
        if self.word() == "NOT":
            self.take()
            return ("not", self.negation())
        if self.peek() == "(":
            self.take()
            tree = self.disjunction()
            self.take(")")
            return tree
        if self.peek().lower() in _FUNCTIONS and self.peek().lower() != "size" and self._calls():
            return self.call()
        return self.comparison()

    def comparison(self) -> Tree:
        left = self.operand()
        operator = self.take().upper()
        if operator in _COMPARATORS:
            return (operator, left, self.operand())
        if operator == "BETWEEN":
            low = self.operand()
            self.take("AND")
            return ("between", left, low, self.operand())
        if operator == "IN":
            self.take("(")
            options = [self.operand()]
            while self.peek() == ",":
                self.take()
                options.append(self.operand())
            self.take(")")
            return ("in", left, *options)
        raise ExpressionInvalid(f"Syntax error; token: {operator}")

    def update(self) -> Tree:
        actions: list[Tree] = []
        seen: set[str] = set()
        while self.peek():
            clause = self.word()
            if clause not in _CLAUSES or clause in seen:
                raise ExpressionInvalid(f"Syntax error; token: {self.peek()}")
            seen.add(clause)
            self.take()
            actions.append(self._action(clause))
            while self.peek() == ",":
                self.take()
                actions.append(self._action(clause))
        return tuple(actions)

    def _action(self, clause: str) -> Tree:
        path = self.path()
        if clause == "REMOVE":
            return ("REMOVE", path)
        if clause in ("ADD", "DELETE"):
            return (clause, path, self.operand())
        self.take("=")
        value = self.operand()
        while self.peek() in ("+", "-"):
            value = (self.take(), value, self.operand())
        return ("SET", path, value)

    def _calls(self) -> bool:
        return self.at + 1 < len(self.tokens) and self.tokens[self.at + 1] == "("

    def end(self, tree: Tree) -> Tree:
        if self.peek():
            raise ExpressionInvalid(f"Syntax error; token: {self.peek()}")
        return tree


@lru_cache(maxsize=4096)
def condition_tree(text: str) -> Tree:
    """Return the tree of a condition or key condition. Raises ExpressionInvalid."""
    reader = _Reader(text)
    return reader.end(reader.disjunction())


@lru_cache(maxsize=4096)
def update_tree(text: str) -> Tree:
    """Return the actions of an update expression, in order. Raises ExpressionInvalid."""
    return _Reader(text).update()


@lru_cache(maxsize=1024)
def projection_paths(text: str) -> tuple[Tree, ...]:
    """Return the paths of a projection. Raises ExpressionInvalid."""
    reader = _Reader(text)
    paths = [reader.path()]
    while reader.peek() == ",":
        reader.take()
        paths.append(reader.path())
    return reader.end(tuple(paths))


@lru_cache(maxsize=4096)
def placeholders(tree: Tree) -> frozenset[str]:
    """Return the `:values` and `#names` that stand in *tree*."""
    found: set[str] = set()
    for part in tree:
        if isinstance(part, tuple):
            found |= placeholders(part)
        elif isinstance(part, str) and part[:1] in (":", "#"):
            found.add(part)
    return frozenset(found)


def path_heads(tree: Tree) -> frozenset[str]:
    """Return the first names of the paths in *tree*."""
    if tree[0] == "path":
        return frozenset({str(tree[1])})
    return frozenset().union(*(path_heads(part) for part in tree if isinstance(part, tuple)))
