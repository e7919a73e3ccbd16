"""The Records port: one suite against the fake, and the DynamoDB adapter on moto and DynamoDB Local."""

import random
from typing import Any

import pytest

from memoir.adapters.packing import MAX_BODY_BYTES
from memoir.domain.scope import ProductScope, Scope, UserScope
from memoir.errors import StoreMisused, TooLarge
from memoir.ports.records import (
    ABSENT,
    Amend,
    Check,
    Condition,
    Fact,
    Is,
    Put,
    Record,
    RecordKey,
    Refused,
    Remove,
    Stands,
    stands,
)
from tests.contract.conftest import NOW, Store

SCOPE = Scope(product="p", user="u", conversation="c")
KEY = RecordKey(owner=SCOPE, kind="memory")
OTHER = RecordKey(owner=SCOPE, kind="state")
EXISTS: Condition = (Stands(),)
FACTS: dict[str, Fact] = {"n": 5, "t": "abc", "yes": True, "no": False, "zero": 0, "empty": ""}


def put(store: Store, key: RecordKey = KEY, when: Condition = (), **facts: Fact) -> None:
    store.records.write(Put(key=key, record=Record(facts=facts), when=when))


def read(store: Store, key: RecordKey = KEY) -> Record | None:
    return store.records.read(key).get(key)


def facts(store: Store, key: RecordKey = KEY) -> dict[str, Fact] | None:
    record = read(store, key)
    return None if record is None else dict(record.facts)


def turn_key(*name: str) -> RecordKey:
    return RecordKey(owner=SCOPE, kind="turn", name=name)


def holds(store: Store, *wanted: Is) -> bool:
    """Tell whether a check of these facts lets another write happen."""
    check = Check(key=KEY, when=(Stands(facts=wanted),), name="it")
    try:
        store.records.write(check, Put(key=OTHER, record=Record()))
    except Refused as refused:
        assert list(refused.held) == ["it"]
        return False
    return True


def test_what_was_put_is_read_at_once_and_whole(store: Store) -> None:
    record = Record(facts=FACTS, body="正文\u0000😀", expires_at=int(NOW) + 60)
    store.records.write(Put(key=KEY, record=record))
    found = read(store)
    assert found == record
    assert [type(found.facts[name]) for name in ("yes", "no", "zero", "n")] == [bool, bool, int, int]


def test_what_is_not_there_is_left_out(store: Store) -> None:
    assert store.records.read(KEY) == {}
    put(store)
    assert set(store.records.read(KEY, OTHER, KEY)) == {KEY}


def test_a_record_without_facts_or_body_is_one(store: Store) -> None:
    put(store)
    assert read(store) == Record()


def test_a_hundred_records_are_read_together(store: Store) -> None:
    keys = [turn_key(f"{number:010}") for number in range(100)]
    for key in keys[::3]:
        put(store, key, n=int(key.name[0]))
    found = store.records.read(*keys)
    assert {key: record.number("n") for key, record in found.items()} == {
        key: int(key.name[0]) for key in keys[::3]
    }


HOLDS: list[tuple[Is, bool]] = [
    (Is("n", "=", 5), True),
    (Is("n", "=", 6), False),
    (Is("n", "=", "5"), False),
    (Is("n", "<", 6), True),
    (Is("n", "<", 5), False),
    (Is("n", "<=", 5), True),
    (Is("n", "<=", 4), False),
    (Is("n", ">", 4), True),
    (Is("n", ">", 5), False),
    (Is("t", "=", "abc"), True),
    (Is("t", "=", "ABC"), False),
    (Is("t", "<", "abd"), True),
    (Is("t", "<", "abc"), False),
    (Is("t", "<=", "abc"), True),
    (Is("t", ">", "abb"), True),
    (Is("t", ">", "b"), False),
    (Is("t", "does not begin with", "ab"), False),
    (Is("t", "does not begin with", "abc"), False),
    (Is("t", "does not begin with", "b"), True),
    (Is("yes", "=", True), True),
    (Is("yes", "=", False), False),
    (Is("no", "=", False), True),
    (Is("zero", "=", 0), True),
    (Is("empty", "=", ""), True),
    # Missing means 0 or empty, for equality alone.
    (Is("gone", "=", 0), True),
    (Is("gone", "=", ""), True),
    (Is("gone", "=", False), True),
    (Is("gone", "=", 1), False),
    (Is("gone", "=", "x"), False),
    (Is("gone", "=", True), False),
    (Is("gone", "<", 1), False),
    (Is("gone", "<=", 0), False),
    (Is("gone", ">", -1), False),
    (Is("gone", "does not begin with", "x"), True),
]


