"""The diary's worker: when it calls a model, what it stores, and what every fault leaves."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from memoir.adapters.packing import unpack
from memoir.domain.language_model import FinishReason, ModelAnswer
from memoir.domain.turns import Position, RungTurn
from memoir.errors import LeaseHeld, MemoirError, ModelFailed, NotFound
from memoir.ports.records import Amend, Put, Record
from memoir.records.diary import MAX_RAW_BYTES, lease_key
from memoir.records.turns import turn_key
from memoir.usecases.ask_model import WritingJob
from tests.conversation import AGENT, LEASE_SECONDS, NOVEMBER, SCOPE, Conversation
from tests.fakes.doorbell import RecordingBus
from tests.fakes.models import ScriptedWriter, good
from tests.fakes.records import nothing
from tests.tables import TABLE_NAME

MONTH = 31 * 86_400


@pytest.fixture
def conversation() -> Conversation:
    return Conversation()


@pytest.fixture
def on_moto(moto_client: Any) -> Conversation:
    return Conversation(moto_client)


def test_over_45_rounds_the_model_is_called_at_20_30_and_40(conversation: Conversation) -> None:
    called_at: list[int] = []
    for number in range(1, 46):
        before = len(conversation.model.jobs)
        conversation.write(conversation.say(number))
        called_at += [number] * (len(conversation.model.jobs) - before)
    assert called_at == [20, 30, 40]
    assert conversation.ranges() == [(1, 20), (21, 30), (31, 40)]


def test_a_turn_below_the_threshold_is_one_read_and_one_write_of_cursor_and_receipt(
    on_moto: Conversation,
) -> None:
    rung = on_moto.say(1)
    on_moto.requests.clear()
    (receipt,) = on_moto.write(rung)
    assert on_moto.requests == ["BatchGetItem", "TransactWriteItems"]
    assert (receipt.outcome, receipt.reason, receipt.details) == ("skipped", "too_few_rounds", {"nextAt": 20})
    assert on_moto.model.jobs == []
    assert on_moto.entries() == []


def test_a_worker_that_is_late_writes_the_ranges_of_one_that_is_not(conversation: Conversation) -> None:
    rungs = [conversation.say(number) for number in range(1, 36)]
    for rung in rungs:
        conversation.write(rung)
    assert conversation.ranges() == [(1, 20), (21, 30)]


def test_recall_is_one_query_whatever_the_length(on_moto: Conversation) -> None:
    on_moto.go_to(60)
    on_moto.requests.clear()
    assert on_moto.recall("max") == [20, 30, 40, 50, 60]
    assert on_moto.requests == ["Query"]


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
        conversation.write(rung)
    assert len(conversation.model.jobs) == 1
    assert conversation.ranges() == [(1, 20)]


def test_two_workers_at_once_are_one_call_and_one_entry(dynamodb_local_client: Any) -> None:
    conversation = Conversation(dynamodb_local_client)
    rungs = [conversation.say(number) for number in range(1, 21)]

    def work(rung: RungTurn) -> None:
        try:
            conversation.write(rung)
        except MemoirError:  # it stays in the queue and comes again
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, [rungs[-1]] * 8))
    conversation.write(rungs[-1])
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


def test_the_raw_answer_of_a_failure_is_kept_for_a_week_and_cut(on_moto: Conversation) -> None:
    on_moto.model.script = ["不" * 30_000] * 2
    on_moto.go_to(20)
    key = {"pk": {"S": "P#p#U#u#C#c"}, "sk": {"S": "F#diary#0000000020"}}
    item = on_moto.client.get_item(TableName=TABLE_NAME, Key=key)["Item"]
    raw = unpack(item["body"])
    assert raw is not None
    assert MAX_RAW_BYTES - 3 <= len(raw.encode()) <= MAX_RAW_BYTES
    assert int(item["expires_at"]["N"]) == int(NOVEMBER) + 7 * 86_400


def test_nothing_new_moves_the_watermark_and_stores_no_entry(conversation: Conversation) -> None:
    conversation.model.script = ['{"nothing_new": true}']
    assert conversation.go_to(20).reason == "nothing_new"
    assert (conversation.entries(), conversation.watermark()) == ([], 20)
    conversation.go_to(30, first=21)
    assert conversation.ranges() == [(21, 30)]


class Crash(BaseException):
    """The process is killed."""


def die(*_: object) -> str:
    raise Crash


def test_a_worker_killed_before_it_saved_is_followed_by_another_after_its_lease(
    conversation: Conversation,
) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)

    def killed(job: WritingJob) -> ModelAnswer:
        conversation.records.before_write = die  # the dead write nothing any more
        raise Crash

    with pytest.raises(Crash):
        conversation.write(rung, model=killed)
    conversation.records.before_write = nothing
    with pytest.raises(LeaseHeld) as held:
        conversation.write(rung)
    assert held.value.retry_after_seconds == LEASE_SECONDS
    assert conversation.model.jobs == []
    conversation.now += 331
    conversation.write(rung)
    assert (len(conversation.model.jobs), conversation.ranges()) == (1, [(1, 20)])


def test_a_worker_that_lost_its_lease_saves_nothing_and_ends_quietly(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)
    other = ScriptedWriter()

    def slow(job: WritingJob) -> str:
        conversation.now += 331
        conversation.write(rung, model=other)  # another worker takes over and finishes
        return '{"summary":"慢的那一个写的另一份完整摘要，不应当被保存。"}'

    conversation.model.script = [slow]
    assert conversation.write(rung) == []
    assert [entry.summary for entry in conversation.entries()] == [json.loads(good(20))["summary"]]
    assert (len(conversation.model.jobs), len(other.jobs)) == (1, 1)
    assert [receipt.outcome for receipt in conversation.told()[:1]] == ["ok"]


def test_a_worker_that_ends_gives_its_lease_back(conversation: Conversation) -> None:
    conversation.go_to(20)
    key = lease_key(SCOPE, AGENT)
    assert conversation.records.read(key)[key].number("leased_until") == 0
    conversation.model.script = [die]  # type: ignore[list-item]
    rung = [conversation.say(number) for number in range(21, 31)][-1]
    with pytest.raises(Crash):
        conversation.write(rung)
    assert conversation.records.read(key)[key].number("leased_until") == 0


def test_a_lease_of_another_worker_is_not_given_back(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)
    key = lease_key(SCOPE, AGENT)
    lease = Record(facts={"lease_owner": "other", "leased_until": int(conversation.now) + 7})
    conversation.records.write(Put(key=key, record=lease))
    with pytest.raises(LeaseHeld) as held:
        conversation.write(rung)
    assert held.value.retry_after_seconds == 7
    assert conversation.records.read(key)[key] == lease


def test_rounds_that_arrive_while_the_model_writes_still_count(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)

    def meanwhile(job: WritingJob) -> str:
        for number in (21, 22, 23):
            conversation.say(number)
        return good(job.rounds[-1].round)

    conversation.model.script = [meanwhile]
    conversation.write(rung)
    assert (conversation.ranges(), conversation.watermark()) == ([(1, 20)], 20)
    conversation.go_to(30, first=24)
    assert conversation.ranges() == [(1, 20), (21, 30)]


def test_a_round_regenerated_between_plan_and_run_is_read_as_it_stands(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20, "旧的回答。")
    conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    conversation.write(rung)
    assert conversation.model.jobs[0].rounds[-1].assistant_text == "新的回答。"


def test_a_round_regenerated_after_its_entry_makes_it_stale_and_written_once_more(
    conversation: Conversation,
) -> None:
    conversation.go_to(20)
    again = conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    receipt = conversation.write(again)[-1]
    assert (receipt.outcome, receipt.reason) == ("ok", "stale_range")
    for _ in range(2):
        conversation.write(again)
    assert len(conversation.model.jobs) == 2
    (entry,) = conversation.entries()
    assert (entry.stale, entry.version, entry.covered[-1].turn_id) == (False, 2, "t20b")


def test_a_reroll_whose_message_was_lost_is_noticed_by_the_next_diary(conversation: Conversation) -> None:
    conversation.go_to(20)
    conversation.say(20, "新的回答。", turn_id="t20b", replaces="t20")
    conversation.go_to(30, first=21)
    assert [entry.covered[-1].turn_id for entry in conversation.entries()] == ["t20b", "t30"]


def test_a_user_who_has_no_diary_left_gets_one_when_the_month_changes() -> None:
    conversation = Conversation(monthly_quota=1)
    conversation.go_to(20)
    assert conversation.go_to(30, first=21).reason == "quota_denied"
    assert conversation.ranges() == [(1, 20)]
    conversation.now += MONTH
    assert conversation.go_to(31, first=31).outcome == "ok"
    assert conversation.ranges() == [(1, 20), (21, 31)]


def test_others_are_told_of_a_stored_diary_and_of_nothing_else(conversation: Conversation) -> None:
    conversation.go_to(25)
    whose = {"product": "p", "user": "u", "conversationId": "c", "turnId": "t20", "round": 20}
    detail = {**whose, "firstRound": 1, "lastRound": 20, "generator": "scripted"}
    assert conversation.events.told == [("DiaryAppended", detail)]


def test_a_notification_that_fails_does_not_undo_the_diary(conversation: Conversation) -> None:
    conversation.events = RecordingBus(broken=True)
    conversation.go_to(20)
    assert conversation.ranges() == [(1, 20)]
    assert {(receipt.worker, receipt.outcome) for receipt in conversation.told()[:2]} == {
        ("diary", "ok"),
        ("notification", "failed"),
    }


def test_a_deleted_entry_is_never_written_again(conversation: Conversation) -> None:
    conversation.go_to(20)
    conversation.delete_entry(20)
    conversation.delete_entry(20)
    conversation.write(conversation.say(20, "新的。", turn_id="t20b", replaces="t20"))
    conversation.go_to(29, first=21)
    assert (conversation.ranges(), len(conversation.model.jobs)) == ([], 1)
    conversation.go_to(30, first=30)
    assert conversation.ranges() == [(21, 30)]


def test_an_edited_entry_is_never_overwritten(conversation: Conversation) -> None:
    conversation.go_to(20)
    conversation.edit_entry(20, "我的。")
    conversation.write(conversation.say(20, "新的。", turn_id="t20b", replaces="t20"))
    (entry,) = conversation.entries()
    assert (entry.summary, entry.edited, entry.stale) == ("我的。", True, False)
    assert len(conversation.model.jobs) == 1


def test_an_entry_that_is_not_there_can_neither_be_edited_nor_deleted(conversation: Conversation) -> None:
    for act in (
        lambda: conversation.delete_entry(20),
        lambda: conversation.edit_entry(20, "x"),
    ):
        with pytest.raises(NotFound):
            act()


def test_a_deletion_of_the_summary_it_is_written_from_asks_the_model_anew(
    conversation: Conversation,
) -> None:
    conversation.go_to(29)
    rung = conversation.say(30)

    def meanwhile(job: WritingJob) -> str:
        conversation.delete_entry(20)
        return good(job.rounds[-1].round)

    conversation.model.script = [meanwhile]
    conversation.model.jobs.clear()
    assert conversation.write(rung)[-1].outcome == "ok"
    assert conversation.ranges() == [(21, 30)]
    assert [job.previous_summary for job in conversation.model.jobs] == [json.loads(good(20))["summary"], ""]


def test_an_answer_that_was_paid_for_is_saved_behind_a_head_that_moved(conversation: Conversation) -> None:
    conversation.go_to(39)
    rung = conversation.say(40)

    def meanwhile(job: WritingJob) -> str:
        conversation.edit_entry(20, "我的。")
        return good(job.rounds[-1].round)

    conversation.model.script = [meanwhile]
    conversation.model.jobs.clear()
    assert conversation.write(rung)[-1].outcome == "ok"
    assert len(conversation.model.jobs) == 1
    assert conversation.ranges() == [(1, 20), (21, 30), (31, 40)]
    assert conversation.entries()[0].summary == "我的。"


def test_a_turn_that_cannot_be_read_is_left_out_of_the_diary_and_told(conversation: Conversation) -> None:
    conversation.go_to(18)
    conversation.say(19)
    key = turn_key(SCOPE, Position(round=19, version=1))
    conversation.records.write(Amend(key=key, body="broken"))
    conversation.write(conversation.say(20))
    assert [item.round for item in conversation.model.jobs[0].rounds] == [*range(1, 19), 20]
    assert conversation.ranges() == [(1, 20)]
    outcomes = {receipt.position.round: receipt.reason for receipt in conversation.told()}
    assert (outcomes[19], outcomes[20]) == ("record_corrupt", "first_due")


def test_what_time_does_not_allow_is_rung_for(conversation: Conversation) -> None:
    conversation.go_to(19)
    rung = conversation.say(20)
    conversation.doorbell.rings.clear()
    conversation.time_left = False
    assert conversation.write(rung) == []
    assert conversation.doorbell.rings == [(SCOPE, ("diary",), rung.position)]
    assert conversation.model.jobs == []
