"""Every key of the table. Each part is percent-encoded, so that no id can forge a separator.

pk is `P#<product>`, `P#<product>#U#<user>` or `P#<product>#U#<user>#C#<conversation>`, by the owner. Below:

| kind          | what                                       | sk                                       |
|---------------|--------------------------------------------|------------------------------------------|
| a document's  | memory, table, profile, scenario …         | D#<kind>, and its name if it has one     |
| turn          | a version of a round                       | T#<round, 10 digits>#<version, 6 digits> |
| turn_id       | the turn with an id                        | I#<turn id>                              |
| head          | where the turns stand                      | H                                        |
| cursor        | how far a worker passed                    | C#<worker>                               |
| receipt       | what a worker did for a version of a round | R#<round>#<version>#<worker>             |
| answer        | what an idempotency key was answered       | K#<token>                                |
| claim         | a claim of Hinos's                         | HC#<claim>                               |
| diary         | an entry by its last round; `~`: the head  | E#<agent>#<round, 10 digits>             |
| lease         | who may do a job                           | L#<job>                                  |
| raw           | a failed answer of a model                 | F#<agent>#<round>                        |
| quota         | what a user has used of a month            | Q#<what>#<month>                         |
| copy          | one revision of a document, by its kind    | V#<kind>#<name>#<revision, 16 digits>    |
| rewind        | what a rewind took back                    | G#<generation, 8 digits>                 |
| story_page    | events that moved out of a story           | S#<number of the first, 10 digits>       |
| register      | that a conversation exists                 | U#<user>#C#<conversation>                |

The register's pk is `P#<product>#L#<0–f>`, by a hash of the user, so that a product's conversations can be
walked with no scan.
"""

import hashlib
from base64 import urlsafe_b64encode
from urllib.parse import quote, unquote

from memoir.domain.scope import Scope, UserScope
from memoir.ports.records import Owner, RecordKey

Key = dict[str, dict[str, str]]
"""A whole key in DynamoDB's notation."""

PREFIXES = {
    "turn": "T#",
    "turn_id": "I#",
    "head": "H",
    "cursor": "C#",
    "receipt": "R#",
    "answer": "K#",
    "claim": "HC#",
    "diary": "E#",
    "lease": "L#",
    "raw": "F#",
    "quota": "Q#",
    "register": "U#",
    "copy": "V#",
    "story_page": "S#",
    "rewind": "G#",
}

DOCUMENTS = ("memory", "table", "profile", "scenario", "state", "story", "checkpoint")

# DynamoDB takes 2,048 bytes of pk and 1,024 of sk; an id of 128 characters can have 1,536 once encoded.
_MAX_PART_BYTES = 200


def item_key(key: RecordKey) -> Key:
    """Return the whole key of a record, in DynamoDB's notation."""
    return {
        "pk": {"S": partition(key.owner, key.kind)},
        "sk": {"S": sort_key(key.owner, key.kind, key.name)},
    }


def partition(owner: Owner, kind: str = "") -> str:
    """Return the partition key of what *owner* has of that kind."""
    pk = f"P#{_part(owner.product)}"
    if isinstance(owner, UserScope | Scope):
        user = _part(owner.user)
        if kind == "register":
            return f"{pk}#L#{hashlib.sha256(user.encode()).hexdigest()[0]}"
        pk += f"#U#{user}"
    if isinstance(owner, Scope):
        pk += f"#C#{_part(owner.conversation)}"
    return pk


def sort_key(owner: Owner, kind: str, name: tuple[str, ...]) -> str:
    """Return the sort key of a record. Order of keys is order of names."""
    parts = "#".join(map(_part, name))
    if kind == "register" and isinstance(owner, UserScope):
        return f"U#{_part(owner.user)}#C#{parts}"
    if kind in PREFIXES:
        return PREFIXES[kind] + parts
    if kind not in DOCUMENTS:
        raise KeyError(f"{kind} has no key")
    return f"D#{kind}" + (f"#{parts}" if name else "")


def name_of(owner: Owner, kind: str, sk: str) -> tuple[str, ...]:
    """Return the name that `sort_key` wrote. A part that was too long to be kept comes back as its hash."""
    rest = sk.removeprefix(sort_key(owner, kind, ())).removeprefix("#")
    return tuple(map(unquote, rest.split("#"))) if rest else ()


def _part(value: str) -> str:
    encoded = quote(value, safe="")
    if len(encoded) <= _MAX_PART_BYTES:
        return encoded
    # `!` is encoded in every other part, so that no id can be taken for the hash of another.
    return "!" + urlsafe_b64encode(hashlib.sha256(value.encode()).digest()).decode().rstrip("=")
