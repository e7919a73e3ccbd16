"""The tolerant reader of values: strings, objects, lists and bare words, as models really write them.

Linear: a string is read once up to a limit known beforehand, and every look ahead is bounded. A quote ends
its string only where what follows can follow a value; else it is text. Nothing is evaluated.
"""

import re
from typing import Any, Literal

from memoir.domain.table.limits import MAX_NESTING
from memoir.domain.table.marks import COMMENT_END, EDIT_TAG, Marks

Context = Literal["key", "object", "list", "args"]


class Bare(str):
    """A word that stood without quotes: a number, a name, `null`."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """The members of an object, in order, repeated names included."""


class Unreadable(Exception):
    """A value that cannot be read for certain. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


_CLOSERS = {
    '"': '"＂',
    "＂": '"＂',
    "'": "'",
    "`": "`",
    "“": '”“"',
    "”": '”“"',
    "‘": "’‘'",
    "’": "’‘'",
}
_STOP = {closers: re.compile(f"[{re.escape(closers)}\\\\]") for closers in set(_CLOSERS.values())}
_QUOTES = "\"'`“”‘’＂"
_BLANK = re.compile(r"(?:[\s　]|/\*(?:[^*]|\*(?!/)){0,400}\*/|//[^\n]{0,400}(?=\n))+")
_SPACES = re.compile(r"[\s　]*")
_KEY = re.compile(
    r"[\s　]{0,200}(?:\"[^\"\n]{1,64}\"|'[^'\n]{1,64}'|`[^`\n]{1,64}`|[“”][^“”\"\n]{1,64}[“”\"]"
    r"|[‘’][^‘’\n]{1,64}[‘’]|＂[^＂\n]{1,64}＂|[\w.-]{1,64})[\s　]{0,20}[:：]"
)
_VALUE = re.compile(
    r"[\s　]{0,200}(?:[\"'`“‘＂{\[｛［]|[-+]?\d|null\b|none\b|true\b|false\b|\w{3,12}[ \t]{0,4}[:=：])",
    re.IGNORECASE,
)
_KEY_INSIDE = re.compile(f"[{_QUOTES}][ \t]{{0,4}}[\\w.-]{{1,64}}[ \t]{{0,4}}[{_QUOTES}][ \t]{{0,4}}[:：]")
_BARE_KEY = re.compile(r"[^\s　:：,，{}｛｝\[\]\"'“”‘’`]{1,64}")
_BARE_STOP = {
    "object": re.compile(r"[,，}｝\])）\n]"),
    "list": re.compile(r"[,，\]］)）\n]"),
    "args": re.compile(r"[,，)）;；\n]|/\*"),
}
_AFTER_CLOSING = re.compile(
    r"[ \t　]*(?:$|[\n;；,，。]|-->|</?table|<!--|//|#|/\*|(?:insert|add|update|delete|remove))", re.I
)
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "n": "\n", "t": "\t", "r": "\r"}
_HEX = re.compile(r"[0-9A-Fa-f]{4}")


