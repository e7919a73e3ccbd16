"""`POST /v1/conversations/{id}/turns`: a completed reply, as the host reports it."""

from typing import Any

from pydantic.alias_generators import to_camel

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.context.manifest import decode_manifest
from memoir.domain.revision import check_expected_revision
from memoir.domain.scope import check_opaque_id, check_path_id
from memoir.domain.turns import NewTurn, check_text
from memoir.errors import RequestInvalid
from memoir.strict_json import read_json


class _Text(Contract):
    text: str


class _Recalled(Contract):
    """The `revisions` and the `context` of a context call's answer."""

    memory: Any = None
    memory_table: Any = None
    compass_memory: Any = None
    profile: Any = None
    personalization: Any = None
    actor_state: Any = None
    director_state: Any = None
    story_world: Any = None
    story_narrative: Any = None
    context: str = ""


class _PostTurn(Contract):
    turn_id: str
    scenario_id: str | None = None
    user: _Text
    assistant: _Text
    subscription_category: str | None = None
    accepted: bool = False
    replaces: str | None = None
    recalled: _Recalled | None = None


def read_post_turn(body: bytes) -> NewTurn:
    """Return the turn that *body* reports.

    Raises JsonMalformed, RequestInvalid, TooLarge, each naming the place.
    """
    request = read_contract(_PostTurn, read_json(body))
    recalled = request.recalled or _Recalled()
    revisions = {
        name: None if given is None else check_expected_revision(given, path=f"/recalled/{to_camel(name)}")
        for name, given in recalled
        if name != "context"
    }
    return NewTurn(
        turn_id=check_path_id(request.turn_id, path="/turnId"),
        user_text=check_text(request.user.text, path="/user/text"),
        assistant_text=check_text(request.assistant.text, path="/assistant/text"),
        scenario_id=request.scenario_id or "default",
        subscription_category=_short(request.subscription_category, path="/subscriptionCategory"),
        accepted=request.accepted,
        replaces=request.replaces and check_opaque_id(request.replaces, path="/replaces"),
        table_revision=revisions["memory_table"],
        memory_revision=revisions["memory"],
        context=_checked_context(recalled.context),
    )


def _checked_context(text: str) -> str:
    if text and decode_manifest(text) is None:
        raise RequestInvalid(
            code="context_invalid",
            path="/recalled/context",
            detail="/recalled/context: is no `context` of a context call's answer",
        )
    return text


def _short(value: str | None, *, path: str) -> str | None:
    return value and check_opaque_id(value, path=path)
