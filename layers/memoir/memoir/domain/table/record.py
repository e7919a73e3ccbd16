"""What a table is to its host: the document, its revision, and how far replies are in it."""

import json
from dataclasses import dataclass
from typing import Any

from memoir.domain.revision import Revision
from memoir.domain.table.document import TableDocument

MAX_REPORT_BYTES = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class TableRecord:
    """A table, its revision, and the last round whose reply it reflects. None yet: revision 0."""

    revision: Revision
    through_round: int
    document: TableDocument | None = None


def bounded_report(report: dict[str, Any]) -> dict[str, Any]:
    """Return *report*, without the names of changed columns where it has more than 256 KiB with them."""
    if len(json.dumps(report, ensure_ascii=False).encode()) <= MAX_REPORT_BYTES:
        return report
    commands = [
        {name: told for name, told in command.items() if name != "changed"} for command in report["commands"]
    ]
    return {**report, "flags": [*report["flags"], "changed_left_out"], "commands": commands}
