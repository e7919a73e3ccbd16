"""Dialogue taken apart into sentences and terms, Chinese and English alike, without a dictionary."""

import re
from dataclasses import dataclass
from itertools import pairwise

from memoir.domain.diary.prompt.rounds import DialogueRound

MAX_SENTENCE_CHARACTERS = 160
MAX_SENTENCES = 4_000

# A sentence ends with its closing quotes and brackets. A Latin full stop ends one only before a blank.
_SENTENCE_END = re.compile(r"(?:[。！？!?…]+|(?<!\.)\.++(?=[\s\"”’')\]*]|\Z))[\"”’'」』）)\]*]*\s*|\n\s*")
_CLAUSE_ENDS = "，,；;、：: "
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Sr|Jr|vs|etc|e\.g|i\.e)\.\Z")
_ABBREVIATION_REACH = 6
_MARKUP = re.compile(r"\*+|^[ \t]*[#>]+", re.MULTILINE)
_QUOTE_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ('"', '"'))
_BLANKS = re.compile(r"\s+")
_OUT_OF_CHARACTER = re.compile(r"^\s?[(（\[【]{0,2}\s?(?:ooc|旁白：|系统提示|注：)|[(（]{2}", re.IGNORECASE)
_LABEL = re.compile(r"^([^：:\n]{1,24})[：:]\s?")

_WORD = re.compile("[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'’-]*|[\u0400-\u04ff]+|[0-9]+")
_EAST_ASIAN_RUN = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003134f]+")
_FUNCTION_CHARACTERS = frozenset(
    "的了是在我你他她它们这那有和就不也都很着过吧吗呢啊么与及而或但又却使对其什怎哪些之以于为被把给说"
)
_WORDS_WITHOUT_MEANING = """
    a about after all also am an and any are as at back be because been but by can can't come could
    day did didn't do does doesn't don't down even for from get go got had has have he her here hers
    him his how i i'd i'll i'm i've if in into is isn't it it's its just know let like little long
    look made make me more much my no not now of off oh okay on one only or our out over really
    right said say see she should so some still than that that's the their them then there these
    they thing think this those time to too up us very want was way we well were what when where
    which who why will with would yes yeah you you're your
"""
_FUNCTION_WORDS = frozenset(_WORDS_WITHOUT_MEANING.split())


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence. *place*: its order in the whole. *share*: how far along its own part it stands."""

    text: str
    speaker: str
    place: int
    share: float
    from_character: bool = False
    from_previous: bool = False


def dialogue_sentences(
    rounds: tuple[DialogueRound, ...], *, user: str, character: str, first_place: int
) -> list[Sentence]:
    """Return the sentences of *rounds* in order, 4,000 at most, without remarks out of character."""
    spoken: list[tuple[str, str, bool]] = []
    for item in rounds:
        for name, text, from_character in (
            (item.user_name or user, item.user_text, False),
            (item.assistant_name or character, item.assistant_text, True),
        ):
            spoken += ((name, sentence, from_character) for sentence in split_sentences(text))
    spoken = [part for part in spoken if not _OUT_OF_CHARACTER.search(part[1])][-MAX_SENTENCES:]
    return [
        Sentence(
            text=text,
            speaker=name,
            place=first_place + at,
            share=(at + 1) / len(spoken),
            from_character=from_character,
        )
        for at, (name, text, from_character) in enumerate(spoken)
    ]


def summary_sentences(summary: str, *, speakers: frozenset[str]) -> list[Sentence]:
    """Return the sentences of a previous summary in order; a line that begins with a speaker keeps it."""
    told: list[tuple[str, str]] = []
    for line in summary.split("\n"):
        label = _LABEL.match(line)
        speaker = label[1].strip() if label and label[1].strip() in speakers else ""
        body = line[label.end() :] if label and speaker else line
        told += ((speaker, sentence) for sentence in split_sentences(body))
    told = told[-MAX_SENTENCES:]
    return [
        Sentence(text=text, speaker=speaker, place=at, share=(at + 1) / len(told), from_previous=True)
        for at, (speaker, text) in enumerate(told)
    ]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of *text* without markup; one over 160 characters in pieces, cut at clauses."""
    sentences: list[str] = []
    begin = 0
    for end in _SENTENCE_END.finditer(text):
        if end[0].startswith(".") and _ABBREVIATION.search(
            text, max(begin, end.start() - _ABBREVIATION_REACH), end.start() + 1
        ):
            continue
        sentences += _pieces(text[begin : end.end()])
        begin = end.end()
    sentences += _pieces(text[begin:])
    return sentences


def terms_of(text: str) -> frozenset[str]:
    """Return what *text* is about: words with a meaning, and pairs of neighbouring East Asian characters."""
    words = {word.casefold() for word in _WORD.findall(text)}
    found = {word for word in words if word not in _FUNCTION_WORDS and (len(word) > 2 or word.isdigit())}
    for run in _EAST_ASIAN_RUN.findall(text):
        found.update(
            first + second
            for first, second in pairwise(run)
            if first not in _FUNCTION_CHARACTERS and second not in _FUNCTION_CHARACTERS
        )
    return frozenset(found)


def _pieces(sentence: str) -> list[str]:
    """Return one sentence as plain text, in pieces of at most 160 characters; none where it says nothing."""
    plain = _without_half_quotes(_BLANKS.sub(" ", _MARKUP.sub("", sentence)).strip())
    pieces: list[str] = []
    begin = 0
    while len(plain) - begin > MAX_SENTENCE_CHARACTERS:
        window = plain[begin : begin + MAX_SENTENCE_CHARACTERS]
        length = max(window.rfind(mark) for mark in _CLAUSE_ENDS) + 1 or MAX_SENTENCE_CHARACTERS
        pieces.append(window[:length].strip())
        begin += length
    return [piece for piece in (*pieces, plain[begin:].strip()) if any(map(str.isalnum, piece))]


def _without_half_quotes(sentence: str) -> str:
    """Return *sentence* with no quotation mark whose other half is in another sentence: dropped or added."""
    for opening, closing in _QUOTE_PAIRS:
        opened, closed = sentence.count(opening), sentence.count(closing)
        odd = opened % 2 == 1 if opening == closing else opened != closed
        if not odd:
            continue
        if sentence.startswith(opening):
            sentence = sentence.removeprefix(opening)
        elif sentence.endswith(closing):
            sentence = sentence.removesuffix(closing)
        elif opened > closed or opening == closing:
            sentence += closing
    return sentence.strip()
