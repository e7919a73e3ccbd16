import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.adapters.keys import DOCUMENTS, PREFIXES, item_key, name_of, partition, sort_key
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.scope import ProductScope, Scope
from memoir.domain.turns import Position
from memoir.ports.records import RecordKey
from memoir.records.diary import diary_head_key, entry_key
from memoir.records.positions import position_name, position_text, read_position
from memoir.records.turns import turn_id_key, turn_key

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


long_ids = st.builds(lambda piece, times: piece * times, st.sampled_from("中é%a#~"), st.integers(60, 128))

SCOPE = Scope(product="p", user="u", conversation="c")


def sk(key: RecordKey) -> str:
    return item_key(key)["sk"]["S"]


@given(scopes, scopes)
def test_two_scopes_never_share_a_partition(one: Scope, other: Scope) -> None:
    assert (partition(one) == partition(other)) == (one == other)


@given(scopes, scopes)
def test_a_users_own_partition_is_none_of_a_conversation(one: Scope, other: Scope) -> None:
    assert partition(one.owner) != partition(other)
    assert (partition(one.owner) == partition(other.owner)) == (one.owner == other.owner)
    assert partition(ProductScope(product=one.product)) not in (partition(other.owner), partition(other))


@given(ids | long_ids, ids | long_ids)
def test_two_turn_ids_never_share_an_item(one: str, other: str) -> None:
    assert (turn_id_key(SCOPE, one) == turn_id_key(SCOPE, other)) == (one == other)
    assert (sk(turn_id_key(SCOPE, one)) == sk(turn_id_key(SCOPE, other))) == (one == other)


@given(ids, st.integers(0, 10**9))
def test_items_of_different_kinds_never_share_a_key(text: str, number: int) -> None:
    kinds = [kind for kind in PREFIXES if kind not in ("register", "head")]
    names = {kind: (text, str(number)) for kind in kinds}
    found = [sort_key(SCOPE, kind, name) for kind, name in names.items()]
    found += [sort_key(SCOPE, kind, ()) for kind in (*DOCUMENTS, "head")]
    assert len(set(found)) == len(found)


@given(long_ids, long_ids, long_ids)
def test_no_key_is_longer_than_dynamodb_takes(product: str, user: str, name: str) -> None:
    scope = Scope(product=product, user=user, conversation="c" * 128)
    for kind in PREFIXES:
        key = item_key(RecordKey(owner=scope, kind=kind, name=(name, name, name)))
        assert len(key["pk"]["S"].encode()) <= 2048
        assert len(key["sk"]["S"].encode()) <= 1024


@pytest.mark.parametrize(("earlier", "later"), [((9, 1), (10, 1)), ((1, 9), (1, 10)), ((1, 999), (2, 1))])
def test_the_order_of_keys_is_the_order_of_turns(earlier: tuple[int, int], later: tuple[int, int]) -> None:
    first, second = (turn_key(SCOPE, Position(round=r, version=v)) for r, v in (earlier, later))
    assert sk(first) < sk(second) < sort_key(SCOPE, "turn", ("~",))


def test_a_diarys_head_sorts_behind_its_entries() -> None:
    agent = AgentRef("a")
    assert sk(entry_key(SCOPE, agent, 9_999_999_999)) < sk(diary_head_key(SCOPE, agent))


@given(st.integers(0, 10**9), st.integers(0, 10**5))
def test_a_position_is_read_back(turn_round: int, version: int) -> None:
    position = Position(round=turn_round, version=version)
    assert read_position(position_text(position)) == position
    assert name_of(SCOPE, "turn", sk(turn_key(SCOPE, position))) == position_name(position)


def test_a_kind_without_a_key_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        sort_key(SCOPE, "nothing", ())
