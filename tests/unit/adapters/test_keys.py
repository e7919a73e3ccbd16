import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.adapters import keys
from memoir.domain.scope import ProductScope, Scope
from memoir.domain.turns import Position
from memoir.ports.records import Owner, RecordKey
from memoir.records.positions import position_name, position_text, read_position, round_name

# What separates, what escapes, what normalisation would make equal, and parts of real keys.
PIECES = [
    "#",
    "%",
    "%23",
    "/",
    ":",
    "|",
    "~",
    "P#",
    "#U#",
    "#C#",
    "U",
    "C",
    "a",
    "b",
    "é",
    "e\u0301",
    "ａ",
    "中",
    "",
]
ids = st.lists(st.sampled_from(PIECES), max_size=5).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
)
scopes = st.builds(Scope, product=ids, user=ids, conversation=ids)


SCOPE = Scope(product="p", user="u", conversation="c")


def key(kind: str, *name: str, owner: Owner = SCOPE) -> tuple[str, str]:
    """Return the whole key of a record."""
    found = keys.item_key(RecordKey(owner=owner, kind=kind, name=name))
    return found["pk"]["S"], found["sk"]["S"]


@given(scopes, scopes)
def test_two_scopes_never_share_a_partition(one: Scope, other: Scope) -> None:
    assert (keys.partition(one) == keys.partition(other)) == (one == other)


@given(scopes, scopes)
def test_a_users_own_partition_is_none_of_a_conversation(one: Scope, other: Scope) -> None:
    assert keys.partition(one.owner) != keys.partition(other)
    assert (keys.partition(one.owner) == keys.partition(other.owner)) == (one.owner == other.owner)


@given(scopes, scopes)
def test_a_products_partition_is_none_of_a_user_or_a_register(one: Scope, other: Scope) -> None:
    product = keys.partition(ProductScope(product=one.product))
    assert product not in (
        keys.partition(other),
        keys.partition(other.owner),
        keys.partition(other.owner, "register"),
    )
    assert keys.partition(one.owner, "register") not in (keys.partition(other), keys.partition(other.owner))


@given(scopes, scopes)
def test_two_conversations_never_share_a_place_in_the_register(one: Scope, other: Scope) -> None:
    places = [key("register", scope.conversation, owner=scope.owner) for scope in (one, other)]
    assert (places[0] == places[1]) == (one == other)


@given(ids, ids)
def test_two_turn_ids_never_share_an_item(one: str, other: str) -> None:
    assert (key("turn_id", one) == key("turn_id", other)) == (one == other)


@given(ids, ids, ids, ids)
def test_names_of_two_parts_never_meet(one: str, two: str, three: str, four: str) -> None:
    assert (key("diary", one, two) == key("diary", three, four)) == ((one, two) == (three, four))


@given(ids, st.integers(0, 10**9))
def test_items_of_different_kinds_never_share_a_key(text: str, number: int) -> None:
    position = position_name(Position(round=number, version=1))
    found = [
        *(key(kind) for kind in keys.DOCUMENTS),
        *(key(kind, text) for kind in keys.DOCUMENTS),
        *(key(kind, text) for kind in keys.PREFIXES if kind not in ("head", "diary", "raw")),
        *(key(kind, text, round_name(number)) for kind in ("diary", "raw")),
        key("turn", *position),
        key("receipt", *position, "table"),
        key("head"),
        key("diary", text, "~"),
        key("cursor", "diary", text),
    ]
    assert len(set(found)) == len(found)


def test_a_kind_without_a_key_is_a_fault() -> None:
    with pytest.raises(KeyError):
        key("no such kind")


@pytest.mark.parametrize(("earlier", "later"), [((9, 1), (10, 1)), ((1, 9), (1, 10)), ((1, 999), (2, 1))])
def test_the_order_of_keys_is_the_order_of_turns(earlier: tuple[int, int], later: tuple[int, int]) -> None:
    first, second = (key("turn", *position_name(Position(round=r, version=v))) for r, v in (earlier, later))
    assert first < second < key("turn", "~")


def test_a_diarys_head_sorts_behind_its_entries() -> None:
    assert key("diary", "a", round_name(9_999_999_999)) < key("diary", "a", "~")


@given(st.integers(0, 10**9), st.integers(0, 10**5))
def test_a_position_is_read_back(turn_round: int, version: int) -> None:
    position = Position(round=turn_round, version=version)
    assert read_position(position_text(position)) == position
    name = keys.name_of(SCOPE, "turn", keys.sort_key(SCOPE, "turn", position_name(position)))
    assert name == position_name(position)


@given(st.lists(ids.filter(bool), min_size=1, max_size=3))
def test_a_name_is_read_back(name: list[str]) -> None:
    for owner, kind in ((SCOPE, "diary"), (SCOPE.owner, "register"), (SCOPE, "checkpoint")):
        assert keys.name_of(owner, kind, keys.sort_key(owner, kind, tuple(name))) == tuple(name)


@pytest.mark.parametrize("text", ["长" * 128, "\U0001f600" * 128, "%" * 128])
def test_the_longest_ids_fit_into_a_key(text: str) -> None:
    whole = Scope(product=text, user=text, conversation=text)
    for owner, kind, name in (
        (whole, "receipt", ("0000000001", "000001", text)),
        (whole, "diary", (text, "0000000001")),
        (whole.owner, "register", (text,)),
    ):
        pk, sk = key(kind, *name, owner=owner)
        assert (len(pk) <= 2048, len(sk) <= 1024) == (True, True)
