"""Turns, the doorbell, and the memory table that the model edits, on the deployed local stack."""

import json
from typing import Any

import boto3
import pytest

from tests.api import Answer, Api
from tests.localcloud.cloud import Stack

BASE = "/v1/conversations/c1"
SHEETS = {
    "sheets": [
        {"name": "人物表", "columns": ["名", "物"], "rows": [["甲", "剑"], ["乙", "盾"]]},
        {"name": "时间表", "columns": ["日", "地"], "rows": []},
    ]
}
SHOWN = """* 0:人物表
rowIndex,0:名,1:物
0,甲,剑
1,乙,大盾
* 1:时间表
rowIndex,0:日,1:地
0,d1,城门"""
EDITS = (
    '她点头。<tableEdit>\nupdateRow(0, 1, {"1":"大盾"})\ninsertRow(1, {"0":"d1","1":"城门"})\n</tableEdit>'
)


def turn(turn_id: str, text: str = "嗯。", **members: Any) -> dict[str, Any]:
    return {"turnId": turn_id, "user": {"text": "你好"}, "assistant": {"text": text}, **members}


def post(api: Api, turn_id: str, text: str = "嗯。", **members: Any) -> Answer:
    return api.call("POST", f"{BASE}/turns", turn(turn_id, text, **members))


def rows(api: Api, sheet: int = 0) -> list[list[str]]:
    found: list[list[str]] = api.call("GET", f"{BASE}/table").json["table"]["sheets"][sheet]["rows"]
    return found


def wait_through(api: Api, turn_round: int) -> dict[str, Any]:
    answer = api.wait_for(f"{BASE}/table", lambda got: got.json["throughRound"] >= turn_round)
    found: dict[str, Any] = answer.json
    return found


@pytest.fixture
def table(api: Api) -> Api:
    """A host whose conversation c1 has the two sheets at revision 1."""
    answer = api.call("PUT", f"{BASE}/table", {"expectedRevision": 0, "table": SHEETS})
    assert answer.json == {"revision": 1}
    return api


def receipts(api: Api, worker: str = "table") -> list[dict[str, Any]]:
    listed = api.call("GET", f"{BASE}/receipts?limit=100").json["receipts"]
    return [receipt for receipt in listed if receipt["worker"] == worker]


def test_no_table_yet_is_said_as_such(api: Api) -> None:
    assert api.call("GET", f"{BASE}/table").json == {
        "revision": 0,
        "throughRound": 0,
        "table": None,
        "memoryTable": "",
    }


def test_edits_in_a_reply_reach_the_table_with_a_receipt(table: Api) -> None:
    answer = post(table, "t1", EDITS)
    assert (answer.status, answer.json) == (
        202,
        {"turnId": "t1", "round": 1, "scheduled": ["table", "diary"], "duplicate": False, "generation": 0},
    )
    now = wait_through(table, 1)
    assert now["revision"] == 2
    assert now["memoryTable"] == SHOWN
    receipt = receipts(table)[0]
    assert (receipt["turnId"], receipt["round"], receipt["outcome"]) == ("t1", 1, "ok")
    assert (receipt["revisionBefore"], receipt["revisionAfter"]) == (1, 2)
    assert receipt["counts"] == {"applied": 2, "noop": 0, "rejected": 0, "held": 0, "ignored": 0}


def test_a_turn_without_edits_leaves_the_revision_and_says_why(table: Api) -> None:
    post(table, "t1")
    assert wait_through(table, 1)["revision"] == 1
    receipt = receipts(table)[0]
    assert (receipt["outcome"], receipt["reason"]) == ("skipped", "no_block")
    assert receipt["revisionBefore"] == receipt["revisionAfter"] == 1


