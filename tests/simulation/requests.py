"""Requests to DynamoDB that a store in memory has to answer as DynamoDB does."""

from typing import Any

Request = tuple[str, dict[str, Any]]


def key(sk: str = "a") -> dict[str, Any]:
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


def number(value: int | str) -> dict[str, str]:
    return {"N": str(value)}


def put(sk: str = "a", **attributes: Any) -> Request:
    return "put_item", {"Item": {**key(sk), **attributes}}


def update(expression: str, sk: str = "a", **rest: Any) -> Request:
    values = {f":{name}": value for name, value in rest.pop("values", {}).items()}
    more = {"ExpressionAttributeValues": values} if values else {}
    return "update_item", {"Key": key(sk), "UpdateExpression": expression, **more, **rest}


def checked(condition: str, values: dict[str, Any] | None = None, **names: str) -> Request:
    """A put of item `a` under a condition."""
    request: dict[str, Any] = {"Item": {**key(), "after": {"S": "x"}}, "ConditionExpression": condition}
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
    n=number(7),
    t={"S": "text"},
    l={"L": [{"N": "1"}, {"S": "x"}]},
    m={"M": {"k": {"S": "v"}}},
    b={"B": b"\x00\x01"},
    flag={"BOOL": True},
    ss={"SS": ["x", "y"]},
)
MANY = [put(f"T#{at:03}", n=number(at)) for at in range(7)]

CONDITIONS: list[tuple[str, dict[str, Any] | None]] = [
    ("attribute_exists(pk)", None),
    ("attribute_not_exists(pk)", None),
    ("attribute_not_exists(gone)", None),
    ("n = :v", {"v": number("7.0")}),
    ("n <> :v", {"v": number(7)}),
    ("gone <> :v", {"v": number(7)}),
    ("gone = :v", {"v": number(7)}),
    ("NOT gone = :v", {"v": number(7)}),
    ("n < :v", {"v": number(10)}),
    ("n >= :v", {"v": number(10)}),
    ("n = :v", {"v": {"S": "7"}}),
    ("gone < :v", {"v": number(10)}),
    ("t > :v", {"v": {"S": "tex"}}),
    ("b = :v", {"v": {"B": b"\x00\x01"}}),
    ("flag = :v", {"v": {"BOOL": True}}),
    ("n BETWEEN :low AND :high", {"low": number(1), "high": number(7)}),
    ("n BETWEEN :low AND :high", {"low": number(8), "high": number(9)}),
    ("n IN (:one, :two)", {"one": number(1), "two": number(7)}),
    ("t IN (:one, :two)", {"one": {"S": "a"}, "two": {"S": "b"}}),
    ("begins_with(t, :v)", {"v": {"S": "te"}}),
    ("begins_with(t, :v)", {"v": {"S": "x"}}),
    ("begins_with(gone, :v)", {"v": {"S": "x"}}),
    ("contains(t, :v)", {"v": {"S": "ex"}}),
    ("contains(l, :v)", {"v": {"S": "x"}}),
    ("contains(ss, :v)", {"v": {"S": "y"}}),
    ("contains(ss, :v)", {"v": {"S": "z"}}),
    ("size(t) = :v", {"v": number(4)}),
    ("size(l) > :v", {"v": number(2)}),
    ("size(b) = :v", {"v": number(2)}),
    ("m.k = :v", {"v": {"S": "v"}}),
    ("l[0] = :v", {"v": number(1)}),
    ("l[9] = :v", {"v": number(1)}),
    ("attribute_exists(m.k) AND n = :v OR t = :t", {"v": number(8), "t": {"S": "text"}}),
    ("attribute_exists(pk) AND (n = :v OR t = :t)", {"v": number(8), "t": {"S": "other"}}),
    ("NOT (n = :v AND t = :t)", {"v": number(7), "t": {"S": "text"}}),
    ("NOT n = :v AND t = :t", {"v": number(8), "t": {"S": "text"}}),
    ("attribute_not_exists(e) OR e <= :now", {"now": number(1)}),
]

