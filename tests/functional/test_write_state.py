"""The state's worker over a store on moto: once a turn, and nothing where the model gave no state."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from memoir.domain.language_model import FinishReason, ModelAnswer, Prompt
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scenario import DEFAULT
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.turns import RungTurn
from memoir.domain.write_token import random_token
from memoir.errors import LeaseHeld, ModelFailed, RevisionConflict
from memoir.records.diary import lease_take, worker_lease_key
from memoir.usecases.governed_reads import GovernedReads
from memoir.usecases.state import propose_state, read_state
from memoir.usecases.write_state import StatePorts, write_state
from tests.conversation import LEASE_SECONDS, Conversation

SETTINGS = read_scenario(
    {
        "memoryRuntime": "axon_go",
        "memorySources": [],
        "state": {"categories": ["people"], "instruction": "Keep who is there."},
    },
    scenario_id="default",
)


SILENT = ModelFailed(code="model_timeout", detail="silent", worth_another_try=False)


def scene(number: int) -> str:
    return json.dumps({"text": f"scene {number}", "records": {"people": [{"name": f"guard {number}"}]}})


@dataclass
class Model:
    """A model that gives the answers of its script, then a new scene for each question."""

    script: list[Any] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)

    def answer(self, prompt: Prompt) -> ModelAnswer:
        self.prompts.append(prompt)
        said = self.script.pop(0) if self.script else scene(len(self.prompts))
        if callable(said):
            said = said()
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ModelAnswer):
            return said
        return ModelAnswer(text=said, finish=FinishReason.STOP, generator="scripted", input_tokens=7)


class World:
    """A conversation whose scenario keeps a state."""

    def __init__(self, client: Any) -> None:
        self.chat = Conversation(client)
        self.chat.default = SETTINGS
        self.model: Model | None = Model()

    def run(self, rung: RungTurn) -> list[Receipt]:
        ports = StatePorts(
            worker=self.chat.worker(),
            model=self.model,
            sleep=self.chat.pauses.append,
            lease_seconds=LEASE_SECONDS,
        )
        return write_state(ports, scope=self.chat.scope, rung=rung)

    def state(self) -> tuple[int, Any]:
        read = read_state(self.chat.engine, scope=self.chat.scope)
        return read.revision, read.state.value if read.state else None

    def put(self, number: int, *, expected: int, based_on: int | None = None) -> None:
        propose_state(
            GovernedReads(self.chat.engine, default=SETTINGS),
            scope=self.chat.scope,
            expected=Revision(expected),
            candidate=json.loads(scene(number)),
            text=json.dumps(json.loads(scene(number)), separators=(",", ":")),
            based_on_round=based_on,
            scenario_id=None,
            token=random_token(),
        )


@pytest.fixture
def world(moto_client: Any) -> World:
    return World(moto_client)


def test_each_turn_is_brought_in_once_however_often_it_is_rung(world: World) -> None:
    rung = world.chat.say(1)
    (receipt,) = world.run(rung)
    assert (receipt.worker, receipt.outcome, receipt.reason) == ("state", "ok", "saved")
    assert receipt.details == {"modelTries": 1, "generator": "scripted", "inputTokens": 7, "outputTokens": 0}
    assert world.run(rung) == []
    assert world.state() == (1, json.loads(scene(1)))
    assert len(world.model.prompts) == 1


def test_turns_whose_rings_were_lost_are_caught_up_in_order(world: World) -> None:
    for number in (1, 2):
        world.chat.say(number)
    receipts = world.run(world.chat.say(3))
    assert [receipt.position.round for receipt in receipts] == [1, 2, 3]
    assert [f"第{n}天" in prompt.user for n, prompt in enumerate(world.model.prompts, 1)] == [True] * 3
    assert world.state() == (3, json.loads(scene(3)))


def test_without_an_instruction_nothing_is_read_nor_asked(world: World) -> None:
    rung = world.chat.say(1)
    world.chat.default = DEFAULT
    assert world.run(rung) == []
    assert "state" not in DEFAULT.workers()
    assert SETTINGS.workers() == ("state",)
    assert world.model.prompts == []


def test_without_a_model_the_receipt_says_so(world: World) -> None:
    world.model = None
    (receipt,) = world.run(world.chat.say(1))
    assert (receipt.outcome, receipt.reason) == ("skipped", "no_model")
    assert world.state() == (0, None)


@pytest.mark.parametrize(
    ("said", "outcome", "reason", "tries"),
    [
        ('{"nothing_new": true}', "skipped", "nothing_new", 1),
        (scene(0), "skipped", "same_as_stored", 1),
        ("I cannot help with that.", "failed", "refusal", 2),
        ("", "failed", "empty", 2),
        ('{"text": "x", "records": {"spells": []}}', "failed", "category_unknown", 2),
        (SILENT, "failed", "model_timeout", 1),
    ],
)
def test_an_answer_that_is_no_new_state_leaves_the_stored_one(
    world: World, said: Any, outcome: str, reason: str, tries: int
) -> None:
    world.put(0, expected=0)
    world.model = Model([said, said])
    (receipt,) = world.run(world.chat.say(1))
    assert (receipt.outcome, receipt.reason) == (outcome, reason)
    assert receipt.details["modelTries"] == tries == len(world.model.prompts)
    assert world.state() == (1, json.loads(scene(0)))
    assert world.run(world.chat.rung("t1")) == []


def test_an_answer_that_was_cut_is_asked_for_with_twice_the_room(world: World) -> None:
    cut = ModelAnswer(text=scene(1)[:-4], finish=FinishReason.LENGTH, generator="scripted")
    world.model = Model([cut])
    (receipt,) = world.run(world.chat.say(1))
    assert receipt.reason == "saved"
    first, second = world.model.prompts
    assert second.max_tokens == 2 * first.max_tokens


def test_a_host_that_writes_while_the_model_thinks_is_not_overwritten(world: World) -> None:
    def meanwhile() -> str:
        world.put(77, expected=0)
        return scene(1)

    world.model = Model([meanwhile])
    (receipt,) = world.run(world.chat.say(1))
    assert (receipt.reason, receipt.revision_before, receipt.revision_after) == ("saved", 1, 2)
    assert len(world.model.prompts) == 2
    assert "scene 77" in world.model.prompts[1].user


def test_a_turn_older_than_the_state_asks_no_model(world: World) -> None:
    world.put(5, expected=0, based_on=5)
    (receipt,) = world.run(world.chat.say(1))
    assert (receipt.outcome, receipt.reason) == ("skipped", "candidate_stale")
    assert world.model.prompts == []


def test_while_another_worker_is_at_it_the_message_waits(world: World) -> None:
    rung = world.chat.say(1)
    key = worker_lease_key(world.chat.scope, "state")
    world.chat.records.write(lease_take(key, owner="other", now=int(world.chat.now), seconds=LEASE_SECONDS))
    with pytest.raises(LeaseHeld):
        world.run(rung)
    assert world.model.prompts == []
    world.chat.now += LEASE_SECONDS + 1
    assert world.run(rung)[0].reason == "saved"


def test_a_worker_that_lost_its_lease_saves_nothing_and_is_told(world: World) -> None:
    key = worker_lease_key(world.chat.scope, "state")

    def stolen() -> str:
        world.chat.now += LEASE_SECONDS + 1
        world.chat.records.write(
            lease_take(key, owner="thief", now=int(world.chat.now), seconds=LEASE_SECONDS)
        )
        return scene(1)

    world.model = Model([stolen])
    with pytest.raises((LeaseHeld, RevisionConflict)):
        world.run(world.chat.say(1))
    assert world.state() == (0, None)


def test_before_acceptance_nothing_is_asked_where_the_scenario_wants_it(world: World) -> None:
    world.chat.default = replace(SETTINGS, write_on="accepted")
    rung = world.chat.say(1)
    assert world.run(rung) == []
    world.chat.accept("t1")
    assert [receipt.reason for receipt in world.run(rung)] == ["saved"]