def test_the_same_turn_again_is_the_same_round_and_is_applied_once(table: Api) -> None:
    first = post(table, "t1", EDITS).json
    for _ in range(3):
        assert post(table, "t1", EDITS).json == {**first, "duplicate": True}
    other = post(table, "t1", "另一个回答")
    assert (other.status, other.json["code"]) == (409, "turn_conflict")
    assert wait_through(table, 1)["revision"] == 2
    post(table, "t2")
    wait_through(table, 2)
    assert rows(table, 1) == [["d1", "城门"]]


def test_a_regenerated_reply_undoes_the_old_ones_effect(table: Api) -> None:
    post(table, "t1", '<tableEdit>insertRow(0, {"0":"丁","1":"刀"})</tableEdit>', recalled={"memoryTable": 1})
    wait_through(table, 1)
    assert rows(table)[-1] == ["丁", "刀"]
    again = post(
        table,
        "t1b",
        '<tableEdit>insertRow(0, {"0":"戊","1":"斧"})</tableEdit>',
        replaces="t1",
        recalled={"memoryTable": 1},
    )
    assert again.json["round"] == 1
    table.wait_for(f"{BASE}/table", lambda got: got.json["revision"] == 3)
    assert rows(table) == [["甲", "剑"], ["乙", "盾"], ["戊", "斧"]]


def test_indexes_mean_the_rows_that_the_model_was_shown(table: Api) -> None:
    removed = table.call(
        "POST",
        f"{BASE}/table/edits",
        {"expectedRevision": 1, "text": "<tableEdit>deleteRow(0, 0)</tableEdit>"},
    )
    assert removed.json["status"] == "saved"
    post(table, "t1", '<tableEdit>updateRow(0, 1, {"1":"大盾"})</tableEdit>', recalled={"memoryTable": 1})
    wait_through(table, 1)
    assert rows(table) == [["乙", "大盾"]]


def test_edits_by_the_host_answer_what_became_of_each(table: Api) -> None:
    edits = [
        {"op": "update", "table": "人物表", "row": 1, "expect": {"名": "乙"}, "set": {"物": "大盾"}},
        {"op": "delete", "table": 0, "row": 9},
    ]
    answer = table.call("POST", f"{BASE}/table/edits", {"expectedRevision": 1, "edits": edits})
    assert answer.status == 200
    report = answer.json
    assert (report["revision"], report["baseRevision"], report["status"]) == (2, 1, "saved")
    assert [command["status"] for command in report["commands"]] == ["applied", "rejected"]
    assert report["commands"][1]["code"] == "row_out_of_range"


def test_edits_based_on_an_old_revision_conflict_and_change_nothing(table: Api) -> None:
    body = {"expectedRevision": 0, "text": EDITS}
    answer = table.call("POST", f"{BASE}/table/edits", body)
    assert (answer.status, answer.json["currentRevision"]) == (409, 1)
    assert table.call("GET", f"{BASE}/table").json["revision"] == 1


def test_edits_that_change_nothing_write_nothing(table: Api) -> None:
    body = {"expectedRevision": 1, "text": '<tableEdit>updateRow(0, 0, {"1":"剑"})</tableEdit>'}
    report = table.call("POST", f"{BASE}/table/edits", body).json
    assert (report["status"], report["changed"], report["revision"]) == ("no_change", False, 1)


def test_edits_with_the_same_idempotency_key_are_one_edit_and_one_answer(table: Api) -> None:
    body = {"expectedRevision": 1, "text": EDITS}
    answers = [table.call("POST", f"{BASE}/table/edits", body, idempotency_key="e-1") for _ in range(3)]
    assert answers[0].json["revision"] == 2
    assert all(answer.json == answers[0].json for answer in answers)
    other = table.call("POST", f"{BASE}/table/edits", {**body, "text": "x"}, idempotency_key="e-1")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")
    assert rows(table, 1) == [["d1", "城门"]]


