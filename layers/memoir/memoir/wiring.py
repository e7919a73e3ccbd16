"""Which adapter stands behind which port. The only module that knows both.

The AWS SDK is most of a cold start, so it is imported inside the cached factories, on the first request that
needs it.
"""

import os
import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from memoir.settings import Settings

if TYPE_CHECKING:
    from memoir.domain.hinos import PreparedMemory
    from memoir.domain.scenario import Scenario
    from memoir.domain.scope import Scope
    from memoir.domain.write_token import WriteToken
    from memoir.errors import Problem
    from memoir.ports.doorbell import Doorbell
    from memoir.ports.events import EventBus
    from memoir.ports.models import LanguageModel
    from memoir.usecases.ask_model import Writer
    from memoir.usecases.compact import CompactPorts
    from memoir.usecases.context import Contexts
    from memoir.usecases.diary_job import DiaryPorts
    from memoir.usecases.documents import ScopedMemory
    from memoir.usecases.engine import Engine
    from memoir.usecases.governed_reads import GovernedReads
    from memoir.usecases.hinos import HinosPorts
    from memoir.usecases.memory_schema import MemorySchemas
    from memoir.usecases.scenarios import KeptScenarios
    from memoir.usecases.worker import WorkerPorts
    from memoir.usecases.write_state import StatePorts


@cache
def settings() -> Settings:
    """Return the settings of this process."""
    return Settings.from_env(os.environ)


@cache
def client(service: str, *, read_timeout_seconds: float = 3, sends: int = 3) -> Any:
    """Return this process's client of an AWS service."""
    from memoir.adapters.aws import make_client

    return make_client(
        service,
        endpoint_url=settings().endpoint_url,
        read_timeout_seconds=read_timeout_seconds,
        sends=sends,
    )


def dynamodb() -> Any:
    """Return this process's DynamoDB client."""
    return client("dynamodb")


@cache
def engine() -> "Engine":
    """Return the engine under every memory."""
    from memoir.adapters.record_store import DynamoDbRecords
    from memoir.usecases.engine import Engine

    records = DynamoDbRecords(client=dynamodb(), table_name=settings().table_name)
    return Engine(
        records=records,
        clock=time.time,
        receipt_days=settings().receipt_days,
        history_days=settings().history_days,
    )


@cache
def contexts() -> "Contexts":
    """Return what answers context calls."""
    from memoir.usecases.context import Contexts

    return Contexts(engine(), prepare_hinos=_prepare_hinos, default=default_scenario())


def _prepare_hinos(**asked: Any) -> "PreparedMemory":
    from memoir.usecases.hinos import prepare

    return prepare(hinos(), **asked)


@cache
def doorbell() -> "Doorbell":
    """Return the doorbell of the background workers."""
    from memoir.adapters.sns_doorbell import SnsDoorbell

    return SnsDoorbell(client=client("sns"), topic_arn=settings().topic_arn)


@cache
def events() -> "EventBus":
    """Return the bus for events, one that does nothing where none is configured."""
    from memoir.adapters.event_bus import EventBridgeBus, NoEvents

    if not settings().event_bus:
        return NoEvents()
    return EventBridgeBus(client=client("events"), bus_name=settings().event_bus)


def worker(has_time: Callable[[], bool]) -> "WorkerPorts":
    """Return what every worker needs."""
    from memoir.usecases.worker import WorkerPorts

    return WorkerPorts(
        engine=engine(),
        events=events(),
        doorbell=doorbell(),
        has_time=has_time,
        default=default_scenario(),
    )


def diary_worker(has_time: Callable[[], bool]) -> "DiaryPorts":
    """Return what the diary's worker needs."""
    from memoir.usecases.diary_job import DiaryPorts

    return DiaryPorts(
        worker=worker(has_time),
        writer=diary_writer(),
        sleep=time.sleep,
        lease_seconds=settings().lease_seconds,
        model_reasons=settings().model_reasons,
    )


def state_worker(has_time: Callable[[], bool]) -> "StatePorts":
    """Return what the state's worker needs."""
    from memoir.usecases.write_state import StatePorts

    return StatePorts(
        worker=worker(has_time),
        model=language_model(),
        sleep=time.sleep,
        lease_seconds=settings().lease_seconds,
        model_reasons=settings().model_reasons,
    )


@cache
def hinos() -> "HinosPorts":
    """Return what the Hinos proxy needs. Raises HinosNotConfigured."""
    from memoir.adapters.hinos_http import HinosHttp
    from memoir.errors import HinosNotConfigured
    from memoir.usecases.hinos import HinosPorts

    if not settings().hinos_url:
        raise HinosNotConfigured(detail="HINOS_MEMORY_URL is not set")
    return HinosPorts(
        engine=engine(),
        hinos=HinosHttp(
            base_url=settings().hinos_url,
            timeout_ms=settings().hinos_timeout_ms,
            credential=secret(settings().hinos_secret_arn),
        ),
        events=events(),
        default=default_scenario(),
        sleep=time.sleep,
    )


