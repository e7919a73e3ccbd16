"""Find the edits in a reply: its blocks outside all reasoning, and what stands in them, in one pass."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memoir.domain.model_text.cleaning import clean_model_text
from memoir.domain.model_text.cursor import OPEN_BRACES, OPEN_BRACKETS, Looked
from memoir.domain.model_text.marks import EDIT_TAG, REASONING_TAG, TAG_STARTS, next_tag
from memoir.domain.model_text.reasoning import (
    REASONING_UNCLOSED,
    REASONING_UNOPENED,
    ReasoningWalk,
    closes_reasoning,
)
from memoir.domain.table.call_form import op_of, read_call
from memoir.domain.table.command import SOURCE_CHARACTERS, Command
from memoir.domain.table.json_form import JSON_EDITS, read_json_edits
from memoir.domain.table.limits import MAX_COMMANDS
from memoir.domain.table.literals import Reader
from memoir.domain.table.marks import COMMAND, COMMENT_END, find_marks

# What may stand before a command: separators, bullets, numbers, quote marks, fences, comment marks, left-over
# brackets of a JSON form.
_PREFIX = re.compile(
    r"[;；,，、\]］}｝]+|[-*•>](?=[ \t　])|\d{1,3}[.)、．](?!\d)|>|`{3,}\w{0,20}|~{3,}\w{0,20}|<!--|-->"
)
_OPENER = re.compile(f"[{re.escape(OPEN_BRACES + OPEN_BRACKETS)}]")
_LINE_IS_OVER = re.compile(r"[ \t　\]］}｝;；,，。.]*+(?:$|[\n`~]|-->|</?table)", re.IGNORECASE)
_ENTITY_QUOTE = re.compile(r"&(?:quot|apos|#34|#39|#x22|#x27);", re.IGNORECASE)
_ENTITY_TAG = re.compile(r"&lt;table[_-]?edit", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The commands of a reply, in text order, the number of its blocks, and what was noticed (`flags`).

    `looked`: how many characters were looked at to read it; it grows as the text does.
    """

    commands: tuple[Command, ...]
    blocks: int
    flags: tuple[str, ...] = ()
    looked: int = field(default=0, compare=False)


def read_reply(text: str, *, finish_reason: str | None = None) -> Reply:
    """Return the edits that *text*, a finished reply, holds. Never raises; linear in the length of *text*.

    Flags: `truncated` (a block is not closed, or *finish_reason* is `length`), `reasoning_unclosed`,
    `reasoning_unopened`, `entities_decoded`, `repeated_block`, `too_many_commands`. Text outside blocks is
    never an edit.
    """
    text = clean_model_text(text)
    flags: list[str] = []
    if not (block := EDIT_TAG.search(text)):
        if _ENTITY_TAG.search(text):
            text = html.unescape(text)
            flags.append("entities_decoded")
    elif '"' not in text[block.end() :] and _ENTITY_QUOTE.search(text):
        text = text[: block.end()] + _ENTITY_QUOTE.sub(
            lambda mark: html.unescape(mark[0]), text[block.end() :]
        )
        flags.append("entities_decoded")
    if finish_reason == "length":
        flags.append("truncated")
    return _Scan(text, flags).run()


