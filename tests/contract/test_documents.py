"""Documents by compare-and-set, on each of the three stores."""

import json
from typing import Any

import pytest

from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.turns import Position
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.errors import IdempotencyKeyReused, RecordCorrupt, RevisionConflict
from memoir.ports.records import ABSENT, Check, Put, Record, RecordKey, Refused, stands
from memoir.records.documents import Change, StoredDocument, read_document
from memoir.usecases.conversations import list_conversations
from memoir.usecases.engine import Engine
from tests.contract.conftest import NOW, Store
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
KEY = RecordKey(owner=SCOPE, kind="memory")
BESIDE = RecordKey(owner=SCOPE, kind="state")


def document(**members: Any) -> JsonDocument:
    return json_document(members, name="memory")


def write(
    store: "Store | Adapter", expected: int, text: str = "x", *, token: WriteToken | None = None, **more: Any
) -> Revision:
    return store.engine.change(
        Change(
            key=KEY,
            expected=Revision(expected),
            document=document(text=text),
            token=token or random_token(),
            **more,
        )
    )


def stored(store: "Store | Adapter", key: RecordKey = KEY) -> StoredDocument | None:
    return read_document(store.engine.records.read(key).get(key))


def text(store: "Store | Adapter") -> str:
    found = stored(store)
    assert found is not None and found.document is not None
    told: str = found.document.value["text"]
    return told


def test_nothing_is_stored_at_first(store: Store) -> None:
    assert stored(store) is None


def test_each_write_makes_the_next_revision_and_is_read_at_once(store: Store) -> None:
    assert [write(store, expected, f"v{expected}") for expected in range(3)] == [1, 2, 3]
    found = stored(store)
    assert found is not None and found.document is not None
    assert (found.revision, found.document.value) == (3, {"text": "v2"})


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_write_based_on_another_revision_tells_the_current_one(store: Store, expected: int) -> None:
    write(store, 0, "a")
    write(store, 1, "b")
    with pytest.raises(RevisionConflict) as conflict:
        write(store, expected, "c")
    assert (conflict.value.expected_revision, conflict.value.current_revision) == (expected, 2)
    assert text(store) == "b"


def test_a_write_based_on_a_revision_of_nothing_conflicts_with_zero(store: Store) -> None:
    with pytest.raises(RevisionConflict) as conflict:
        write(store, 4)
    assert conflict.value.current_revision == 0
    assert stored(store) is None


@pytest.mark.parametrize("expected", [0, 1])
def test_the_same_token_again_gets_its_first_revision(store: Store, expected: int) -> None:
    token = idempotent_token(idempotency_key="k", body="b")
    for before in range(expected):
        write(store, before)
    first = write(store, expected, "mine", token=token)
    write(store, expected + 1, "later")
    assert write(store, expected, "mine", token=token) == first == expected + 1
    assert text(store) == "later"


@pytest.mark.parametrize("expected", [1, 2])
def test_a_token_with_another_body_is_refused_even_where_the_revision_is_right(
    store: Store, expected: int
) -> None:
    write(store, 0, "a", token=idempotent_token(idempotency_key="k", body="one"))
    write(store, 1, "b")
    with pytest.raises(IdempotencyKeyReused):
        write(store, expected, "c", token=idempotent_token(idempotency_key="k", body="two"))
    assert text(store) == "b"


def test_the_last_sixteen_writes_are_remembered_and_no_more(store: Store) -> None:
    token = idempotent_token(idempotency_key="k", body="b")
    write(store, 0, token=token)
    for expected in range(1, 16):
        write(store, expected)
    assert write(store, 0, token=token) == 1
    write(store, 16)
    with pytest.raises(RevisionConflict):
        write(store, 0, token=token)


def test_documents_of_other_scopes_and_kinds_are_others(store: Store) -> None:
    write(store, 0, "mine")
    scope = Scope(product="p", user="u", conversation="c2")
    for other in (RecordKey(owner=scope, kind="memory"), RecordKey(owner=SCOPE, kind="state")):
        assert stored(store, other) is None


def test_text_comes_back_as_it_was_accepted(store: Store) -> None:
    raw = '{"a":1.0,"b":1,"c":1e-7,"d":9007199254740993,"e":-0.0,"":{"z":null,"a":[]},"t":"中\\n\\u0000😀"}'
    accepted = json_document(json.loads(raw), name="memory", text=raw)
    store.engine.change(Change(key=KEY, expected=Revision(0), document=accepted, token=random_token()))
    found = stored(store)
    assert found is not None and found.document is not None
    assert found.document.text == raw


def test_the_largest_document_is_stored_whole(store: Store) -> None:
    largest = document(text="长" * 21_841 + "x" * 2)
    assert largest.size_bytes == 65_536
    store.engine.change(Change(key=KEY, expected=Revision(0), document=largest, token=random_token()))
    found = stored(store)
    assert found is not None
    assert found.document == largest


def test_a_place_and_a_round_stay_until_a_write_moves_them(store: Store) -> None:
    write(store, 0, place=Position(round=3, version=2), round=3)
    write(store, 1)
    found = stored(store)
    assert found is not None
    assert (found.place, found.round) == (Position(round=3, version=2), 3)
    write(store, 2, round=4)
    found = stored(store)
    assert found is not None
    assert (found.place, found.round) == (Position(round=3, version=2), 4)


