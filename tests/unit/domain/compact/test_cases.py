"""Each collected case of compaction, by its id: its status, its reason, and what the model and store saw."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memoir.domain.compact.checkpoint import Checkpoint, CompactRecord, FailedTry, new_checkpoint
from memoir.domain.compact.history import HistoryTurn, Message, read_history
from memoir.domain.compact.plan import Outcome
from memoir.domain.compact.request import Compacted
from memoir.domain.compact.settings import CompactSettings
from memoir.domain.scenario.reading import read_scenario
from memoir.errors import ScenarioForbids, ScenarioInvalid
from tests.unit.domain.compact.scripted import Model, Store, expanded, run

LINES = (Path(__file__).resolve().parents[3] / "data" / "compact-cases.jsonl").read_text().splitlines()
CASES: dict[str, dict[str, Any]] = {case["id"]: case for case in map(json.loads, LINES)}
PREVIOUS = "先前：林舟在灯塔见过老周，老周欠他一个人情。"


class Run:
    """One case, run: the answer, and what was asked of the model and of the store."""

    def __init__(self, case: dict[str, Any]) -> None:
        given = case["given"]
        self.script = given.get("model")
        self.settings = CompactSettings()
        if given.get("scenarioHasCompact", True):
            self.settings = settings_of(given["compact"])
        self.messages = [
            Message(
                turn_id=item["turnId"],
                role=item["role"],
                content=expanded(item["content"]),
                tokens=item.get("tokens"),
            )
            for item in given["messages"]
        ]
        stored = given.get("checkpoint")
        self.record = self.record_of(stored)
        scripted_store = given.get("store", {})
        self.other = self.record_of(scripted_store.get("now"))
        fault = "deleted" if given.get("during") else scripted_store.get("write", "")
        self.store = Store(fault=fault, now=self.other)
        if given.get("during"):
            self.store.begin()
        if self.record != CompactRecord():
            # A stored turn changes only where the conversation was taken back, which brings earlier rounds.
            taken_back = any("turn store" in change for change in (stored or {}).get("changed", []))
            self.store.put(self.record, round_=14 if taken_back else 0)
        self.model = Model(self.script)
        self.compacted: Compacted = run(
            self.messages,
            budget=given["tokenBudget"],
            settings=self.settings if given.get("scenarioHasCompact", True) else None,
            store=self.store,
            model=self.model,
            count_tokens=self.count_tokens,
        )
        self.outcome: Outcome = self.compacted.outcome
        self.log = list(self.store.log)

    def count_tokens(self, text: str) -> int:
        """Count as the case does: its model's summary has its tokens, the one before it 120."""
        if PREVIOUS in text:
            return 120
        script = self.script or {}
        if script.get("tokens") and expanded(script["text"])[:9] in text:
            # A model that is asked for 100 does not write the 120 that it would for 300.
            asked = self.model.prompts[-1].max_tokens // 2
            tokens: int = script["tokens"]
            return tokens if tokens > self.settings.max_summary_tokens else min(tokens, asked)
        return len(text)

    def record_of(self, told: dict[str, Any] | None) -> CompactRecord:
        """Return what the case says is stored, made from the case's own turns where it has them."""
        if told is None or told.get("covers") == "nothing":
            return CompactRecord()
        if "failedThrough" in told:
            return CompactRecord(
                failed=FailedTry(through_turn_id=told["failedThrough"], code=told["failedCode"])
            )
        here = {turn.id: turn for turn in read_history(self.messages, count_tokens=len).turns}
        changed = [] if told["matchesInput"] else told.get("changed", ["t2"])
        covered = tuple(
            HistoryTurn(
                id=turn_id,
                messages=(),
                tokens=200,
                hash="as it was" if turn_id in changed or turn_id not in here else here[turn_id].hash,
            )
            for turn_id in told["coveredTurns"]
        )
        return CompactRecord(
            checkpoint=new_checkpoint(
                summary=PREVIOUS,
                turns=covered,
                next_turn_id=f"t{len(covered) + 1}",
                after=None,
                tokens=120,
                generator="before",
            )
        )

    def read_by_model(self, text: str) -> bool:
        return any(re.search(rf"〕{re.escape(text)}$", prompt.user, re.M) for prompt in self.model.prompts)


def as_problem(told: str) -> str:
    """Return what a scenario's problem says where a case says `compact.keepTurns must be 1 to 50`."""
    place, limits = told.split(" must be ")
    return rf"/{place.replace('.', '/')}: must be .*{limits}$"


def settings_of(value: dict[str, Any]) -> CompactSettings:
    """Read the case's settings; one of them asks for more than a scenario may, to reach the store's limit."""
    huge = value["maxSummaryTokens"] > 10_000
    given = {**value, "maxSummaryTokens": 300} if huge else value
    settings = read_scenario({"compact": given}, scenario_id="s").compact
    assert settings
    return CompactSettings(
        keep_turns=settings.keep_turns,
        target_share=settings.target_share,
        max_summary_tokens=value["maxSummaryTokens"],
        checkpoint_every_turns=settings.checkpoint_every_turns,
    )


def turn_ids(messages: Any) -> list[str]:
    return list(dict.fromkeys(m.turn_id for m in messages if m.role != "system" and m.turn_id))


def named(told: str | list[str]) -> list[str]:
    """Return the turns that `t15..t24` or a list names."""
    if isinstance(told, list):
        return told
    first, last = told.removeprefix("t").split("..t")
    return [f"t{number}" for number in range(int(first), int(last) + 1)]


