"""Read what a scenario sets for the table, the diary, the state and the compaction of histories."""

import re
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from memoir.domain.compact.settings import CompactSettings
from memoir.domain.diary.due.policy import (
    FREE_STORES_SUMMARY_ONLY,
    MAX_READ_BEHIND_ROUNDS,
    RECALLED_SUMMARIES,
    Store,
    memory_v2_policy,
    node_policy,
)
from memoir.domain.diary.due.tiers import PerTier, Tier
from memoir.domain.scenario.members import Members, whole_number
from memoir.domain.scenario.scenario import DiarySettings, TableSettings
from memoir.domain.state.settings import TEXT, StateSettings, Visibility

MAX_DIARY_ROUNDS = 200
MAX_RECALLED_SUMMARIES = 5
"""As many are kept beside the diary's head, so that a recall is one read."""
MAX_CHARACTER_CHARACTERS = 60
MAX_CATEGORIES = 50

_CATEGORY = re.compile(r"\w[\w -]{0,63}")
_DIARY = (
    *("policy", "minRounds", "roundsPerDiary", "readBehindRounds", "storeByTier", "recallByTier"),
    *("character", "summaryChars", "diaryChars", "monthlyQuota"),
)

Value = TypeVar("Value")


def read_table(members: Members) -> TableSettings:
    """Return the settings of the memory table."""
    return TableSettings(refine=members.inner("table", ("refine",)).flag("refine", default=True))


def read_diary(members: Members) -> DiarySettings:
    """Return the settings of the diary. Numbers of rounds are 1 to 200, the first not below the others."""
    given = members.inner("diary", _DIARY)
    kind = given.choice("policy", ("node", "memory_v2"), default="node")
    first = given.number("minRounds", default=20, at_least=1, at_most=MAX_DIARY_ROUNDS)
    every = given.number("roundsPerDiary", default=10, at_least=1, at_most=MAX_DIARY_ROUNDS)
    if first < every:
        given.wrong("minRounds", "diary_rounds_invalid", f"must not be below roundsPerDiary, {every}")
    behind = given.number("readBehindRounds", default=0, at_least=0, at_most=MAX_READ_BEHIND_ROUNDS)
    stores = _per_tier(given, "storeByTier", FREE_STORES_SUMMARY_ONLY, _as_store)
    recalled = _per_tier(given, "recallByTier", RECALLED_SUMMARIES, _as_count)
    if kind == "node":
        policy = node_policy(
            min_rounds=first, free_rounds_per_diary=every, read_behind_rounds=behind, stores=stores
        )
    else:
        policy = memory_v2_policy(
            first_rounds=first, later_rounds=every, read_behind_rounds=behind, stores=stores
        )
    return DiarySettings(
        policy=replace(policy, recalled_summaries=recalled),
        character=given.text("character", default="", max_characters=MAX_CHARACTER_CHARACTERS),
        summary_chars=given.number("summaryChars", default=300, at_least=50, at_most=2_000),
        diary_chars=given.number("diaryChars", default=400, at_least=50, at_most=4_000),
        monthly_quota=given.number("monthlyQuota", default=None, at_least=0, at_most=100_000),
    )


def read_state(members: Members) -> StateSettings:
    """Return the settings of the state."""
    given = members.inner("state", ("categories", "visibility", "instruction"))
    categories: list[str] = []
    for index, name in enumerate(given.items("categories", at_most=MAX_CATEGORIES)):
        path = f"{given.at('categories')}/{index}"
        if not isinstance(name, str) or not _CATEGORY.fullmatch(name):
            detail = "must be a name: letters, digits, _ - and blanks, at most 64"
            given.problems.add(path, "category_invalid", detail)
        elif name == TEXT:
            given.problems.add(path, "category_invalid", "is the name of the state's own text")
        elif name in categories:
            given.problems.add(path, "category_taken", "is named already")
        else:
            categories.append(name)
    any_category = given.given.get("categories") is None
    seen = given.inner("visibility", None if any_category else (*categories, TEXT))
    visibility = {
        name: Visibility(seen.choice(name, tuple(Visibility), default="both"))
        for name in seen.given
        if any_category or name in (*categories, TEXT)
    }
    instruction = given.text("instruction", default="", max_characters=8_000)
    return StateSettings(
        categories=None if any_category else tuple(categories),
        visibility=visibility,
        instruction=instruction,
    )


def read_compact(members: Members) -> CompactSettings | None:
    """Return the settings of compaction, None where histories are not compacted."""
    if members.given.get("compact") is None:
        return None
    known = ("keepTurns", "targetShare", "maxSummaryTokens", "checkpointEveryTurns")
    given = members.inner("compact", known)
    share = given.given.get("targetShare", 0.6)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.1 <= share <= 1:
        given.wrong("targetShare", "number_invalid", "must be a number, 0.1 to 1")
        share = 0.6
    return CompactSettings(
        keep_turns=given.number("keepTurns", default=2, at_least=1, at_most=50),
        target_share=float(share),
        max_summary_tokens=given.number("maxSummaryTokens", default=300, at_least=50, at_most=4_000),
        checkpoint_every_turns=given.number("checkpointEveryTurns", default=None, at_least=1, at_most=1_000),
    )


def _per_tier(given: Members, name: str, default: PerTier[Value], read: Any) -> PerTier[Value]:
    """Return one value for each tier; who gives one tier has to give all four."""
    tiers = given.inner(name, tuple(Tier))
    if not isinstance(given.given.get(name), dict):
        return default
    values = {}
    for tier in Tier:
        if tier.value not in tiers.given:
            tiers.wrong(tier.value, "tier_missing", "is missing; give all four tiers")
            continue
        value, wanted = read(tiers.given[tier.value])
        if value is None:
            tiers.wrong(tier.value, "tier_invalid", f"must be {wanted}")
        values[tier.value] = value
    complete = len(values) == len(Tier) and None not in values.values()
    return PerTier(**values) if complete else default


def _as_store(value: object) -> tuple[StrEnum | None, str]:
    return next((store for store in Store if store.value == value), None), " or ".join(Store)


def _as_count(value: object) -> tuple[int | None, str]:
    count = whole_number(value)
    within = count is not None and 0 <= count <= MAX_RECALLED_SUMMARIES
    return count if within else None, f"a whole number, 0 to {MAX_RECALLED_SUMMARIES}"
