"""Every file of events/ in Docker: functions and layers in the real runtime. Skipped where no engine answers.

A function's files are replayed in their order and on a table of its own, functions beside each other.
"""

import datetime
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from tests.build.template import FUNCTIONS
from tests.docker.sam_local import NotHere, SamLocal, find_gateway
from tests.functional.test_events import EVENTS, HTTP, SQS

NAMES = {function: [row[0] for row in table[function]] for table in (HTTP, SQS) for function in table}
LOGICAL_IDS = {
    properties["CodeUri"].removeprefix("functions/"): logical_id
    for logical_id, properties in FUNCTIONS.items()
}

Answers = dict[tuple[str, str], Any]


@pytest.fixture(scope="module")
def sam_local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamLocal]:
    try:
        gateway = find_gateway()
    except NotHere as reason:
        pytest.skip(str(reason))
    server = ThreadedMotoServer(ip_address=gateway, port=0, verbose=False)
    server.start()
    try:
        url = f"http://{gateway}:{server.get_host_and_port()[1]}"
        yield SamLocal(folder=tmp_path_factory.mktemp("sam"), store_url=url)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def answers(sam_local: SamLocal) -> Answers:
    """What each function answered to each of its files."""
    with sam_local.warm() as run, ThreadPoolExecutor(os.cpu_count()) as pool:

        def replay(function: str) -> Answers:
            return {
                (function, name): run(LOGICAL_IDS[function], EVENTS / function / f"{name}.json")
                for name in NAMES[function]
            }

        return {key: answer for found in pool.map(replay, NAMES) for key, answer in found.items()}


@pytest.mark.parametrize(
    ("function", "name", "status", "code"), [(function, *row) for function in HTTP for row in HTTP[function]]
)
def test_an_http_event_gets_its_answer_in_the_real_runtime(
    answers: Answers, function: str, name: str, status: int, code: str | None
) -> None:
    answer = answers[function, name]
    assert (answer["statusCode"], json.loads(answer["body"]).get("code")) == (status, code)


@pytest.mark.parametrize(
    ("function", "name", "failed"), [(function, *row) for function in SQS for row in SQS[function]]
)
def test_an_sqs_event_leaves_in_the_queue_what_failed_in_the_real_runtime(
    answers: Answers, function: str, name: str, failed: int
) -> None:
    assert len(answers[function, name]["batchItemFailures"]) == failed


def test_one_invocation_reads_what_was_written_and_logs_a_line_that_lambda_reads(
    answers: Answers, sam_local: SamLocal
) -> None:
    invoked = sam_local.invoke("MemoryFunction", EVENTS / "memory" / "01-get-none.json")
    body = json.loads(invoked.answer["body"])
    assert body == {"revision": 1, "memory": {"scene": "城门", "keyHolder": "用户"}}
    lines = [json.loads(line) for line in invoked.log if line.startswith("{")]
    (line,) = [line for line in lines if line.get("message") == "memory.read"]
    assert line["level"] == "INFO"
    at = datetime.datetime.strptime(line["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert at.utcoffset() == datetime.timedelta(0)