def covered_by(checkpoint: Checkpoint) -> list[str]:
    return [turn.id for turn in checkpoint.recent]


def check_model(run: Run, expect: dict[str, Any]) -> None:
    calls = len(run.model.prompts)
    told = expect.get("modelCalls", calls)
    assert {"several": calls > 1, "1 or 2": calls in (1, 2)}.get(str(told), calls == told)
    for text in expect.get("modelReads", []):
        if text == "previous summary":
            assert any(PREVIOUS in prompt.user for prompt in run.model.prompts)
        else:
            assert all(run.read_by_model(f"user-{turn_id[1:]}") for turn_id in named(text))
    for text in expect.get("modelDoesNotRead", []):
        if text == "previous summary":
            assert not any(PREVIOUS in prompt.user for prompt in run.model.prompts)
        elif ".." in text:
            assert not any(run.read_by_model(f"user-{turn_id[1:]}") for turn_id in named(text))
        else:
            system = next(message.content for message in run.messages if message.turn_id == text)
            assert not any(system in prompt.user + prompt.system for prompt in run.model.prompts)
    if "maxSummaryTokensAsked" in expect:
        assert run.model.prompts[0].max_tokens == 2 * expect["maxSummaryTokensAsked"]
    if expect.get("modelReadsAllSummarised"):
        kept = turn_ids(run.outcome.messages)
        gone = [turn_id for turn_id in turn_ids(run.messages) if turn_id not in kept]
        assert gone
        assert all(run.read_by_model(f"assistant-{turn_id[1:]}") for turn_id in gone)


def check_store(run: Run, expect: dict[str, Any]) -> None:
    stored = run.store.record().checkpoint
    ours = stored if stored != run.record.checkpoint and stored != run.other.checkpoint else None
    if "stored" in expect:
        assert (ours is not None) == expect["stored"]
    if "storeRequestsAtMost" in expect:
        assert len(run.log) <= expect["storeRequestsAtMost"]
    if expect.get("storedBeforeAnswer"):
        assert run.log == ["read", "write"]
        assert run.outcome.checkpoint == ours
    if expect.get("checkpointUnchanged"):
        assert stored == run.record.checkpoint
    if "checkpointCovers" in expect:
        assert ours is not None
        assert covered_by(ours) == named(expect["checkpointCovers"])
    if "checkpointRevision" in expect:
        assert run.compacted.revision == expect["checkpointRevision"]
        assert run.outcome.checkpoint == run.other.checkpoint


def check_messages(run: Run, expect: dict[str, Any]) -> None:
    messages = run.outcome.messages
    summaries = [message for message in messages if message.is_summary]
    if expect.get("messages") == "as given":
        assert messages == tuple(run.messages)
    if "keptTurns" in expect:
        assert turn_ids(messages) == expect["keptTurns"]
    if "summarisedTurns" in expect:
        assert run.outcome.checkpoint
        assert covered_by(run.outcome.checkpoint) == expect["summarisedTurns"]
    if "firstMessages" in expect:
        given = [message for message in run.messages if message.role == "system"]
        assert [message.turn_id for message in given] == expect["firstMessages"]
        assert list(messages[: len(given)]) == given
    if "summariesInAnswer" in expect or expect.get("summaryInAnswer"):
        assert len(summaries) == expect.get("summariesInAnswer", 1)
    if "summaryMessage" in expect:
        (summary,) = summaries
        assert {
            "role": summary.role,
            "turnId": summary.turn_id,
            "coversTurns": summary.covers_turns,
        } == expect["summaryMessage"]
        assert summary.content == (
            f'<summary turns="14" first="t1" last="t14">\n{run.script["text"]}\n</summary>'
        )
    if "summaryText" in expect:
        assert summaries[0].content.split("\n")[1] == "他写下 {{memoryTable}} ‹/summary> \\1。"
    if expect.get("everyTurnIsSummarisedOrKept"):
        assert run.outcome.checkpoint
        assert run.outcome.checkpoint.count + len(turn_ids(messages)) == len(turn_ids(run.messages))
    if expect.get("everyTurnWhole"):
        assert run.outcome.status == "compacted"
        kept = turn_ids(messages)
        whole = [message for message in run.messages if message.turn_id in kept]
        assert [message for message in messages if message.role != "system"] == whole


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_collected_case_ends_as_it_should(case: dict[str, Any]) -> None:
    expect = case["expect"]
    if "scenarioRefused" in expect:
        with pytest.raises(ScenarioInvalid, match=as_problem(expect["scenarioRefused"])):
            Run(case)
        return
    if "code" in expect:
        with pytest.raises(ScenarioForbids) as refusal:
            Run(case)
        assert refusal.value.code == expect["code"]
        return
    run = Run(case)
    assert str(run.outcome.status) in expect.get("status", run.outcome.status).split(" or ")
    if "reason" in expect:
        assert run.outcome.reason == expect["reason"]
    assert run.outcome.reason != expect.get("reasonNever", "never")
    assert run.outcome.tokens == expect.get("tokensAfter", run.outcome.tokens)
    assert run.outcome.fits == expect.get("fits", run.outcome.fits)
    assert run.outcome.estimated == expect.get("estimated", run.outcome.estimated)
    check_model(run, expect)
    check_store(run, expect)
    check_messages(run, expect)


def test_there_are_45_cases() -> None:
    assert len(CASES) == 45
