"""What is told of a reply's edits: a status for the whole, and what became of each command."""

from typing import Any

from memoir.domain.table.apply import Applied
from memoir.domain.table.document import TableDocument
from memoir.domain.table.reply import Reply
from memoir.domain.table.resolve import Edit

_COUNTED = ("applied", "noop", "rejected", "held", "ignored")


def edit_report(
    *, base: TableDocument, reply: Reply, edits: tuple[Edit, ...], applied: Applied
) -> dict[str, Any]:
    """Return the report as plain JSON: `status, changed, flags, counts, commands`.

    status: no_block, no_edits (an empty block), no_change (commands, the same table), rejected (none usable),
    saved.
    """
    changed = not applied.document.same_content(base)
    counts = dict.fromkeys(_COUNTED, 0)
    commands = []
    for index, (edit, outcome) in enumerate(zip(edits, applied.outcomes, strict=True)):
        counts[outcome.status] += 1
        command = edit.command
        told: dict[str, Any] = {"i": index, "block": command.block, "op": command.op}
        if edit.sheet is not None:
            told["table"] = edit.sheet
        elif command.sheet is not None:
            told["table"] = str(command.sheet)
        optional = {
            "rowId": outcome.row_id,
            "code": outcome.code,
            "repairs": list(command.repairs) or None,
            "changed": list(outcome.changed) or None,
            "at": command.at if outcome.status == "rejected" else None,
            "src": command.src if outcome.status == "rejected" else None,
        }
        told["status"] = outcome.status
        told |= {name: value for name, value in optional.items() if value is not None}
        commands.append(told)
    return {
        "status": _status(reply, counts, changed=changed),
        "changed": changed,
        "flags": list(reply.flags),
        "counts": counts,
        "commands": commands,
    }


def _status(reply: Reply, counts: dict[str, int], *, changed: bool) -> str:
    if changed:
        return "saved"
    if not reply.blocks:
        return "no_block"
    if not sum(counts[name] for name in _COUNTED if name != "ignored"):
        return "no_edits"
    return (
        "rejected"
        if counts["rejected"] + counts["held"] and not counts["noop"] + counts["applied"]
        else "no_change"
    )
