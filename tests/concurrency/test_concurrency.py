"""Many processes on few memories, on Amazon's own DynamoDB Local: the history is linearizable."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

from tests.concurrency.history import Operation, is_linearizable
from tests.concurrency.writers import run_writer
from tests.dynamodb_local.server import Server

PROCESSES = 5
KEYS = 3


def histories(server: Server, **job: Any) -> list[list[Operation]]:
    jobs = [{"url": server.url, "seed": seed, "keys": KEYS, **job} for seed in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        answers = list(pool.map(run_writer, jobs))
    return [[operation for answer in answers for operation in answer[key]] for key in range(KEYS)]


def outcomes(found: list[list[Operation]]) -> Counter[str]:
    return Counter(
        operation.outcome for history in found for operation in history if operation.kind == "write"
    )


@pytest.mark.usefixtures("dynamodb_local_client")
def test_without_faults_no_update_is_lost_doubled_or_unseen(dynamodb_local: Server) -> None:
    found = histories(dynamodb_local, operations=60, lost_share=0.0, tokens=True)
    counted = outcomes(found)
    assert counted["unknown"] == 0
    assert min(counted["ok"], counted["conflict"]) > 0
    assert all(map(is_linearizable, found))


@pytest.mark.usefixtures("dynamodb_local_client")
def test_with_lost_answers_the_history_stays_linearizable(dynamodb_local: Server) -> None:
    found = histories(dynamodb_local, operations=40, lost_share=0.2, tokens=True)
    assert outcomes(found)["ok"] > 0
    assert all(map(is_linearizable, found))


@pytest.mark.usefixtures("dynamodb_local_client")
def test_without_tokens_the_same_faults_are_false_conflicts(dynamodb_local: Server) -> None:
    found = histories(dynamodb_local, operations=40, lost_share=0.2, tokens=False)
    assert not all(map(is_linearizable, found))
