"""Every key of the table. Each part is percent-encoded, so that no id can forge a separator.

| what                        | pk                                  | sk       |
|-----------------------------|-------------------------------------|----------|
| a conversation's document   | P#<product>#U#<user>#C#<conversation> | D#<kind> |
"""

from urllib.parse import quote

from memoir.domain.scope import Scope
from memoir.ports import DocumentKey


def conversation_pk(scope: Scope) -> str:
    """Return the partition key of all that belongs to one conversation."""
    return f"P#{_part(scope.product)}#U#{_part(scope.user)}#C#{_part(scope.conversation)}"


def document_key(key: DocumentKey) -> dict[str, dict[str, str]]:
    """Return the whole key of a document, in DynamoDB's notation."""
    return {"pk": {"S": conversation_pk(key.scope)}, "sk": {"S": f"D#{_part(key.kind)}"}}


def _part(value: str) -> str:
    return quote(value, safe="")
