"""`POST /v1/conversations/{id}/turns`: a completed reply, as the host reports it."""

from typing import Any

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.revision import check_expected_revision
from memoir.domain.scope import check_opaque_id, check_path_id
from memoir.domain.turns import NewTurn, check_text
from memoir.strict_json import read_json


class _Text(Contract):
    text: str


class _Recalled(Contract):
    memory_table: Any = None


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
    recalled = request.recalled.memory_table if request.recalled else None
    return NewTurn(
        turn_id=check_path_id(request.turn_id, path="/turnId"),
        user_text=check_text(request.user.text, path="/user/text"),
        assistant_text=check_text(request.assistant.text, path="/assistant/text"),
        scenario_id=request.scenario_id or "default",
        subscription_category=_short(request.subscription_category, path="/subscriptionCategory"),
        accepted=request.accepted,
        replaces=request.replaces and check_opaque_id(request.replaces, path="/replaces"),
        table_revision=None
        if recalled is None
        else check_expected_revision(recalled, path="/recalled/memoryTable"),
    )


def _short(value: str | None, *, path: str) -> str | None:
    return value and check_opaque_id(value, path=path)
