"""What lies in the workers' queues: which conversation has something new."""

from dataclasses import dataclass

from memoir.contracts.validation import Contract, read_contract
from memoir.domain.scope import Scope, UserScope, check_opaque_id
from memoir.domain.turns import Position, RungTurn
from memoir.strict_json import read_json


class _Doorbell(Contract):
    product: str
    user: str
    conversation: str
    round: int
    version: int
    turn_id: str
    scenario_id: str
    subscription_category: str | None
    life: str = ""
    scenario_revision: int = 0
    agent: str = ""


@dataclass(frozen=True, kw_only=True)
class Ring:
    """A conversation to look at. The turn that it was rung for is a hint and no more."""

    scope: Scope
    turn: RungTurn


def read_ring(body: str) -> Ring:
    """Return the ring that a message's body is. Raises JsonMalformed, RequestInvalid."""
    message = read_contract(_Doorbell, read_json(body.encode()))
    owner = UserScope(
        product=check_opaque_id(message.product, path="/product"),
        user=check_opaque_id(message.user, path="/user"),
    )
    return Ring(
        scope=owner.conversation(message.conversation),
        turn=RungTurn(
            position=Position(round=message.round, version=message.version),
            turn_id=check_opaque_id(message.turn_id, path="/turnId"),
            scenario_id=message.scenario_id,
            subscription_category=message.subscription_category,
            life=message.life,
            scenario_revision=message.scenario_revision,
            agent=message.agent,
        ),
    )
