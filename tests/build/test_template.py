"""What the template promises, read from the template."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import redrive
from tests.build.template import AS_WRITTEN, FUNCTIONS, RESOURCES, ROOT, TEMPLATE

FOLDERS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))


def sam(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "SAM_CLI_TELEMETRY": "0",
        "AWS_DEFAULT_REGION": "us-east-1",
        "PYTHON": sys.executable,
    }
    program = Path(sys.executable).with_name("sam")
    return subprocess.run(
        [program, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_sam_and_its_linter_accept_the_template() -> None:
    done = sam("validate", "--lint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_folder_of_functions_is_one_function_of_the_template() -> None:
    assert sorted(properties["CodeUri"] for properties in FUNCTIONS.values()) == [
        f"functions/{folder}" for folder in FOLDERS
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_functions_folder_holds_one_file(folder: str) -> None:
    found = {path.name for path in (ROOT / "functions" / folder).iterdir() if path.name != "__pycache__"}
    assert found == {"app.py"} | ({"openapi.json"} if folder == "health" else set())


def statements(name: str) -> list[tuple[frozenset[str], dict[str, Any]]]:
    """Return each statement of a function's policies with the conditions under which it is granted."""

    def within(part: Any, conditions: frozenset[str]) -> list[tuple[frozenset[str], dict[str, Any]]]:
        if isinstance(part, list):
            return [found for member in part for found in within(member, conditions)]
        if "Fn::If" in part:
            condition, granted, otherwise = part["Fn::If"]
            assert otherwise == {"Ref": "AWS::NoValue"}
            return within(granted, conditions | {condition})
        return within(part["Statement"], conditions) if "Statement" in part else [(conditions, part)]

    return within(FUNCTIONS[name].get("Policies", []), frozenset())


def actions(statement: dict[str, Any]) -> list[str]:
    action = statement["Action"]
    return [action] if isinstance(action, str) else action


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_named_actions_on_named_resources_only(name: str) -> None:
    for _, statement in statements(name):
        assert not any("*" in action for action in actions(statement))
        # Network interfaces that do not exist yet have no name.
        assert statement["Resource"] != "*" or all(action.startswith("ec2:") for action in actions(statement))


def test_events_are_told_under_our_name_and_only_where_they_are_on() -> None:
    told = {
        name: (conditions, statement["Condition"])
        for name in FUNCTIONS
        for conditions, statement in statements(name)
        if actions(statement) == ["events:PutEvents"]
    }

    def of(kind: str) -> dict[str, Any]:
        return {"StringEquals": {"events:source": "memoir", "events:detail-type": kind}}

    assert told == {
        "HinosFunction": (frozenset(), of("MemoryWriteFailed")),
        "EditTableFunction": ({"TableEvents"}, of("TableChanged")),
        "WriteDiaryFunction": ({"DiaryEvents"}, of("DiaryAppended")),
    }


