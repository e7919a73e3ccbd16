"""`sam local invoke` in Docker: functions and layers in the real runtime. Skipped where no engine answers."""

import ipaddress
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from memoir.adapters.aws import make_client

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
IMAGE = f"public.ecr.aws/lambda/python:3.13-{ARCHITECTURE}"
TABLE = "Table"  # sam local gives a resource's logical id where CloudFormation would give its name


def docker(*arguments: str, timeout_seconds: float = 60) -> str:
    done = subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=timeout_seconds, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


@pytest.fixture(scope="module")
def gateway() -> str:
    """The address under which containers reach this machine."""
    if shutil.which("docker") is None or not docker("info", "--format", "{{.ServerVersion}}"):
        pytest.skip("no Docker engine answers on this machine")
    if not (docker("images", "-q", IMAGE) or docker("pull", IMAGE, timeout_seconds=600)):
        pytest.skip(f"the image {IMAGE} is not here and cannot be fetched")
    subnet = docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Subnet}}")
    address = str(next(ipaddress.ip_network(subnet or "192.0.2.0/24").hosts()))
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
    except OSError:
        pytest.skip("containers of this Docker engine do not reach this machine by its bridge")
    return address


@pytest.fixture(scope="module")
def invoke(gateway: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Call a function with a file of events/ and return its answer."""
    folder = tmp_path_factory.mktemp("sam")
    environment = os.environ | {
        "SAM_CLI_TELEMETRY": "0",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "MEMOIR_LAYER_TARGET": ARCHITECTURE,
        "PYTHON": sys.executable,
    }
    sam = str(Path(sys.executable).with_name("sam"))
    build = [sam, "build", "--build-dir", str(folder / "build"), "--cache-dir", str(folder / "cache")]
    subprocess.run(build, cwd=ROOT, env=environment, check=True, capture_output=True)
    server = ThreadedMotoServer(ip_address=gateway, port=0, verbose=False)
    server.start()
    url = f"http://{gateway}:{server.get_host_and_port()[1]}"

    def run(function: str, event: str) -> Any:
        command = [sam, "local", "invoke", function, "-e", str(ROOT / "events" / event), "--skip-pull-image"]
        command += ["-t", str(folder / "build" / "template.yaml"), "--parameter-overrides"]
        command += [f"Architecture={ARCHITECTURE}", f"EndpointUrl={url}"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        assert lines, done.stderr[-3000:]
        return json.loads(lines[-1])

    run.url = url  # type: ignore[attr-defined]
    yield run
    server.stop()


@pytest.fixture
def store(invoke: Any, aws_environment: None) -> Iterator[Any]:
    client = make_client("dynamodb", endpoint_url=invoke.url)
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": n, "KeyType": k} for n, k in (("pk", "HASH"), ("sk", "RANGE"))],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    yield client
    client.delete_table(TableName=TABLE)


def test_health_answers_in_the_real_runtime(invoke: Any) -> None:
    answer = invoke("HealthFunction", "health/get.json")
    assert (answer["statusCode"], json.loads(answer["body"])["status"]) == (200, "ok")


@pytest.mark.usefixtures("store")
def test_a_memory_is_written_and_read_in_the_real_runtime(invoke: Any) -> None:
    assert json.loads(invoke("MemoryFunction", "memory/02-put-first.json")["body"]) == {"revision": 1}
    memory = json.loads(invoke("MemoryFunction", "memory/01-get-none.json")["body"])
    assert memory == {"revision": 1, "memory": {"scene": "城门", "keyHolder": "用户"}}
    refused = invoke("MemoryFunction", "memory/06-put-not-json.json")
    assert (refused["statusCode"], json.loads(refused["body"])["code"]) == (400, "json_malformed")


@pytest.mark.usefixtures("store")
def test_a_worker_takes_a_batch_in_the_real_runtime(invoke: Any) -> None:
    assert len(invoke("EditTableFunction", "edit_table/poison.json")["batchItemFailures"]) == 2
    assert invoke("WriteDiaryFunction", "write_diary/rung.json") == {"batchItemFailures": []}
