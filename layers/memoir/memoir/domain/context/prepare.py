"""What Hinos is asked where its memory is prepared within a context call: the input as it is without it."""

from typing import Any

from memoir.domain.context.build import Context
from memoir.errors import MessagesRefused

CHAT_ROLES = ("user", "assistant")


def hinos_body(
    context: Context, *, request_id: str, scenario_id: str, source: dict[str, Any]
) -> dict[str, Any]:
    """Return the body for Hinos: all system messages of *context* as one, then the chat of its history.

    *source*: further members that the host gives (`modelConfig`, `prompt`). Messages of tools are left out.
    Raises MessagesRefused: the history does not end with the current user's message.
    """
    chat = [message for message in context.history if message.role in CHAT_ROLES]
    if not chat or chat[-1].role != "user":
        raise MessagesRefused(path="/history", detail="/history: the last message must be the current user's")
    system = "\n\n".join(message.content for message in context.messages if message.role == "system")
    said = [{"role": message.role, "content": message.content} for message in chat]
    return {
        "messages": [{"role": "system", "content": system}, *said],
        "source": {**source, "requestId": request_id, "scenarioId": scenario_id},
    }
