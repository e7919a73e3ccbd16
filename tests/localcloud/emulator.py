"""The emulator of AWS as a process: ministack on loopback, on a free port, ended by its process id."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

REGION = "us-east-1"
START_SECONDS = 60
STOP_SECONDS = 10


class CannotStart(Exception):
    """The local cloud cannot start here; the text says what is missing and what to do."""


@dataclass
class Emulator:
    """A running emulator."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where every AWS service answers."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End the emulator and the functions that it runs. Safe to call again."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(STOP_SECONDS)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start_emulator(folder: Path) -> Emulator:
    """Start the emulator and return it once it answers. Its log is in *folder*. Raises CannotStart."""
    program = Path(sys.executable).with_name("ministack")
    if not program.exists():
        raise CannotStart(f"there is no {program.name} beside {sys.executable}: run `make setup`")
    port = free_port()
    log = folder / "emulator.log"
    environment = {
        **os.environ,
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "localhost",
        "GATEWAY_PORT": str(port),
        "EDGE_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "IOT_MTLS_ENABLED": "0",
        "STATE_DIR": str(folder / "state"),
        # Functions run under this Python, whose bytecode their layers hold.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "PYTHONPATH"):
        environment.pop(name, None)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(program)],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    emulator = Emulator(process=process, port=port, log=log)
    try:
        _wait_until_it_answers(emulator)
    except BaseException:
        emulator.stop()
        raise
    return emulator


def _wait_until_it_answers(emulator: Emulator) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if emulator.process.poll() is not None:
            tail = emulator.log.read_text(errors="replace")[-2000:]
            raise CannotStart(f"the emulator ended while starting:\n{tail}")
        try:
            with urllib.request.urlopen(f"{emulator.url}/_ministack/health", timeout=2):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise CannotStart(f"the emulator does not answer after {START_SECONDS} s; its log is {emulator.log}")