UPDATES: list[list[Request]] = [
    [OLD, update("SET a = :v", values={"v": {"S": "x"}}, ReturnValues="ALL_NEW")],
    [
        OLD,
        update(
            "SET n = n + :v, t = :t", values={"v": number(3), "t": {"S": "y"}}, ReturnValues="UPDATED_NEW"
        ),
    ],
    [OLD, update("SET n = n - :v", values={"v": number("0.5")}, ReturnValues="UPDATED_OLD")],
    [OLD, update("SET n = :v, was = n", values={"v": number(1)}, ReturnValues="ALL_NEW")],
    [OLD, update("SET c = if_not_exists(c, :zero) + :one", values={"zero": number(0), "one": number(1)})],
    [OLD, update("SET n = if_not_exists(n, :zero)", values={"zero": number(0)}, ReturnValues="ALL_OLD")],
    [
        OLD,
        update("SET l = list_append(l, :more)", values={"more": {"L": [{"S": "z"}]}}, ReturnValues="ALL_NEW"),
    ],
    [OLD, update("REMOVE n, gone", ReturnValues="ALL_NEW")],
    [
        OLD,
        update(
            "ADD n :one SET t = :t REMOVE flag",
            values={"one": number(1), "t": {"S": "z"}},
            ReturnValues="ALL_NEW",
        ),
    ],
    [OLD, update("SET m.k = :v", values={"v": {"S": "w"}}, ReturnValues="ALL_NEW")],
    [OLD, update("SET m.k2 = :v", values={"v": {"S": "w"}}, ReturnValues="ALL_NEW")],
    [update("SET c = :one", "new", values={"one": number(1)}, ConditionExpression="attribute_exists(pk)")],
    [OLD, ("delete_item", {"Key": key(), "ReturnValues": "ALL_OLD"})],
    [OLD, ("delete_item", {"Key": key("none")})],
    [OLD, put(k2={"S": "whole"}), ("get_item", {"Key": key()})],
    [
        OLD,
        (
            "get_item",
            {
                "Key": key(),
                "ProjectionExpression": "n, #t, gone",
                "ExpressionAttributeNames": {"#t": "t"},
            },
        ),
    ],
    [("get_item", {"Key": key("none")})],
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
            ExclusiveStartKey=key("T#002"),
        ),
    ],
    [*MANY, query("pk = :pk", {"pk": "p"}, ScanIndexForward=False, Limit=3, ExclusiveStartKey=key("T#004"))],
    [*MANY, query("pk = :pk", {"pk": "p", "x": "none"}, FilterExpression="n <> :x", Limit=3)],
    [*MANY, query("pk = :pk", {"pk": "none"})],
    [*MANY, query("pk = :pk", {"pk": "p"}, ProjectionExpression="n", Limit=1)],
    [*MANY, query("pk = :pk AND sk BETWEEN :a AND :b", {"pk": "p", "a": "T#004", "b": "T#004~"})],
]

NOT_AS_MOTO: list[list[Request]] = [
    [OLD, checked("n < :v", {"v": {"S": "10"}})],
    [update("ADD c :one", "new", values={"one": number(1)}, ReturnValues="UPDATED_NEW")],
    [*MANY, query("pk = :pk", {"pk": "p"}, Limit=7)],
    [
        *[put(f"{at}", body={"S": "x" * 300_000}) for at in range(5)],
        query("pk = :pk", {"pk": "p"}, ProjectionExpression="sk"),
    ],
]
"""What moto answers otherwise: other types compared, keys told of a new item, the ends of pages."""

REFUSED: list[list[Request]] = [
    [*MANY, query("pk = :pk", {"pk": "p", "x": "T#001"}, FilterExpression="sk <> :x", Limit=3)],
    [checked("n = :v")],
    [checked("attribute_exists(pk)", {"unused": number(1)})],
    [checked("attribute_exists(#n)")],
    [checked("n = ")],
    [checked("attribute_exists(missing)")],
    [checked("attribute_exists(m.value)")],
    [update("SET pk = :v", values={"v": {"S": "x"}})],
    [update("SET a = :v, a = :v", values={"v": {"S": "x"}})],
    [update("SET a = b", "new")],
    [OLD, update("SET n = t + :v", values={"v": number(1)})],
    [OLD, update("ADD t :v", values={"v": number(1)})],
    [OLD, update("SET gone.k = :v", values={"v": number(1)})],
    [put("")],
    [put("s" * 1025)],
    [put("s" * 1024)],
    [put(body={"S": "x" * 409_600})],
    [put(body={"S": "x" * 409_580})],
    [("get_item", {"Key": {"pk": {"S": "p"}}})],
    [("put_item", {"Item": {"pk": {"S": "p"}}})],
    [transact(("Put", put()[1]), ("Delete", {"Key": key()}))],
]

IF_NEW = {
    "ConditionExpression": "attribute_not_exists(pk)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}
TRANSACTIONS: list[list[Request]] = [
    [transact(("Put", put("a")[1]), ("Put", put("b")[1]))],
    [OLD, transact(("Put", {**put()[1], **IF_NEW}), ("Put", put("b")[1]))],
    [
        OLD,
        transact(
            ("Put", put("b")[1]),
            ("ConditionCheck", {"Key": key(), "ConditionExpression": "attribute_not_exists(pk)"}),
        ),
    ],
    [
        OLD,
        transact(
            ("Update", update("SET n = :v", values={"v": number(1)})[1]), ("Delete", {"Key": key("none")})
        ),
    ],
    [
        OLD,
        transact(
            ("Delete", {"Key": key(), "ConditionExpression": "attribute_exists(pk)"}), ("Put", put("b")[1])
        ),
    ],
]

BATCHES: list[list[Request]] = [
    [*MANY, ("batch_get_item", {"Keys": [key("T#001"), key("none"), key("T#003")]})],
    [*MANY, ("batch_get_item", {"Keys": [key("T#001")], "ProjectionExpression": "sk, n"})],
    [*MANY, ("batch_get_item", {"Keys": [key("T#001"), key("T#001")]})],
    [
        *MANY,
        (
            "batch_write_item",
            {"Writes": [{"PutRequest": put("b")[1]}, {"DeleteRequest": {"Key": key("T#001")}}]},
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