@pytest.mark.parametrize(
    ("table_value", "status"),
    [
        ({"sheets": [{"name": "a", "columns": ["x"], "rows": [["1", "2"]]}]}, 400),
        ({"sheets": [{"name": "a", "columns": ["x"], "rows": [[1]]}]}, 400),
        (
            {
                "sheets": [
                    {"name": "a", "columns": ["x"], "rows": []},
                    {"name": " ａ", "columns": [], "rows": []},
                ]
            },
            400,
        ),
        ({"sheets": [{"name": f"s{n}", "columns": ["x"], "rows": []} for n in range(21)]}, 422),
        ({"sheets": [{"name": "a", "columns": [f"c{n}" for n in range(41)], "rows": []}]}, 422),
        ({"sheets": [{"name": "a", "columns": ["x"], "rows": [["y"]] * 201}]}, 422),
        ({"sheets": [{"name": "a", "columns": ["x"], "rows": [["长" * 4001]]}]}, 422),
        ({"sheets": [{"name": "a", "columns": ["x"], "rows": [["x" * 3999]] * 17}]}, 413),
    ],
)
def test_a_table_that_breaks_a_rule_is_refused_whole(table: Api, table_value: Any, status: int) -> None:
    answer = table.call("PUT", f"{BASE}/table", {"expectedRevision": 1, "table": table_value})
    assert answer.status == status, answer.text
    assert answer.json["path"].startswith("/table")
    assert table.call("GET", f"{BASE}/table").json["revision"] == 1


def test_turns_are_listed_backwards_in_pages(api: Api) -> None:
    for number in range(1, 6):
        post(api, f"t{number}", f"回答{number}")
    first = api.call("GET", f"{BASE}/turns?limit=2").json
    assert [found["round"] for found in first["turns"]] == [5, 4]
    assert first["turns"][0] == {
        "turnId": "t5",
        "round": 5,
        "user": {"text": "你好"},
        "assistant": {"text": "回答5"},
        "status": "completed",
    }
    rest = api.call("GET", f"{BASE}/turns?limit=10&before={first['next']}").json
    assert [found["round"] for found in rest["turns"]] == [3, 2, 1]
    assert "next" not in rest
    assert api.call("POST", f"{BASE}/turns/t5/accept").status == 202
    assert api.call("GET", f"{BASE}/turns?limit=1").json["turns"][0]["status"] == "accepted"


def queues(stack: Stack, part: str) -> tuple[Any, str]:
    sqs = boto3.client(
        "sqs",
        endpoint_url=stack["endpointUrl"],
        region_name=stack["region"],
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    url = next(url for url in sqs.list_queues()["QueueUrls"] if part in url)
    return sqs, url


def test_messages_that_come_thrice_and_in_any_order_count_once(table: Api, stack: Stack) -> None:
    for number in range(1, 5):
        post(table, f"t{number}", f'<tableEdit>insertRow(1, {{"0":"d{number}","1":"p"}})</tableEdit>')
    sqs, url = queues(stack, "TableQueue")
    claims = table.token.split(".")[1]
    product = json.loads(_unpadded(claims))["client_id"]
    for copy, number in enumerate([4, 2, 1, 3, 3, 1, 2, 4]):
        ring = {
            "product": product,
            "user": table.user,
            "conversation": "c1",
            "round": number,
            "version": 1,
            "turnId": f"t{number}",
            "scenarioId": "default",
            "subscriptionCategory": None,
        }
        sqs.send_message(
            QueueUrl=url,
            MessageBody=json.dumps(ring),
            MessageGroupId="shuffled",
            MessageDeduplicationId=f"{table.user}-{copy}",
        )
    wait_through(table, 4)
    post(table, "t5")
    assert wait_through(table, 5)["revision"] == 5
    assert [row[0] for row in rows(table, 1)] == ["d1", "d2", "d3", "d4"]
    assert [receipt["round"] for receipt in receipts(table)] == [5, 4, 3, 2, 1]


def _unpadded(text: str) -> bytes:
    import base64

    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