class Reader:
    """A cursor over a reply. `repairs` collects what was mended since it was last emptied."""

    def __init__(self, text: str, marks: Marks) -> None:
        self.text = text
        self.marks = marks
        self.pos = 0
        self.repairs: list[str] = []
        self.limit = len(text)

    def begin(self, position: int) -> None:
        """Go to *position*, where a command or a JSON value begins; forget the repairs of the last."""
        self.pos = position
        self.repairs = []

    def skip_blank(self) -> None:
        """Go past white space and comments."""
        blank = _BLANK.match(self.text, self.pos)
        if blank:
            self.pos = blank.end()

    def peek(self) -> str:
        """Return the character at the cursor, empty at the end."""
        return self.text[self.pos : self.pos + 1]

    def at_end(self) -> bool:
        """Tell whether the command has to end here: the text, the block or the next line's command."""
        following = self.peek()
        if not following or self.pos == self.marks.next_line_command(self.pos):
            return True
        if following == "<":
            return bool(EDIT_TAG.match(self.text, self.pos))
        return following == "-" and self.text.startswith(COMMENT_END, self.pos)

    def block_is_over(self) -> bool:
        """Tell whether nothing of the block is left, so that the last value may have been cut."""
        rest = _SPACES.match(self.text, self.pos)
        position = rest.end() if rest else self.pos
        return position >= len(self.text) or bool(EDIT_TAG.match(self.text, position))

    def repaired(self, what: str) -> None:
        """Note a repair, once."""
        if what not in self.repairs:
            self.repairs.append(what)

    def value(self, context: Context, depth: int = 0) -> Any:
        """Read one value. Raises Unreadable."""
        start = self.peek()
        if start and start in _CLOSERS:
            return self._string(context)
        if start and start in "{｛":
            return self._object(depth + 1)
        if start and start in "[［":
            return self._list(depth + 1)
        return self._bare(context)

    def _string(self, context: Context) -> str:
        opener = self.text[self.pos]
        closers = _CLOSERS[opener]
        if opener != '"':
            self.repaired("quote_style")
        start = position = self.pos + 1
        limit = self.marks.string_limit(start)
        parts: list[str] = []
        inner = False
        while True:
            stop = _STOP[closers].search(self.text, position, limit)
            if stop is None:
                self.pos = limit
                by_command = limit == self.marks.next_line_command(start) < len(self.text)
                raise Unreadable("unterminated_string" if by_command else "truncated")
            if stop[0] == "\\":
                parts.append(self.text[position : stop.start()])
                position = self._escape(stop.start(), parts)
            elif self._may_end(stop.end(), context, limit):
                parts.append(self.text[position : stop.start()])
                break
            else:
                inner = True
                parts.append(self.text[position : stop.end()])
                position = stop.end()
        if inner:
            self.repaired("inner_quotes")
            if _KEY_INSIDE.search(self.text, start, stop.start()):
                raise Unreadable("ambiguous_quotes")
        self.pos = stop.end()
        return _joined("".join(parts))

    def _escape(self, position: int, parts: list[str]) -> int:
        """Append what the backslash at *position* stands for; return where the text goes on."""
        following = self.text[position + 1 : position + 2]
        if following == "u" and (digits := _HEX.match(self.text, position + 2)):
            parts.append(chr(int(digits[0], 16)))
            return position + 6
        if following in _ESCAPES and following:
            parts.append(_ESCAPES[following])
            return position + 2
        parts.append("\\")
        return position + 1

    def _may_end(self, position: int, context: Context, limit: int) -> bool:
        """Tell whether what follows a quote can follow a value."""
        spaces = _SPACES.match(self.text, position)
        position = spaces.end() if spaces else position
        if position >= limit or self.text.startswith(COMMENT_END, position):
            return True
        following = self.text[position]
        if context == "key":
            return following in ":："
        if following in ")）":
            return bool(_AFTER_CLOSING.match(self.text, position + 1))
        if following in "]］}｝":
            return True
        if following in ",，":
            wanted = _KEY if context == "object" else _VALUE
            after = _SPACES.match(self.text, position + 1)
            closes = self.text[after.end() : after.end() + 1] if after else ""
            return bool(wanted.match(self.text, position + 1)) or (bool(closes) and closes in "}｝]］)）")
        return False

    def _bare(self, context: Context) -> Bare:
        stops = _BARE_STOP[context]
        position = self.pos
        end = self.marks.string_limit(position)
        while stop := stops.search(self.text, position, end):
            if (stop[0] in ",，" and context == "object" and not self._comma_ends(stop.end())) or (
                stop[0] in ")）" and context == "object" and not _AFTER_CLOSING.match(self.text, stop.end())
            ):
                position = stop.end()
            else:
                end = stop.start()
                break
        word = Bare(self.text[self.pos : end].strip(" \t\r\n　"))
        if stop is None and self.text.startswith(COMMENT_END, max(self.pos, end - len(COMMENT_END))):
            word = Bare(word.removesuffix(COMMENT_END).strip())
        self.pos = end
        return word

    def _comma_ends(self, position: int) -> bool:
        after = _SPACES.match(self.text, position)
        closes = self.text[after.end() : after.end() + 1] if after else ""
        return bool(_KEY.match(self.text, position)) or (bool(closes) and closes in "}｝")

    def _object(self, depth: int) -> Pairs:
        if depth > MAX_NESTING:
            raise Unreadable("bad_object")
        self.pos += 1
        pairs = Pairs()
        while True:
            self.skip_blank()
            following = self.peek()
            if following and following in "}｝":
                self.pos += 1
                return pairs
            if self.at_end() or following in ")）":
                return self._unclosed(pairs)
            if following in ",，":
                self.pos += 1
                continue
            name = self._key()
            self.skip_blank()
            if not self.peek() or self.peek() not in ":：=":
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
        if self.peek() in _CLOSERS:
            return self._string("key")
        bare = _BARE_KEY.match(self.text, self.pos)
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
            following = self.peek()
            if following and following in "]］":
                self.pos += 1
                return values
            if self.at_end():
                raise self._cut_or("bad_object")
            if following in ",，":
                self.pos += 1
                continue
            before = self.pos
            values.append(self.value("list", depth))
            if self.pos == before:
                raise Unreadable("bad_object")

    def _cut_or(self, code: str) -> Unreadable:
        return Unreadable("truncated" if self.block_is_over() else code)


def _joined(text: str) -> str:
    """Join the halves of surrogate pairs that were written as escapes; a lone half becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
