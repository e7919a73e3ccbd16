"""The whole stack on this machine: emulator, `sam build`, `sam deploy`, routes, clients, a first answer."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3

from tests.api import Api, send
from tests.localcloud.emulator import REGION, CannotStart, Emulator, start_emulator
from tests.localcloud.hinos_server import hinos_server
from tests.localcloud.model_server import NAME as MODEL_NAME
from tests.localcloud.model_server import model_server
from tests.localcloud.routes import make_missing_routes

ROOT = Path(__file__).resolve().parents[2]
LOCAL = ROOT / ".local"
STACK_NAME = "memoir"
ASKING_THE_MODEL = ("WriteStateFunction", "CompactFunction")
READY_SECONDS = 60

# The emulator checks no signature.
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}

Stack = dict[str, Any]
"""What `.local/stack.json` holds: URLs, region, names of stack and table, two clients with their secrets."""


class Progress:
    """Lines that say what is being done, with the seconds since the beginning."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, text: str) -> None:
        """Print one line at once."""
        print(f"[{time.monotonic() - self._started:5.1f} s] {text}", flush=True)


@contextlib.contextmanager
def local_cloud(*, say: Callable[[str], None] | None = None, **parameters: str) -> Iterator[Stack]:
    """Bring the whole stack up, yield how to reach it, and end all of it, whatever happens inside.

    *say*: is told what is being done. *parameters* of the template beside the endpoint. Raises CannotStart.
    """
    say = say or Progress()
    with hinos_server() as (hinos_url, _), model_server() as model_url:
        parameters = {"HinosMemoryUrl": hinos_url, "HinosMemoryTimeoutMs": "1500", **parameters}
        with _deployed(say, parameters, model_url) as stack:
            yield {
                **stack,
                "hinosUrl": hinos_url,
                "hinosControlUrl": f"{hinos_url}/control",
                "modelControlUrl": f"{model_url}/control",
            }


