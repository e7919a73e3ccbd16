"""The customary stack, for comparison: what tutorials and cookbooks recommend, doing the same two routes.

boto3 resource, Powertools Logger, Tracer, Metrics, HTTP resolver with validation, pydantic.
"""

import json
import os
from typing import Any

import boto3
from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.exceptions import ServiceError
from aws_lambda_powertools.metrics import MetricUnit
from boto3.dynamodb.conditions import Attr
from botocore.exceptions import ClientError
from pydantic import BaseModel, Field

logger = Logger(service="customary")
tracer = Tracer(service="customary")
metrics = Metrics(namespace="Customary", service="customary")
app = APIGatewayHttpResolver(enable_validation=True)
table: Any = boto3.resource("dynamodb").Table(os.environ.get("TABLE_NAME", "table"))


class PutMemory(BaseModel):
    expectedRevision: int = Field(ge=0)
    memory: dict[str, Any]


class Memory(BaseModel):
    revision: int
    memory: dict[str, Any] | None


class Revision(BaseModel):
    revision: int


@app.get("/v1/conversations/<conversation>/memory")
@tracer.capture_method
def get_memory(conversation: str) -> Memory:
    item = table.get_item(Key={"pk": conversation, "sk": "memory"}, ConsistentRead=True).get("Item")
    metrics.add_metric(name="MemoryRead", unit=MetricUnit.Count, value=1)
    logger.info("memory read", conversation=conversation)
    if item is None:
        return Memory(revision=0, memory=None)
    return Memory(revision=int(item["revision"]), memory=json.loads(item["memory"]))


@app.put("/v1/conversations/<conversation>/memory")
@tracer.capture_method
def put_memory(conversation: str, body: PutMemory) -> Revision:
    condition = (
        Attr("revision").eq(body.expectedRevision) if body.expectedRevision else Attr("pk").not_exists()
    )
    item = {
        "pk": conversation,
        "sk": "memory",
        "revision": body.expectedRevision + 1,
        "memory": json.dumps(body.memory),
    }
    try:
        table.put_item(Item=item, ConditionExpression=condition)
    except ClientError as error:
        raise ServiceError(409, "conflict") from error
    metrics.add_metric(name="MemoryUpdated", unit=MetricUnit.Count, value=1)
    logger.info("memory updated", conversation=conversation)
    return Revision(revision=body.expectedRevision + 1)


@logger.inject_lambda_context
@tracer.capture_lambda_handler
@metrics.log_metrics
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer: dict[str, Any] = app.resolve(event, context)
    return answer
