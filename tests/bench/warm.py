"""CPU of a warm request, store excluded: our handler and the customary one over memory in the process."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.events import Context, request
from tests.bench.texts import memory

ROUNDS, CALLS = 15, 60


def main() -> None:
    """Print µs of CPU per request and the ratio."""
    os.environ |= {"AWS_DEFAULT_REGION": "us-east-1", "TABLE_NAME": "t"}
    # As in Lambda, where the tracer has a segment to add to and a daemon to send to.
    os.environ |= {"LAMBDA_TASK_ROOT": "/var/task", "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000"}
    os.environ["_X_AMZN_TRACE_ID"] = (
        "Root=1-65f00000-0123456789abcdef01234567;Parent=0123456789abcdef;Sampled=1"
    )
    os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "MEMOIR_TABLE_NAME": "t"}
    print("\nwarm: CPU of one request with a memory of 4 KiB, store excluded (target: 0.35 of the customary)")
    quiet = Path(os.devnull).open("w")  # noqa: SIM115
    loud, sys.stdout = sys.stdout, quiet
    try:
        handlers = {"ours": _ours(), "customary": _customary()}
        rows = []
        for language in ("zh", "en"):
            value = memory(language, 4096)
            for method in ("GET", "PUT"):
                body = {"expectedRevision": 1, "memory": value} if method == "PUT" else None
                calls = {
                    name: _call(handler, prepare(value), request(method, body))
                    for name, (handler, prepare) in handlers.items()
                }
                rows.append((f"{method} {language}", _measure(calls)))
    finally:
        sys.stdout = loud
    for name, found in rows:
        ours, customary = found["ours"], found["customary"]
        print(f"  {name}: ours {ours:6.0f} µs, customary {customary:6.0f} µs, ratio {ours / customary:.2f}")


def _measure(calls: dict[str, Callable[[], None]]) -> dict[str, float]:
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            started = time.process_time()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.process_time() - started) / CALLS * 1e6)
    return best


def _call(handler: Any, prepare: Callable[[], None], event: dict[str, Any]) -> Callable[[], None]:
    def call() -> None:
        prepare()
        answer = handler(event, Context())
        if answer["statusCode"] != 200:
            raise RuntimeError(answer["body"])

    return call


def _ours() -> tuple[Any, Callable[[Any], Callable[[], None]]]:
    from functions.memory import app
    from memoir import wiring
    from memoir.ports.records import Record, RecordKey
    from memoir.usecases.engine import Engine

    class Store:
        """One document that is always at revision 1."""

        record: Record

        def read(self, *keys: RecordKey) -> dict[RecordKey, Record]:
            return {key: self.record for key in keys if key.kind == "memory"}

        def write(self, *writes: Any) -> None:
            return None

    store = Store()
    engine = Engine(records=store, clock=time.time, receipt_days=30)  # type: ignore[arg-type]
    wiring.engine = lambda: engine  # type: ignore[assignment]
    os.environ.setdefault("MEMOIR_TABLE_NAME", "memoir")

    def prepare(value: Any) -> Callable[[], None]:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))

        def reset() -> None:
            store.record = Record(facts={"revision": 1}, body=text)

        return reset

    return app.handler, prepare


def _customary() -> tuple[Any, Callable[[Any], Callable[[], None]]]:
    from tests.bench.customary import app

    class Table:
        """One item that is always at revision 1."""

        item: dict[str, Any]

        def get_item(self, **_: Any) -> dict[str, Any]:
            return {"Item": self.item}

        def put_item(self, **_: Any) -> None:
            return None

    table = Table()
    app.table = table

    def prepare(value: Any) -> Callable[[], None]:
        item = {"revision": 1, "memory": json.dumps(value)}

        def reset() -> None:
            table.item = item

        return reset

    return app.handler, prepare


if __name__ == "__main__":
    main()
