"""What the proxy adds to a warm prepare: through our handler, and the same call made directly."""

import logging
import os
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import urllib3

from tests.bench.events import Context, request
from tests.localcloud.hinos_server import hinos_server

CALLS = 200
CHAT = {"system": "你是守卫。", "messages": [{"role": "user", "content": "我答应明天归还铜钥匙。" * 20}]}


def main() -> None:
    """Print medians of ms, the difference, and the CPU of our own code in it."""
    print("\nhinos: a warm prepare directly and through the proxy, claims kept in memory")
    with hinos_server() as (url, _):
        handler = _proxy(url)
        event = request("POST", CHAT)
        event["routeKey"] = "POST /v1/conversations/{id}/hinos/prepare"
        pool = urllib3.PoolManager(maxsize=1)
        body = {"messages": [{"role": "system", "content": CHAT["system"]}, *CHAT["messages"]]}
        headers = {"x-flow-conversation-id": "c1"}
        direct, proxied, ours = [], [], []
        for _ in range(CALLS):
            started = time.perf_counter()
            pool.request("POST", f"{url}/v1/memory/prepare", json=body, headers=headers)
            direct.append(time.perf_counter() - started)
            started, cpu = time.perf_counter(), time.thread_time()
            answer = handler(event)
            proxied.append(time.perf_counter() - started)
            ours.append(time.thread_time() - cpu)
            if answer["statusCode"] != 200:
                raise RuntimeError(answer["body"])
    medians = [statistics.median(times) * 1000 for times in (direct, proxied, ours)]
    added = medians[1] - medians[0]
    print(f"  direct {medians[0]:.2f} ms, through the proxy {medians[1]:.2f} ms: {added:.2f} ms added")
    print(f"  CPU of our own thread in a call: {medians[2]:.2f} ms, {medians[2] / medians[1]:.2f} of it")


def _proxy(url: str) -> Any:
    os.environ |= {"HINOS_MEMORY_URL": url, "MEMOIR_TABLE_NAME": "t", "AWS_DEFAULT_REGION": "us-east-1"}
    from functions.hinos import app
    from memoir import wiring
    from memoir.adapters.hinos_http import HinosHttp
    from memoir.usecases.engine import Engine
    from memoir.usecases.hinos import HinosPorts

    class Claims:
        """Keeps nothing."""

        def read(self, *_: Any) -> dict[Any, Any]:
            return {}

        def write(self, *_: Any) -> None:
            return None

    class Events:
        """Tells nobody."""

        def publish(self, *_: Any) -> None:
            return None

    ports = HinosPorts(
        engine=Engine(records=Claims(), clock=time.time, receipt_days=30),  # type: ignore[arg-type]
        hinos=HinosHttp(base_url=url, timeout_ms=10_000),
        events=Events(),
        memory_ingest="best_effort",
        sleep=time.sleep,
    )
    wiring.hinos = lambda: ports  # type: ignore[assignment]
    warnings.simplefilter("ignore")
    quiet = Path(os.devnull).open("w")  # noqa: SIM115
    loud, sys.stdout = sys.stdout, quiet  # the logger takes the stream that it finds first

    def call(event: dict[str, Any]) -> Any:
        sys.stdout = quiet
        try:
            return app.handler(event, Context())
        finally:
            sys.stdout = loud

    logging.raiseExceptions = False
    sys.stdout = loud
    return call


if __name__ == "__main__":
    main()