@pytest.mark.parametrize("expected", [0, 1])
def test_what_is_written_beside_happens_with_the_document_or_not_at_all(store: Store, expected: int) -> None:
    for before in range(expected):
        write(store, before)
    beside = Put(key=BESIDE, record=Record(facts={"n": 1}), when=ABSENT)
    with pytest.raises(RevisionConflict):
        write(store, expected + 1, beside=(beside,))
    assert store.records.read(BESIDE) == {}
    assert write(store, expected, beside=(beside,)) == expected + 1
    assert store.records.read(BESIDE)[BESIDE].number("n") == 1


def test_a_write_beside_that_is_refused_refuses_the_document_and_is_named(store: Store) -> None:
    write(store, 0, "a")
    lease = Check(key=BESIDE, when=stands(owner="me"), name="lease")
    with pytest.raises(Refused) as refused:
        write(store, 1, "b", beside=(lease,))
    assert refused.value.held == {"lease": None}
    assert text(store) == "a"


def test_a_document_that_a_rewind_left_empty_is_none_at_its_revision(store: Store) -> None:
    store.records.write(Put(key=KEY, record=Record(facts={"revision": 4, "absent": 4})))
    assert stored(store) == StoredDocument(revision=Revision(4), document=None)
    assert write(store, 4, "again") == 5
    assert text(store) == "again"


def test_the_first_document_registers_its_conversation(store: Store) -> None:
    write(store, 0)
    store.now += 5
    write(store, 1)
    listed, _ = list_conversations(store.engine, owner=SCOPE.owner, before=None, limit=10)
    assert listed == (("c", int(NOW * 1000), 0),)


def test_a_users_document_registers_nothing(store: Store) -> None:
    profile = RecordKey(owner=SCOPE.owner, kind="profile")
    change = Change(key=profile, expected=Revision(0), document=document(a=1), token=random_token())
    assert store.engine.change(change) == 1
    assert list_conversations(store.engine, owner=SCOPE.owner, before=None, limit=10) == ((), None)


class Adapter:
    """An engine on moto, what it asks of the store, and the time it believes in."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.now = NOW
        records = DynamoDbRecords(client=client, table_name=TABLE_NAME, clock=lambda: self.now)
        self.engine = Engine(records=records, clock=lambda: self.now, receipt_days=30)
        self.requests: list[str] = []
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: self.requests.append(model.name)
        )

    def item(self) -> dict[str, Any]:
        key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#memory"}}
        found: dict[str, Any] = self.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
        return found

    def change(self, **attributes: Any) -> None:
        self.client.put_item(TableName=TABLE_NAME, Item={**self.item(), **attributes})


@pytest.fixture
def adapter(moto_client: Any) -> Adapter:
    return Adapter(moto_client)


def test_a_read_a_write_and_a_conflict_are_one_request_each(adapter: Adapter) -> None:
    stored(adapter)
    write(adapter, 0)
    write(adapter, 1)
    with pytest.raises(RevisionConflict):
        write(adapter, 1)
    with pytest.raises(RevisionConflict):
        write(adapter, 0)
    assert adapter.requests == [
        "GetItem",
        "TransactWriteItems",
        "UpdateItem",
        "UpdateItem",
        "TransactWriteItems",
    ]


def test_an_expired_document_is_no_document_although_it_is_still_stored(adapter: Adapter) -> None:
    write(adapter, 0, "old")
    write(adapter, 1, "older")
    adapter.change(expires_at={"N": str(int(adapter.now) + 1)})
    assert text(adapter) == "older"
    adapter.now += 1
    assert stored(adapter) is None
    with pytest.raises(RevisionConflict) as conflict:
        write(adapter, 2, "new")
    assert conflict.value.current_revision == 0
    assert write(adapter, 0, "new") == 1
    assert "expires_at" not in adapter.item()
    assert "w2" not in adapter.item()


@pytest.mark.parametrize(
    "broken",
    [
        {"revision": {"N": "0"}},
        {"revision": {"N": "-1"}},
        {"revision": {"N": "1.5"}},
        {"revision": {"S": "1"}},
        {"revision": {"BOOL": True}},
        {"place": {"S": "x"}},
        {"place": {"N": "1"}},
        {"round": {"S": "1"}},
        {"absent": {"S": "1"}},
        {"body": {"S": "[]"}},
        {"body": {"S": '{"a":'}},
        {"body": {"S": ""}},
        {"body": {"B": b"not packed"}},
        {"body": {"M": {}}},
    ],
)
def test_a_broken_record_is_an_error_and_stays_as_it_is(adapter: Adapter, broken: dict[str, Any]) -> None:
    write(adapter, 0)
    adapter.change(**broken)
    before = adapter.item()
    with pytest.raises(RecordCorrupt):
        stored(adapter)
    with pytest.raises((RecordCorrupt, RevisionConflict)):
        write(adapter, 0)
    assert adapter.item() == before


def test_a_cut_body_is_an_error(adapter: Adapter) -> None:
    adapter.engine.change(
        Change(key=KEY, expected=Revision(0), document=document(text="长" * 5000), token=random_token())
    )
    adapter.change(body={"B": adapter.item()["body"]["B"][:-3]})
    with pytest.raises(RecordCorrupt):
        stored(adapter)
