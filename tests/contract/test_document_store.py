"""The DocumentStore port: one suite against the fake, and the DynamoDB adapter on moto and DynamoDB Local."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memoir.adapters.document_store import DynamoDbDocumentStore
from memoir.domain.json_document import JsonDocument, json_document
from memoir.domain.revision import Revision
from memoir.domain.scope import Scope
from memoir.domain.write_token import WriteToken, idempotent_token, random_token
from memoir.errors import IdempotencyKeyReused, RecordCorrupt, RevisionConflict
from memoir.ports import DocumentKey, DocumentStore
from tests.fakes.documents import InMemoryDocumentStore
from tests.tables import TABLE_NAME

KEY = DocumentKey(scope=Scope(product="p", user="u", conversation="c"), kind="memory")


def document(**members: Any) -> JsonDocument:
    return json_document(members, name="memory")


@pytest.fixture(params=["fake", "moto", "dynamodb_local"])
def store(request: pytest.FixtureRequest) -> Iterator[DocumentStore]:
    if request.param == "fake":
        yield InMemoryDocumentStore()
        return
    fixture = "moto_client" if request.param == "moto" else "dynamodb_local_client"
    yield DynamoDbDocumentStore(client=request.getfixturevalue(fixture), table_name=TABLE_NAME)


def write(
    store: DocumentStore, expected: int, text: str = "x", *, token: WriteToken | None = None
) -> Revision:
    return store.replace(
        KEY, expected=Revision(expected), document=document(text=text), token=token or random_token()
    )


def text(store: DocumentStore) -> str:
    stored = store.read(KEY)
    assert stored is not None
    found: str = stored.document.value["text"]
    return found


def test_nothing_is_stored_at_first(store: DocumentStore) -> None:
    assert store.read(KEY) is None


def test_each_write_makes_the_next_revision_and_is_read_at_once(store: DocumentStore) -> None:
    assert [write(store, expected, f"v{expected}") for expected in range(3)] == [1, 2, 3]
    stored = store.read(KEY)
    assert stored is not None
    assert (stored.revision, stored.document.value) == (3, {"text": "v2"})


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_a_write_based_on_another_revision_tells_the_current_one(store: DocumentStore, expected: int) -> None:
    write(store, 0, "a")
    write(store, 1, "b")
    with pytest.raises(RevisionConflict) as conflict:
        write(store, expected, "c")
    assert (conflict.value.expected_revision, conflict.value.current_revision) == (expected, 2)
    assert text(store) == "b"


def test_a_write_based_on_a_revision_of_nothing_conflicts_with_zero(store: DocumentStore) -> None:
    with pytest.raises(RevisionConflict) as conflict:
        write(store, 4)
    assert conflict.value.current_revision == 0
    assert store.read(KEY) is None


@pytest.mark.parametrize("expected", [0, 1])
def test_the_same_token_again_gets_its_first_revision(store: DocumentStore, expected: int) -> None:
    token = idempotent_token(idempotency_key="k", body="b")
    for before in range(expected):
        write(store, before)
    first = write(store, expected, "mine", token=token)
    write(store, expected + 1, "later")
    assert write(store, expected, "mine", token=token) == first == expected + 1
    assert text(store) == "later"


@pytest.mark.parametrize("expected", [1, 2])
def test_a_token_with_another_body_is_refused_even_where_the_revision_is_right(
    store: DocumentStore, expected: int
) -> None:
    write(store, 0, "a", token=idempotent_token(idempotency_key="k", body="one"))
    write(store, 1, "b")
    with pytest.raises(IdempotencyKeyReused):
        write(store, expected, "c", token=idempotent_token(idempotency_key="k", body="two"))
    assert text(store) == "b"


def test_the_last_sixteen_writes_are_remembered_and_no_more(store: DocumentStore) -> None:
    token = idempotent_token(idempotency_key="k", body="b")
    write(store, 0, token=token)
    for expected in range(1, 16):
        write(store, expected)
    assert write(store, 0, token=token) == 1
    write(store, 16)
    with pytest.raises(RevisionConflict):
        write(store, 0, token=token)


def test_documents_of_other_scopes_and_kinds_are_others(store: DocumentStore) -> None:
    write(store, 0, "mine")
    scope = Scope(product="p", user="u", conversation="c2")
    for other in (DocumentKey(scope=scope, kind="memory"), DocumentKey(scope=KEY.scope, kind="state")):
        assert store.read(other) is None


def test_text_comes_back_as_it_was_accepted(store: DocumentStore) -> None:
    raw = '{"a":1.0,"b":1,"c":1e-7,"d":9007199254740993,"e":-0.0,"":{"z":null,"a":[]},"t":"中\\n\\u0000😀"}'
    value = json.loads(raw)
    store.replace(
        KEY,
        expected=Revision(0),
        document=json_document(value, name="memory", text=raw),
        token=random_token(),
    )
    stored = store.read(KEY)
    assert stored is not None
    assert stored.document.text == raw


def test_the_largest_document_is_stored_whole(store: DocumentStore) -> None:
    largest = document(text="长" * 21_841 + "x" * 2)
    assert largest.size_bytes == 65_536
    store.replace(KEY, expected=Revision(0), document=largest, token=random_token())
    stored = store.read(KEY)
    assert stored is not None
    assert stored.document == largest


class Adapter:
    """The DynamoDB adapter on moto, what it asks of the store, and the time it believes in."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.now = 1_000_000.0
        self.store = DynamoDbDocumentStore(client=client, table_name=TABLE_NAME, clock=lambda: self.now)
        self.requests: list[str] = []
        client.meta.events.register(
            "before-send.dynamodb", lambda request, **_: self.requests.append(request.headers["X-Amz-Target"])
        )

    def item(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get_item(TableName=TABLE_NAME, Key=self.key())["Item"]
        return found

    def key(self) -> dict[str, Any]:
        return {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "D#memory"}}

    def change(self, **attributes: Any) -> None:
        self.client.put_item(TableName=TABLE_NAME, Item={**self.item(), **attributes})