class _Scan:
    def __init__(self, text: str, flags: list[str]) -> None:
        self.text = text
        self.flags = [*flags]
        self.flags_of_text = flags
        self.marks = find_marks(text)
        self.reasoning = ReasoningWalk(text)
        self.reader = Reader(text, self.marks, looked=Looked(characters=len(text)))
        self.commands: list[Command] = []
        self.blocks = 0
        self.seen: set[str] = set()

    def run(self) -> Reply:
        """Go through the text: reasoning is passed over, blocks are read."""
        position = 0
        while tag := next_tag(self.text, position):
            self.reader.looked.characters += tag.end() - position
            if not tag["edit"]:
                position = self._pass_reasoning(tag)
            elif tag["edit_shut"]:
                position = tag.end()
            else:
                position = self._block(tag.end())
        self.reader.looked.characters += len(self.text) - position
        told = (flag for flag in self.reasoning.flags if flag in (REASONING_UNCLOSED, REASONING_UNOPENED))
        return Reply(
            commands=tuple(self.commands),
            blocks=self.blocks,
            flags=tuple(dict.fromkeys([*self.flags, *told])),
            looked=self.reader.looked.characters,
        )

    def _pass_reasoning(self, tag: re.Match[str]) -> int:
        """Return where the text goes on behind *tag* and what it opens; forget drafts that it ends."""
        passed = self.reasoning.take(tag)
        self.reader.looked.characters += passed.end - tag.start()
        if passed.forgets:
            self.commands, self.blocks = [], 0
            self.seen = set()
            self.flags = [*self.flags_of_text]
        return passed.end

    def _block(self, position: int) -> int:
        """Read the block that begins at *position* and return where the text after it goes on."""
        before, start = len(self.commands), position
        fresh = True
        while position < len(self.text):
            following = self.text[position]
            if following.isspace():
                fresh = fresh or following == "\n"
                position += 1
            elif following not in TAG_STARTS:
                position, fresh = self._item(position, fresh)
            elif position == self.marks.next_close(position):
                self._close_block(before, self.text[start:position])
                return self.text.index(">", position) + 1
            elif position == self.marks.next_open(position):
                if len(self.commands) > before:
                    break  # the next block; this one was not closed
                position = start = self.text.index(">", position) + 1
            elif position == self.marks.next_reasoning(position):
                within = self._reasoning_within(position)
                if within is None:
                    self.flags.append("truncated")
                    break
                position = within
            else:
                position, fresh = self._item(position, fresh)
        if position >= len(self.text):
            self.flags.append("truncated")
        self._close_block(before, self.text[start:position])
        return position

    def _reasoning_within(self, position: int) -> int | None:
        """Return where a block goes on behind reasoning in it; None where the block itself is reasoning."""
        tag = REASONING_TAG.match(self.text, position)
        if tag is None or tag["channel"]:
            return None
        if not closes_reasoning(tag):
            return self._pass_reasoning(tag)
        is_closed = self.marks.next_close(position) < self.marks.next_open(position)
        return tag.end() if is_closed else None

    def _close_block(self, before: int, content: str) -> None:
        key = "".join(content.split())
        if key in self.seen:
            del self.commands[before:]
            self.flags.append("repeated_block")
            return
        self.seen.add(key)
        if self.blocks:
            self.commands[before:] = [
                replace(command, block=self.blocks) for command in self.commands[before:]
            ]
        self.blocks += 1

    def _item(self, position: int, fresh: bool) -> tuple[int, bool]:
        """Read what stands at *position*: a command, what may stand before one, a comment, or prose."""
        text = self.text
        if fresh and (command := COMMAND.match(text, position)):
            return self._take(position, lambda: [read_call(self.reader, command)]), True
        if fresh and (text[position] in OPEN_BRACES + OPEN_BRACKETS or JSON_EDITS.match(text, position)):
            return self._take(position, lambda: read_json_edits(self.reader, position)), True
        if text.startswith(("//", "#", "/*"), position):
            return self._comment(position)
        if prefix := _PREFIX.match(text, position):
            return prefix.end(), True if prefix[0] in ("<!--", COMMENT_END) else fresh
        return self._prose(position), False

    def _take(self, position: int, read: Callable[[], list[Command]]) -> int:
        if len(self.commands) >= MAX_COMMANDS:
            return self._refuse_more(Command(op="unknown", at=position))
        for command in read():
            if len(self.commands) >= MAX_COMMANDS:
                return self._refuse_more(command)
            self._add(command)
        return max(self.reader.pos, position + 1)

    def _refuse_more(self, command: Command) -> int:
        """Report the first command beyond the limit, and go to the end of the block."""
        at = command.at or 0
        if "too_many_commands" not in self.flags:
            self.flags.append("too_many_commands")
            self._add(Command(op=command.op, status="rejected", code="too_many_commands", at=at))
        return self.marks.end_of_draft(at)

    def _add(self, command: Command) -> None:
        if command.status != "read" and command.at is not None:
            end = max(self.reader.pos, command.at + 1)
            src = self.text[command.at : min(end, command.at + SOURCE_CHARACTERS)]
            command = replace(command, src=src.rstrip())
        self.commands.append(command)

    def _comment(self, position: int) -> tuple[int, bool]:
        """Pass over a comment. One that reasoning interrupts goes on behind that."""
        end = self._end_of_line(position)
        if self.text.startswith("/*", position):
            end = self.marks.comment_end(position) or end
        return self._pass_words(position, end), end < self.marks.next_reasoning(position)

    def _prose(self, position: int) -> int:
        """Pass over a line that is no command, up to edits as JSON that end it."""
        end = self._end_of_line(position)
        for opener in _OPENER.finditer(self.text, position, end):
            if self.reader.match(JSON_EDITS, at := opener.start()):
                self._pass_words(position, at)
                return self._take(at, lambda: self._json_behind_words(at))
        return self._pass_words(position, end)

    def _json_behind_words(self, at: int) -> list[Command]:
        """Return the edits of the JSON behind words. With words behind it too, it is only mentioned."""
        commands = read_json_edits(self.reader, at)
        if self.reader.match(_LINE_IS_OVER, self.reader.pos):
            return commands
        return [
            Command(op=command.op, status="ignored", code="inline_mention", at=at) for command in commands
        ]

    def _end_of_line(self, position: int) -> int:
        end = min(self.marks.next_tag(position), self.marks.next_reasoning(position))
        line_end = self.text.find("\n", position, end)
        return line_end if line_end >= 0 else end

    def _pass_words(self, position: int, end: int) -> int:
        """Pass over words up to *end*; commands that they mention are reported as ignored."""
        self.reader.looked.characters += end - position
        for mention in COMMAND.finditer(self.text, position, end):
            if len(self.commands) < MAX_COMMANDS:
                self.reader.begin(end)
                self._add(
                    Command(op=op_of(mention[1]), status="ignored", code="inline_mention", at=mention.start())
                )
        return max(end, position + 1)