def test_who_reads_a_secret_may_decrypt_it_through_secrets_manager_alone() -> None:
    for name, has_secret in (
        ("ContextFunction", "HinosHasCredential"),
        ("HinosFunction", "HinosHasCredential"),
        ("CompactFunction", "ModelHasKey"),
        ("WriteDiaryFunction", "ModelHasKey"),
        ("WriteStateFunction", "ModelHasKey"),
    ):
        granted = {actions(statement)[0]: (on, statement) for on, statement in statements(name)}
        assert granted["secretsmanager:GetSecretValue"][0] == {has_secret}
        conditions, decrypt = granted["kms:Decrypt"]
        assert (conditions, decrypt["Resource"]) == ({has_secret, "SecretsHaveKey"}, {"Ref": "SecretsKeyArn"})
        assert list(decrypt["Condition"]["StringEquals"]) == ["kms:ViaService"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_health_answers_without_a_token(name: str) -> None:
    for event in FUNCTIONS[name].get("Events", {}).values():
        if event["Type"] == "HttpApi":
            open_to_all = event["Properties"].get("Auth") == {"Authorizer": "NONE"}
            assert open_to_all == (name == "HealthFunction")


ALARMS = {
    name: resource["Properties"]
    for name, resource in RESOURCES.items()
    if resource["Type"] == "AWS::CloudWatch::Alarm"
}


def test_every_function_logs_where_its_errors_are_counted() -> None:
    logging = TEMPLATE["Globals"]["Function"]["LoggingConfig"]
    assert (logging["LogFormat"], logging["LogGroup"]) == ("JSON", {"Ref": "LogGroup"})
    assert logging["SystemLogLevel"] == "INFO"
    assert [name for name, properties in FUNCTIONS.items() if "LoggingConfig" in properties] == []


@pytest.mark.parametrize("counted", ["FunctionErrors", "LoggedErrors"])
def test_what_is_counted_in_the_log_raises_an_alarm(counted: str) -> None:
    metric_filter = RESOURCES[counted]["Properties"]
    assert metric_filter["LogGroupName"] == {"Ref": "LogGroup"}
    (metric,) = metric_filter["MetricTransformations"]
    alarm = ALARMS[f"{counted}Alarm"]
    assert (alarm["Namespace"], alarm["MetricName"]) == (metric["MetricNamespace"], metric["MetricName"])


def test_no_alarm_grows_with_the_functions() -> None:
    assert [name for name, alarm in ALARMS.items() if "Metrics" in alarm] == []


@pytest.mark.parametrize("name", ["Table", "UserPool", "UserPoolDomain", "Scopes", "HostClient"])
def test_the_data_and_who_may_read_it_survive_the_stack(name: str) -> None:
    resource = RESOURCES[name]
    policies = (resource["DeletionPolicy"], resource["UpdateReplacePolicy"])
    assert policies == ("RetainExceptOnCreate", "Retain")


def test_the_table_can_be_restored_and_forgets_what_has_expired() -> None:
    table = RESOURCES["Table"]
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["Properties"]["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def worker_queues() -> list[tuple[str, dict[str, Any]]]:
    """Return the workers and the properties of the queue that each is triggered by."""
    found = []
    for name, properties in FUNCTIONS.items():
        for event in properties.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = event["Properties"]["Queue"]["Fn::GetAtt"][0]
                assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
                found.append((name, RESOURCES[queue]["Properties"]))
    return found


def test_each_worker_is_named_wherever_workers_are() -> None:
    workers = AS_WRITTEN["Mappings"]["Workers"]
    for section, loop in (("Resources", "Fn::ForEach::Workers"), ("Outputs", "Fn::ForEach::DeadLetters")):
        assert AS_WRITTEN[section][loop][1] == list(workers)
    assert [worker["Rung"] for worker in workers.values()] == list(redrive.WORKERS)
    assert {f"{rung.capitalize()}DeadLettersUrl" for rung in redrive.WORKERS} <= set(TEMPLATE["Outputs"])


def test_each_worker_has_a_fifo_queue_with_room_for_its_retries_and_dead_letters() -> None:
    assert [name for name, _ in worker_queues()] == [
        "EditTableFunction",
        "WriteDiaryFunction",
        "WriteStateFunction",
    ]
    for name, queue in worker_queues():
        dead_letters = RESOURCES[queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]]
        assert queue["FifoQueue"] is True
        assert dead_letters["Properties"]["FifoQueue"] is True
        assert queue["VisibilityTimeout"] >= 6 * FUNCTIONS[name]["Timeout"]
        assert queue["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_the_dead_letters_of_each_worker_raise_an_alarm() -> None:
    watched = {
        alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
        for alarm in ALARMS.values()
        if alarm["Namespace"] == "AWS/SQS"
    }
    queues = [queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0] for _, queue in worker_queues()]
    assert watched == set(queues)


@pytest.mark.parametrize("name", ["WriteDiaryFunction", "WriteStateFunction"])
def test_a_lease_outlasts_its_worker(name: str) -> None:
    worker = FUNCTIONS[name]
    lease = int(worker["Environment"]["Variables"]["MEMOIR_LEASE_SECONDS"])
    assert lease > worker["Timeout"]
    assert 2 * TEMPLATE["Parameters"]["ModelTimeoutMs"]["MaxValue"] < worker["Timeout"] * 1000
