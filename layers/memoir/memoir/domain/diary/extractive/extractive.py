"""A diary without a model: the sentences of the dialogue that are central to it, as they were said.

Deterministic: equal dialogues give equal bytes. Cost: n log n in the number of sentences, of which there are
at most 4,000 from each side; the dialogue is cut to a limit first.
"""

import heapq
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from memoir.domain.diary.extractive.sentences import Sentence, dialogue_sentences, summary_sentences, terms_of
from memoir.domain.diary.prompt.instructions import section_names
from memoir.domain.diary.prompt.language import CHINESE, JAPANESE
from memoir.domain.diary.prompt.prompt import dialogue_language
from memoir.domain.diary.prompt.rounds import DialogueRound, fit_dialogue

GENERATOR = "extractive"
MAX_DIALOGUE_CHARACTERS = 131_072
PREVIOUS_SHARE = 0.6
"""How much of a summary the previous one may fill, so that new events always find room."""

_NEW_SHARE = 0.75
"""How much new events may fill while the previous summary still has something to say."""

# What a story turns on: promises, gifts, secrets, names, decisions, comings and goings, feelings told.
_EVENTS = re.compile(
    "答应|约定|承诺|发誓|秘密|名字|叫做|决定|发现|记住|记得|忘记|交给|送给|收下|拿到|偷|藏|死|杀|救|受伤|失踪|离开|"
    "回来|出发|抵达|告诉|原来|真相|喜欢|爱|恨|害怕|信任|背叛|结婚|钥匙|线索|计划|明天|从此|必须"
    r"|\b(?:promis|swor|swear|vow|secret|name|decid|discover|remember|forgot|gave|give|hand|stole|hid|kill|sav|"
    r"wound|miss|left|leav|return|arriv|told|truth|love|hate|fear|afraid|trust|betray|marri|key|clue|plan|tomorrow|"
    r"must|never|always)\w{0,6}",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class ExtractedDiary:
    """A summary with labelled speakers, a diary of the new rounds alone; empty where nothing was said."""

    summary: str
    diary: str
    truncated_input: bool
    generator: str = GENERATOR


def extract_diary(
    *,
    rounds: Sequence[DialogueRound],
    previous_summary: str,
    character: str,
    summary_chars: int,
    diary_chars: int,
) -> ExtractedDiary:
    """Return what is central in *rounds*, in the order and the words in which it was said.

    The sentences of *previous_summary* compete for the summary and keep at most 60 % of it, so that what
    still matters stays and what is new gets in. The diary takes from the new rounds only and prefers the
    character's own words; it is empty for *diary_chars* 0. Neither is longer than asked; sentences are kept
    whole.
    """
    fitted = fit_dialogue(rounds, max_chars=MAX_DIALOGUE_CHARACTERS)
    language = dialogue_language(fitted.rounds, previous_summary=previous_summary)
    names = section_names(language)
    me = character or names["character"]
    speakers = {
        me,
        names["user"],
        *(name for item in rounds for name in (item.user_name, item.assistant_name)),
    }
    old = summary_sentences(previous_summary, speakers=frozenset(speakers - {""}))
    new = dialogue_sentences(fitted.rounds, user=names["user"], character=me, first_place=len(old))
    colon = "：" if language in (CHINESE, JAPANESE) else ": "
    weights = _term_weights([*old, *new])
    summary = _summary(old, new, weights=weights, max_chars=summary_chars, colon=colon)
    own = [_Scored(sentence=item, bonus=1.4 if item.from_character else 1.0) for item in new]
    diary = _picked(own, weights=weights, max_chars=diary_chars, colon=colon) if diary_chars else []
    return ExtractedDiary(
        summary=_written(summary, colon=colon, unlabelled=""),
        diary=_written(diary, colon=colon, unlabelled=me),
        truncated_input=fitted.truncated,
    )


def extracted_answer(extracted: ExtractedDiary, *, with_diary: bool) -> str:
    """Return *extracted* as the JSON text that a model is asked for, so that one reader serves both."""
    if not extracted.summary and not extracted.diary:
        return json.dumps({"nothing_new": True})
    answer = {"summary": extracted.summary}
    if with_diary:
        answer["entry"] = extracted.diary
    return json.dumps(answer, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class _Scored:
    sentence: Sentence
    bonus: float


def _summary(
    old: Sequence[Sentence],
    new: Sequence[Sentence],
    *,
    weights: dict[str, float],
    max_chars: int,
    colon: str,
) -> list[Sentence]:
    """Pick for the summary: each side within its share, what is left goes to the previous one."""
    old_scored = [_Scored(sentence=item, bonus=1.2) for item in old]
    new_scored = [_Scored(sentence=item, bonus=1.0) for item in new]
    kept = _picked(old_scored, weights=weights, max_chars=int(max_chars * PREVIOUS_SHARE), colon=colon)
    room = max_chars - sum(_cost(item, colon) for item in kept)
    new_room = min(room, int(max_chars * _NEW_SHARE)) if old else room
    fresh = _picked(new_scored, weights=weights, max_chars=new_room, colon=colon, said=kept)
    room -= sum(_cost(item, colon) for item in fresh)
    more = _picked(old_scored, weights=weights, max_chars=room, colon=colon, said=[*kept, *fresh])
    return sorted([*kept, *more, *fresh], key=lambda sentence: sentence.place)


def _picked(
    candidates: Sequence[_Scored],
    *,
    weights: dict[str, float],
    max_chars: int,
    colon: str,
    said: Sequence[Sentence] = (),
) -> list[Sentence]:
    """Return the best candidates that fit, in their order. A term counts less each time it was said already.

    Scores only fall, so the top of a heap whose score is still right is the best of all: each is scored again
    only when it comes up, and comes up again only if it fell.
    """
    times_said = Counter(term for item in said for term in terms_of(item.text))
    heap = [
        (-_score(item, weights, times_said), item.sentence.place, at) for at, item in enumerate(candidates)
    ]
    heapq.heapify(heap)
    chosen: list[Sentence] = []
    texts = {item.text for item in said}
    room, rescored = max_chars, Counter[int]()
    while heap and room > 0:
        negative, place, at = heapq.heappop(heap)
        item = candidates[at]
        cost = _cost(item.sentence, colon)
        if cost > room or item.sentence.text in texts or negative >= 0:
            continue
        score = _score(item, weights, times_said)
        if score < -negative and heap and -score > heap[0][0] and rescored[at] < _MAX_RESCORES:
            rescored[at] += 1
            heapq.heappush(heap, (-score, place, at))
            continue
        chosen.append(item.sentence)
        texts.add(item.sentence.text)
        times_said.update(terms_of(item.sentence.text))
        room -= cost
    return sorted(chosen, key=lambda sentence: sentence.place)


_ONCE = 0.3
"""What a term weighs that is said once: little, for small talk is made of such terms."""

_SAID_AGAIN = 0.6
_MAX_RESCORES = 8
"""Bounds the work on dialogues that say one thing over and over."""


def _score(item: _Scored, weights: dict[str, float], times_said: Counter[str]) -> float:
    """Return how central a sentence is: the weight of its terms per length, its place, and what it tells."""
    sentence = item.sentence
    terms = terms_of(sentence.text)
    if not terms:
        return 0.0
    central = sum(weights.get(term, 0.0) * _SAID_AGAIN ** times_said[term] for term in sorted(terms))
    value: float = central / (len(terms) + 4) ** 0.7
    value *= 1.0 + 0.25 * min(2, len(_EVENTS.findall(sentence.text)))
    value *= 0.9 + 0.2 * sentence.share
    if sentence.text.rstrip("\"”’'」』）)").endswith(("?", "？")):
        value *= 0.6
    if len(sentence.text) < 6:
        value *= 0.5
    return value * item.bonus


def _term_weights(sentences: Sequence[Sentence]) -> dict[str, float]:
    """Weigh terms: those said in several sentences carry the story, those in most of them tell none apart."""
    counts = Counter(term for item in sentences for term in terms_of(item.text))
    total = len(sentences) + 1
    return {term: (_ONCE + log(count)) * log(1 + total / count) for term, count in counts.items()}


def _cost(sentence: Sentence, colon: str) -> int:
    label = len(sentence.speaker) + len(colon) if sentence.speaker else 0
    return len(sentence.text) + label + 1


def _written(sentences: Sequence[Sentence], *, colon: str, unlabelled: str) -> str:
    """Return *sentences* in lines, one for each run of one speaker, labelled but for *unlabelled*."""
    lines: list[str] = []
    speaker: str | None = None
    for item in sentences:
        if item.speaker == speaker and lines:
            joint = "" if colon == "：" else " "
            lines[-1] += joint + item.text
            continue
        speaker = item.speaker
        label = f"{speaker}{colon}" if speaker and speaker != unlabelled else ""
        lines.append(label + item.text)
    return "\n".join(lines)
