"""The lines as Lambda's JSON log format wants them; from a new process, since a logger keeps its stdout."""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import memoir

PACKAGE = Path(memoir.__file__).parents[1]
PROGRAM = """
from memoir.edge import observe
for event in ("memory.updated", "memory.update_failed"):
    observe.finished(event, request_id="r", duration_ms=1.5, facts={"bytes": 7})
"""


def lines(**environment: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": str(PACKAGE)} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_has_the_level_and_the_time_that_lambda_reads() -> None:
    updated, _, failed, _ = lines()
    assert (updated["level"], failed["level"]) == ("INFO", "ERROR")
    assert (updated["message"], updated["bytes"], updated["duration_ms"]) == ("memory.updated", 7, 1.5)
    at = datetime.datetime.strptime(updated["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    assert at.utcoffset() == datetime.timedelta(0)


def test_the_level_that_lambda_is_given_holds_for_the_logger() -> None:
    told = [line["message"] for line in lines(AWS_LAMBDA_LOG_LEVEL="ERROR") if "level" in line]
    assert told == ["memory.update_failed"]


def test_a_metric_is_a_line_of_its_own_without_a_level() -> None:
    _, metric, _, _ = lines()
    (directive,) = metric["_aws"]["CloudWatchMetrics"]
    assert directive["Metrics"] == [{"Name": "memory.updated", "Unit": "Milliseconds"}]
    assert "level" not in metric