def test_each_relation_holds_or_not(store: Store) -> None:
    put(store, **FACTS)
    assert [(wanted, holds(store, wanted)) for wanted, _ in HOLDS] == HOLDS


def test_a_write_beside_a_check_that_failed_did_not_happen(store: Store) -> None:
    put(store, **FACTS)
    assert not holds(store, Is("n", "=", 6))
    assert read(store, OTHER) is None
    assert holds(store, Is("n", "=", 5))
    assert read(store, OTHER) == Record()


def test_all_facts_of_a_part_have_to_hold_and_one_part_of_a_condition(store: Store) -> None:
    put(store, n=5, t="abc")
    assert holds(store, Is("n", "=", 5), Is("t", "=", "abc"))
    assert not holds(store, Is("n", "=", 5), Is("t", "=", "x"))
    put(store, when=(*stands(n=9), *stands(t="abc")), n=6)
    with pytest.raises(Refused):
        put(store, when=(*ABSENT, *stands(n=9)), n=7)
    assert facts(store) == {"n": 6}


def test_a_part_of_a_condition_may_be_that_there_is_none(store: Store) -> None:
    for n in (1, 2):
        put(store, when=(*ABSENT, *stands(n=1)), n=n)
    assert facts(store) == {"n": 2}


@pytest.mark.parametrize("when", [EXISTS, stands(), stands(gone=0), (Stands(facts=(Is("n", ">", 0),)),)])
def test_nothing_stands_where_there_is_no_record(store: Store, when: Condition) -> None:
    with pytest.raises(Refused) as refused:
        put(store, when=when, n=1)
    assert refused.value.held == {"memory": None}
    assert read(store) is None


def test_what_is_absent_is_made_once(store: Store) -> None:
    put(store, when=ABSENT, n=1)
    with pytest.raises(Refused) as refused:
        put(store, when=ABSENT, n=2)
    held = refused.value.held["memory"]
    assert held is not None
    assert (held.number("n"), facts(store)) == (1, {"n": 1})


def test_a_record_expires_to_the_second_although_it_is_still_stored(store: Store) -> None:
    record = Record(facts={"n": 1}, body="old", expires_at=int(NOW) + 10)
    store.records.write(Put(key=KEY, record=record))
    store.records.write(Put(key=turn_key("1"), record=record))
    store.now = NOW + 9.9
    assert (read(store), holds(store)) == (record, True)
    store.now = NOW + 10
    assert (read(store), holds(store)) == (None, False)
    assert list(store.records.walk(SCOPE, "turn")) == []
    with pytest.raises(Refused) as refused:
        put(store, when=stands(n=1), n=2)
    assert refused.value.held == {"memory": None}
    put(store, when=ABSENT, n=3)
    assert read(store) == Record(facts={"n": 3})


def test_a_put_leaves_nothing_of_what_was_there(store: Store) -> None:
    old = Record(facts={"n": 1, "t": "x"}, body="b", expires_at=int(NOW) + 9)
    store.records.write(Put(key=KEY, record=old))
    put(store, t="y")
    assert read(store) == Record(facts={"t": "y"})


def test_an_amendment_leaves_what_it_does_not_name(store: Store) -> None:
    store.records.write(Put(key=KEY, record=Record(facts={"n": 1, "t": "x"}, body="b")))
    store.records.write(Amend(key=KEY, facts={"n": 2}))
    assert read(store) == Record(facts={"n": 2, "t": "x"}, body="b")
    store.records.write(Amend(key=KEY, body="c" * 5000, expires_at=int(NOW) + 9))
    assert read(store) == Record(facts={"n": 2, "t": "x"}, body="c" * 5000, expires_at=int(NOW) + 9)


def test_an_amendment_makes_a_record_where_there_is_none(store: Store) -> None:
    store.records.write(Amend(key=KEY, facts={"n": 2}, at_first={"t": "first"}, add={"used": 3}, body="b"))
    assert read(store) == Record(facts={"n": 2, "t": "first", "used": 3}, body="b")


def test_facts_at_first_are_set_only_where_they_are_missing(store: Store) -> None:
    for text in ("first", "second"):
        store.records.write(Amend(key=KEY, at_first={"t": text, text: 1}))
    assert facts(store) == {"t": "first", "first": 1, "second": 1}


