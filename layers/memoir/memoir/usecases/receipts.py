"""List what the background did for each turn, and why."""

from memoir.domain.page import PageRoom
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.errors import RecordCorrupt
from memoir.records.receipts import read_receipt
from memoir.usecases.engine import Engine


def list_receipts(
    engine: Engine, *, scope: Scope, before: str | None, limit: int
) -> tuple[tuple[Receipt, ...], str | None]:
    """Return at most *limit* receipts below the place *before*, newest first, and the place of the next page.

    One that cannot be read is left out. Raises StoreUnavailable.
    """
    last = tuple(before.split("#")) if before else ("~",)
    receipts: list[Receipt] = []
    place, room = None, PageRoom()
    for name, record in engine.records.walk(scope, "receipt", last=last, backwards=True, page=limit + 2):
        if name == last:
            continue
        if len(receipts) == limit or not room.takes(record.body or ""):
            return tuple(receipts), place
        try:
            receipts.append(read_receipt(name, record))
        except RecordCorrupt:
            continue
        place = "#".join(name)
    return tuple(receipts), None
