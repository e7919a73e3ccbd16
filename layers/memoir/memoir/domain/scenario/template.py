"""The shape of a template: its messages and their limits. What is in a message is for the parser to read."""

from collections.abc import Collection
from typing import Any, Protocol

from memoir.domain.scenario.members import Members
from memoir.domain.template.limits import MAX_CONTENT_BYTES, MAX_MESSAGES, MAX_TEMPLATE_BYTES, ROLES
from memoir.domain.template.run import Program
from memoir.errors import Problem


class CompileContent(Protocol):
    """Makes the text of one message into the program that is stored."""

    def __call__(
        self, content: str, names: Collection[str], *, path: str
    ) -> tuple[list[Any], list[str], list[Problem]]:
        """Return (body, the variables it names, what is wrong with it)."""


def compile_template(members: Members, *, names: frozenset[str], compile_content: CompileContent) -> Program:
    """Return the program of the member `template`, and note all that is wrong with it.

    *names*: the variables that its messages may name.
    """
    template = members.inner("template", ("messages",))
    if "messages" not in template.given:
        template.wrong("messages", "member_missing", "is missing")
    messages: list[dict[str, Any]] = []
    total_bytes = 0
    for index, item in enumerate(template.items("messages", at_most=MAX_MESSAGES)):
        path = f"{template.at('messages')}/{index}"
        if isinstance(item, dict) and "history" in item:
            _check_history(item, path, template, before=messages)
            messages.append({"history": True})
            continue
        given = Members(item, path=path, problems=template.problems, known=("role", "content"))
        role, content = _read_role(given), _read_content(given)
        total_bytes += len(content.encode("utf-8", "replace"))
        body, named, problems = compile_content(content, names, path=f"{path}/content")
        template.problems.extend(problems)
        messages.append({"role": role, "body": body, "names": named})
    if total_bytes > MAX_TEMPLATE_BYTES:
        detail = f"{total_bytes} bytes of content, the limit is {MAX_TEMPLATE_BYTES}"
        members.wrong("template", "template_too_long", detail)
    return {"messages": messages}


def _check_history(item: Any, path: str, template: Members, *, before: list[dict[str, Any]]) -> None:
    if item != {"history": True} or item["history"] is not True:
        template.problems.add(path, "history_invalid", 'must be {"history": true} and nothing else')
    if any("history" in message for message in before):
        template.problems.add(path, "history_twice", "the history has its place already")


def _read_role(given: Members) -> str:
    if "role" in given.given:
        return given.choice("role", ROLES, default=ROLES[0])
    given.wrong("role", "member_missing", "is missing")
    return ROLES[0]


def _read_content(given: Members) -> str:
    content = given.given.get("content")
    if not isinstance(content, str):
        given.wrong("content", "text_invalid", "must be a text")
        return ""
    size_bytes = len(content.encode("utf-8", "replace"))
    if size_bytes > MAX_CONTENT_BYTES:
        given.wrong("content", "content_too_long", f"{size_bytes} bytes, the limit is {MAX_CONTENT_BYTES}")
        return ""
    return content
