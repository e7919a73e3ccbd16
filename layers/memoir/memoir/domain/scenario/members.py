"""Read the members of an object one by one, and note all that is wrong, each with its place."""

from collections.abc import Collection
from typing import Any

from memoir.errors import Problem

MAX_PROBLEMS = 100


class Problems:
    """What is wrong with a value, in the order in which it was found; at most 100 are kept."""

    def __init__(self) -> None:
        """Begin with none."""
        self.found: list[Problem] = []

    def add(self, path: str, code: str, detail: str) -> None:
        """Note one."""
        self.extend([{"path": path, "code": code, "detail": f"{path}: {detail}"}])

    def extend(self, problems: Collection[Problem]) -> None:
        """Note several."""
        self.found += list(problems)[: MAX_PROBLEMS - len(self.found)]


class Members:
    """The members of one object. What is missing or wrong is read as its default, and noted where wrong."""

    def __init__(
        self, value: object, *, path: str, problems: Problems, known: Collection[str] | None
    ) -> None:
        """Take *value*, which may have the members *known* and no other; any where that is None."""
        self.path, self.problems = path, problems
        self.given: dict[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            problems.add(path or "/", "not_an_object", "must be a JSON object")
        for name in self.given:
            if known is not None and name not in known:
                detail = f"no such member; there are {', '.join(known)}"
                problems.add(self.at(name), "unknown_member", detail)

    def at(self, name: str) -> str:
        """Return the JSON pointer of a member."""
        return f"{self.path}/{name.replace('~', '~0').replace('/', '~1')}"

    def wrong(self, name: str, code: str, detail: str) -> None:
        """Note that a member is wrong."""
        self.problems.add(self.at(name), code, detail)

    def text(self, name: str, *, default: str | None = None, max_characters: int = 128) -> str:
        """Return a text; without *default*, one that is not blank and must be there."""
        value = self.given.get(name, default)
        if value is None and name not in self.given:
            self.wrong(name, "member_missing", "is missing")
        elif not isinstance(value, str) or (default is None and not value.strip()):
            self.wrong(
                name, "text_invalid", "must be a text" + ("" if default is not None else ", not blank")
            )
        elif len(value) > max_characters:
            detail = f"{len(value)} characters, the limit is {max_characters}"
            self.wrong(name, "text_too_long", detail)
        else:
            return value
        return default or ""

    def choice(self, name: str, options: tuple[str, ...], *, default: str) -> str:
        """Return one of *options*."""
        value = self.given.get(name, default)
        if isinstance(value, str) and value in options:
            return value
        self.wrong(name, f"{_snake(name)}_unknown", f"must be one of {', '.join(options)}")
        return default

    def flag(self, name: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.given.get(name, default)
        if not isinstance(value, bool):
            self.wrong(name, "boolean_invalid", "must be true or false")
            return default
        return value

    def number(self, name: str, *, default: Any, at_least: int, at_most: int) -> Any:
        """Return a whole number within bounds, or *default* where there is none. 7.0 is 7."""
        if name not in self.given or (default is None and self.given[name] is None):
            return default
        value = whole_number(self.given[name])
        if value is None or not at_least <= value <= at_most:
            self.wrong(name, "number_invalid", f"must be a whole number, {at_least} to {at_most}")
            return default
        return value

    def items(self, name: str, *, at_most: int) -> list[Any]:
        """Return a list, empty where there is none."""
        value = self.given.get(name, [])
        if not isinstance(value, list):
            self.wrong(name, "list_invalid", "must be a list")
            return []
        if len(value) > at_most:
            self.wrong(name, "list_too_long", f"{len(value)} items, the limit is {at_most}")
        return value[:at_most]

    def inner(self, name: str, known: Collection[str] | None) -> "Members":
        """Return the members of an object inside, which may be left out."""
        return Members(self.given.get(name, {}), path=self.at(name), problems=self.problems, known=known)


def whole_number(value: object) -> int | None:
    """Return *value* as a whole number, None where it is none. A boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value == value // 1 and abs(value) < 2**53 else None


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
