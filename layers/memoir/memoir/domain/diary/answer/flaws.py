"""What makes a text no summary and no diary, though it was read well."""

import re

_HEADING_LINE = re.compile(
    r"[ \t]*(?:#{1,6}(?:[ \t].*)?|【[^】\n]*】|\*{2}[^*\n]*\*{2}[:：]?|.{1,12}[:：])[ \t]*"
)
_PLACEHOLDER = re.compile(r"[<⟨〈＜\[]{1,3}[^<>⟨⟩〈〉＜＞\[\]]{0,400}[>⟩〉＞\]]{1,3}[。.]?")
_RAW_JSON = re.compile(
    r"[{｛]\s*+[\"'“”]?(?:summary|摘要|总结|entry|diary|日记)[\"'“”]?\s*+[:：]", re.IGNORECASE
)
_WIDE = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003134f]")

# Bounded repetitions only, and only short texts are asked.
_REFUSAL = re.compile(
    r"(?:抱歉|对不起|很遗憾|不好意思)[^。\n]{0,30}(?:无法|不能|没办法|没法|不便|不会)"
    r"|我(?:无法|不能|没办法)(?:完成|提供|协助|满足|继续|参与|生成|处理|帮助|总结|撰写|为您|为你)"
    r"|\bi['’]?m (?:really |very |so )?sorry|\bi am sorry|\bi apologi[sz]e"
    r"|\bi (?:can['’]?t|cannot|can not|won['’]?t|am unable to|['’]m unable to)\b"
    r"|\bi['’]m unable to|unable to (?:assist|comply|help|provide)",
    re.IGNORECASE,
)
# A companion may well be "an AI" in its story; none is a language model or an assistant there.
_ASSISTANT = re.compile(
    r"(?:(?:抱歉|对不起|很遗憾|您好|你好)[，,。！!\s]{0,3})?(?:但?我)?(?:是|作为|身为)"
    r"[^。\n]{0,12}(?:语言模型|智能助手|智能助理|AI ?助手|AI ?助理)"
    r"|(?:(?:i['’]?m|i am) sorry,? (?:but )?)?(?:as an? |i['’]?m an? |i am an? )"
    r"(?:\w{1,12} ){0,2}"
    r"(?:language model|ai assistant|ai language model|virtual assistant)\b",
    re.IGNORECASE,
)
SHORT_CHARACTERS = 120


def content_weight(text: str) -> int:
    """Return how much *text* says: its letters and digits outside headings, CJK ones counting 2.

    A headline (`## …`, `【…】`, `**…**`, a short line that ends in a colon) says nothing by itself,
    nor do list marks and punctuation.
    """
    lines = [line for line in text.split("\n") if not _HEADING_LINE.fullmatch(line)]
    content = "\n".join(lines)
    return sum(map(str.isalnum, content)) + len(_WIDE.findall(content))


def is_placeholder(text: str) -> bool:
    """Tell whether *text* is nothing but a bracketed note of what should stand there."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def is_raw_json(text: str) -> bool:
    """Tell whether *text* begins like an answer of ours that was not taken apart."""
    return _RAW_JSON.match(text.lstrip(" \t\n`jsonJSON")) is not None


def is_refusal(text: str) -> bool:
    """Tell whether a short *text* refuses. Ask only outside JSON: characters apologise in stories too."""
    short = text.strip()
    return len(short) < SHORT_CHARACTERS and (
        _REFUSAL.search(short) is not None or _ASSISTANT.match(short) is not None
    )


def speaks_as_assistant(text: str) -> bool:
    """Tell whether a short *text* begins with a model's introduction of itself: no character's diary does."""
    short = text.strip()
    return len(short) < SHORT_CHARACTERS and _ASSISTANT.match(short) is not None


def same_text(first: str, second: str) -> bool:
    """Tell whether two texts are equal but for white space."""
    return "".join(first.split()) == "".join(second.split())
