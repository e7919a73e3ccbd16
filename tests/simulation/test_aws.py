"""The AWS in memory against moto and Amazon's DynamoDB Local: the same requests, the same answers and errors.

moto takes some requests that DynamoDB refuses; those are compared with DynamoDB Local alone.
"""

from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from tests.simulation.aws import TABLE_NAME, Aws, Session, Weather
from tests.simulation.faults import Crash
from tests.tables import TABLE_NAME as REAL_TABLE

Request = tuple[str, dict[str, Any]]


def _key(sk: str = "a") -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


def _number(value: int | str) -> dict[str, str]:
    return {"N": str(value)}


def put(sk: str = "a", **attributes: Any) -> Request:
    return "put_item", {"Item": {**_key(sk), **attributes}}


def update(expression: str, sk: str = "a", **rest: Any) -> Request:
    values = {f":{name}": value for name, value in rest.pop("values", {}).items()}
    more = {"ExpressionAttributeValues": values} if values else {}
    return "update_item", {"Key": _key(sk), "UpdateExpression": expression, **more, **rest}


def checked(condition: str, values: dict[str, Any] | None = None, **names: str) -> Request:
    """A put of item `a` under a condition."""
    request: dict[str, Any] = {"Item": {**_key(), "after": {"S": "x"}}, "ConditionExpression": condition}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    if names:
        request["ExpressionAttributeNames"] = {f"#{name}": real for name, real in names.items()}
    return "put_item", {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


def query(condition: str, values: dict[str, Any], **rest: Any) -> Request:
    given = {f":{name}": {"S": value} for name, value in values.items()}
    return "query", {"KeyConditionExpression": condition, "ExpressionAttributeValues": given, **rest}


def transact(*writes: tuple[str, dict[str, Any]]) -> Request:
    entries = [{kind: {"TableName": None, **body}} for kind, body in writes]
    return "transact_write_items", {"TransactItems": entries}


OLD = put(
    n=_number(7),
    t={"S": "text"},
    l={"L": [{"N": "1"}, {"S": "x"}]},
    m={"M": {"k": {"S": "v"}}},
    b={"B": b"\x00\x01"},
    flag={"BOOL": True},
    ss={"SS": ["x", "y"]},
)
MANY = [put(f"T#{number:03}", n=_number(number)) for number in range(7)]

CONDITIONS: list[tuple[str, dict[str, Any] | None]] = [
    ("attribute_exists(pk)", None),
    ("attribute_not_exists(pk)", None),
    ("attribute_not_exists(gone)", None),
    ("n = :v", {"v": _number("7.0")}),
    ("n <> :v", {"v": _number(7)}),
    ("gone <> :v", {"v": _number(7)}),
    ("gone = :v", {"v": _number(7)}),
    ("NOT gone = :v", {"v": _number(7)}),
    ("n < :v", {"v": _number(10)}),
    ("n >= :v", {"v": _number(10)}),
    ("n = :v", {"v": {"S": "7"}}),
    ("gone < :v", {"v": _number(10)}),
    ("t > :v", {"v": {"S": "tex"}}),
    ("b = :v", {"v": {"B": b"\x00\x01"}}),
    ("flag = :v", {"v": {"BOOL": True}}),
    ("n BETWEEN :low AND :high", {"low": _number(1), "high": _number(7)}),
    ("n BETWEEN :low AND :high", {"low": _number(8), "high": _number(9)}),
    ("n IN (:one, :two)", {"one": _number(1), "two": _number(7)}),
    ("t IN (:one, :two)", {"one": {"S": "a"}, "two": {"S": "b"}}),
    ("begins_with(t, :v)", {"v": {"S": "te"}}),
    ("begins_with(t, :v)", {"v": {"S": "x"}}),
    ("begins_with(gone, :v)", {"v": {"S": "x"}}),
    ("contains(t, :v)", {"v": {"S": "ex"}}),
    ("contains(l, :v)", {"v": {"S": "x"}}),
    ("contains(ss, :v)", {"v": {"S": "y"}}),
    ("contains(ss, :v)", {"v": {"S": "z"}}),
    ("size(t) = :v", {"v": _number(4)}),
    ("size(l) > :v", {"v": _number(2)}),
    ("size(b) = :v", {"v": _number(2)}),
    ("m.k = :v", {"v": {"S": "v"}}),
    ("l[0] = :v", {"v": _number(1)}),
    ("l[9] = :v", {"v": _number(1)}),
    ("attribute_exists(m.k) AND n = :v OR t = :t", {"v": _number(8), "t": {"S": "text"}}),
    ("attribute_exists(pk) AND (n = :v OR t = :t)", {"v": _number(8), "t": {"S": "other"}}),
    ("NOT (n = :v AND t = :t)", {"v": _number(7), "t": {"S": "text"}}),
    ("NOT n = :v AND t = :t", {"v": _number(8), "t": {"S": "text"}}),
    ("attribute_not_exists(e) OR e <= :now", {"now": _number(1)}),
]

UPDATES: list[list[Request]] = [
    [OLD, update("SET a = :v", values={"v": {"S": "x"}}, ReturnValues="ALL_NEW")],
    [
        OLD,
        update(
            "SET n = n + :v, t = :t", values={"v": _number(3), "t": {"S": "y"}}, ReturnValues="UPDATED_NEW"
        ),
    ],
    [OLD, update("SET n = n - :v", values={"v": _number("0.5")}, ReturnValues="UPDATED_OLD")],
    [OLD, update("SET n = :v, was = n", values={"v": _number(1)}, ReturnValues="ALL_NEW")],
    [OLD, update("SET c = if_not_exists(c, :zero) + :one", values={"zero": _number(0), "one": _number(1)})],
    [OLD, update("SET n = if_not_exists(n, :zero)", values={"zero": _number(0)}, ReturnValues="ALL_OLD")],
    [
        OLD,
        update("SET l = list_append(l, :more)", values={"more": {"L": [{"S": "z"}]}}, ReturnValues="ALL_NEW"),
    ],
    [OLD, update("REMOVE n, gone", ReturnValues="ALL_NEW")],
    [
        OLD,
        update(
            "ADD n :one SET t = :t REMOVE flag",
            values={"one": _number(1), "t": {"S": "z"}},
            ReturnValues="ALL_NEW",
        ),
    ],
    [OLD, update("SET m.k = :v", values={"v": {"S": "w"}}, ReturnValues="ALL_NEW")],
    [OLD, update("SET m.k2 = :v", values={"v": {"S": "w"}}, ReturnValues="ALL_NEW")],
    [update("SET c = :one", "new", values={"one": _number(1)}, ConditionExpression="attribute_exists(pk)")],
    [OLD, ("delete_item", {"Key": _key(), "ReturnValues": "ALL_OLD"})],
    [OLD, ("delete_item", {"Key": _key("none")})],
    [OLD, put(k2={"S": "whole"}), ("get_item", {"Key": _key()})],
    [
        OLD,
        (
            "get_item",
            {
                "Key": _key(),
                "ProjectionExpression": "n, #t, gone",
                "ExpressionAttributeNames": {"#t": "t"},
            },
        ),
    ],
    [("get_item", {"Key": _key("none")})],
]

READS: list[list[Request]] = [
    [*MANY, query("pk = :pk", {"pk": "p"})],
    [*MANY, query("pk = :pk AND sk BETWEEN :a AND :b", {"pk": "p", "a": "T#002", "b": "T#004"})],
    [*MANY, query("pk = :pk AND sk > :a", {"pk": "p", "a": "T#002"}, Limit=2)],
    [*MANY, query("pk = :pk AND sk < :a", {"pk": "p", "a": "T#002"}, Limit=2)],
    [*MANY, query("pk = :pk AND sk <= :a", {"pk": "p", "a": "T#002"}, ScanIndexForward=False, Limit=2)],
    [
        *MANY,
        query(
            "pk = :pk AND begins_with(sk, :a)",
            {"pk": "p", "a": "T#00"},
            Limit=3,
            ExclusiveStartKey=_key("T#002"),
        ),
    ],
    [*MANY, query("pk = :pk", {"pk": "p"}, ScanIndexForward=False, Limit=3, ExclusiveStartKey=_key("T#004"))],
    [*MANY, query("pk = :pk", {"pk": "p", "x": "none"}, FilterExpression="n <> :x", Limit=3)],
    [*MANY, query("pk = :pk", {"pk": "none"})],
    [*MANY, query("pk = :pk", {"pk": "p"}, ProjectionExpression="n", Limit=1)],
    [*MANY, query("pk = :pk AND sk BETWEEN :a AND :b", {"pk": "p", "a": "T#004", "b": "T#004~"})],
]

NOT_AS_MOTO: list[list[Request]] = [
    [OLD, checked("n < :v", {"v": {"S": "10"}})],
    [update("ADD c :one", "new", values={"one": _number(1)}, ReturnValues="UPDATED_NEW")],
    [*MANY, query("pk = :pk", {"pk": "p"}, Limit=7)],
    [
        *[put(f"{number}", body={"S": "x" * 300_000}) for number in range(5)],
        query("pk = :pk", {"pk": "p"}, ProjectionExpression="sk"),
    ],
]
"""What moto answers otherwise: other types compared, keys told of a new item, the ends of pages."""

REFUSED: list[list[Request]] = [
    [*MANY, query("pk = :pk", {"pk": "p", "x": "T#001"}, FilterExpression="sk <> :x", Limit=3)],
    [checked("n = :v")],
    [checked("attribute_exists(pk)", {"unused": _number(1)})],
    [checked("attribute_exists(#n)")],
    [checked("n = ")],
    [checked("attribute_exists(missing)")],
    [checked("attribute_exists(m.value)")],
    [update("SET pk = :v", values={"v": {"S": "x"}})],
    [update("SET a = :v, a = :v", values={"v": {"S": "x"}})],
    [update("SET a = b", "new")],
    [OLD, update("SET n = t + :v", values={"v": _number(1)})],
    [OLD, update("ADD t :v", values={"v": _number(1)})],
    [OLD, update("SET gone.k = :v", values={"v": _number(1)})],
    [put("")],
    [put("s" * 1025)],
    [put("s" * 1024)],
    [put(body={"S": "x" * 409_600})],
    [put(body={"S": "x" * 409_580})],
    [("get_item", {"Key": {"pk": {"S": "p"}}})],
    [("put_item", {"Item": {"pk": {"S": "p"}}})],
    [transact(("Put", put()[1]), ("Delete", {"Key": _key()}))],
]

_IF_NEW = {
    "ConditionExpression": "attribute_not_exists(pk)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
TRANSACTIONS: list[list[Request]] = [
    [transact(("Put", put("a")[1]), ("Put", put("b")[1]))],
    [OLD, transact(("Put", {**put()[1], **_IF_NEW}), ("Put", put("b")[1]))],
    [
        OLD,
        transact(
            ("Put", put("b")[1]),
            ("ConditionCheck", {"Key": _key(), "ConditionExpression": "attribute_not_exists(pk)"}),
        ),
    ],
    [
        OLD,
        transact(
            ("Update", update("SET n = :v", values={"v": _number(1)})[1]), ("Delete", {"Key": _key("none")})
        ),
    ],
    [
        OLD,
        transact(
            ("Delete", {"Key": _key(), "ConditionExpression": "attribute_exists(pk)"}), ("Put", put("b")[1])
        ),
    ],
]

BATCHES: list[list[Request]] = [
    [*MANY, ("batch_get_item", {"Keys": [_key("T#001"), _key("none"), _key("T#003")]})],
    [*MANY, ("batch_get_item", {"Keys": [_key("T#001")], "ProjectionExpression": "sk, n"})],
    [*MANY, ("batch_get_item", {"Keys": [_key("T#001"), _key("T#001")]})],
    [
        *MANY,
        (
            "batch_write_item",
            {"Writes": [{"PutRequest": put("b")[1]}, {"DeleteRequest": {"Key": _key("T#001")}}]},
        ),
    ],
]

SAME_EVERYWHERE = [
    *([OLD, checked(text, values)] for text, values in CONDITIONS),
    *UPDATES,
    *READS,
    *TRANSACTIONS,
    *BATCHES,
]


def outcomes(client: Any, table_name: str, requests: list[Request]) -> list[Any]:
    """Return what each request answers, and at last what is stored."""
    found = [_outcome(client, table_name, operation, request) for operation, request in requests]
    stored = client.query(
        TableName=table_name,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "p"}},
        ConsistentRead=True,
        Limit=3,
    )
    return [*found, _plain(stored["Items"])]


