"""What a host should look at in a context, beside what it asked for."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memoir.domain.scenario.scenario import Scenario
from memoir.domain.template.run import Program, Rendered

MAX_ABSENT = 20

_PATH_ROOT = re.compile(r"[^.\[]*")


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One thing to look at. `message`: its index in the template, or where one would expect it."""

    code: str
    detail: str
    variable: str | None = None
    message: int | None = None


def context_warnings(
    scenario: Scenario,
    rendered: Rendered,
    *,
    unreferenced: Sequence[str],
    without: Collection[str],
    history_left_out: bool,
) -> tuple[Advice, ...]:
    """Return what to look at: sources that were recalled and not printed, paths that led nowhere, and so on.

    *without*: variables that had no value or were cut; their paths are not told again.
    """
    program = scenario.program
    told = [_not_printed(program, variable) for variable in unreferenced]
    absent = [path for path in rendered.absent if _root(path) not in without]
    told += [
        Advice(code="path_absent", variable=_root(path), detail=f"{path} is not there; it printed nothing")
        for path in absent[:MAX_ABSENT]
    ]
    told += [
        Advice(code="message_blank", message=index, detail=f"message {index} was blank and is left out")
        for index in rendered.blank
    ]
    if history_left_out:
        detail = 'the template has no {"history": true}; the history is not in the messages'
        told.append(Advice(code="history_not_placed", detail=detail))
    return tuple(told)


def _not_printed(program: Program | None, variable: str) -> Advice:
    code = "source_unreferenced"
    if program is None:
        detail = f"{variable} was recalled, and the scenario has no template that prints it"
        return Advice(code=code, variable=variable, detail=detail)
    for index, message in enumerate(program["messages"]):
        if variable in message.get("names", ()):
            detail = f"{variable} was recalled; message {index} names it and printed nothing of it"
            return Advice(code=code, variable=variable, message=index, detail=detail)
    roles = [message.get("role") for message in program["messages"]]
    expected = roles.index("system") if "system" in roles else 0
    detail = f"{variable} was recalled, and no message prints it; one would expect it in message {expected}"
    return Advice(code=code, variable=variable, message=expected, detail=detail)


def _root(path: str) -> str:
    found = _PATH_ROOT.match(path)
    return found[0] if found else path
