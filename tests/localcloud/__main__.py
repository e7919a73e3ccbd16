"""`make local`: keep the local stack up until Ctrl-C; .local/stack.json says how to reach it."""

import json
import signal
import sys
import threading

from tests.localcloud.cloud import LOCAL, Stack, local_cloud
from tests.localcloud.emulator import CannotStart

STACK_FILE = LOCAL / "stack.json"


def main() -> int:
    """Run until interrupted. Returns the exit code."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    STACK_FILE.unlink(missing_ok=True)
    try:
        with local_cloud() as stack:
            _write(stack)
            print(f"{STACK_FILE.relative_to(LOCAL.parent)} says how to reach it. Ctrl-C ends it.", flush=True)
            stop.wait()
    except KeyboardInterrupt:
        print("ended", flush=True)
        return 0
    except CannotStart as reason:
        print(f"cannot start: {reason}", file=sys.stderr)
        return 1
    finally:
        STACK_FILE.unlink(missing_ok=True)
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _write(stack: Stack) -> None:
    """Write the file at once: who sees it sees it whole."""
    part = STACK_FILE.with_suffix(".part")
    part.write_text(json.dumps(stack, indent=2) + "\n")
    part.replace(STACK_FILE)


if __name__ == "__main__":
    sys.exit(main())