def _outcome(client: Any, table_name: str, operation: str, request: dict[str, Any]) -> Any:
    try:
        answer = getattr(client, operation)(**_addressed(table_name, operation, request))
    except ClientError as error:
        response: Any = error.response
        reasons = [
            (reason["Code"], _plain(reason.get("Item"))) for reason in response.get("CancellationReasons", [])
        ]
        return response["Error"]["Code"], _plain(response.get("Item")), reasons
    answer.pop("ResponseMetadata")
    answer.pop("ConsumedCapacity", None)
    answer.pop("ItemCollectionMetrics", None)
    if operation == "batch_get_item":
        return sorted(_plain(answer["Responses"][table_name]), key=lambda item: item["sk"]["S"]), answer[
            "UnprocessedKeys"
        ]
    return _plain(answer)


def _addressed(table_name: str, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    if operation == "transact_write_items":
        entries = [
            {kind: {**body, "TableName": table_name} for kind, body in entry.items()}
            for entry in request["TransactItems"]
        ]
        return {"TransactItems": entries}
    if operation == "batch_get_item":
        return {"RequestItems": {table_name: {**request, "ConsistentRead": True}}}
    if operation == "batch_write_item":
        return {"RequestItems": {table_name: request["Writes"]}}
    return {"TableName": table_name, **request}


def _plain(value: Any) -> Any:
    """Return a value that compares by content: sets in order."""
    if isinstance(value, dict):
        return {name: sorted(part) if name in ("SS", "NS") else _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def fake(weather: Weather | None = None) -> Any:
    """Return a client of a store in memory."""
    aws = Aws()
    aws.weather.append(weather or Weather())
    return Session(aws).create_client("dynamodb")


@pytest.mark.parametrize("requests", SAME_EVERYWHERE)
def test_moto_answers_the_same(moto_client: Any, requests: list[Request]) -> None:
    assert outcomes(fake(), TABLE_NAME, requests) == outcomes(moto_client, REAL_TABLE, requests)


@pytest.mark.parametrize("requests", [*SAME_EVERYWHERE, *NOT_AS_MOTO, *REFUSED])
def test_dynamodb_local_answers_the_same(dynamodb_local_client: Any, requests: list[Request]) -> None:
    assert outcomes(fake(), TABLE_NAME, requests) == outcomes(dynamodb_local_client, REAL_TABLE, requests)


def _transaction() -> dict[str, Any]:
    entry = {"Put": {"TableName": TABLE_NAME, **put("a")[1], **_IF_NEW}}
    return {"TransactItems": [entry]}


def test_a_transaction_that_the_sdk_repeats_is_known_by_its_token() -> None:
    fake(Weather(faults={0: "lost_then_repeated"})).transact_write_items(**_transaction())


def test_a_conditional_put_that_the_sdk_repeats_meets_itself() -> None:
    client = fake(Weather(faults={0: "answered_500_then_repeated"}))
    with pytest.raises(ClientError) as raised:
        client.put_item(TableName=TABLE_NAME, **put()[1], **_IF_NEW)
    assert raised.value.response["Error"]["Code"] == "ConditionalCheckFailedException"


@pytest.mark.parametrize("fault", ["lost", "crash_after"])
def test_a_lost_answer_is_that_of_an_executed_request(fault: str) -> None:
    client = fake(Weather(faults={0: fault}))
    with pytest.raises((ConnectionClosedError, Crash)):
        client.put_item(TableName=TABLE_NAME, **put()[1])
    assert "Item" in client.get_item(TableName=TABLE_NAME, Key=_key())


@pytest.mark.parametrize("fault", ["throttled", "refused_500", "conflict", "unreached", "crash_before"])
def test_a_refused_request_is_not_executed(fault: str) -> None:
    client = fake(Weather(faults={0: fault}))
    with pytest.raises(BaseException, match=r".*"):
        client.put_item(TableName=TABLE_NAME, **put()[1])
    assert "Item" not in client.get_item(TableName=TABLE_NAME, Key=_key())


def test_keys_that_were_left_unprocessed_are_named() -> None:
    client = fake(Weather(faults={2: "unprocessed"}))
    for sk in ("a", "b"):
        client.put_item(TableName=TABLE_NAME, **put(sk)[1])
    wanted = {TABLE_NAME: {"Keys": [_key("a"), _key("b")]}}
    answer = client.batch_get_item(RequestItems=wanted)
    assert len(answer["Responses"][TABLE_NAME]) == 1
    rest = client.batch_get_item(RequestItems=answer["UnprocessedKeys"])
    assert len(rest["Responses"][TABLE_NAME]) == 1
