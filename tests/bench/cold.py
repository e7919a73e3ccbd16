"""A fresh process to its first answer: our built layers, and the customary stack, with bytecode or without.

No packages of the machine are in sight, as in Lambda.
"""

import http.server
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".local" / "bench-cold"
PROCESSES = 11

# What the runtime does: import the handler, hand it one event.
DRIVER = """
import sys
sys.path.insert(0, {bench!r})
from app import handler
from events import Context, request
answer = handler(request({method!r}, {body!r}, kind={kind!r}), Context())
assert answer["statusCode"] == 200, answer
"""


class _EmptyStore(http.server.BaseHTTPRequestHandler):
    """Answers every read with no item."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/x-amz-json-1.0")
        self.send_header("content-length", "16")
        self.end_headers()
        self.wfile.write(b'{"Responses":{}}')

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Print medians of ms and the ratios; and what a context costs beside a PUT of a memory."""
    print("\ncold: a fresh process to the first answer of GET (targets: 0.30 and 0.50)")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    paths = {"ours": _ours(), "customary, no bytecode": _customary(bytecode=False)}
    paths["customary, bytecode"] = _customary(bytecode=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _EmptyStore)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    found: dict[str, list[float]] = {name: [] for name in paths}
    order = [name for name in paths for _ in range(PROCESSES)]
    random.Random(1).shuffle(order)
    for name in order:
        found[name].append(_run(paths[name], url))
    layers, context = paths["ours"][1:], ROOT / "functions" / "context"
    put = {"expectedRevision": 0, "memory": {}}
    puts, contexts = [], []
    for _ in range(PROCESSES):
        puts.append(_run(paths["ours"], url, method="PUT", body=put))
        contexts.append(_run([context, *layers], url, method="POST", body={"history": []}, kind="context"))
    server.shutdown()
    medians = {name: statistics.median(times) for name, times in found.items()}
    for name, milliseconds in medians.items():
        print(f"  {name}: {milliseconds:5.0f} ms, ours is {medians['ours'] / milliseconds:.2f} of it")
    put_ms, context_ms = statistics.median(puts), statistics.median(contexts)
    print(f"  ours, PUT memory: {put_ms:5.0f} ms, a context is {context_ms / put_ms:.2f} of it (target 1.15)")


def _run(path: list[Path], url: str, *, method: str = "GET", body: Any = None, kind: str = "memory") -> float:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_ENDPOINT_URL": url,
        "MEMOIR_ENDPOINT_URL": url,
        "MEMOIR_TABLE_NAME": "t",
        "TABLE_NAME": "t",
        "LAMBDA_TASK_ROOT": "/var/task",
        "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000",
        "_X_AMZN_TRACE_ID": "Root=1-65f00000-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=1",
    }
    bench = str(ROOT / "tests" / "bench")
    driver = DRIVER.format(bench=bench, method=method, body=body, kind=kind)
    started = time.perf_counter()
    done = subprocess.run(
        [getattr(sys, "_base_executable", sys.executable), "-S", "-c", driver],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    milliseconds = (time.perf_counter() - started) * 1000
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return milliseconds


def _ours() -> list[Path]:
    for layer in ("wheels", "memoir"):
        target = f"build-{layer.capitalize()}Layer"
        variables = [f"ARTIFACTS_DIR={FOLDER / layer}", f"PYTHON={sys.executable}"]
        variables += ["MEMOIR_LAYER_TARGET=host", f"LAYER_PYTHON={sys.executable}"]
        command = ["make", "-s", "-C", str(ROOT / "layers" / layer), target, *variables]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [
        ROOT / "functions" / "memory",
        *(FOLDER / layer / "python" for layer in ("wheels", "memoir")),
    ]


def _customary(*, bytecode: bool) -> list[Path]:
    folder = FOLDER / f"customary-{bytecode}"
    source = ROOT / "tests" / "bench" / "customary"
    pip = [sys.executable, "-m", "pip", "install", "-qqq", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, "--target", str(folder), "-r", str(source / "requirements.txt")], check=True)
    shutil.copy(source / "app.py", folder)
    if bytecode:
        mode = ["--invalidation-mode", "unchecked-hash"]
        subprocess.run([sys.executable, "-m", "compileall", "-q", *mode, str(folder)], check=True)
    return [folder]


if __name__ == "__main__":
    main()
