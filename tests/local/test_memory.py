"""The JSON memory over HTTP, on the deployed local stack."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api import Api, send
from tests.localcloud.cloud import Stack

PATH = "/v1/conversations/c1/memory"
BOOKED = {"scene": "城门", "keyHolder": "用户", "gold": 9007199254740993, "rate": 0.1}


def test_read_write_read_shows_the_new_value(api: Api) -> None:
    assert api.call("GET", PATH).json == {"revision": 0, "memory": None}
    assert api.call("PUT", PATH, {"expectedRevision": 0, "memory": BOOKED}).json == {"revision": 1}
    answer = api.call("GET", PATH)
    assert answer.json == {"revision": 1, "memory": BOOKED}
    assert answer.headers["etag"] == '"1"'


def test_a_conflict_tells_the_current_revision_and_changes_nothing(api: Api) -> None:
    api.call("PUT", PATH, {"expectedRevision": 0, "memory": BOOKED})
    answer = api.call("PUT", PATH, {"expectedRevision": 0, "memory": {"scene": "酒馆"}})
    assert (answer.status, answer.json["code"]) == (409, "revision_conflict")
    assert answer.json["currentRevision"] == 1
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert api.call("GET", PATH).json["memory"] == BOOKED


def test_numbers_come_back_as_they_were_sent(api: Api) -> None:
    body = b'{"expectedRevision":0,"memory":{"a":1.0,"b":1,"c":1e-7,"d":9007199254740993,"e":-0.0,"f":30.40}}'
    assert api.call("PUT", PATH, body).status == 200
    memory = '{"a":1.0,"b":1,"c":1e-7,"d":9007199254740993,"e":-0.0,"f":30.40}'
    assert memory in api.call("GET", PATH).text


def test_the_same_idempotency_key_is_one_write(api: Api) -> None:
    write = {"expectedRevision": 0, "memory": BOOKED}
    answers = [api.call("PUT", PATH, write, idempotency_key="k-1") for _ in range(3)]
    assert [answer.json for answer in answers] == [{"revision": 1}] * 3
    other = api.call("PUT", PATH, {"expectedRevision": 1, "memory": {}}, idempotency_key="k-1")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert api.call("GET", PATH).json["revision"] == 1


def test_of_many_writers_of_one_revision_one_wins(api: Api) -> None:
    def write(number: int) -> int:
        return api.call("PUT", PATH, {"expectedRevision": 0, "memory": {"writer": number}}).status

    api.call("GET", PATH)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(write, range(16)))
    assert sorted(set(statuses)) == [200, 409]
    assert statuses.count(200) == 1
    assert api.call("GET", PATH).json["memory"] == {"writer": statuses.index(200)}


BAD_BODIES = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 400),
    (b'{"expectedRevision":0,"memory":{}} x', 400),
    (b'{"expectedRevision":0,"memory":{},"x":1}', 400),
    (b'{"expectedRevision":0}', 400),
    (b'{"memory":{}}', 400),
    (b'{"expectedRevision":"0","memory":{}}', 400),
    (b'{"expectedRevision":true,"memory":{}}', 400),
    (b'{"expectedRevision":0.5,"memory":{}}', 400),
    (b'{"expectedRevision":-1,"memory":{}}', 400),
    (b'{"expectedRevision":9007199254740991,"memory":{}}', 400),
    (b'{"expectedRevision":0,"memory":[]}', 400),
    (b'{"expectedRevision":0,"memory":null}', 400),
    (b'{"expectedRevision":0,"memory":"{}"}', 400),
    (b'{"expectedRevision":0,"memory":{"a":1,"a":2}}', 400),
    (b'{"expectedRevision":0,"memory":{"a":NaN}}', 400),
    (b'{"expectedRevision":0,"memory":{"a":1e999}}', 400),
    (b'{"expectedRevision":0,"memory":{"a":"\\ud800"}}', 400),
    (b'{"expectedRevision":0,"memory":{"a":"\xff"}}', 400),
    (b"[" * 100_000, 422),
    (b'{"expectedRevision":0,"memory":' + b'{"a":' * 32 + b"{}" + b"}" * 33, 422),
    (b'{"expectedRevision":0,"memory":{"a":"' + b"x" * 65_529 + b'"}}', 413),
    ('{"expectedRevision":0,"memory":{"a":"' + "中" * 21_844 + '"}}', 413),
]


@pytest.mark.parametrize(("body", "status"), BAD_BODIES)
def test_bad_input_is_refused_with_its_place_and_changes_nothing(
    api: Api, body: bytes | str, status: int
) -> None:
    raw = body.encode() if isinstance(body, str) else body
    answer = api.call("PUT", PATH, raw)
    assert answer.status == status, answer.text
    assert answer.json["code"]
    assert api.call("GET", PATH).json == {"revision": 0, "memory": None}


def test_the_largest_and_deepest_memory_is_accepted(api: Api) -> None:
    largest = {"a": "x" * 65_528}
    assert api.call("PUT", PATH, {"expectedRevision": 0, "memory": largest}).json == {"revision": 1}
    deepest = b'{"expectedRevision":1,"memory":' + b'{"a":' * 31 + b"{}" + b"}" * 32
    assert api.call("PUT", PATH, deepest).json == {"revision": 2}


def test_a_body_that_is_not_declared_as_json_is_refused(api: Api) -> None:
    answer = api.call("PUT", PATH, b'{"expectedRevision":0,"memory":{}}', content_type="text/plain")
    assert (answer.status, answer.json["code"]) == (415, "media_type_unsupported")


@pytest.mark.parametrize("conversation", ["-a", "a%20b", "a%23b", "%E4%B8%AD", "a" * 129, "a%2Fb", "a*"])
def test_an_odd_conversation_id_is_refused(api: Api, conversation: str) -> None:
    answer = api.call("GET", f"/v1/conversations/{conversation}/memory")
    assert answer.status in (400, 404)


def test_ids_that_differ_only_by_separators_are_different_memories(api: Api) -> None:
    for number, conversation in enumerate(["a", "a:b", "a.b", "a@b", "A"]):
        path = f"/v1/conversations/{conversation}/memory"
        write = {"expectedRevision": 0, "memory": {"n": number}}
        assert api.call("PUT", path, write).json == {"revision": 1}


def test_products_and_users_do_not_see_each_other(api: Api, stack: Stack) -> None:
    api.call("PUT", PATH, {"expectedRevision": 0, "memory": BOOKED})
    for stranger in (Api(stack, client="otherClient", user=api.user), Api(stack, user=f"{api.user}#C")):
        assert stranger.call("GET", PATH).json == {"revision": 0, "memory": None}


def test_without_a_token_or_with_a_forged_one_nobody_is_let_in(stack: Stack) -> None:
    url = stack["apiUrl"] + PATH
    assert send("GET", url).status == 401
    token = Api(stack).token
    header, claims, signature = token.split(".")
    forged = f"{header}.{claims}.{signature[:-4]}{'AAAA' if signature[-4:] != 'AAAA' else 'BBBB'}"
    assert send("GET", url, headers={"authorization": f"Bearer {forged}"}).status == 401


def test_a_trusted_host_has_to_name_its_user_and_nobody_else_may(stack: Stack) -> None:
    host = Api(stack, user=None)
    assert host.call("GET", PATH).status == 400
    stranger = Api(stack, user="someone", scope="memory/admin")
    assert stranger.call("GET", PATH).status == 403
    own = Api(stack, user=None, scope="memory/admin")
    assert own.call("GET", PATH).status == 200


def test_health_needs_no_token_and_an_unknown_route_says_so(stack: Stack) -> None:
    health = send("GET", stack["apiUrl"] + "/v1/health")
    assert (health.status, health.json["status"]) == (200, "ok")
    unknown = send("GET", stack["apiUrl"] + "/v1/nothing")
    assert (unknown.status, json.loads(unknown.text)["code"]) == (404, "not_found")


def test_every_answer_carries_a_request_id(api: Api) -> None:
    assert api.call("GET", PATH).headers["x-request-id"]
    assert api.call("GET", PATH, x_request_id="mine-1").headers["x-request-id"] == "mine-1"
