"""The one list of marks in a model's text: of reasoning, of table edits, of chat templates.

A tag ends at the first `>` and cannot hold a `<`: each character is looked at once.
"""

import re

_EDIT_NAME = "table[_-]?edit"
_REASONING_NAMES = "think(?:ing)?|thoughts?|reasoning|analysis|tablethink|scratchpad|思考"
_NAMESPACE = r"(?:[\w.-]{1,32}:)?"

EDIT_TAG = re.compile(rf"<(?P<edit_shut>/?){_EDIT_NAME}(?:\s[^<>]*)?>", re.IGNORECASE)

# No white space between `<`, `/` and the name. Channels are the headers of the harmony format.
REASONING_TAG = re.compile(
    rf"<(?P<shut>/?){_NAMESPACE}(?P<name>{_REASONING_NAMES})(?:[\s/][^<>]*)?>"
    r"|\[(?P<bracket_shut>/?)(?-i:THINK)\]|◁(?P<triangle_shut>/?)think▷"
    r"|(?:<\|start\|>\w{0,20}\s{0,4})?<\|channel\|>\s{0,4}(?P<channel>\w{1,20})"
    r"(?:[^<]{0,200}(?:<\|constrain\|>[^<]{0,80})?<\|message\|>)?",
    re.IGNORECASE,
)
TAG_STARTS = "<[◁"
ANY_TAG = re.compile(f"(?P<edit>{EDIT_TAG.pattern})|{REASONING_TAG.pattern}", re.IGNORECASE)

_TAG_START = re.compile("[<[◁]")


def next_tag(text: str, position: int) -> re.Match[str] | None:
    """Return the first tag at or after *position*, as `ANY_TAG.search` does, but sooner."""
    for start in _TAG_START.finditer(text, position):
        tag = ANY_TAG.match(text, start.start())
        if tag:
            return tag
    return None


# What ends a message of a channel; it means nothing outside that format.
CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>")

_CHAT_NAMES = r"(?:s|bos|eos|pad|unk|(?:start|begin|end)_of_\w{1,20})>"
_CHAT_BRACKETS = r"INST|THINK|SYSTEM_PROMPT|AVAILABLE_TOOLS|MODEL_SETTINGS|TOOL_\w{1,20}|ARGS|CALL_ID|IMG"
_LIVE_MARK = re.compile(
    rf"<(?=[\s/]*+{_NAMESPACE}(?:{_EDIT_NAME}|{_REASONING_NAMES}|{_CHAT_NAMES}))"
    r"|<(?=!--|[|｜]|<?/?SYS>>)|(?<=--)>|(?<=[|｜])>"
    rf"|\[(?=/?(?:{_CHAT_BRACKETS})\])|◁(?=/?think▷)",
    re.IGNORECASE,
)
_DEAD = {"<": "＜", ">": "＞", "[": "［", "◁": "＜"}


def without_live_marks(text: str) -> str:
    """Return stored *text* for a prompt, its marks broken up so that they begin and end nothing there.

    Marks of edits, comments, reasoning, and of chat templates, which a tokenizer may take for the border of a
    message (`<|im_start|>`, `[INST]`, `<<SYS>>`). Only this text changes, never what is stored.
    """
    return _LIVE_MARK.sub(lambda mark: _DEAD[mark[0]], text)