@pytest.fixture
def adapter(moto_client: Any) -> Adapter:
    return Adapter(moto_client)


def test_a_read_a_write_and_a_conflict_are_one_request_each(adapter: Adapter) -> None:
    adapter.store.read(KEY)
    write(adapter.store, 0)
    write(adapter.store, 1)
    with pytest.raises(RevisionConflict):
        write(adapter.store, 1)
    with pytest.raises(RevisionConflict):
        write(adapter.store, 0)
    assert [target.split(b".")[1] for target in adapter.requests] == [
        b"GetItem",
        b"PutItem",
        b"UpdateItem",
        b"UpdateItem",
        b"PutItem",
    ]


def test_an_expired_document_is_no_document_although_it_is_still_stored(adapter: Adapter) -> None:
    write(adapter.store, 0, "old")
    write(adapter.store, 1, "older")
    adapter.change(expires_at={"N": str(int(adapter.now) + 1)})
    assert text(adapter.store) == "older"
    adapter.now += 1
    assert adapter.store.read(KEY) is None
    with pytest.raises(RevisionConflict) as conflict:
        write(adapter.store, 2, "new")
    assert conflict.value.current_revision == 0
    assert write(adapter.store, 0, "new") == 1
    assert "expires_at" not in adapter.item()
    assert "w2" not in adapter.item()


@pytest.mark.parametrize(
    "broken",
    [
        {"revision": {"N": "0"}},
        {"revision": {"N": "-1"}},
        {"revision": {"N": "1.5"}},
        {"revision": {"S": "1"}},
        {"body": {"S": "[]"}},
        {"body": {"S": '{"a":'}},
        {"body": {"S": ""}},
        {"body": {"B": b"not packed"}},
        {"body": {"M": {}}},
    ],
)
def test_a_broken_record_is_an_error_and_stays_as_it_is(adapter: Adapter, broken: dict[str, Any]) -> None:
    write(adapter.store, 0)
    adapter.change(**broken)
    before = adapter.item()
    with pytest.raises(RecordCorrupt):
        adapter.store.read(KEY)
    with pytest.raises((RecordCorrupt, RevisionConflict)):
        write(adapter.store, 0)
    assert adapter.item() == before


def test_a_cut_body_is_an_error(adapter: Adapter) -> None:
    adapter.store.replace(
        KEY, expected=Revision(0), document=document(text="长" * 5000), token=random_token()
    )
    packed = adapter.item()["body"]["B"]
    adapter.change(body={"B": packed[:-3]})
    with pytest.raises(RecordCorrupt):
        adapter.store.read(KEY)
