import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoir.adapters import keys
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.ports import DocumentKey

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


@given(scopes, scopes)
def test_two_scopes_never_share_a_partition(one: Scope, other: Scope) -> None:
    assert (keys.conversation_pk(one) == keys.conversation_pk(other)) == (one == other)


@given(scopes, scopes)
def test_a_users_own_partition_is_none_of_a_conversation(one: Scope, other: Scope) -> None:
    assert keys.user_pk(one.owner) != keys.conversation_pk(other)
    assert (keys.user_pk(one.owner) == keys.user_pk(other.owner)) == (one.owner == other.owner)


@given(ids, ids)
def test_two_turn_ids_never_share_an_item(one: str, other: str) -> None:
    scope = Scope(product="p", user="u", conversation="c")
    assert (keys.turn_id(scope, one) == keys.turn_id(scope, other)) == (one == other)


@given(ids, st.integers(0, 10**9))
def test_items_of_different_kinds_never_share_a_key(text: str, number: int) -> None:
    scope = Scope(product="p", user="u", conversation="c")
    found = [
        keys.document_key(DocumentKey(scope=scope, kind=text)),
        keys.turn(scope, Position(round=number, version=1)),
        keys.turn_id(scope, text),
        keys.turn_head(scope),
        keys.diary_entry(scope, AgentRef(text), number),
        keys.diary_head(scope, AgentRef(text)),
        keys.diary_lease(scope, AgentRef(text)),
        keys.diary_raw(scope, AgentRef(text), number),
        keys.cursor(scope, "table"),
        keys.kept_answer(scope, text),
        keys.bound_request(scope, text),
    ]
    assert len({key["sk"]["S"] for key in found}) == len(found)


@pytest.mark.parametrize(("earlier", "later"), [((9, 1), (10, 1)), ((1, 9), (1, 10)), ((1, 999), (2, 1))])
def test_the_order_of_keys_is_the_order_of_turns(earlier: tuple[int, int], later: tuple[int, int]) -> None:
    first, second = (keys.turn_sk(Position(round=r, version=v)) for r, v in (earlier, later))
    assert first < second < keys.LAST_TURN_SK


def test_a_diarys_head_sorts_behind_its_entries() -> None:
    scope = Scope(product="p", user="u", conversation="c")
    agent = AgentRef("a")
    entry = keys.diary_entry(scope, agent, 9_999_999_999)["sk"]["S"]
    assert entry < keys.diary_head(scope, agent)["sk"]["S"]


@given(st.integers(0, 10**9), st.integers(0, 10**5))
def test_a_position_is_read_back(turn_round: int, version: int) -> None:
    position = Position(round=turn_round, version=version)
    assert keys.read_turn_sk(keys.turn_sk(position)) == position
