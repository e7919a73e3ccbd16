"""Cut a folder of installed wheels down to what the functions read. Called by this folder's Makefile.

botocore carries the description of every AWS service. Listing them and reading a description with its prose
is a good part of a cold start, and most of the size.
"""

import gzip
import json
import shutil
import sys
from pathlib import Path
from typing import Any

# Folders of botocore/data that are in use.
SERVICES = frozenset({"dynamodb", "sns", "sqs", "bedrock-runtime", "secretsmanager", "events"})

# In endpoints.json, names of services as endpoints know them.
ENDPOINTS = frozenset({"dynamodb", "sns", "sqs", "bedrock", "secretsmanager", "events"})

# What adapters call. A model without the rest loads faster; calling one not listed fails at once.
OPERATIONS = {
    "dynamodb": frozenset(
        {
            "GetItem",
            "PutItem",
            "UpdateItem",
            "DeleteItem",
            "Query",
            "BatchGetItem",
            "TransactWriteItems",
            "DescribeEndpoints",
        }
    ),
}

JUNK = ("*.dist-info/RECORD", "*.dist-info/licenses", "bin", "**/tests", "**/*.pyi", "**/py.typed")


def main(packages: Path) -> None:
    """Trim what is installed in *packages*."""
    data = packages / "botocore" / "data"
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in SERVICES:
            shutil.rmtree(folder)
    _rewrite(data / "endpoints.json", _only_endpoints)
    for service, operations in OPERATIONS.items():
        for model in (data / service).glob("*/service-2.json.gz"):
            _rewrite(model, lambda value, wanted=operations: _only_operations(value, wanted))
    for model in data.glob("*/*/service-2.json.gz"):
        _rewrite(model, _without_prose)
    for examples in data.glob("*/*/examples-1.json*"):
        examples.unlink()
    for pattern in JUNK:
        for path in packages.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _rewrite(path: Path, change: Any) -> None:
    read, write = (gzip.open, gzip.open) if path.suffix == ".gz" else (open, open)
    with read(path, "rb") as source:
        value = change(json.load(source))
    with write(path, "wb") as target:
        target.write(json.dumps(value, separators=(",", ":")).encode())


def _only_endpoints(value: dict[str, Any]) -> dict[str, Any]:
    for partition in value["partitions"]:
        partition["services"] = {
            name: known for name, known in partition["services"].items() if name in ENDPOINTS
        }
    return value


def _only_operations(value: dict[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    value["operations"] = {name: known for name, known in value["operations"].items() if name in wanted}
    return value


def _without_prose(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_prose(inner)
            for name, inner in value.items()
            if not (name == "documentation" and isinstance(inner, str))
        }
    return [_without_prose(inner) for inner in value] if isinstance(value, list) else value


if __name__ == "__main__":
    main(Path(sys.argv[1]))
