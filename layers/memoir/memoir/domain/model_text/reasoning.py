"""What in a model's text is its reasoning: one walk from tag to tag, for every reader."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoir.domain.model_text.marks import CHANNEL_END, REASONING_TAG

REASONING_MASKED = "reasoning_masked"
REASONING_UNCLOSED = "reasoning_unclosed"
REASONING_UNOPENED = "reasoning_unopened"

_FINAL = "final"

# Harmony channels whose marks a server dropped from the text: `analysis…assistantfinal…`.
_BARE_ANALYSIS = re.compile(r"\s*+analysis(?=[^\s:：\"'{}<,.，。])")
_BARE_FINAL = "assistantfinal"


@dataclass(frozen=True, kw_only=True)
class Passed:
    """What a tag does outside reasoning. `end`: where text goes on. `forgets`: all before was reasoning."""

    end: int
    forgets: bool = False


class ReasoningWalk:
    """Follows the reasoning of one text. `flags` says what was found, in order.

    A closing tag ends the innermost opening one of its name and all within; models mix the names, so one that
    has no such opening tag ends the innermost of any. What the outermost unclosed one begins runs to the end,
    `reasoning_unclosed`. A closing tag that nothing opened, `reasoning_unopened`, ends reasoning that began
    before the text; behind reasoning that was closed well it ends nothing. Of channels only `final` is no
    reasoning. `reasoning_masked` stands with all of them.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.flags: dict[str, None] = {}
        self.has_channels = False
        self._began = False

    def take(self, tag: re.Match[str]) -> Passed:
        """Return what *tag*, found outside reasoning, does there."""
        self.flags[REASONING_MASKED] = None
        began, self._began = self._began, True
        if tag["channel"]:
            forgets, self.has_channels = not self.has_channels, True
            if tag["channel"].lower() == _FINAL:
                return Passed(end=tag.end(), forgets=forgets)
            return Passed(end=self._end_of_channel(tag.end()), forgets=forgets)
        if closes_reasoning(tag):
            self.flags[REASONING_UNOPENED] = None
            return Passed(end=tag.end(), forgets=not began)
        return Passed(end=tag.end() if _is_empty(tag) else self._end_of_thought(tag))

    def _end_of_channel(self, position: int) -> int:
        for tag in REASONING_TAG.finditer(self.text, position):
            if (tag["channel"] or "").lower() == _FINAL:
                return tag.start()
        return self._never_ends()

    def _end_of_thought(self, opener: re.Match[str]) -> int:
        names = [_name(opener)]
        counts = Counter(names)
        for tag in REASONING_TAG.finditer(self.text, opener.end()):
            if tag["channel"]:
                if tag["channel"].lower() == _FINAL:
                    return tag.start()
            elif not closes_reasoning(tag):
                if not _is_empty(tag):
                    names.append(_name(tag))
                    counts[names[-1]] += 1
            else:
                wanted = _name(tag) if counts[_name(tag)] else names[-1]
                while (closed := names.pop()) != wanted:
                    counts[closed] -= 1
                counts[wanted] -= 1
                if not names:
                    return tag.end()
        return self._never_ends()

    def _never_ends(self) -> int:
        self.flags[REASONING_UNCLOSED] = None
        return len(self.text)


def mask_reasoning(text: str, *, opaque: Sequence[tuple[int, int]] = ()) -> tuple[str, tuple[str, ...]]:
    """Return *text* without the model's reasoning, and the flags of `ReasoningWalk`.

    A tag within one of the *opaque* spans, in order, is no tag unless the span itself stands in reasoning.
    """
    walk = ReasoningWalk(text)
    kept: list[str] = []
    position = at = 0
    spans = iter(opaque)
    span = next(spans, None)
    while tag := REASONING_TAG.search(text, at):
        while span and span[1] <= tag.start():
            span = next(spans, None)
        if span and at <= span[0] <= tag.start():
            at = span[1]
            continue
        passed = walk.take(tag)
        if passed.forgets:
            kept.clear()
        else:
            kept.append(text[position : tag.start()])
        position = at = passed.end
    kept.append(text[position:])
    rest = "".join(kept)
    return CHANNEL_END.sub("", rest) if walk.has_channels else rest, tuple(walk.flags)


def final_of_bare_channels(text: str) -> str | None:
    """Return the final channel where *text* is channels that lost their marks, else None.

    It is empty where the text was cut before. Only for texts that never begin with the word `analysis`.
    """
    if not _BARE_ANALYSIS.match(text):
        return None
    return text.rpartition(_BARE_FINAL)[2] if _BARE_FINAL in text else ""


def closes_reasoning(tag: re.Match[str]) -> bool:
    """Tell whether *tag* of reasoning is a closing one."""
    return bool(tag["shut"] or tag["bracket_shut"] or tag["triangle_shut"])


def _is_empty(tag: re.Match[str]) -> bool:
    return tag[0].endswith("/>")


def _name(tag: re.Match[str]) -> str:
    return (tag["name"] or tag[0].replace("/", "")).lower()
