"""The AWS in memory against moto and Amazon's DynamoDB Local: the same requests, the same answers and errors.

moto takes some requests that DynamoDB refuses; those are compared with DynamoDB Local alone.
"""

from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from tests.simulation.aws import TABLE_NAME, Aws, Session, Weather
from tests.simulation.faults import Crash
from tests.simulation.requests import IF_NEW, NOT_AS_MOTO, REFUSED, SAME_EVERYWHERE, Request, key, put
from tests.tables import TABLE_NAME as REAL_TABLE


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
    entry = {"Put": {"TableName": TABLE_NAME, **put("a")[1], **IF_NEW}}
    return {"TransactItems": [entry]}


def test_a_transaction_that_the_sdk_repeats_is_known_by_its_token() -> None:
    fake(Weather(faults={0: "lost_then_repeated"})).transact_write_items(**_transaction())


def test_a_conditional_put_that_the_sdk_repeats_meets_itself() -> None:
    client = fake(Weather(faults={0: "answered_500_then_repeated"}))
    with pytest.raises(ClientError) as raised:
        client.put_item(TableName=TABLE_NAME, **put()[1], **IF_NEW)
    assert raised.value.response["Error"]["Code"] == "ConditionalCheckFailedException"


@pytest.mark.parametrize("fault", ["lost", "crash_after"])
def test_a_lost_answer_is_that_of_an_executed_request(fault: str) -> None:
    client = fake(Weather(faults={0: fault}))
    with pytest.raises((ConnectionClosedError, Crash)):
        client.put_item(TableName=TABLE_NAME, **put()[1])
    assert "Item" in client.get_item(TableName=TABLE_NAME, Key=key())


@pytest.mark.parametrize("fault", ["throttled", "refused_500", "conflict", "unreached", "crash_before"])
def test_a_refused_request_is_not_executed(fault: str) -> None:
    client = fake(Weather(faults={0: fault}))
    with pytest.raises(BaseException, match=r".*"):
        client.put_item(TableName=TABLE_NAME, **put()[1])
    assert "Item" not in client.get_item(TableName=TABLE_NAME, Key=key())


def test_keys_that_were_left_unprocessed_are_named() -> None:
    client = fake(Weather(faults={2: "unprocessed"}))
    for sk in ("a", "b"):
        client.put_item(TableName=TABLE_NAME, **put(sk)[1])
    wanted = {TABLE_NAME: {"Keys": [key("a"), key("b")]}}
    answer = client.batch_get_item(RequestItems=wanted)
    assert len(answer["Responses"][TABLE_NAME]) == 1
    rest = client.batch_get_item(RequestItems=answer["UnprocessedKeys"])
    assert len(rest["Responses"][TABLE_NAME]) == 1
