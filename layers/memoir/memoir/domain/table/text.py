"""`memoryTable`: the table as the model sees it, in the layout that existing prompts know."""

import re

from memoir.domain.model_text.marks import without_live_marks
from memoir.domain.table.document import Sheet, TableDocument

_BREAKS = re.compile(r"\r\n|[\n\r\u2028\u2029]")


def memory_table_text(document: TableDocument) -> str:
    """Return the text of *document*: for each sheet `* index:name`, a header, and rows with their index.

    Equal tables give equal bytes. In the text alone, a line break becomes a space, `,` becomes `，`, and
    marks of edits, comments, reasoning and chat templates are broken up. No sheets: empty.
    """
    return "\n".join(_sheet_text(index, sheet) for index, sheet in enumerate(document.sheets))


def _sheet_text(index: int, sheet: Sheet) -> str:
    header = ",".join(["rowIndex", *(f"{i}:{_cell(column)}" for i, column in enumerate(sheet.columns))])
    rows = (",".join([str(i), *map(_cell, row.cells)]) for i, row in enumerate(sheet.rows))
    return "\n".join([f"* {index}:{_cell(sheet.name)}", header, *rows])


def _cell(text: str) -> str:
    return without_live_marks(_BREAKS.sub(" ", text).replace(",", "，"))
