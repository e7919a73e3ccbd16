"""The opaque manifest: it goes out and comes back whole, and foreign text is no error."""

import base64
import json
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.domain.context.build import build_context
from memoir.domain.context.manifest import (
    MAX_MANIFEST_CHARACTERS,
    Manifest,
    decode_manifest,
    encode_manifest,
    hash_of,
    make_manifest,
)
from memoir.domain.turns import Position
from tests.unit.domain.context.builders import HISTORY, SYSTEM, diary, said, scenario_of, table


def manifest(rounds: tuple[int, int] | None = None) -> Manifest:
    context = build_context(
        scenario=scenario_of(SYSTEM, HISTORY),
        sources=[diary(versions=((20, 1), (30, 2))), table()],
        history=[said("user", "hi")],
        budget=500,
    )
    return make_manifest(
        context,
        generation=2,
        head=Position(round=31, version=1),
        scenario_id="s",
        scenario_revision=4,
        history_rounds=rounds,
    )


def packed(value: object) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(value).encode())).decode()


@pytest.mark.parametrize("rounds", [None, (12, 31)])
def test_a_manifest_comes_back_as_it_went_out(rounds: tuple[int, int] | None) -> None:
    sent = manifest(rounds)
    assert decode_manifest(encode_manifest(sent)) == sent


def test_a_manifest_says_what_was_given() -> None:
    sent = manifest()
    assert [(s.variable, s.revision, s.versions, s.referenced, s.cut) for s in sent.sources] == [
        ("compassMemory", 3, ((20, 1), (30, 2)), True, False),
        ("memoryTable", 7, (), True, False),
    ]
    assert sent.history_hash == hash_of([said("user", "hi")])
    assert manifest((1, 2)).history_hash is None


def test_the_longest_manifest_fits() -> None:
    largest = manifest()
    sources = tuple(
        replace(source, variable=f"variable{n}", versions=tuple((10**9 + n, n * 7919) for n in range(5)))
        for n, source in enumerate(largest.sources * 5)
    )
    longest = replace(largest, scenario_id="剑" * 128, sources=sources, budget=10_000_000)
    assert len(encode_manifest(longest)) <= MAX_MANIFEST_CHARACTERS


@pytest.mark.parametrize(
    "foreign",
    [
        "",
        "x",
        "剑",
        "AAAA",
        packed([]),
        packed({}),
        packed(None),
        packed([1] * 13),
        packed([2, 1, 1, 1, "s", 1, "actor", None, [], None, None, 1, "h"]),
        packed([1, True, 1, 1, "s", 1, "actor", None, [], None, None, 1, "h"]),
        packed([1, -1, 1, 1, "s", 1, "actor", None, [], None, None, 1, "h"]),
        packed([1, 1, 1, 1, "s", 1, "actor", "x", [], None, None, 1, "h"]),
        packed([1, 1, 1, 1, "s", 1, "actor", None, [[1]], None, None, 1, "h"]),
        packed([1, 1, 1, 1, "s", 1, "actor", None, [], [1], None, 1, "h"]),
        packed("[" * 5_000),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 10_000)).decode(),
        base64.urlsafe_b64encode(zlib.compress(b" " * 1_000_000)).decode(),
        "A" * (MAX_MANIFEST_CHARACTERS + 1),
    ],
)
def test_foreign_text_is_no_manifest(foreign: str) -> None:
    assert decode_manifest(foreign) is None


def test_a_cut_or_lengthened_manifest_is_none() -> None:
    text = encode_manifest(manifest())
    assert decode_manifest(text[:-8]) is None
    assert decode_manifest(packed([1])[:-4] + text) is None


@given(
    st.text(max_size=300) | st.binary(max_size=200).map(lambda raw: base64.urlsafe_b64encode(raw).decode())
)
def test_no_text_is_an_exception(text: str) -> None:
    assert decode_manifest(text) is None
