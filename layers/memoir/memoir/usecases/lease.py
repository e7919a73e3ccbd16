"""A lease on one job: of several workers one is at it, and only who still has it may save."""

from secrets import token_urlsafe

from memoir.errors import LeaseHeld, MemoirError
from memoir.ports.records import Amend, RecordKey, Refused
from memoir.records.diary import lease_return, lease_take
from memoir.records.documents import read_document, revision_conflict
from memoir.usecases.engine import Engine


class Lease:
    """The lease under *key*, for writing the document under *document*."""

    def __init__(self, engine: Engine, key: RecordKey, *, document: RecordKey, seconds: int) -> None:
        """Bind the lease; nothing is taken yet. *seconds*: longer than a worker may run."""
        self._engine = engine
        self._key = key
        self._document = document
        self._seconds = seconds
        self._owner = ""

    def take(self, *, revision: int) -> None:
        """Take the lease, or find it ours already, then see that no other worker has finished meanwhile.

        *revision*: of the document, as it was read. Raises LeaseHeld, RevisionConflict.
        """
        owner = self._owner or token_urlsafe(9)
        now = int(self._engine.clock())
        try:
            self._engine.records.write(lease_take(self._key, owner=owner, now=now, seconds=self._seconds))
        except Refused as refused:
            held = refused.held[self._key.kind]
            left = max(1, held.number("leased_until") - now) if held else 1
            raise LeaseHeld(detail="another worker is at this job", retry_after_seconds=left) from refused
        self._owner = owner
        stored = read_document(self._engine.records.read(self._document).get(self._document))
        current = stored.revision if stored else 0
        if current != revision:
            raise revision_conflict(expected=revision, current=current)

    def giving_back(self) -> Amend:
        """Return the write that gives the lease back. The save goes with it: both fail where it was lost."""
        return lease_return(self._key, owner=self._owner)

    def given_back(self) -> None:
        """Note that the lease was given back with the save."""
        self._owner = ""

    def release(self) -> None:
        """Give the lease back, if it is still ours. An unreturned lease expires."""
        if not self._owner:
            return
        try:
            self._engine.records.write(self.giving_back())
        except (Refused, MemoirError):
            return
