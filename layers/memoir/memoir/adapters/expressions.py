"""Conditions and changes of records in DynamoDB's expression language. Every name is a placeholder."""

from typing import Any

from memoir.ports.records import Absent, Amend, Condition, Fact, Is, Stands

Item = dict[str, Any]
"""An item in DynamoDB's notation: {"name": {"S": "text"}}."""


def attribute(value: Fact) -> Item:
    """Return a fact in DynamoDB's notation."""
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"N": str(value)} if isinstance(value, int) else {"S": value}


class Expressions:
    """The expressions of one write, and the names and values that they use."""

    def __init__(self, *, now: int) -> None:
        """Take *now*, by which records have expired: seconds since 1970."""
        self._now = now
        self._names: dict[str, str] = {}
        self._values: dict[tuple[str, Any], str] = {}
        self._expressions: dict[str, str] = {}

    def require(self, condition: Condition) -> None:
        """Let the write happen only where *condition* holds."""
        if condition:
            parts = [self._absent() if isinstance(part, Absent) else self._stands(part) for part in condition]
            self._expressions["ConditionExpression"] = " OR ".join(parts)

    def change(self, amend: Amend, *, facts: dict[str, Fact], body: Item | None) -> None:
        """Set, and add to, what *amend* says; *facts* in place of its own."""
        sets = [f"{self._name(name)} = {self._value(attribute(value))}" for name, value in facts.items()]
        for name, value in amend.at_first.items():
            place = self._name(name)
            sets.append(f"{place} = if_not_exists({place}, {self._value(attribute(value))})")
        if body is not None:
            sets.append(f"{self._name('body')} = {self._value(body)}")
        if amend.expires_at is not None:
            sets.append(f"{self._name('expires_at')} = {self._value(attribute(amend.expires_at))}")
        adds = [f"{self._name(name)} {self._value(attribute(value))}" for name, value in amend.add.items()]
        parts = [f"SET {', '.join(sets)}"] if sets else []
        parts += [f"ADD {', '.join(adds)}"] if adds else []
        self._expressions["UpdateExpression"] = " ".join(parts)

    def parameters(self) -> Item:
        """Return the parameters of the request that the expressions make."""
        parameters: Item = dict(self._expressions)
        if self._names:
            parameters["ExpressionAttributeNames"] = {place: name for name, place in self._names.items()}
        if self._values:
            parameters["ExpressionAttributeValues"] = {
                place: {kind: value} for (kind, value), place in self._values.items()
            }
        return parameters

    def _absent(self) -> str:
        return f"attribute_not_exists(pk) OR {self._name('expires_at')} <= {self._present()}"

    def _stands(self, part: Stands) -> str:
        expiry = self._name("expires_at")
        wanted = ["attribute_exists(pk)", f"(attribute_not_exists({expiry}) OR {expiry} > {self._present()})"]
        return f"({' AND '.join([*wanted, *map(self._holds, part.facts)])})"

    def _holds(self, wanted: Is) -> str:
        name, value = self._name(wanted.fact), self._value(attribute(wanted.value))
        if wanted.relation == "does not begin with":
            return f"NOT begins_with({name}, {value})"
        compared = f"{name} {wanted.relation} {value}"
        if wanted.relation == "=" and not wanted.value:
            return f"(attribute_not_exists({name}) OR {compared})"
        return compared

    def _present(self) -> str:
        return self._value(attribute(self._now))

    def _name(self, name: str) -> str:
        return self._names.setdefault(name, f"#{name}")

    def _value(self, value: Item) -> str:
        ((kind, content),) = value.items()
        return self._values.setdefault((kind, content), f":v{len(self._values)}")