def test_numbers_are_added_to(store: Store) -> None:
    for more in (2, 5, -1):
        store.records.write(Amend(key=KEY, add={"used": more}))
    assert facts(store) == {"used": 6}


def test_what_is_removed_is_gone_and_may_have_been_gone(store: Store) -> None:
    put(store, n=1)
    with pytest.raises(Refused):
        store.records.write(Remove(key=KEY, when=stands(n=2)))
    assert facts(store) == {"n": 1}
    store.records.write(Remove(key=KEY, when=stands(n=1)))
    store.records.write(Remove(key=KEY))
    assert read(store) is None


def test_a_check_writes_nothing(store: Store) -> None:
    put(store, n=1)
    store.records.write(Check(key=KEY, when=stands(n=1)), Put(key=OTHER, record=Record()))
    assert (facts(store), read(store, OTHER)) == ({"n": 1}, Record())
    store.records.write(Check(key=turn_key("1"), when=ABSENT), Put(key=OTHER, record=Record(body="b")))
    assert (read(store, turn_key("1")), read(store, OTHER)) == (None, Record(body="b"))


def test_of_several_writes_all_happen_or_none_and_each_that_failed_is_named(store: Store) -> None:
    put(store, n=1)
    put(store, turn_key("1"), n=2)
    writes = (
        Put(key=OTHER, record=Record(), when=ABSENT),
        Amend(key=KEY, facts={"n": 9}, when=stands(n=7), name="mine"),
        Remove(key=turn_key("1"), when=stands(n=2)),
        Check(key=turn_key("2"), when=EXISTS, name="needed"),
    )
    with pytest.raises(Refused) as refused:
        store.records.write(*writes)
    assert set(refused.value.held) == {"mine", "needed"}
    held = refused.value.held["mine"]
    assert held is not None
    assert (held.number("n"), refused.value.held["needed"]) == (1, None)
    assert (facts(store), facts(store, turn_key("1")), read(store, OTHER)) == ({"n": 1}, {"n": 2}, None)
    put(store, turn_key("2"))
    put(store, n=7)
    store.records.write(*writes)
    assert (facts(store), read(store, turn_key("1")), read(store, OTHER)) == ({"n": 9}, None, Record())


def test_a_refusal_tells_what_is_stored_by_the_kind_where_the_write_has_no_name(store: Store) -> None:
    store.records.write(Put(key=KEY, record=Record(facts={"n": 1}, body="长" * 5000)))
    with pytest.raises(Refused) as refused:
        put(store, when=stands(n=2))
    held = refused.value.held["memory"]
    assert held is not None
    assert (held.body, held.number("n"), refused.value.maybe_executed) == ("长" * 5000, 1, False)


def test_one_record_is_not_written_twice_at_once(store: Store) -> None:
    with pytest.raises(StoreMisused):
        store.records.write(Put(key=KEY, record=Record()), Amend(key=KEY, facts={"n": 1}))
    assert read(store) is None


def test_a_hundred_writes_are_one(store: Store) -> None:
    store.records.write(*(Put(key=turn_key(f"{number:010}"), record=Record()) for number in range(100)))
    assert len(list(store.records.walk(SCOPE, "turn"))) == 100


def walked(store: Store, **bounds: Any) -> list[tuple[str, ...]]:
    return [name for name, _ in store.records.walk(SCOPE, "turn", **bounds)]


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_a_walk_goes_both_ways_between_its_ends_whatever_a_page_holds(store: Store, page: int) -> None:
    names = [(f"{number:010}", f"{version:06}") for number in (2, 9, 10, 11) for version in (1, 2)]
    for name in names:
        put(store, turn_key(*name))
    put(store, KEY)
    put(store, RecordKey(owner=SCOPE, kind="turn_id", name=("T#",)))
    assert walked(store, page=page) == names
    assert walked(store, page=page, backwards=True) == names[::-1]
    assert walked(store, page=page, first=names[1], last=names[5]) == names[1:6]
    assert walked(store, page=page, first=names[1], last=names[5], backwards=True) == names[1:6][::-1]
    assert walked(store, page=page, first=("0000000009",), last=("0000000011",)) == names[2:6]
    assert walked(store, page=page, first=("0000000012",)) == []


