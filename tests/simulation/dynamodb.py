"""DynamoDB in memory, for low-level clients: atomic requests, AWS's own limits and errors. No faults here.

One table with the keys `pk` and `sk`. An item that is stored is never changed: writes put another one in its
place, so that what was read stays as it was.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.answers import aws_error, cancelled
from tests.simulation.evaluation import Names, holds, projected, updated
from tests.simulation.expressions import (
    ExpressionInvalid,
    Item,
    Tree,
    condition_tree,
    path_heads,
    projection_paths,
    update_tree,
)
from tests.simulation.items import Place, SizedItem, checked_item, place_of

MAX_PAGE_BYTES = 1024 * 1024
MAX_TRANSACTION_ITEMS, MAX_TRANSACTION_BYTES = 100, 4 * 1024 * 1024
LAST_CHARACTER = "\U0010ffff"
MAX_GET_KEYS, MAX_GET_BYTES, MAX_WRITE_ITEMS = 100, 16 * 1024 * 1024, 25


@dataclass(frozen=True, kw_only=True)
class _Write:
    """A write that was checked: where, on which condition, and what becomes of the item (None: deleted)."""

    place: Place
    condition: Tree | None
    names: Names
    make: Callable[[Item | None], "SizedItem | None"]
    tells_old: bool
    touched: Callable[[], set[str]] = set


@dataclass
class InMemoryDynamoDb:
    """The store behind the clients."""

    table_name: str
    items: dict[Place, Item] = field(default_factory=dict)
    sizes: dict[Place, int] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    tokens: dict[str, Any] = field(default_factory=dict)

    def execute(self, operation: str, request: Item) -> Item:
        """Run one request, all of it or nothing. Raises ClientError."""
        name = "".join(part.capitalize() for part in operation.split("_"))
        try:
            answer: Item = getattr(self, f"_{operation}")(request)
        except ExpressionInvalid as error:
            raise aws_error("ValidationException", name, message=str(error)) from error
        return {**answer, "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}}

    # Reads

    def _get_item(self, request: Item) -> Item:
        self._check_table(request["TableName"])
        item = self.items.get(place_of(request["Key"], whole=True))
        if item is None:
            return {}
        return {"Item": _visible(item, request)}

    def _batch_get_item(self, request: Item) -> Item:
        answers: dict[str, list[Item]] = {}
        size_bytes = 0
        for table_name, wanted in request["RequestItems"].items():
            self._check_table(table_name)
            places = [place_of(key, whole=True) for key in wanted["Keys"]]
            if not 1 <= len(places) <= MAX_GET_KEYS:
                raise ExpressionInvalid("Too many items requested for the BatchGetItem call")
            if len(set(places)) != len(places):
                raise ExpressionInvalid("Provided list of item keys contains duplicates")
            found = [place for place in places if place in self.items]
            size_bytes += sum(self.sizes[place] for place in found)
            answers[table_name] = [_visible(self.items[place], wanted) for place in found]
        if size_bytes > MAX_GET_BYTES:
            raise ExpressionInvalid("16 MB of items: the fake does not leave keys unprocessed by itself")
        return {"Responses": answers, "UnprocessedKeys": {}}

    def _query(self, request: Item) -> Item:
        self._check_table(request["TableName"])
        key_condition = condition_tree(request["KeyConditionExpression"])
        filter_text, projection = request.get("FilterExpression"), request.get("ProjectionExpression")
        keep = condition_tree(filter_text) if filter_text else None
        paths = projection_paths(projection) if projection else None
        names = Names.of(request, key_condition, keep, paths)
        if keep and {names.names.get(head, head) for head in path_heads(keep)} & {"pk", "sk"}:
            raise ExpressionInvalid("Filter Expression can only contain non-primary key attributes")
        pk, low, high, exclusive = _key_range(key_condition, names)
        places = self._between(pk, low, high)
        if exclusive:
            places = [place for place in places if place[1] != exclusive]
        if request.get("ScanIndexForward") is False:
            places.reverse()
        places = _behind(places, request)
        page, last = self._page(places, request.get("Limit"))
        found = [self.items[place] for place in page]
        kept = [item for item in found if holds(keep, item, names)]
        answer: Item = {
            "Items": [projected(paths, item, names) if paths else dict(item) for item in kept],
            "Count": len(kept),
            "ScannedCount": len(found),
        }
        if last:
            answer["LastEvaluatedKey"] = {"pk": {"S": last[0]}, "sk": {"S": last[1]}}
        return answer

    def _between(self, pk: str, low: str | None, high: str | None) -> list[Place]:
        order = self.order.get(pk, [])
        begin = 0 if low is None else bisect_left(order, low)
        end = len(order) if high is None else bisect_right(order, high)
        return [(pk, sk) for sk in order[begin:end]]

    def _page(self, places: list[Place], limit: int | None) -> tuple[list[Place], Place | None]:
        """Return the places of one page, and the last of them where a limit ended it."""
        page: list[Place] = []
        size_bytes = 0
        for place in places:
            page.append(place)
            size_bytes += self.sizes[place]
            if size_bytes > MAX_PAGE_BYTES or len(page) == limit:
                return page, place
        return page, None

    # Writes

    def _put_item(self, request: Item) -> Item:
        return self._write_one("Put", request)

    def _update_item(self, request: Item) -> Item:
        return self._write_one("Update", request)

    def _delete_item(self, request: Item) -> Item:
        return self._write_one("Delete", request)

    def _write_one(self, kind: str, request: Item) -> Item:
        write = self._checked(kind, request)
        before = self.items.get(write.place)
        if not holds(write.condition, before, write.names):
            old = {"Item": dict(before)} if before and write.tells_old else {}
            message = "The conditional request failed"
            raise aws_error("ConditionalCheckFailedException", f"{kind}Item", message=message, **old)
        after = write.make(before)
        self._store(write.place, after)
        wanted = request.get("ReturnValues", "NONE")
        return _returned(wanted, before, after and after.item, write.touched())

    def _transact_write_items(self, request: Item) -> Item:
        token = request.get("ClientRequestToken")
        if token in self.tokens:
            if self.tokens[token] != request["TransactItems"]:
                raise aws_error("IdempotentParameterMismatchException", "TransactWriteItems")
            return {}
        writes = [
            self._checked(kind, body) for entry in request["TransactItems"] for kind, body in entry.items()
        ]
        if not 1 <= len(writes) <= MAX_TRANSACTION_ITEMS:
            raise ExpressionInvalid("Member must have length less than or equal to 100")
        if len({write.place for write in writes}) != len(writes):
            raise ExpressionInvalid("Transaction request cannot include multiple operations on one item")
        before = [self.items.get(write.place) for write in writes]
        kept = [holds(write.condition, item, write.names) for write, item in zip(writes, before, strict=True)]
        if not all(kept):
            raise cancelled(
                [
                    _reason(write, item, held=held)
                    for write, item, held in zip(writes, before, kept, strict=True)
                ]
            )
        after = [write.make(item) for write, item in zip(writes, before, strict=True)]
        if sum(made.size_bytes for made in after if made) > MAX_TRANSACTION_BYTES:
            raise ExpressionInvalid("Transaction request exceeds 4 MB")
        for write, made in zip(writes, after, strict=True):
            self._store(write.place, made)
        if token:
            self.tokens[token] = request["TransactItems"]
        return {}

    def _batch_write_item(self, request: Item) -> Item:
        writes = [
            self._checked(kind.removesuffix("Request"), {"TableName": table_name, **body})
            for table_name, entries in request["RequestItems"].items()
            for entry in entries
            for kind, body in entry.items()
        ]
        if not 1 <= len(writes) <= MAX_WRITE_ITEMS:
            raise ExpressionInvalid("Too many items requested for the BatchWriteItem call")
        if len({write.place for write in writes}) != len(writes):
            raise ExpressionInvalid("Provided list of item keys contains duplicates")
        for write in writes:
            self._store(write.place, write.make(self.items.get(write.place)))
        return {"UnprocessedItems": {}}

    def _checked(self, kind: str, request: Item) -> _Write:
        self._check_table(request["TableName"])
        condition_text, update_text = request.get("ConditionExpression"), request.get("UpdateExpression")
        condition = condition_tree(condition_text) if condition_text else None
        update = update_tree(update_text) if update_text else None
        names = Names.of(request, condition, update)
        place = place_of(request["Item"] if kind == "Put" else request["Key"], whole=kind != "Put")
        touched: set[str] = set()

        def make(before: Item | None) -> SizedItem | None:
            if kind == "ConditionCheck":
                return SizedItem(before, self.sizes[place]) if before else None
            if kind == "Delete":
                return None
            after = dict(request["Item"]) if kind == "Put" else before or dict(request["Key"])
            if update:
                after, changed = updated(update, after, names)
                touched.update(changed)
            return checked_item(after, touched)

        return _Write(
            place=place,
            condition=condition,
            names=names,
            make=make,
            tells_old=request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD",
            touched=lambda: touched,
        )

    def _store(self, place: Place, made: SizedItem | None) -> None:
        pk, sk = place
        if made is None:
            if self.items.pop(place, None) is not None:
                del self.sizes[place]
                self.order[pk].remove(sk)
            return
        if place not in self.items:
            insort(self.order.setdefault(pk, []), sk)
        self.items[place], self.sizes[place] = made

    def _check_table(self, name: str) -> None:
        if name != self.table_name:
            raise aws_error("ResourceNotFoundException", "Request", message="Requested resource not found")


def _visible(item: Item, request: Item) -> Item:
    text = request.get("ProjectionExpression")
    if not text:
        return dict(item)
    paths = projection_paths(text)
    return projected(paths, item, Names.of(request, paths))


def _key_range(tree: Tree, names: Names) -> tuple[str, str | None, str | None, str | None]:
    """Return pk, the bounds of sk, and the bound that does not belong to the range itself, if any."""
    parts = [tree[1], tree[2]] if tree[0] == "and" else [tree]
    pk = low = high = exclusive = None
    for part in parts:
        name, value = names.path(part[1])[0], names.values[part[2][1]]["S"]
        if name == "pk" and part[0] == "=":
            pk = value
        elif name != "sk":
            raise ExpressionInvalid("Query key condition not supported")
        elif part[0] == "between":
            low, high = value, names.values[part[3][1]]["S"]
        else:
            low = value if part[0] in ("=", ">", ">=", "begins_with") else None
            high = value if part[0] in ("=", "<", "<=") else None
            high = value + LAST_CHARACTER if part[0] == "begins_with" else high
            exclusive = value if part[0] in ("<", ">") else None
    if pk is None:
        raise ExpressionInvalid("Query condition missed key schema element: pk")
    return pk, low, high, exclusive


def _behind(places: list[Place], request: Item) -> list[Place]:
    start = request.get("ExclusiveStartKey")
    if start is None:
        return places
    place = place_of(start, whole=True)
    backwards = request.get("ScanIndexForward") is False
    return [other for other in places if (other < place if backwards else other > place)]


def _reason(write: _Write, item: Item | None, *, held: bool) -> Item:
    if held:
        return {"Code": "None"}
    old = {"Item": dict(item)} if item and write.tells_old else {}
    return {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed", **old}


def _returned(wanted: str, before: Item | None, after: Item | None, touched: set[str]) -> Item:
    source = {"ALL_OLD": before, "UPDATED_OLD": before, "ALL_NEW": after, "UPDATED_NEW": after}.get(wanted)
    if source is None:
        return {}
    if wanted.startswith("UPDATED"):
        source = {name: value for name, value in source.items() if name in touched}
    return {"Attributes": dict(source)} if source else {}
