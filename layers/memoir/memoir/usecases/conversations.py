"""List a user's conversations, by the register."""

from memoir.domain.scope import UserScope
from memoir.errors import RecordCorrupt
from memoir.records.register import Registered, read_registered
from memoir.records.turns import head_key, read_head
from memoir.usecases.engine import Engine

_PAGE = 1000


def list_conversations(
    engine: Engine, *, owner: UserScope, before: str | None, limit: int
) -> tuple[tuple[tuple[str, int, int], ...], str | None]:
    """Return at most *limit* conversations (id, created in ms, last round), newest first, and the next place.

    *before*: `<created in ms>#<id>` of the last one of the page before. The register lies by id, so that a
    user can be walked whole: it is read whole, 1 MiB for about 5,000 conversations, and sorted here.
    Raises StoreUnavailable.
    """
    registered: list[Registered] = []
    for _, record in engine.records.walk(owner, "register", page=_PAGE):
        try:
            registered.append(read_registered(record))
        except RecordCorrupt:
            continue
    registered.sort(key=_age, reverse=True)
    if before:
        created, _, name = before.partition("#")
        registered = [item for item in registered if _age(item) < (int(created), name)]
    page = registered[:limit]
    heads = {item.conversation: head_key(owner.conversation(item.conversation)) for item in page}
    found = engine.records.read(*heads.values()) if heads else {}
    listed: list[tuple[str, int, int]] = []
    for item in page:
        try:
            last_round = read_head(found.get(heads[item.conversation])).last.round
        except RecordCorrupt:
            last_round = 0
        listed.append((item.conversation, item.created_ms, last_round))
    more = len(registered) > limit
    return tuple(listed), f"{page[-1].created_ms}#{page[-1].conversation}" if more else None


def _age(item: Registered) -> tuple[int, str]:
    return item.created_ms, item.conversation
