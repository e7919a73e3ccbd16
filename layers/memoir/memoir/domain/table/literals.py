"""The tolerant reader of values: strings, objects, lists and bare words, as models really write them.

Linear: a string is read once up to a limit known beforehand, and every look ahead is bounded. A quote ends
its string only where what follows can follow a value; else it is text. Nothing is evaluated.
"""

import re
from typing import Any, Literal

from memoir.domain.model_text.cleaning import encodable
from memoir.domain.model_text.cursor import (
    CLOSE_BRACES,
    CLOSE_BRACKETS,
    CLOSE_PARENTHESES,
    CLOSERS,
    COLONS,
    COMMAS,
    OPEN_BRACES,
    OPEN_BRACKETS,
    QUOTES,
    Cursor,
    Looked,
    Quoted,
)
from memoir.domain.table.limits import MAX_NESTING
from memoir.domain.table.marks import COMMENT_END, Marks
from memoir.domain.table.values import DECODER, Bare, Pairs, Unreadable, nesting

Context = Literal["key", "object", "list", "args"]


MAX_STRICT_FAILURES = 8
"""How often a reply is tried as JSON that is none. Each try is one pass: the bound keeps reading linear."""

_BLANK = re.compile(r"(?:[\s　]|/\*(?:[^*]|\*(?!/)){0,400}\*/|//[^\n]{0,400}(?=\n))+")
_SPACES = re.compile(r"[\s　]*+")
_KEY = re.compile(
    r"[\s　]{0,200}(?:\"[^\"\n]{1,64}\"|'[^'\n]{1,64}'|`[^`\n]{1,64}`|[“”][^“”\"\n]{1,64}[“”\"]"
    r"|[‘’][^‘’\n]{1,64}[‘’]|＂[^＂\n]{1,64}＂|[\w.-]{1,64})[\s　]{0,20}[:：]"
)
_VALUE = re.compile(
    r"[\s　]{0,200}(?:[\"'`“‘＂{\[｛［]|[-+]?\d|null\b|none\b|true\b|false\b|\w{3,12}[ \t]{0,4}[:=：])",
    re.IGNORECASE,
)
_BARE_KEY = re.compile(r"[^\s　:：,，{}｛｝\[\]\"'“”‘’`]{1,64}")
_BARE_STOP = {
    "object": re.compile(r"[,，}｝\])）\n]"),
    "list": re.compile(r"[,，\]］)）\n]"),
    "args": re.compile(r"[,，)）;；\n]|/\*"),
}
_AFTER_CLOSING = re.compile(
    r"[ \t　]*(?:$|[\n;；,，。]|-->|</?table|<!--|//|#|/\*|(?:insert|add|update|delete|remove))", re.I
)


_INDEX = re.compile(r"[0-9]+(?=[,)])")
"""The commonest argument: a number that the next comma or parenthesis ends."""


