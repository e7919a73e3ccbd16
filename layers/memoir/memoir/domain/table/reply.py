"""Find the edits in a reply: its blocks outside all reasoning, and what stands in them, in one pass."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from memoir.domain.model_text import clean_model_text
from memoir.domain.table.call_form import op_of, read_call
from memoir.domain.table.command import SOURCE_CHARACTERS, Command
from memoir.domain.table.json_form import read_json_edits
from memoir.domain.table.limits import MAX_COMMANDS
from memoir.domain.table.literals import Reader
from memoir.domain.table.marks import COMMAND, EDIT_TAG, REASONING_TAG, find_marks

_OUTSIDE = re.compile(f"{EDIT_TAG.pattern}|{REASONING_TAG.pattern}", re.IGNORECASE)

# What may stand before a command: separators, bullets, numbers, quote marks, fences, comment marks, left-over
# brackets of a JSON form.
_PREFIX = re.compile(
    r"[;；,，、\]］}｝]|[-*•>](?=[ \t　])|\d{1,3}[.)、．](?!\d)|>|`{3,}\w{0,20}|~{3,}\w{0,20}|<!--|-->"
)
_SPACES = re.compile(r"[ \t\r　]+")
_ENTITY_QUOTE = re.compile(r"&(?:quot|apos|#34|#39|#x22|#x27);", re.IGNORECASE)
_ENTITY_TAG = re.compile(r"&lt;table[_-]?edit", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The commands of a reply, in text order, the number of its blocks, and what was noticed (`flags`)."""

    commands: tuple[Command, ...]
    blocks: int
    flags: tuple[str, ...] = ()


def read_reply(text: str, *, finish_reason: str | None = None) -> Reply:
    """Return the edits that *text*, a finished reply, holds. Never raises; linear in the length of *text*.

    Flags: `truncated` (a block is not closed, or *finish_reason* is `length`), `reasoning_unclosed`,
    `entities_decoded`, `too_many_commands`. Text outside blocks is never an edit.
    """
    text = clean_model_text(text)
    flags: list[str] = []
    if not EDIT_TAG.search(text) and _ENTITY_TAG.search(text):
        text = html.unescape(text)
        flags.append("entities_decoded")
    elif _ENTITY_QUOTE.search(text) and (block := EDIT_TAG.search(text)) and '"' not in text[block.end() :]:
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
        self.flags = flags
        self.marks = find_marks(text)
        self.reader = Reader(text, self.marks)
        self.commands: list[Command] = []
        self.blocks = 0
        self.seen: set[str] = set()

    def run(self) -> Reply:
        """Go through the text: reasoning is passed over, blocks are read."""
        position = 0
        while tag := _OUTSIDE.search(self.text, position):
            position = tag.end()
            edit, reasoning = EDIT_TAG.match(tag[0]), REASONING_TAG.match(tag[0])
            if edit and not edit[1]:
                position = self._block(position)
            elif reasoning and reasoning[1]:  # closed but never opened: all before it was reasoning
                self._forget()
            elif reasoning:
                position = self._after_reasoning(position)
        if len(self.commands) >= MAX_COMMANDS and "too_many_commands" in self.flags:
            self.commands = self.commands[: MAX_COMMANDS + 1]
        return Reply(
            commands=tuple(self.commands), blocks=self.blocks, flags=tuple(dict.fromkeys(self.flags))
        )

    def _after_reasoning(self, position: int) -> int:
        for tag in REASONING_TAG.finditer(self.text, position):
            if tag[1]:
                return tag.end()
        self.flags.append("reasoning_unclosed")
        return len(self.text)

    def _forget(self) -> None:
        self.commands, self.blocks = [], 0
        self.seen = set()
        self.flags = [flag for flag in self.flags if flag == "entities_decoded"]

    def _block(self, position: int) -> int:
        """Read the block that begins at *position* and return where the text after it goes on."""
        before, start = len(self.commands), position
        fresh = True
        while True:
            if spaces := _SPACES.match(self.text, position):
                position = spaces.end()
            if position >= len(self.text):
                self.flags.append("truncated")
                break
            if self.text[position] == "\n":
                position, fresh = position + 1, True
                continue
            if tag := EDIT_TAG.match(self.text, position):
                if tag[1]:
                    break
                if len(self.commands) > before:
                    break  # the next block; this one was not closed
                position = start = tag.end()
                continue
            position, fresh = self._item(position, fresh)
        self._close_block(before, self.text[start:position])
        closing = EDIT_TAG.match(self.text, position)
        return closing.end() if closing and closing[1] else position

    def _close_block(self, before: int, content: str) -> None:
        key = "".join(content.split())
        if key in self.seen:
            del self.commands[before:]
            self.flags.append("repeated_block")
            return
        self.seen.add(key)
        for index in range(before, len(self.commands)):
            self.commands[index] = replace(self.commands[index], block=self.blocks)
        self.blocks += 1

    def _item(self, position: int, fresh: bool) -> tuple[int, bool]:
        """Read what stands at *position*: a command, what may stand before one, a comment, or prose."""
        text = self.text
        if fresh and (command := COMMAND.match(text, position)):
            return self._take(position, lambda: [read_call(self.reader, command)]), True
        if fresh and text[position] in "{[｛［":
            return self._take(position, lambda: read_json_edits(self.reader, position)), True
        if text.startswith(("//", "#", "/*"), position):
            return self._prose(position), True
        if prefix := _PREFIX.match(text, position):
            return prefix.end(), True if prefix[0] in ("<!--", "-->") else fresh
        return self._prose(position), False

    def _take(self, position: int, read: Callable[[], list[Command]]) -> int:
        if len(self.commands) >= MAX_COMMANDS:
            if "too_many_commands" not in self.flags:
                self.flags.append("too_many_commands")
                self._add(Command(op="unknown", status="rejected", code="too_many_commands", at=position))
            return self._end_of_block(position)
        for command in read():
            if len(self.commands) >= MAX_COMMANDS:
                self.flags.append("too_many_commands")
                self._add(Command(op=command.op, status="rejected", code="too_many_commands", at=command.at))
                return self._end_of_block(position)
            self._add(command)
        return max(self.reader.pos, position + 1)

    def _end_of_block(self, position: int) -> int:
        return self.marks.next_tag(position)

    def _add(self, command: Command) -> None:
        if command.status != "read" and command.at is not None:
            end = max(self.reader.pos, command.at + 1)
            src = self.text[command.at : min(end, command.at + SOURCE_CHARACTERS)]
            command = replace(command, src=src.rstrip())
        self.commands.append(command)

    def _prose(self, position: int) -> int:
        """Pass over a line that is no command; commands that it mentions are reported as ignored."""
        line_end = self.text.find("\n", position)
        end = min(line_end if line_end >= 0 else len(self.text), self.marks.next_tag(position))
        if self.text.startswith("/*", position):
            closed = self.text.find("*/", position, self.marks.next_tag(position))
            end = closed + 2 if closed >= 0 else end
        for mention in COMMAND.finditer(self.text, position, end):
            if len(self.commands) < MAX_COMMANDS:
                self.reader.begin(end)
                self._add(
                    Command(op=op_of(mention[1]), status="ignored", code="inline_mention", at=mention.start())
                )
        return max(end, position + 1)
