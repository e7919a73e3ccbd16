"""Which adapter stands behind which port. The only module that knows both.

The AWS SDK is most of a cold start, so it is imported inside the cached factories, on the first request that
needs it.
"""

import os
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from memoir.settings import Settings

if TYPE_CHECKING:
    from memoir.adapters.receipt_store import DynamoDbReceiptStore
    from memoir.diary_ports import DiaryStore, LanguageModel
    from memoir.domain.scope import Scope
    from memoir.ports import (
        DocumentStore,
        Doorbell,
        EventBus,
        ReceiptStore,
        RequestKeys,
        TableStore,
        TurnStore,
    )
    from memoir.usecases.hinos import HinosPorts
    from memoir.usecases.memory import ScopedMemory


@cache
def settings() -> Settings:
    """Return the settings of this process."""
    return Settings.from_env(os.environ)


@cache
def dynamodb() -> Any:
    """Return this process's DynamoDB client."""
    from memoir.adapters.aws import make_client

    return make_client("dynamodb", endpoint_url=settings().endpoint_url)


@cache
def turns() -> "TurnStore":
    """Return the store of turns."""
    from memoir.adapters.turn_store import DynamoDbTurnStore

    return DynamoDbTurnStore(client=dynamodb(), table_name=settings().table_name)


@cache
def doorbell() -> "Doorbell":
    """Return the doorbell of the background workers."""
    from memoir.adapters.aws import make_client
    from memoir.adapters.sns_doorbell import SnsDoorbell

    client = make_client("sns", endpoint_url=settings().endpoint_url)
    return SnsDoorbell(client=client, topic_arn=settings().topic_arn)


def receipts() -> "ReceiptStore":
    """Return the store of receipts."""
    return _receipt_store()


@cache
def _receipt_store() -> "DynamoDbReceiptStore":
    from memoir.adapters.receipt_store import DynamoDbReceiptStore

    return DynamoDbReceiptStore(
        client=dynamodb(), table_name=settings().table_name, kept_days=settings().receipt_days
    )


@cache
def tables() -> "TableStore":
    """Return the store of memory tables."""
    from memoir.adapters.document_store import DynamoDbDocumentStore
    from memoir.adapters.table_store import DynamoDbTableStore

    table_name = settings().table_name
    return DynamoDbTableStore(
        client=dynamodb(),
        table_name=table_name,
        documents=DynamoDbDocumentStore(client=dynamodb(), table_name=table_name),
        receipts=_receipt_store(),
    )


@cache
def events() -> "EventBus":
    """Return the bus for events, one that does nothing where none is configured."""
    from memoir.adapters.event_bus import EventBridgeBus, NoEvents

    if not settings().event_bus:
        return NoEvents()
    from memoir.adapters.aws import make_client

    client = make_client("events", endpoint_url=settings().endpoint_url)
    return EventBridgeBus(client=client, bus_name=settings().event_bus)


@cache
def hinos() -> "HinosPorts":
    """Return what the Hinos proxy needs. Raises HinosNotConfigured."""
    from memoir.adapters.claim_store import DynamoDbClaimStore
    from memoir.adapters.hinos_http import HinosHttp
    from memoir.errors import HinosNotConfigured
    from memoir.usecases.hinos import HinosPorts

    if not settings().hinos_url:
        raise HinosNotConfigured(detail="HINOS_MEMORY_URL is not set")
    return HinosPorts(
        hinos=HinosHttp(
            base_url=settings().hinos_url,
            timeout_ms=settings().hinos_timeout_ms,
            credential=lambda: secret(settings().hinos_secret_arn),
        ),
        claims=DynamoDbClaimStore(client=dynamodb(), table_name=settings().table_name),
        events=events(),
        clock=time.time,
    )


@cache
def diaries() -> "DiaryStore":
    """Return the store of diaries."""
    from memoir.adapters.diary_store import DynamoDbDiaryStore

    return DynamoDbDiaryStore(
        client=dynamodb(),
        table_name=settings().table_name,
        receipts=_receipt_store(),
        monthly_quota=settings().diary_monthly_quota or None,
    )


@cache
def language_model() -> "LanguageModel":
    """Return the model that writes diaries, as the settings choose it."""
    provider, _, name = settings().model.partition(":")
    if provider == "bedrock":
        from memoir.adapters.aws import make_client
        from memoir.adapters.bedrock_model import BedrockModel

        client = make_client(
            "bedrock-runtime",
            endpoint_url=settings().endpoint_url,
            read_timeout_seconds=settings().model_timeout_ms / 1000,
            sends=1,
        )
        return BedrockModel(client=client, model_id=name, temperature=settings().model_temperature)
    if provider == "openai":
        from memoir.adapters.openai_model import OpenAiModel

        return OpenAiModel(
            base_url=settings().model_url,
            model=name,
            timeout_ms=settings().model_timeout_ms,
            temperature=settings().model_temperature,
            api_key=lambda: secret(settings().model_secret_arn),
        )
    from memoir.adapters.extractive_model import ExtractiveModel

    return ExtractiveModel()


@cache
def secret(arn: str) -> str | None:
    """Return the text of a secret, None for no ARN. It is read once."""
    if not arn:
        return None
    from memoir.adapters.aws import make_client
    from memoir.adapters.secrets import read_secret

    client = make_client("secretsmanager", endpoint_url=settings().endpoint_url)
    return read_secret(client, arn)


@cache
def request_keys() -> "RequestKeys":
    """Return which request each idempotency key stands for."""
    from memoir.adapters.request_keys import DynamoDbRequestKeys

    return DynamoDbRequestKeys(client=dynamodb(), table_name=settings().table_name)


@cache
def documents() -> "DocumentStore":
    """Return the store of JSON documents."""
    from memoir.adapters.document_store import DynamoDbDocumentStore

    return DynamoDbDocumentStore(client=dynamodb(), table_name=settings().table_name)


def memory_store(scope: "Scope") -> "ScopedMemory":
    """Return the memory of *scope*, as `memoir.tools.create_memory_tools` takes it."""
    from memoir.usecases.memory import ScopedMemory

    return ScopedMemory(documents=documents(), scope=scope)