class Reader(Cursor):
    """A cursor over a reply. `repairs` collects what was mended since it was last emptied."""

    def __init__(self, text: str, marks: Marks, *, looked: Looked) -> None:
        super().__init__(text, looked=looked)
        self.marks = marks
        self._strict_failures = 0
        self.repairs: list[str] = []
        self._refused: dict[tuple[str, Context], Quoted] = {}

    def begin(self, position: int) -> None:
        """Go to *position*, where a command or a JSON value begins; forget the repairs of the last."""
        self.pos = position
        self.repairs = []

    def skip_blank(self) -> None:
        """Go past white space and comments."""
        blank = self.match(_BLANK, self.pos)
        if blank:
            self.pos = blank.end()

    def at_end(self) -> bool:
        """Tell whether the command has to end here: the text, the block or the next line's command."""
        following = self.peek()
        if not following or self.pos == self.marks.next_line_command(self.pos):
            return True
        if following == "<":
            return self.pos == self.marks.next_tag(self.pos)
        return following == "-" and self.text.startswith(COMMENT_END, self.pos)

    def block_is_over(self) -> bool:
        """Tell whether nothing of the block is left, so that the last value may have been cut."""
        position = self._behind_spaces(self.pos)
        return position >= len(self.text) or position == self.marks.next_tag(position)

    def repaired(self, what: str) -> None:
        """Note a repair, once."""
        if what not in self.repairs:
            self.repairs.append(what)

    def value(self, context: Context, depth: int = 0) -> Any:
        """Read one value. Raises Unreadable."""
        if self.at(QUOTES):
            return self._joined_strings(context)
        if self.at(OPEN_BRACES):
            found = self._strict_object() if depth == 0 else None
            return self._object(depth + 1) if found is None else found
        if self.at(OPEN_BRACKETS):
            return self._list(depth + 1)
        return self._bare(context)

    def index(self) -> Bare | None:
        """Read the number that the next comma or parenthesis ends, if one stands at the cursor."""
        found = self.match(_INDEX, self.pos)
        if found is None:
            return None
        self.pos = found.end()
        return Bare(found[0])

    def strict_value(self) -> Any:
        """Read the JSON at the cursor; None where it is none, or too much was none already.

        Raises RecursionError.
        """
        if self._strict_failures >= MAX_STRICT_FAILURES:
            return None
        start = self.pos
        try:
            value, self.pos = DECODER.raw_decode(self.text, start)
        except ValueError:
            self._strict_failures += 1
            self.looked.characters += len(self.text) - start
            return None
        self.looked.characters += self.pos - start
        return value

    def _strict_object(self) -> Pairs | None:
        """Read an object that is JSON and holds nothing that could end it before; else stay."""
        start = self.pos
        try:
            value = self.strict_value()
        except RecursionError:
            return None
        ends = min(self.marks.next_tag(start), self.marks.next_line_command(start))
        if isinstance(value, Pairs) and self.pos <= ends and nesting(value) <= MAX_NESTING:
            return value
        self._strict_failures += 1
        self.pos = start
        return None

    def _joined_strings(self, context: Context) -> str:
        """Read a string and those that a `+` joins to it. Quotes within would make the joints a guess."""
        parts = [self._string(context)]
        while self.go_to_joined():
            parts.append(self._string(context))
            self.repaired("concatenated")
        if len(parts) > 1 and "inner_quotes" in self.repairs:
            raise Unreadable("ambiguous_quotes")
        return "".join(parts)

    def _string(self, context: Context) -> str:
        opener = self.text[self.pos]
        if opener != '"':
            self.repaired("quote_style")
        start = self.pos + 1
        limit = self.marks.string_limit(start)
        refused = self._refused.get((CLOSERS[opener], context))
        if refused and refused.start <= start <= refused.end:
            quoted: Quoted | None = self.quoted_within(refused)
        else:
            quoted = self.quoted(limit=limit, ends=lambda position: self._may_end(position, context, limit))
        if quoted is None:
            self.pos = limit
            by_command = limit == self.marks.next_line_command(start) < len(self.text)
            raise Unreadable("unterminated_string" if by_command else "truncated")
        if quoted.inner_quotes:
            self.repaired("inner_quotes")
            if self.marks.holds_key(start, quoted.end):
                self._refused[CLOSERS[opener], context] = quoted
                self.pos = start  # another block may begin within what it swallowed
                raise Unreadable("ambiguous_quotes")
        return encodable(self.unescaped(start, quoted.end))

    def _behind_spaces(self, position: int) -> int:
        spaces = self.match(_SPACES, position)
        return spaces.end() if spaces else position

    def _may_end(self, position: int, context: Context, limit: int) -> bool:
        """Tell whether what follows a quote can follow a value."""
        position = self._behind_spaces(position)
        if position >= limit or self.text.startswith(COMMENT_END, position):
            return True
        following = self.text[position]
        if context == "key":
            return following in COLONS
        if following in CLOSE_PARENTHESES:
            return self._closes_command(position + 1)
        if following in COMMAS:
            return self._comma_ends(position + 1, _KEY if context == "object" else _VALUE)
        return following in CLOSE_BRACKETS + CLOSE_BRACES

    def _closes_command(self, position: int) -> bool:
        return self.match(_AFTER_CLOSING, position) is not None

    def _comma_ends(self, position: int, wanted: re.Pattern[str]) -> bool:
        """Tell whether behind a comma the next member or value stands, or the end of all."""
        if self.match(wanted, position):
            return True
        closes = self.text[(behind := self._behind_spaces(position)) : behind + 1]
        return closes != "" and closes in CLOSE_BRACES + CLOSE_BRACKETS + CLOSE_PARENTHESES

    def _bare(self, context: Context) -> Bare:
        stops = _BARE_STOP[context]
        position = self.pos
        end = self.marks.string_limit(position)
        while stop := self.search(stops, position, end):
            is_text = context == "object" and (
                (stop[0] in COMMAS and not self._comma_ends(stop.end(), _KEY))
                or (stop[0] in CLOSE_PARENTHESES and not self._closes_command(stop.end()))
            )
            if not is_text:
                end = stop.start()
                break
            position = stop.end()
        word = self.text[self.pos : end].strip(" \t\r\n　")
        if stop is None:
            word = word.removesuffix(COMMENT_END).rstrip()
        self.pos = end
        return Bare(word)

    def _object(self, depth: int) -> Pairs:
        if depth > MAX_NESTING:
            raise Unreadable("bad_object")
        self.pos += 1
        pairs = Pairs()
        while True:
            self.skip_blank()
            if self.at(CLOSE_BRACES):
                self.pos += 1
                return pairs
            if self.at_end() or self.at(CLOSE_PARENTHESES):
                return self._unclosed(pairs)
            if self.at(COMMAS):
                self.pos += 1
                continue
            name = self._key()
            self.skip_blank()
            if not self.at(COLONS + "="):
                raise self._cut_or("bad_object")
            self.pos += 1
            self.skip_blank()
            if self.at_end():
                raise self._cut_or("bad_object")
            pairs.append((name, self.value("object", depth)))

    def _unclosed(self, pairs: Pairs) -> Pairs:
        if not pairs or (self.block_is_over() and self.pos >= len(self.text)):
            raise self._cut_or("bad_object")
        self.repaired("missing_brace")
        return pairs

    def _key(self) -> str:
        if self.at(QUOTES):
            return self._string("key")
        bare = self.match(_BARE_KEY, self.pos)
        if bare is None:
            raise self._cut_or("bad_object")
        self.pos = bare.end()
        return Bare(bare[0])

    def _list(self, depth: int) -> list[Any]:
        if depth > MAX_NESTING:
            raise Unreadable("bad_object")
        self.pos += 1
        values: list[Any] = []
        while True:
            self.skip_blank()
            if self.at(CLOSE_BRACKETS):
                self.pos += 1
                return values
            if self.at_end():
                raise self._cut_or("bad_object")
            if self.at(COMMAS):
                self.pos += 1
                continue
            before = self.pos
            values.append(self.value("list", depth))
            if self.pos == before:
                raise Unreadable("bad_object")

    def _cut_or(self, code: str) -> Unreadable:
        return Unreadable("truncated" if self.block_is_over() else code)