def test_a_walk_passes_what_has_expired(store: Store) -> None:
    for number in range(6):
        expires_at = int(NOW) if number % 2 else None
        record = Record(facts={"n": number}, expires_at=expires_at)
        store.records.write(Put(key=turn_key(str(number)), record=record))
    assert walked(store, page=1) == [("0",), ("2",), ("4",)]


def test_large_records_are_walked_whole(store: Store) -> None:
    bodies = {f"{number:010}": chr(0x4E00 + number) * 100_000 for number in range(6)}
    for name, body in bodies.items():
        store.records.write(Put(key=turn_key(name), record=Record(body=body)))
    found = {name[0]: record.body for name, record in store.records.walk(SCOPE, "turn")}
    assert found == bodies


CJK = "长" * 128
ODD = ["#", "%", "%23", "!", "~", "a/b", "P#", "ａ", "é", "e\u0301", CJK, CJK[:-1] + "中", "x" * 128]


def test_ids_of_any_kind_and_length_do_not_meet_in_any_part_of_a_key(store: Store) -> None:
    keys = [RecordKey(owner=SCOPE, kind="turn_id", name=(odd,)) for odd in ODD]
    for part in ("product", "user", "conversation"):
        parts = {"product": "p", "user": "u", "conversation": "c"}
        keys += [RecordKey(owner=Scope(**{**parts, part: odd}), kind="memory") for odd in ODD]
    keys += [RecordKey(owner=Scope(product=CJK, user=CJK, conversation=CJK), kind="claim", name=(CJK,))]
    keys += [RecordKey(owner=SCOPE, kind="receipt", name=("0000000001", "000001", odd)) for odd in ODD]
    for number, key in enumerate(keys):
        put(store, key, when=ABSENT, n=number)
    assert [facts(store, key) for key in keys] == [{"n": number} for number in range(len(keys))]


def test_a_long_part_of_a_name_is_walked_in_its_place(store: Store) -> None:
    for version in ("000001", "000002"):
        put(store, RecordKey(owner=SCOPE, kind="receipt", name=("0000000001", version, CJK)))
    found = [name[:2] for name, _ in store.records.walk(SCOPE, "receipt")]
    assert found == [("0000000001", "000001"), ("0000000001", "000002")]


def test_a_conversations_a_users_and_a_products_records_are_others(store: Store) -> None:
    owners = (SCOPE, SCOPE.owner, ProductScope(product="p"), UserScope(product="p", user="c"))
    keys = [RecordKey(owner=owner, kind="profile") for owner in owners]
    for number, key in enumerate(keys):
        put(store, key, when=ABSENT, n=number)
    assert [facts(store, key) for key in keys] == [{"n": number} for number in range(len(keys))]


def test_the_register_is_walked_by_user(store: Store) -> None:
    for user, name in (("u", "c1"), ("u", "c2"), ("u2", "c3"), ("u#C#", "c4")):
        owner = UserScope(product="p", user=user)
        put(store, RecordKey(owner=owner, kind="register", name=(name,)))
    found = [name for name, _ in store.records.walk(SCOPE.owner, "register")]
    assert found == [("c1",), ("c2",)]


def test_a_body_may_have_393_216_bytes_and_not_one_more(store: Store) -> None:
    largest = "长" * (MAX_BODY_BYTES // 3)
    assert len(largest.encode()) == MAX_BODY_BYTES == 393_216
    store.records.write(Put(key=KEY, record=Record(body=largest)))
    found = read(store)
    assert found is not None and found.body == largest
    store.records.write(Amend(key=KEY, body="x" * MAX_BODY_BYTES))
    for write in (Put(key=KEY, record=Record(body="x" + largest)), Amend(key=KEY, body="x" + largest)):
        for writes in ((write,), (Put(key=OTHER, record=Record()), write)):
            with pytest.raises(TooLarge) as refusal:
                store.records.write(*writes)
            assert (refusal.value.size_bytes, refusal.value.limit_bytes) == (393_217, 393_216)
    found = read(store)
    assert found is not None and found.body == "x" * MAX_BODY_BYTES
    assert read(store, OTHER) is None


def test_a_body_that_hardly_compresses_fits_as_well(store: Store) -> None:
    chance = random.Random(1)
    body = "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(MAX_BODY_BYTES // 3))
    store.records.write(Put(key=KEY, record=Record(facts=FACTS, body=body)))
    found = read(store)
    assert found is not None and found.body == body


def test_an_empty_body_is_one(store: Store) -> None:
    store.records.write(Put(key=KEY, record=Record(body="")))
    assert read(store) == Record(body="")
