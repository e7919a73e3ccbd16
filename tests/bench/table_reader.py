"""CPU of reading and applying a long reply, and how it grows with the length."""

import time

from memoir.domain.table.apply import apply_edits
from memoir.domain.table.document import TableDocument, table_document
from memoir.domain.table.reply import read_reply
from memoir.domain.table.resolve import settle, shown_rows


def main() -> None:
    """Print ms for 200 commands in 64 KiB (target: 20), and the cost of a KiB from 16 to 256 KiB."""
    print("\ntable reader: CPU to read and apply a reply (target: 20 ms for 200 commands in 64 KiB)")
    base = None
    for kib in (16, 64, 256):
        text = reply(kib * 1024)
        milliseconds = min(_measure(text) for _ in range(7))
        base = base or milliseconds / kib
        print(
            f"  {kib:4} KiB, 200 commands: {milliseconds:6.1f} ms, "
            f"cost of a KiB {milliseconds / kib / base:.2f} of that at 16 KiB"
        )
    for kib in (16, 64, 256):
        text = "<tableEdit>\n" + 'updateRow(0, 0, {"1":"未完\n' * (kib * 1024 // 30)
        print(f"  {kib:4} KiB of commands that never end: {min(_measure(text) for _ in range(3)):6.1f} ms")


def table() -> TableDocument:
    """Return a table of 100 rows."""
    rows = [[f"名{n}", "剑", "a"] for n in range(100)]
    sheets = [{"name": "人物表", "columns": ["名", "物", "备注"], "rows": rows}]
    return table_document({"sheets": sheets})


def reply(size_bytes: int) -> str:
    """Return a reply of about *size_bytes* whose 200 commands fill a third of it; the rest is story."""
    filler = "她" * max(1, size_bytes // 3 // 200 // 3 - 20)
    commands = "\n".join(
        f'updateRow(0, {n % 100}, {{"1":"{filler[:3900]}", "2":"第{n}次"}})' for n in range(200)
    )
    story = "夜色渐深，城门外的火把在风里摇晃。\n"
    block = f"<tableEdit>\n<!--\n{commands}\n-->\n</tableEdit>"
    return story * ((size_bytes - len(block.encode())) // len(story.encode())) + block


def _measure(text: str) -> float:
    document = table()
    started = time.process_time()
    read = read_reply(text)
    edits = settle(read.commands, shown=shown_rows(document))
    apply_edits(document, edits, truncated="truncated" in read.flags)
    return (time.process_time() - started) * 1000


if __name__ == "__main__":
    main()