@contextlib.contextmanager
def _deployed(say: Callable[[str], None], parameters: dict[str, str], model_url: str) -> Iterator[Stack]:
    for program in ("make",):
        if shutil.which(program) is None:
            raise CannotStart(f"there is no {program} on this machine; install it and try again")
    LOCAL.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="cloud-", dir=LOCAL))
    emulator: Emulator | None = None
    try:
        say("starting the emulator of AWS")
        emulator = start_emulator(folder)
        say("building the layers for this machine's Python")
        _sam(
            ["build", "--build-dir", str(folder / "build"), "--cache-dir", str(LOCAL / "cache")],
            folder,
            emulator,
        )
        say("deploying the template")
        _deploy(folder, emulator, parameters)
        stack = _connect(emulator, model_url)
        say("waiting for a first answer")
        _wait_until_it_answers(stack)
        say(f"ready: {stack['apiUrl']}")
        yield stack
    finally:
        if emulator:
            emulator.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _sam(arguments: list[str], folder: Path, emulator: Emulator) -> None:
    sam = Path(sys.executable).with_name("sam")
    if not sam.exists():
        raise CannotStart(f"there is no sam beside {sys.executable}: run `make setup`")
    environment = {
        **os.environ,
        **_CREDENTIALS,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": emulator.url,
        "SAM_CLI_TELEMETRY": "0",
        # samconfig.toml says so too, but is not beside a template that was built elsewhere.
        "SAM_CLI_ENABLE_LANGUAGE_EXTENSIONS": "1",
        "MEMOIR_LAYER_TARGET": "host",
        "PYTHON": sys.executable,
        "LAYER_PYTHON": sys.executable,
    }
    environment.pop("AWS_PROFILE", None)
    log = folder / f"sam-{arguments[0]}.log"
    with log.open("wb") as output:
        done = subprocess.run(
            [str(sam), *arguments],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    if done.returncode:
        told = log.read_text(errors="replace")
        at = max(told.find("_FAILED"), 0)  # the first resource that failed says why
        raise CannotStart(f"sam {arguments[0]} failed:\n{told[at : at + 2000]}\n…\n{told[-1500:]}")


def _deploy(folder: Path, emulator: Emulator, parameters: dict[str, str]) -> None:
    overrides = {"EndpointUrl": emulator.url, "LogLevel": "INFO", **parameters}
    _sam(
        [
            "deploy",
            "--template-file",
            str(folder / "build" / "template.yaml"),
            "--stack-name",
            STACK_NAME,
            "--resolve-s3",
            "--capabilities",
            "CAPABILITY_IAM",
            "--no-confirm-changeset",
            "--parameter-overrides",
            *(f"{name}={value}" for name, value in overrides.items()),
        ],
        folder,
        emulator,
    )


def _connect(emulator: Emulator, model_url: str) -> Stack:
    """Make what the emulator lacks, and return how to reach the stack."""

    def client(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=emulator.url,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    cloudformation, cognito, functions = client("cloudformation"), client("cognito-idp"), client("lambda")
    described = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
    pool_id = outputs["UserPoolId"]
    host = cognito.describe_user_pool_client(UserPoolId=pool_id, ClientId=outputs["ClientId"])
    other = cognito.create_user_pool_client(
        UserPoolId=pool_id,
        ClientName="other",
        GenerateSecret=True,
        AllowedOAuthFlowsUserPoolClient=True,
        AllowedOAuthFlows=["client_credentials"],
        AllowedOAuthScopes=["memory/act-as-user", "memory/admin"],
    )
    clients = [known["UserPoolClient"] for known in (host, other)]

    def function_arn(logical_id: str) -> str:
        resource = cloudformation.describe_stack_resource(StackName=STACK_NAME, LogicalResourceId=logical_id)[
            "StackResourceDetail"
        ]
        arn: str = functions.get_function(FunctionName=resource["PhysicalResourceId"])["Configuration"][
            "FunctionArn"
        ]
        return arn

    for logical_id in ASKING_THE_MODEL:
        _let_ask(functions, function_arn(logical_id), model_url)
    make_missing_routes(
        apigateway=client("apigatewayv2"),
        cloudformation=cloudformation,
        function_arn=function_arn,
        stack_name=STACK_NAME,
        api_id=outputs["ApiId"],
        jwt={
            "issuer": f"https://cognito-idp.{REGION}.amazonaws.com/{pool_id}",
            "audience": [known["ClientId"] for known in clients],
        },
    )
    host_client, other_client = (
        {"id": known["ClientId"], "secret": known["ClientSecret"]} for known in clients
    )
    return {
        "apiUrl": f"{emulator.url}/_aws/execute-api/{outputs['ApiId']}/$default",
        "tokenUrl": f"{emulator.url}/oauth2/token",
        "endpointUrl": emulator.url,
        "region": REGION,
        "stackName": STACK_NAME,
        "tableName": outputs["TableName"],
        "hostClient": host_client,
        "otherClient": other_client,
    }


def _let_ask(functions: Any, arn: str, model_url: str) -> None:
    """Let a function ask the scripted model; diaries stay extractive, as they are where no model is set."""
    variables = functions.get_function_configuration(FunctionName=arn)["Environment"]["Variables"]
    variables |= {"MEMOIR_MODEL": MODEL_NAME, "MEMOIR_MODEL_URL": f"{model_url}/v1"}
    functions.update_function_configuration(FunctionName=arn, Environment={"Variables": variables})


def _wait_until_it_answers(stack: Stack) -> None:
    """Wait for an answer without a token and one with: the first caller shall meet no cold start."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        health = send("GET", f"{stack['apiUrl']}/v1/health")
        memory = Api(stack, user="readiness").call("GET", "/v1/conversations/readiness/memory")
        if (health.status, memory.status) == (200, 200):
            return
        if time.monotonic() > deadline:
            raise CannotStart(f"the API does not answer: {health.status} {health.text} / {memory.text}")
        time.sleep(0.3)
