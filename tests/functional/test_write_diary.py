"""The diary's worker on real stores: when it calls a model, what it stores, and what every fault leaves."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from memoir.adapters.diary_store import MAX_RAW_BYTES, DynamoDbDiaryStore
from memoir.adapters.receipt_store import DynamoDbReceiptStore
from memoir.adapters.turn_store import DynamoDbTurnStore
from memoir.diary_ports import ModelAnswer, WritingJob
from memoir.usecases.diary_work import DiaryPorts, DiaryWork
from tests.fakes.turns import RecordingDoorbell

from memoir.adapters.event_bus import NoEvents
from memoir.adapters.packing import unpack
from memoir.domain.diary.due.policy import node_policy
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry
from memoir.domain.language_model import FinishReason
from memoir.domain.receipt import Receipt
from memoir.domain.scope import Scope
from memoir.domain.turns import NewTurn, Position, RungTurn
from memoir.errors import (
    LeaseHeld,
    MemoirError,
    ModelFailed,
    NotFound,
    RevisionConflict,
    StoreUnavailable,
)
from memoir.usecases import diary
from memoir.usecases.turns import record_turn
from memoir.usecases.write_diary import write_diary
from tests.fakes.models import ScriptedModel, good
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
AGENT = AgentRef("diary")
NOVEMBER = 1_793_500_000.0  # 2026-11-01
MONTH = 31 * 86_400


class Conversation:
    """One conversation with its stores, its model, and the time it believes in."""

    def __init__(self, client: Any, *, monthly_quota: int | None = None) -> None:
        self.client = client
        self.now = NOVEMBER
        self.model = ScriptedModel()
        self.receipts = DynamoDbReceiptStore(
            client=client, table_name=TABLE_NAME, kept_days=90, clock=lambda: self.now
        )
        self.turns = DynamoDbTurnStore(client=client, table_name=TABLE_NAME)
        self.diaries = DynamoDbDiaryStore(
            client=client,
            table_name=TABLE_NAME,
            receipts=self.receipts,
            monthly_quota=monthly_quota,
            clock=lambda: self.now,
        )
        self.events: Any = NoEvents()
        self.pauses: list[float] = []
        self.model_reasons = False
        self.requests: list[str] = []
        client.meta.events.register(
            "before-call.dynamodb", lambda model, **_: self.requests.append(model.name)
        )

    def say(self, number: int, text: str = "", *, turn_id: str = "", **members: Any) -> RungTurn:
        """Record the turn of that round."""
        turn_id = turn_id or f"t{number}"
        new = NewTurn(
            turn_id=turn_id,
            user_text=f"用户在第{number}天问起铜钥匙的下落。",
            assistant_text=text or f"守卫在第{number}夜里点头，答应日落前归还。",
            **members,
        )
        record_turn(
            turns=self.turns,
            doorbell=RecordingDoorbell(),
            clock=lambda: self.now,
            scope=SCOPE,
            new=new,
        )
        version = self.turns.look_up(SCOPE, turn_ids=(turn_id,)).known[turn_id].position.version
        return RungTurn(
            position=Position(round=number, version=version),
            turn_id=turn_id,
            scenario_id="default",
            subscription_category=new.subscription_category,
        )

    def work(self, rung: RungTurn, *, model: Any = None) -> list[Receipt]:
        ports = DiaryPorts(
            diaries=self.diaries,
            turns=self.turns,
            receipts=self.receipts,
            model=model or self.model,
            model_reasons=self.model_reasons,
            events=self.events,
            clock=lambda: self.now,
            sleep=self.pauses.append,
            lease_seconds=330,
            has_time=lambda: True,
        )
        work = DiaryWork(scope=SCOPE, agent=AGENT, policy=node_policy(), character="阿莱娜", turn=rung)
        return write_diary(ports, work)

    def go_to(self, last: int, *, first: int = 1, **members: Any) -> Receipt:
        """Record and work the rounds up to *last*; return the last receipt."""
        receipts: list[Receipt] = []
        for number in range(first, last + 1):
            receipts = self.work(self.say(number, **members))
        return receipts[-1]

    def entries(self) -> list[DiaryEntry]:
        found = self.diaries.newest(SCOPE, agent=AGENT)
        return [entry for entry in found if isinstance(entry, DiaryEntry)][::-1]

    def ranges(self) -> list[tuple[int, int]]:
        return [(entry.first_round, entry.last_round) for entry in self.entries()]

    def watermark(self) -> int:
        return self.diaries.look(SCOPE, agent=AGENT).head.watermark

    def recall(self, category: str | None = None) -> list[int]:
        recalled = diary.recall(
            diaries=self.diaries,
            scope=SCOPE,
            agent=AGENT,
            policy=node_policy(),
            subscription_category=category,
        )
        return [entry.last_round for entry in recalled.entries]


@pytest.fixture
def conversation(moto_client: Any) -> Conversation:
    return Conversation(moto_client)


def test_over_45_rounds_the_model_is_called_at_20_30_and_40(conversation: Conversation) -> None:
    called_at: list[int] = []
    for number in range(1, 46):
        before = len(conversation.model.jobs)
        conversation.work(conversation.say(number))
        called_at += [number] * (len(conversation.model.jobs) - before)
    assert called_at == [20, 30, 40]
    assert conversation.ranges() == [(1, 20), (21, 30), (31, 40)]


def test_a_turn_below_the_threshold_is_one_read_and_one_receipt(conversation: Conversation) -> None:
    rung = conversation.say(1)
    conversation.requests.clear()
    (receipt,) = conversation.work(rung)
    assert conversation.requests == ["BatchGetItem", "PutItem"]
    assert (receipt.outcome, receipt.reason, receipt.details) == ("skipped", "too_few_rounds", {"nextAt": 20})
    assert conversation.model.jobs == []
    assert conversation.entries() == []


def test_a_worker_that_is_late_writes_the_ranges_of_one_that_is_not(conversation: Conversation) -> None:
    rungs = [conversation.say(number) for number in range(1, 36)]
    for rung in rungs:
        conversation.work(rung)
    assert conversation.ranges() == [(1, 20), (21, 30)]


def test_recall_is_one_query_whatever_the_length(conversation: Conversation) -> None:
    conversation.go_to(60)
    conversation.requests.clear()
    assert conversation.recall("max") == [20, 30, 40, 50, 60]
    assert conversation.requests == ["Query"]


def test_each_tier_recalls_its_number_oldest_first(conversation: Conversation) -> None:
    conversation.go_to(110)
    assert [len(conversation.recall(tier)) for tier in ("default", "plus", "ultra", "max", "x", None)] == [
        *(1, 2, 3, 5, 1, 1)
    ]
    assert conversation.recall("ultra") == [90, 100, 110]


def test_free_tiers_store_the_summary_and_paid_ones_the_diary_too(conversation: Conversation) -> None:
    conversation.go_to(20)
    conversation.go_to(30, first=21, subscription_category="plus")
    assert [bool(entry.diary) for entry in conversation.entries()] == [False, True]


def test_the_previous_summary_is_read_when_the_next_is_written(conversation: Conversation) -> None:
    conversation.go_to(30)
    first, second = conversation.model.jobs
    assert first.previous_summary == ""
    assert second.previous_summary == json.loads(good(20))["summary"]
    assert [item.round for item in second.rounds] == list(range(21, 31))


def test_a_message_that_comes_thrice_is_one_call_and_one_entry(conversation: Conversation) -> None:
    rungs = [conversation.say(number) for number in range(1, 21)]
    for rung in [*rungs, rungs[-1], rungs[-1], rungs[5]]:
        conversation.work(rung)
    assert len(conversation.model.jobs) == 1
    assert conversation.ranges() == [(1, 20)]


def test_two_workers_at_once_are_one_call_and_one_entry(dynamodb_local_client: Any) -> None:
    conversation = Conversation(dynamodb_local_client)
    rungs = [conversation.say(number) for number in range(1, 21)]

    def work(rung: RungTurn) -> None:
        try:
            conversation.work(rung)
        except MemoirError:  # it stays in the queue and comes again
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [rungs[-1]] * 8))
    conversation.work(rungs[-1])
    assert len(conversation.model.jobs) == 1
    assert conversation.ranges() == [(1, 20)]


def answer(text: str, finish: FinishReason = FinishReason.STOP) -> ModelAnswer:
    return ModelAnswer(text=text, finish=finish, generator="scripted")


FAULTS: dict[str, tuple[list[Any], str, int]] = {
    "time-out": ([ModelFailed(code="model_timeout", detail="x")] * 2, "model_timeout", 2),
    "429": ([ModelFailed(code="model_throttled", detail="x")] * 2, "model_throttled", 2),
    "500": ([ModelFailed(code="model_unavailable", detail="x")] * 2, "model_unavailable", 2),
    "wrong key": (
        [ModelFailed(code="model_refused_request", detail="x", worth_another_try=False)],
        "model_refused_request",
        1,
    ),
    "cut JSON": ([answer('{"summary":"守卫答应', FinishReason.LENGTH)] * 2, "truncated", 2),
    "refusal": (["抱歉，我无法完成这个请求。"] * 2, "refusal", 2),
    "reasoning only": (["<think>我应该写摘要……"] * 2, "reasoning_only", 2),
    "empty": ([""] * 2, "empty", 2),
    "skeleton": (['{"summary":""}'] * 2, "empty", 2),
    "wrong language": (
        [json.dumps({"summary": "The guard promised to bring the copper key back tomorrow at dusk."})] * 2,
        "wrong_language",
        2,
    ),
    "huge": (["x" * 10 * 1024 * 1024] * 2, "too_long", 2),
    "filtered": ([answer(good(30), FinishReason.CONTENT_FILTER)], "filtered", 1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_leaves_all_as_it_was_and_is_asked_again_5_rounds_later(
    conversation: Conversation, fault: str
) -> None:
    script, code, tries = FAULTS[fault]
    conversation.go_to(29)
    before = conversation.entries()
    conversation.model.script = list(script)
    receipt = conversation.go_to(30, first=30)
    assert (receipt.outcome, receipt.reason, receipt.details["modelTries"]) == ("failed", code, tries)
    assert conversation.entries() == before
    assert conversation.watermark() == 20
    calls = len(conversation.model.jobs)
    assert conversation.go_to(34, first=31).reason == "waiting_after_failure"
    assert len(conversation.model.jobs) == calls
    assert conversation.go_to(35, first=35).outcome == "ok"
    assert conversation.ranges() == [(1, 20), (21, 35)]


@pytest.mark.parametrize(("reasons", "times"), [(False, 1), (True, 2)])
def test_a_model_whose_reasoning_counts_gets_twice_the_room(
    conversation: Conversation, reasons: bool, times: int
) -> None:
    conversation.model_reasons = reasons
    conversation.go_to(20)
    assert [job.prompt.max_tokens for job in conversation.model.jobs] == [800 * times]


def test_an_echo_of_the_prompt_is_no_summary(conversation: Conversation) -> None:
    conversation.model.script = [lambda job: json.dumps({"summary": job.prompt.system[:120]})] * 2
    assert conversation.go_to(20).reason == "echo"
    assert conversation.entries() == []


def test_the_second_try_may_succeed(conversation: Conversation) -> None:
    conversation.model.script = [
        ModelFailed(code="model_throttled", detail="x", retry_after_seconds=3.0),
        good(20),
    ]
    receipt = conversation.go_to(20)
    assert (receipt.outcome, receipt.details["modelTries"]) == ("ok", 2)
    assert conversation.pauses == [3.0]


def test_a_pause_that_is_too_long_is_a_failure(conversation: Conversation) -> None:
    failure = ModelFailed(code="model_throttled", detail="x", retry_after_seconds=600.0)
    conversation.model.script = [failure]
    assert conversation.go_to(20).reason == "model_throttled"
    assert (conversation.pauses, len(conversation.model.jobs)) == ([], 1)


def test_the_raw_answer_of_a_failure_is_kept_for_a_week_and_cut(conversation: Conversation) -> None:
    conversation.model.script = ["不" * 30_000] * 2
    conversation.go_to(20)
    key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "F#diary#0000000020"}}
    item = conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    raw = unpack(item["body"])
    assert MAX_RAW_BYTES - 3 <= len(raw.encode()) <= MAX_RAW_BYTES
    assert int(item["expires_at"]["N"]) == int(NOVEMBER) + 7 * 86_400


def test_a_raw_answer_with_half_a_surrogate_pair_is_kept_like_any_other(conversation: Conversation) -> None:
    conversation.model.script = ["她笑了\ud83d"] * 2
    assert conversation.go_to(20).reason == "no_json"
    key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "F#diary#0000000020"}}
    item = conversation.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    assert unpack(item["body"]) == "她笑了\ufffd"


def test_nothing_new_moves_the_watermark_and_stores_no_entry(conversation: Conversation) -> None:
    conversation.model.script = ['{"nothing_new": true}']
    assert conversation.go_to(20).reason == "nothing_new"
    assert (conversation.entries(), conversation.watermark()) == ([], 20)
    conversation.go_to(30, first=21)
    assert conversation.ranges() == [(21, 30)]


class Crash(BaseException):
    """The process is killed."""


def test_a_worker_killed_before_it_saved_is_followed_by_another_after_its_lease(
    conversation: Conversation,
) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)

    class Killed(ScriptedModel):
        def write(self, job: WritingJob) -> ModelAnswer:
            raise Crash

    with pytest.raises(Crash):
        conversation.work(rung, model=Killed())
    with pytest.raises(LeaseHeld):
        conversation.work(rung)
    assert conversation.model.jobs == []
    conversation.now += 331
    conversation.work(rung)
    assert (len(conversation.model.jobs), conversation.ranges()) == (1, [(1, 20)])


def test_a_worker_that_lost_its_lease_saves_nothing(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)

    class Slow(ScriptedModel):
        def write(self, job: WritingJob) -> ModelAnswer:
            conversation.now += 331
            conversation.work(rung)  # another worker takes over and finishes
            return super().write(job)

    with pytest.raises(RevisionConflict):
        conversation.work(
            rung, model=Slow(script=['{"summary":"慢的那一个写的另一份完整摘要，不应当被保存。"}'])
        )
    assert [entry.summary for entry in conversation.entries()] == [json.loads(good(20))["summary"]]


def test_rounds_that_arrive_while_the_model_writes_still_count(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)

    def meanwhile(job: WritingJob) -> str:
        for number in (21, 22, 23):
            conversation.say(number)
        return good(job.rounds[-1].round)

    conversation.model.script = [meanwhile]
    conversation.work(rung)
    assert (conversation.ranges(), conversation.watermark()) == ([(1, 20)], 20)
    conversation.go_to(30, first=24)
    assert conversation.ranges() == [(1, 20), (21, 30)]


def test_a_round_regenerated_between_plan_and_run_is_read_as_it_stands(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20, "旧的回答。")
    conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    conversation.work(rung)
    assert conversation.model.jobs[0].rounds[-1].assistant_text == "新的回答。"


def test_a_round_regenerated_after_its_entry_makes_it_stale_and_written_once_more(
    conversation: Conversation,
) -> None:
    conversation.go_to(20)
    again = conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    receipt = conversation.work(again)[-1]
    assert (receipt.outcome, receipt.reason) == ("ok", "stale_range")
    for _ in range(2):
        conversation.work(again)
    assert len(conversation.model.jobs) == 2
    (entry,) = conversation.entries()
    assert (entry.stale, entry.version, entry.covered[-1].turn_id) == (False, 2, "t20b")


def test_a_reroll_whose_message_was_lost_is_noticed_by_the_next_diary(conversation: Conversation) -> None:
    conversation.go_to(20)
    conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    conversation.go_to(30, first=21)
    assert [entry.covered[-1].turn_id for entry in conversation.entries()] == ["t20b", "t30"]


def test_a_user_who_has_no_diary_left_gets_one_when_the_month_changes(moto_client: Any) -> None:
    conversation = Conversation(moto_client, monthly_quota=1)
    conversation.go_to(20)
    assert conversation.go_to(30, first=21).reason == "quota_denied"
    assert conversation.ranges() == [(1, 20)]
    conversation.now += MONTH
    assert conversation.go_to(31, first=31).outcome == "ok"
    assert conversation.ranges() == [(1, 20), (21, 31)]


def test_others_are_told_of_a_stored_diary_and_of_nothing_else(conversation: Conversation) -> None:
    told: list[tuple[str, Any]] = []

    class Bus:
        def publish(self, kind: str, detail: Any) -> None:
            told.append((kind, detail))

    conversation.events = Bus()
    conversation.go_to(25)
    detail = {"conversationId": "c", "firstRound": 1, "lastRound": 20, "generator": "scripted"}
    assert told == [("DiaryAppended", detail)]


def test_a_notification_that_fails_does_not_undo_the_diary(conversation: Conversation) -> None:
    class Broken:
        def publish(self, kind: str, detail: Any) -> None:
            raise StoreUnavailable(detail="no bus")

    conversation.events = Broken()
    conversation.go_to(20)
    assert conversation.ranges() == [(1, 20)]
    page = conversation.receipts.page(SCOPE, before=None, limit=2)
    assert {(receipt.worker, receipt.outcome) for receipt, _ in page} == {
        ("diary", "ok"),
        ("notification", "failed"),
    }


def test_a_deleted_entry_is_never_written_again(conversation: Conversation) -> None:
    conversation.go_to(20)
    diary.delete_entry(diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20)
    diary.delete_entry(diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20)
    conversation.work(conversation.say(20, "新的。", turn_id="t20b", replaces="t20"))
    conversation.go_to(29, first=21)
    assert (conversation.ranges(), len(conversation.model.jobs)) == ([], 1)
    conversation.go_to(30, first=30)
    assert conversation.ranges() == [(21, 30)]


def test_an_edited_entry_is_never_overwritten(conversation: Conversation) -> None:
    conversation.go_to(20)
    diary.edit_entry(
        diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20, summary="我的。", diary=""
    )
    conversation.work(conversation.say(20, "新的。", turn_id="t20b", replaces="t20"))
    (entry,) = conversation.entries()
    assert (entry.summary, entry.edited, entry.stale) == ("我的。", True, False)
    assert len(conversation.model.jobs) == 1


def test_an_entry_that_is_not_there_can_neither_be_edited_nor_deleted(conversation: Conversation) -> None:
    for act in (
        lambda: diary.delete_entry(diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20),
        lambda: diary.edit_entry(
            diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20, summary="x", diary=""
        ),
    ):
        with pytest.raises(NotFound):
            act()


def test_a_head_that_moves_while_the_model_writes_refuses_the_save(conversation: Conversation) -> None:
    conversation.go_to(20)
    for number in range(21, 30):
        conversation.work(conversation.say(number))
    rung = conversation.say(30)

    def meanwhile(job: WritingJob) -> str:
        diary.delete_entry(diaries=conversation.diaries, scope=SCOPE, agent=AGENT, end_round=20)
        return good(job.rounds[-1].round)

    conversation.model.script = [meanwhile]
    with pytest.raises(RevisionConflict):
        conversation.work(rung)
    assert conversation.ranges() == []
    conversation.work(rung)
    assert conversation.ranges() == [(21, 30)]
