"""`make bench`: all benchmarks, or those named. Ratios carry over to other machines, milliseconds do not."""

import sys

from tests.bench import (
    capacity,
    cold,
    context,
    conversation,
    hinos,
    package,
    requests,
    table_reader,
    tokens,
    warm,
)

BENCHES = {
    "requests": requests.main,
    "capacity": capacity.main,
    "warm": warm.main,
    "table": table_reader.main,
    "context": context.main,
    "tokens": tokens.main,
    "conversation": conversation.main,
    "hinos": hinos.main,
    "package": package.main,
    "cold": cold.main,
}


def main(names: list[str]) -> int:
    """Run the benches of these names, all for none."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no such bench: {', '.join(unknown)}; there are {', '.join(BENCHES)}")
        return 2
    for name in names or BENCHES:
        BENCHES[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
