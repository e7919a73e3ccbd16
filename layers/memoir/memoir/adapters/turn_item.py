"""How turns, turn ids and heads lie in items. Every reader raises RecordCorrupt for what it did not write."""

import json

from memoir.adapters import keys
from memoir.adapters.dynamodb import Item
from memoir.adapters.packing import pack, unpack
from memoir.domain.scope import Scope
from memoir.domain.turns import KnownTurn, Turn, TurnHead
from memoir.errors import RecordCorrupt

HEAD_ATTRIBUTES = ("last_position", "last_turn_id", "accepted_through")
KNOWN_ATTRIBUTES = ("place", "text_hash", "scenario_id", "subscription_category", "superseded")

# Names and values of the attributes beside the texts and the keys.
_ATTRIBUTE_BYTES = 200


def turn_item(scope: Scope, turn: Turn) -> Item:
    """Return the item of one version of a round."""
    texts = json.dumps([turn.user_text, turn.assistant_text], ensure_ascii=False)
    item = {
        **keys.turn(scope, turn.position),
        "turn_id": {"S": turn.turn_id},
        "body": pack(texts, beside_bytes=_ATTRIBUTE_BYTES),
        "scenario_id": {"S": turn.scenario_id},
        "table_revision": {"N": str(turn.table_revision)},
        "recorded_at": {"S": turn.recorded_at},
    }
    if turn.subscription_category:
        item["subscription_category"] = {"S": turn.subscription_category}
    return item


def read_turn(item: Item) -> Turn:
    """Return the turn that `turn_item` stored."""
    try:
        user_text, assistant_text = json.loads(unpack(item["body"]))
        return Turn(
            position=keys.read_turn_sk(item["sk"]["S"]),
            turn_id=item["turn_id"]["S"],
            user_text=user_text,
            assistant_text=assistant_text,
            scenario_id=item["scenario_id"]["S"],
            subscription_category=item.get("subscription_category", {}).get("S"),
            table_revision=int(item["table_revision"]["N"]),
            recorded_at=item["recorded_at"]["S"],
        )
    except (KeyError, ValueError, TypeError):
        raise RecordCorrupt(detail="a stored turn breaks its own rules; it is kept as it is") from None


def read_head(item: Item | None) -> TurnHead:
    """Return the head of a conversation; the one before its first turn where *item* is None."""
    if item is None:
        return TurnHead()
    try:
        return TurnHead(
            last=keys.read_position(item["last_position"]["S"]),
            last_turn_id=item["last_turn_id"]["S"],
            accepted_through=int(item["accepted_through"]["N"]),
        )
    except (KeyError, ValueError):
        raise RecordCorrupt(detail="a stored turn head breaks its own rules; it is kept as it is") from None


def read_known(item: Item) -> KnownTurn:
    """Return what is kept under a turn's id."""
    try:
        return KnownTurn(
            position=keys.read_position(item["place"]["S"]),
            text_hash=item["text_hash"]["S"],
            scenario_id=item["scenario_id"]["S"],
            subscription_category=item.get("subscription_category", {}).get("S"),
            superseded=item.get("superseded", {}).get("BOOL", False),
        )
    except (KeyError, ValueError):
        raise RecordCorrupt(detail="a stored turn id breaks its own rules; it is kept as it is") from None
