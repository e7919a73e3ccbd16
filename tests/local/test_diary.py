"""Diaries on the deployed local stack, written by the extractive model."""

from typing import Any

from tests.api import Api

BASE = "/v1/conversations/c1"
LINES = [
    ("我把铜钥匙交给守卫。", "守卫点头，答应明天日落前归还铜钥匙。"),
    ("我们连夜赶路去黑森林。", "商队的车辙在溪边消失了，阿莱娜发现了一枚狮鹫银币。"),
    ("你还记得北境的雪吗？", "阿莱娜沉默很久，说她在那里失去了哥哥。"),
]


def post_rounds(api: Api, first: int, last: int, **members: Any) -> None:
    for number in range(first, last + 1):
        said, answered = LINES[number % len(LINES)]
        turn = {
            "turnId": f"t{number}",
            "user": {"text": f"{said}（第{number}天）"},
            "assistant": {"text": f"{answered}第{number}夜过去了。"},
            **members,
        }
        assert api.call("POST", f"{BASE}/turns", turn).status == 202


def wait_receipt(api: Api, turn_round: int) -> dict[str, Any]:
    def wanted(answer: Any) -> list[dict[str, Any]]:
        return [r for r in answer.json["receipts"] if (r["worker"], r["round"]) == ("diary", turn_round)]

    answer = api.wait_for(f"{BASE}/receipts?limit=100", wanted)
    return wanted(answer)[0]


def test_nineteen_rounds_write_nothing_and_the_twentieth_writes_one_entry(api: Api) -> None:
    post_rounds(api, 1, 19)
    receipt = wait_receipt(api, 19)
    assert (receipt["outcome"], receipt["reason"]) == ("skipped", "too_few_rounds")
    nothing = api.call("GET", f"{BASE}/diary/recall").json
    assert nothing == {
        "compassMemory": "",
        "entries": [],
        "nextAt": 20,
        "staleCount": 0,
        "truncated": False,
    }
    post_rounds(api, 20, 20)
    receipt = wait_receipt(api, 20)
    assert (receipt["outcome"], receipt["reason"], receipt["generator"]) == ("ok", "first_due", "extractive")
    recalled = api.call("GET", f"{BASE}/diary/recall?subscriptionCategory=max").json
    assert [(e["firstRound"], e["lastRound"]) for e in recalled["entries"]] == [(1, 20)]
    assert recalled["nextAt"] == 30
    assert recalled["entries"][0]["summary"] in recalled["compassMemory"]
    assert "diary" not in recalled["entries"][0]


def test_each_tier_recalls_its_number_of_summaries_oldest_first(api: Api) -> None:
    post_rounds(api, 1, 40, subscriptionCategory="plus")
    wait_receipt(api, 40)
    ends = {
        tier: [
            entry["lastRound"]
            for entry in api.call("GET", f"{BASE}/diary/recall?subscriptionCategory={tier}").json["entries"]
        ]
        for tier in ("default", "plus", "ultra", "max", "unheard-of")
    }
    assert ends["default"] == ends["unheard-of"] == [40]
    assert ends["plus"][-1] == 40 and len(ends["plus"]) <= 2
    listed = api.call("GET", f"{BASE}/diary").json["entries"]
    assert ends["max"] == [entry["lastRound"] for entry in reversed(listed)]
    assert all(entry["diary"] for entry in listed)


def test_an_entry_is_edited_and_deleted_for_good(api: Api) -> None:
    post_rounds(api, 1, 20)
    wait_receipt(api, 20)
    edited = api.call("PUT", f"{BASE}/diary/20", {"summary": "铜钥匙在守卫手里。"})
    assert (edited.status, edited.json["edited"]) == (200, True)
    assert "铜钥匙在守卫手里。" in api.call("GET", f"{BASE}/diary/recall").json["compassMemory"]
    for _ in range(2):
        assert api.call("DELETE", f"{BASE}/diary/20").status == 200
    assert api.call("GET", f"{BASE}/diary/recall").json["entries"] == []
    assert api.call("PUT", f"{BASE}/diary/20", {"summary": "x"}).status == 404
    assert api.call("PUT", f"{BASE}/diary/abc", {"summary": "x"}).status == 400
