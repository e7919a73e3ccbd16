"""Which filters there are, and which constant arguments they take."""

from typing import Any

from jinja2 import nodes

from memoir.contracts.template_syntax import constant

# Filter -> its arguments: name, default, and the largest number or longest text that is allowed.
_ARGUMENTS: dict[str, tuple[tuple[str, str | int | bool, int], ...]] = {
    "upper": (),
    "lower": (),
    "trim": (),
    "tojson": (),
    "first": (),
    "last": (),
    "truncate": (("length", 255, 262_144), ("killwords", False, 0), ("end", "...", 100)),
    "default": (("default_value", "", 32_768), ("boolean", False, 0)),
    "indent": (("width", 4, 64), ("first", False, 0), ("blank", False, 0)),
    "join": (("d", "", 1_000),),
}


def filter_arguments(node: nodes.Filter) -> list[Any] | str:
    """Return all arguments of a filter in their order, defaults filled in, or what is wrong with them."""
    wanted = _ARGUMENTS.get(node.name)
    if wanted is None:
        return f"there is no filter {node.name}; there are {', '.join(sorted(_ARGUMENTS))}"
    if node.dyn_args or node.dyn_kwargs or len(node.args) > len(wanted):
        return f"the filter {node.name} takes at most {len(wanted)} arguments, all of them constants"
    names = [name for name, _, _ in wanted]
    given: dict[str, nodes.Node] = dict(zip(names, node.args, strict=False))
    for keyword in node.kwargs:
        name = str(keyword.key)
        if name in given or name not in names:
            return f"the filter {node.name} has no further argument {name}"
        given[name] = keyword.value
    arguments: list[Any] = []
    for name, default, limit in wanted:
        value = constant(given[name]) if name in given else default
        if not _fits(value, default, limit, of=node.name):
            return f"the argument {name} of {node.name} must be a constant like {default!r}, at most {limit}"
        arguments.append(value)
    return arguments


def _fits(value: Any, default: str | int | bool, limit: int, *, of: str) -> bool:
    if isinstance(default, bool):
        return isinstance(value, bool)
    if of == "default" and isinstance(value, bool | int | float):
        return True
    if type(value) is not type(default):
        return False
    return len(value) <= limit if isinstance(value, str) else 0 <= value <= limit
