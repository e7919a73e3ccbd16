"""`make redrive`, against scripted answers of AWS that botocore checks: no emulator here moves messages."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests import redrive

URL = "https://sqs.us-east-1.amazonaws.com/123456789012/dead.fifo"
ARN = "arn:aws:sqs:us-east-1:123456789012:dead.fifo"
STACK = {"StackName": "mine", "CreationTime": "2026-12-01T00:00:00Z", "StackStatus": "CREATE_COMPLETE"}


@pytest.fixture
def stubs(aws_environment: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stubbers by service; each answer given to them has to be asked for, in that order."""
    clients = {name: boto3.client(name) for name in ("cloudformation", "sqs")}
    monkeypatch.setattr(redrive.boto3, "client", clients.get)
    monkeypatch.setattr(redrive.time, "sleep", lambda seconds: None)
    monkeypatch.setenv("STACK", "mine")
    stubbers = {name: Stubber(client) for name, client in clients.items()}
    for stubber in stubbers.values():
        stubber.activate()
    yield stubbers
    for stubber in stubbers.values():
        stubber.assert_no_pending_responses()


@pytest.mark.parametrize(("last", "exit_code"), [("COMPLETED", 0), ("FAILED", 1)])
def test_it_moves_the_dead_letters_of_a_worker_and_waits_for_the_end(
    stubs: Any, capsys: pytest.CaptureFixture[str], last: str, exit_code: int
) -> None:
    outputs = [{"OutputKey": "TableDeadLettersUrl", "OutputValue": URL}]
    stubs["cloudformation"].add_response(
        "describe_stacks", {"Stacks": [{**STACK, "Outputs": outputs}]}, {"StackName": "mine"}
    )
    sqs = stubs["sqs"]
    sqs.add_response(
        "get_queue_attributes",
        {"Attributes": {"QueueArn": ARN}},
        {"QueueUrl": URL, "AttributeNames": ["QueueArn"]},
    )
    sqs.add_response("start_message_move_task", {"TaskHandle": "h"}, {"SourceArn": ARN})
    for status, moved in (("RUNNING", 1), (last, 3)):
        task = {
            "Status": status,
            "ApproximateNumberOfMessagesMoved": moved,
            "ApproximateNumberOfMessagesToMove": 3,
        }
        sqs.add_response("list_message_move_tasks", {"Results": [task]}, {"SourceArn": ARN, "MaxResults": 1})
    assert redrive.main("table") == exit_code
    assert capsys.readouterr().out.splitlines() == ["RUNNING: 1 of 3 moved", f"{last}: 3 of 3 moved"]


def test_a_worker_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert redrive.main("") == 2
    assert "make redrive WORKER=table|diary" in capsys.readouterr().err
