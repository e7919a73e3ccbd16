"""Every key of the table. Each part is percent-encoded, so that no id can forge a separator.

pk is `P#<product>#U#<user>#C#<conversation>`; below it:

| what                       | sk                              |
|----------------------------|---------------------------------|
| a document                 | D#<kind>                        |
| a version of a round       | T#<round, 10 digits>#<version, 6 digits> |
| the turn with an id        | I#<turn id>                     |
| where the turns stand      | H                               |
| the answer to an idempotency key, for a day | K#<token> |
| what an idempotency key stands for, for a day | KR#<token> |
| a claim of Hinos's         | HC#<claim>                      |
| how far a worker passed    | C#<worker>                      |
| a diary's entry, by its last round | E#<agent>#<round>       |
| a diary's head             | E#<agent>#~                     |
| the lease of a diary's worker | L#<agent>                    |
| a failed answer, for 7 days | F#<agent>#<round>              |
| a user's diaries of a month (pk without C#) | Q#diary#<month> |
| a worker's receipt         | R#<round>#<version>#<worker>    |
"""

from urllib.parse import quote

from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.receipt import Receipt
from memoir.domain.scenario import Worker
from memoir.domain.scope import Scope, UserScope
from memoir.domain.turns import Position
from memoir.ports import DocumentKey

Key = dict[str, dict[str, str]]
"""A whole key in DynamoDB's notation."""

LAST_TURN_SK = "T#~"
"""Behind every turn: `~` sorts after digits."""

FIRST_RECEIPT_SK, LAST_RECEIPT_SK = "R#", "R#~"
"""Before and behind every receipt."""


def user_pk(owner: UserScope) -> str:
    """Return the partition key of what belongs to one user across conversations."""
    return f"P#{_part(owner.product)}#U#{_part(owner.user)}"


def conversation_pk(scope: Scope) -> str:
    """Return the partition key of all that belongs to one conversation."""
    return f"{user_pk(scope.owner)}#C#{_part(scope.conversation)}"


def document_key(key: DocumentKey) -> Key:
    """Return the whole key of a document, in DynamoDB's notation."""
    return _key(key.scope, f"D#{_part(key.kind)}")


def table_document(scope: Scope) -> Key:
    """Return the key of the memory table's document."""
    return document_key(DocumentKey(scope=scope, kind="table"))


def turn(scope: Scope, position: Position) -> Key:
    """Return the key of one version of a round."""
    return _key(scope, turn_sk(position))


def turn_sk(position: Position) -> str:
    """Return the sort key of one version of a round. Order of keys is order of positions."""
    return f"T#{position_text(position)}"


def read_turn_sk(sk: str) -> Position:
    """Return the position that `turn_sk` wrote. Raises ValueError."""
    return read_position(sk.removeprefix("T#"))


def position_text(position: Position) -> str:
    """Return a position as text of fixed width."""
    return f"{position.round:010}#{position.version:06}"


def read_position(text: str) -> Position:
    """Return the position that `position_text` wrote. Raises ValueError."""
    turn_round, version = text.split("#")
    return Position(round=int(turn_round), version=int(version))


def turn_id(scope: Scope, value: str) -> Key:
    """Return the key of what is known of a turn id."""
    return _key(scope, f"I#{_part(value)}")


def turn_head(scope: Scope) -> Key:
    """Return the key of where the turns of a conversation stand."""
    return _key(scope, "H")


def kept_answer(scope: Scope, name: str) -> Key:
    """Return the key of the answer to the request whose idempotency key has the token *name*."""
    return _key(scope, f"K#{name}")


def bound_request(scope: Scope, name: str) -> Key:
    """Return the key of what the idempotency key with the token *name* stands for."""
    return _key(scope, f"KR#{name}")


def claim(scope: Scope, claim_id: str) -> Key:
    """Return the key of a claim that Hinos gave."""
    return _key(scope, f"HC#{_part(claim_id)}")


def cursor(scope: Scope, worker: Worker) -> Key:
    """Return the key of how far a worker has passed turns that changed nothing."""
    return _key(scope, f"C#{worker}")


def diary_entry(scope: Scope, agent: AgentRef, last_round: int) -> Key:
    """Return the key of the diary entry that ends at *last_round*. Order of keys is order of rounds."""
    return _key(scope, f"E#{_part(agent)}#{last_round:010}")


def diary_head(scope: Scope, agent: AgentRef) -> Key:
    """Return the key of a diary's head. It sorts behind all its entries: `~` after digits."""
    return _key(scope, f"E#{_part(agent)}#~")


def diary_lease(scope: Scope, agent: AgentRef) -> Key:
    """Return the key of the lease for writing a diary."""
    return _key(scope, f"L#{_part(agent)}")


def diary_raw(scope: Scope, agent: AgentRef, last_round: int) -> Key:
    """Return the key of the raw answer from which no diary up to *last_round* could be read."""
    return _key(scope, f"F#{_part(agent)}#{last_round:010}")


def diary_quota(scope: Scope, month: str) -> Key:
    """Return the key of how many diaries a user has had in *month*. It belongs to the user."""
    return {"pk": {"S": user_pk(scope.owner)}, "sk": {"S": f"Q#diary#{month}"}}


def receipt(scope: Scope, value: Receipt) -> Key:
    """Return the key of a receipt: one for each worker and version of a round."""
    return _key(scope, f"R#{position_text(value.position)}#{value.worker}")


def read_receipt_sk(sk: str) -> Position:
    """Return the position of a receipt's sort key. Raises ValueError."""
    return read_position(sk.removeprefix("R#").rpartition("#")[0])


def _key(scope: Scope, sk: str) -> Key:
    return {"pk": {"S": conversation_pk(scope)}, "sk": {"S": sk}}


def _part(value: str) -> str:
    return quote(value, safe="")
