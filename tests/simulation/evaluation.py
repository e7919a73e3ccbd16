"""What expressions say of an item, and what updates make of it. Values are DynamoDB's: `{"S": "text"}`."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.simulation.expressions import ExpressionInvalid, Item, Tree, placeholders


@dataclass(frozen=True, kw_only=True)
class Names:
    """The placeholders of one request. Refuses those that no expression uses, as DynamoDB does."""

    values: Item = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Item, *trees: Tree | None) -> "Names":
        """Return the placeholders of *request*, whose expressions are *trees*."""
        values = request.get("ExpressionAttributeValues") or {}
        names = request.get("ExpressionAttributeNames") or {}
        used: set[str] = set()
        for tree in trees:
            if tree is not None:
                used |= placeholders(tree)
        if used != {*values, *names}:
            odd = sorted(used ^ {*values, *names})
            raise ExpressionInvalid(f"placeholders unused or not given: {odd}")
        return cls(values=values, names=names)

    def path(self, tree: Tree) -> tuple[Any, ...]:
        """Return the real names of a path."""
        return tuple(self.names.get(part, part) if isinstance(part, str) else part for part in tree[1:])


def holds(tree: Tree | None, item: Item | None, names: Names) -> bool:
    """Tell whether a condition holds of *item*; None is no item."""
    return tree is None or _truth(tree, item or {}, names)


def _truth(tree: Tree, item: Item, names: Names) -> bool:
    kind = tree[0]
    if kind == "and":
        return _truth(tree[1], item, names) and _truth(tree[2], item, names)
    if kind == "or":
        return _truth(tree[1], item, names) or _truth(tree[2], item, names)
    if kind == "not":
        return not _truth(tree[1], item, names)
    operands = [value_of(part, item, names) for part in tree[1:]]
    if kind == "attribute_exists":
        return operands[0] is not None
    if kind == "attribute_not_exists":
        return operands[0] is None
    if None in operands[:1] or (kind != "in" and None in operands):
        return kind == "<>" and operands[0] != operands[1]
    return _compared(kind, operands)


def _compared(kind: str, operands: list[Any]) -> bool:
    left, right = operands[0], operands[1]
    if kind in ("=", "<>"):
        return _same(left, right) == (kind == "=")
    if kind == "in":
        return any(_same(left, option) for option in operands[1:])
    if kind == "begins_with":
        return _type(left) == _type(right) and bool(_raw(left).startswith(_raw(right)))
    if kind == "contains":
        return _contains(left, right)
    if kind == "attribute_type":
        return bool(_type(left) == right["S"])
    if kind == "between":
        return _ordered(left, right) and _raw(right) <= _raw(left) <= _raw(operands[2])
    if not _ordered(left, right):
        return False
    low, high = _raw(left), _raw(right)
    return bool({"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}[kind])


def value_of(tree: Tree, item: Item, names: Names) -> Any:
    """Return the value that an operand stands for, None where the item has none."""
    kind = tree[0]
    if kind == "value":
        return names.values[tree[1]]
    if kind == "path":
        return _at(item, names.path(tree))
    if kind == "size":
        found = value_of(tree[1], item, names)
        return None if found is None else {"N": str(_size(found))}
    if kind == "if_not_exists":
        found = value_of(tree[1], item, names)
        return value_of(tree[2], item, names) if found is None else found
    left, right = value_of(tree[1], item, names), value_of(tree[2], item, names)
    if left is None or right is None:
        raise ExpressionInvalid("An expression refers to an attribute that does not exist in the item")
    if kind == "list_append":
        return {"L": [*left["L"], *right["L"]]}
    if "N" not in left or "N" not in right:
        raise ExpressionInvalid("An operand in the update expression has an incorrect data type")
    sum_ = Decimal(left["N"]) + Decimal(right["N"]) * (1 if kind == "+" else -1)
    return {"N": number_text(sum_)}


def updated(actions: Tree, item: Item, names: Names) -> tuple[Item, set[str]]:
    """Return *item* after *actions*, all of which read the item as it was, and which names they touch."""
    after = dict(item)
    touched: set[str] = set()
    for action in actions:
        path = names.path(action[1])
        if path[0] in touched and len(path) == 1:
            raise ExpressionInvalid("Two document paths overlap with each other")
        touched.add(path[0])
        if action[0] == "SET":
            value = value_of(action[2], item, names)
            if value is None:
                raise ExpressionInvalid("The provided expression refers to an attribute that does not exist")
            _put(after, path, value)
        elif action[0] == "REMOVE":
            _put(after, path, None)
        else:
            added = _added(_at(item, path), value_of(action[2], item, names), add=action[0] == "ADD")
            _put(after, path, added)
    return after, touched


def _added(old: Any, value: Any, *, add: bool) -> Any:
    kind = _type(value)
    if old is not None and _type(old) != kind:
        raise ExpressionInvalid("An operand in the update expression has an incorrect data type")
    if kind == "N" and add:
        return {"N": number_text(Decimal(old["N"] if old else 0) + Decimal(value["N"]))}
    if kind not in ("SS", "NS", "BS"):
        raise ExpressionInvalid(f"Incorrect operand type for operator: {kind}")
    members = set(old[kind] if old else ()) | set(value[kind])
    if not add:
        members = set(old[kind] if old else ()) - set(value[kind])
    return {kind: sorted(members)} if members else None


def _put(item: Item, path: tuple[Any, ...], value: Any) -> None:
    """Set or take away (None) what stands at *path*; of nested values, only copies are changed."""
    if len(path) == 1:
        if value is None:
            item.pop(path[0], None)
        else:
            item[path[0]] = value
        return
    parent = _at(item, path[:-1])
    if parent is None or ("L" if isinstance(path[-1], int) else "M") not in parent:
        raise ExpressionInvalid("The document path provided in the update expression is invalid for update")
    kind = _type(parent)
    inner: Any = dict(parent["M"]) if kind == "M" else list(parent["L"])
    if kind == "M":
        inner.pop(path[-1], None)
        if value is not None:
            inner[path[-1]] = value
    else:
        inner[path[-1] : path[-1] + 1] = [] if value is None else [value]
    _put(item, path[:-1], {kind: inner})


def _at(item: Item, path: tuple[Any, ...]) -> Any:
    found: Any = item.get(path[0])
    for part in path[1:]:
        if found is None:
            return None
        if isinstance(part, int):
            members = found.get("L", [])
            found = members[part] if part < len(members) else None
        else:
            found = found.get("M", {}).get(part)
    return found


def projected(paths: tuple[Tree, ...], item: Item, names: Names) -> Item:
    """Return the top-level attributes that *paths* name."""
    wanted = {names.path(path)[0] for path in paths}
    return {name: value for name, value in item.items() if name in wanted}


def number_text(number: Decimal) -> str:
    """Return a number as DynamoDB writes it: no exponent, no trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _type(value: Any) -> str:
    return str(next(iter(value)))


def _raw(value: Any) -> Any:
    kind = _type(value)
    return Decimal(value[kind]) if kind == "N" else value[kind]


def _same(left: Any, right: Any) -> bool:
    if right is None or _type(left) != _type(right):
        return False
    if _type(left) in ("SS", "NS", "BS"):
        return set(left[_type(left)]) == set(right[_type(left)])
    return bool(_raw(left) == _raw(right))


def _ordered(left: Any, right: Any) -> bool:
    return _type(left) == _type(right) and _type(left) in ("S", "N", "B")


def _contains(left: Any, right: Any) -> bool:
    kind = _type(left)
    if kind == "L":
        return any(_same(member, right) for member in left["L"])
    if kind in ("SS", "NS", "BS"):
        return _raw(right) in left[kind]
    return kind == _type(right) == "S" and right["S"] in left["S"]


def _size(value: Any) -> int:
    kind = _type(value)
    return len(value["S"].encode()) if kind == "S" else len(value[kind])
