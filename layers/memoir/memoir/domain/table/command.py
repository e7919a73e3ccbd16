"""One edit as it was read from a reply, before it meets a table."""

from dataclasses import dataclass
from typing import Literal

Op = Literal["insert", "update", "delete"]

SOURCE_CHARACTERS = 120

# Codes of commands that could not be read, which make the deletes of the same reply unsafe.
UNREADABLE = frozenset(
    {
        "bad_object",
        "bad_args",
        "ambiguous_quotes",
        "unterminated_string",
        "truncated",
        "too_many_commands",
    }
)

ColumnKey = int | str
"""A column by index, or as it was written: its name, or its index where no column is called so."""

Cells = tuple[tuple[ColumnKey, str], ...]


def written_index(key: ColumnKey) -> int | None:
    """Return the index that *key* is or, in at most 9 digits, says."""
    if isinstance(key, int):
        return key
    return int(key) if key.isascii() and key.isdigit() and len(key) <= 9 else None


@dataclass(frozen=True, kw_only=True)
class SheetRef:
    """Which sheet: by index, by name, or by both, which then must agree."""

    index: int | None = None
    name: str | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.index, self.name) if part is not None)


@dataclass(frozen=True, kw_only=True)
class Command:
    """An edit, or why there is none: then `code` says so and `status` is rejected or ignored.

    `row`: the index of the row that the model was shown. `expect`: what cells of it must hold. `match`: cells
    that name the row instead. `positional`: the cells came without column names. `at`: where in the reply.
    """

    op: str
    block: int = 0
    sheet: SheetRef | None = None
    row: int | None = None
    match: Cells = ()
    expect: Cells = ()
    cells: Cells = ()
    positional: bool = False
    status: Literal["read", "rejected", "ignored"] = "read"
    code: str | None = None
    repairs: tuple[str, ...] = ()
    at: int | None = None
    src: str | None = None