def diary_writer() -> "Writer":
    """Return what writes diaries: the model, or the writer that needs none."""
    from memoir.usecases.ask_model import extractive_writer, model_writer

    model = language_model()
    return model_writer(model) if model else extractive_writer


@cache
def language_model(*, longest_ms: int | None = None) -> "LanguageModel | None":
    """Return the model that the settings choose, None for `extractive`. *longest_ms*: of a whole call."""
    provider, _, name = settings().model.partition(":")
    timeout_ms, temperature = settings().model_timeout_ms, settings().model_temperature
    timeout_ms = min(timeout_ms, longest_ms or timeout_ms)
    if provider == "bedrock":
        from memoir.adapters.bedrock_model import BedrockModel

        bedrock = client("bedrock-runtime", read_timeout_seconds=timeout_ms / 1000, sends=1)
        return BedrockModel(client=bedrock, model_id=name, timeout_ms=timeout_ms, temperature=temperature)
    if provider == "openai":
        from memoir.adapters.openai_model import OpenAiModel

        return OpenAiModel(
            base_url=settings().model_url,
            model=name,
            timeout_ms=timeout_ms,
            temperature=temperature,
            api_key=secret(settings().model_secret_arn),
        )
    return None


@cache
def compaction() -> "CompactPorts":
    """Return what brings histories within their budgets."""
    from memoir.adapters.deadline import answers_within
    from memoir.usecases.compact import MODEL_SECONDS, CompactPorts

    model = language_model(longest_ms=1000 * MODEL_SECONDS)
    return CompactPorts(reads=governed_reads(), ask=answers_within(model) if model else None)


@cache
def secret(arn: str) -> Callable[[], str | None]:
    """Return how the text of a secret is had, None for no ARN."""
    if not arn:
        return lambda: None
    from memoir.adapters.secrets import Secret

    return Secret(client("secretsmanager"), arn)


def check_schema(schema: dict[str, Any]) -> "list[Problem]":
    """Return what is wrong with a `memorySchema`."""
    from memoir.adapters.schema_check import check_schema

    return check_schema(schema)


@cache
def memory_schemas() -> "MemorySchemas":
    """Return what checks new memories by their scenario's schema."""
    from memoir.usecases.memory_schema import MakesChecks, MemorySchemas

    @cache
    def makes() -> MakesChecks:
        from memoir.adapters.schema_check import SchemaChecks

        return SchemaChecks()

    return MemorySchemas(scenarios(), makes=makes)


@cache
def scenarios() -> "KeptScenarios":
    """Return what finds a scenario where no data is read with it."""
    from memoir.usecases.scenarios import KeptScenarios

    return KeptScenarios(engine(), default=default_scenario())


@cache
def governed_reads() -> "GovernedReads":
    """Return what reads records together with the scenario that governs them."""
    from memoir.usecases.governed_reads import GovernedReads

    return GovernedReads(engine(), default=default_scenario())


@cache
def default_scenario() -> "Scenario":
    """Return the built-in scenario `default`, with what the deployment's parameters say of it."""
    from dataclasses import replace

    from memoir.domain.scenario import DEFAULT

    quota = settings().diary_monthly_quota or None
    return replace(
        DEFAULT,
        memory_ingest=settings().memory_ingest,
        receipt_days=settings().receipt_days,
        diary=replace(DEFAULT.diary, monthly_quota=quota),
    )


def postpone(record: Any, seconds: int) -> None:
    """Let a message that stays in its queue come again after *seconds*."""
    from memoir.adapters.sqs_wait import postpone

    postpone(client("sqs"), record, seconds)


class Service:
    """The service as `memoir.edge.http.serve` sees it."""

    @staticmethod
    def audiences() -> tuple[str, ...]:
        """Return the audiences that tokens without a client id are for."""
        return settings().jwt_audiences

    @staticmethod
    def keep_refused(scope: "Scope", token: "WriteToken") -> None:
        """Let an idempotency key stand for a request that was refused. Raises IdempotencyKeyReused."""
        engine().keep(scope, token, refused=True)


def memory_store(scope: "Scope") -> "ScopedMemory":
    """Return the memory of *scope*, as `memoir.tools.create_memory_tools` takes it."""
    from memoir.usecases.documents import ScopedMemory

    return ScopedMemory(engine(), scope)
