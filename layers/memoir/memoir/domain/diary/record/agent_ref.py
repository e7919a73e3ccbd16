"""Whose diary it is: one spelling of the agent for the writer and the reader."""

from typing import NewType

AgentRef = NewType("AgentRef", str)


def canonical_agent_ref(text: str) -> AgentRef:
    """Return the one spelling under which *text*'s diaries are stored and recalled.

    Case, surrounding white space and leading or trailing `|` do not tell agents apart.
    """
    return AgentRef(text.strip(" \t\n|").casefold())
