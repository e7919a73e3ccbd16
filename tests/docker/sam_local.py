"""`sam local` in Docker: the functions with their layers in Lambda's own runtime."""

import contextlib
import ipaddress
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from tests.build.template import FUNCTIONS
from tests.localcloud.emulator import free_port
from tests.tables import create_table

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
IMAGE = f"public.ecr.aws/lambda/python:3.13-{ARCHITECTURE}"
SAM = str(Path(sys.executable).with_name("sam"))


class NotHere(Exception):
    """This machine cannot run Lambda's containers; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Invoked:
    """What a function answered, and the lines that it logged."""

    answer: Any
    log: list[str]


def docker(*arguments: str, timeout_seconds: float = 60) -> str:
    """Return what the command prints, nothing where it fails."""
    done = subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=timeout_seconds, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def find_gateway() -> str:
    """Return the address under which containers reach this machine. Raises NotHere."""
    if shutil.which("docker") is None or not docker("info", "--format", "{{.ServerVersion}}"):
        raise NotHere("no Docker engine answers on this machine")
    if not (docker("images", "-q", IMAGE) or docker("pull", IMAGE, timeout_seconds=600)):
        raise NotHere(f"the image {IMAGE} is not here and cannot be fetched")
    subnet = docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Subnet}}")
    address = str(next(ipaddress.ip_network(subnet or "192.0.2.0/24").hosts()))
    try:
        with socket.socket() as probe:
            probe.bind((address, 0))
    except OSError:
        raise NotHere("containers of this Docker engine do not reach this machine by its bridge") from None
    return address


def _hear_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so would all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class SamLocal:
    """The stack, built once for this machine's containers. Each function has a table of its own."""

    def __init__(self, *, folder: Path, store_url: str) -> None:
        """Build into *folder*. The functions' AWS is at *store_url*."""
        self._folder = folder
        self._store_url = store_url
        self._sam("build", "--build-dir", str(folder / "build"), "--cache-dir", str(folder / "cache"))
        topic = self._client("sns").create_topic(Name="turns.fifo", Attributes={"FifoTopic": "true"})
        variables: dict[str, dict[str, str]] = {}
        for logical_id in FUNCTIONS:
            create_table(self._client("dynamodb"), name=logical_id)
            variables[logical_id] = {"MEMOIR_TABLE_NAME": logical_id, "MEMOIR_TOPIC_ARN": topic["TopicArn"]}
        (folder / "variables.json").write_text(json.dumps(variables))

    def invoke(self, logical_id: str, event: Path) -> Invoked:
        """Run one function on one file by `sam local invoke`: a new container, whose image is built first."""
        done = self._sam("local", "invoke", logical_id, "-e", str(event), *self._options())
        (answer,) = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return Invoked(answer=json.loads(answer), log=done.stderr.splitlines())

    @contextlib.contextmanager
    def warm(self) -> Iterator[Callable[[str, Path], Any]]:
        """Run `sam local start-lambda`; yield what runs a function on a file, in a container it keeps."""
        port = free_port()
        command = [
            SAM,
            "local",
            "start-lambda",
            "--port",
            str(port),
            "--warm-containers",
            "LAZY",
            *self._options(),
        ]
        log = self._folder / "start-lambda.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=_hear_interrupts,
            )
        url = f"http://127.0.0.1:{port}"
        try:
            self._wait_until_it_listens(process, port, log)
            functions = self._client("lambda", url=url)

            def run(logical_id: str, event: Path) -> Any:
                answer = functions.invoke(FunctionName=logical_id, Payload=event.read_bytes())
                return json.loads(answer["Payload"].read())

            yield run
        finally:
            process.send_signal(signal.SIGINT)  # it removes its containers
            process.wait(60)

    def _wait_until_it_listens(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return
            if process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"sam local start-lambda does not listen:\n{log.read_text()[-3000:]}")

    def _client(self, service: str, *, url: str | None = None) -> Any:
        # The first event of a function waits for its image.
        patience = Config(read_timeout=300, retries={"total_max_attempts": 1})
        return boto3.client(
            service,
            endpoint_url=url or self._store_url,
            region_name="us-east-1",
            aws_access_key_id="x",
            aws_secret_access_key="x",
            config=patience,
        )

    def _options(self) -> list[str]:
        return [
            *("-t", str(self._folder / "build" / "template.yaml"), "--skip-pull-image"),
            *("--env-vars", str(self._folder / "variables.json")),
            *("--parameter-overrides", f"Architecture={ARCHITECTURE}", f"EndpointUrl={self._store_url}"),
        ]

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "SAM_CLI_TELEMETRY": "0",
            "SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS": "1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "MEMOIR_LAYER_TARGET": ARCHITECTURE,
            "PYTHON": sys.executable,
        }

    def _sam(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [SAM, *arguments],
            cwd=ROOT,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"sam {' '.join(arguments[:3])} failed:\n{done.stderr[-3000:]}")
        return done
