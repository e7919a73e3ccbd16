"""Text that a model wrote: cleaned before anything reads it, its reasoning masked.

Both passes are linear in the text. Neither raises, whatever the text holds.
"""

import re

REASONING_MASKED = "reasoning_masked"
REASONING_UNCLOSED = "reasoning_unclosed"
REASONING_UNOPENED = "reasoning_unopened"

_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DROPPED_CONTROLS = {code: None for code in range(0x20) if chr(code) not in "\n\t"}

# No white space between `<`, `/` and the name, and no `<` inside a tag: each character is looked at once.
_REASONING_TAG = re.compile(
    r"<(/?)(?:think(?:ing)?|thoughts?|reasoning|analysis|tableThink)(?:[\s/][^<>]*)?>", re.IGNORECASE
)


def clean_model_text(text: str) -> str:
    """Return *text* as it can be stored, logged and parsed.

    Halves of a surrogate pair are joined and lone ones become U+FFFD; CRLF becomes LF; C0 controls except LF
    and TAB and a byte order mark at the beginning are dropped. All else stays, zero-width joiners included.
    """
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", _SURROGATE_PAIR.sub(_joined, text))
    return text.replace("\r\n", "\n").translate(_DROPPED_CONTROLS).lstrip("\ufeff")


def mask_reasoning(text: str) -> tuple[str, tuple[str, ...]]:
    """Return *text* without the model's reasoning, and flags that say what was found.

    Reasoning stands between tags named think, thinking, thought(s), reasoning, analysis or tableThink. A
    closing tag ends it whatever its name, for models mix them. No closing tag: the rest is reasoning,
    `reasoning_unclosed`. No opening tag: everything before is reasoning, `reasoning_unopened`.
    `reasoning_masked` stands with every mask.
    """
    kept: list[str] = []
    flags: dict[str, None] = {}
    position, inside = 0, False
    for tag in _REASONING_TAG.finditer(text):
        flags[REASONING_MASKED] = None
        if tag[1]:
            if not inside:
                kept.clear()
                flags[REASONING_UNOPENED] = None
            position, inside = tag.end(), False
        elif not inside:
            kept.append(text[position : tag.start()])
            position, inside = tag.end(), not tag[0].endswith("/>")
    if inside:
        flags[REASONING_UNCLOSED] = None
    else:
        kept.append(text[position:])
    return "".join(kept), tuple(flags)


def _joined(pair: re.Match[str]) -> str:
    high, low = ord(pair[0][0]), ord(pair[0][1])
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
