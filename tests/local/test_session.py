"""A session of 60 turns with everything on, as a host plays it over HTTP; and compaction alone."""

import json
import secrets
from pathlib import Path
from typing import Any

from tests.api import Api, send
from tests.localcloud.cloud import Stack

DATA = Path(__file__).resolve().parents[1] / "data"
BASE = "/v1/conversations/c1"
TURNS = 60
BUDGET = 2_600
HISTORY_BUDGET = 1_400
EVERYTHING = (
    "{{ memory }}\n{{ memoryTable }}\n{{ compassMemory }}\n{{ actorState }}\n"
    "{{ storyWorld }}\n{{ storyNarrative }}"
)


def scenario(canary: str) -> dict[str, Any]:
    return {
        "memoryRuntime": "axon_go",
        "memorySources": [
            {"id": "table", "agentRef": "table", "variable": "memoryTable"},
            {"id": "diary", "agentRef": "diary", "variable": "compassMemory"},
        ],
        "documents": ["memory", "state", "story"],
        "state": {
            "categories": ["people", "plot"],
            "visibility": {"plot": "director"},
            "instruction": f"记下在场的人；导演的秘密是 {canary}，不能让玩家知道。",
        },
        "compact": {"keepTurns": 2, "maxSummaryTokens": 200},
        "template": {"messages": [{"role": "system", "content": EVERYTHING}, {"history": True}]},
    }


def dialogue(mark: str) -> list[tuple[str, str]]:
    """The demo's dialogue, begun again after its end; *mark* tells it from other tests'."""
    lines = (DATA / "demo-zh.txt").read_text().strip().splitlines()
    rounds = list(zip(lines[::2], lines[1::2], strict=True))
    played = enumerate((rounds * 2)[:TURNS], start=1)
    return [(f"{said}（{mark} {turn}）", answered) for turn, (said, answered) in played]


def prompts(stack: Stack, part: str) -> list[dict[str, str]]:
    """What the scripted model was asked with *part* in it."""
    log = send("GET", f"{stack['modelControlUrl']}/log").json["log"]
    return [asked for asked in log if part in json.dumps(asked, ensure_ascii=False)]


class Session:
    """A host in the middle of a conversation."""

    def __init__(self, api: Api, scenario_id: str) -> None:
        self.api = api
        self.scenario_id = scenario_id
        self.messages: list[dict[str, Any]] = []
        self.statuses: list[str] = []

    def call(self, method: str, path: str, body: Any = None, *, status: int = 200) -> Any:
        answer = self.api.call(method, f"{BASE}{path}", body)
        assert answer.status == status, answer.text
        return answer.json

    def compact(self) -> list[dict[str, Any]]:
        answer = self.call(
            "POST",
            "/compact",
            {"scenarioId": self.scenario_id, "messages": self.messages, "tokenBudget": HISTORY_BUDGET},
        )
        self.statuses.append(answer["status"])
        assert answer["tokens"]["total"] <= HISTORY_BUDGET
        return [
            {name: one[name] for name in ("role", "content", "turnId") if one.get(name) is not None}
            for one in answer["messages"]
        ]

    def context(self, said: str, history: list[dict[str, Any]]) -> Any:
        asked = [*history, {"role": "user", "content": said}]
        body = {"scenarioId": self.scenario_id, "history": asked, "tokenBudget": BUDGET}
        answer = self.call("POST", "/context", body)
        assert answer["tokens"]["total"] <= BUDGET
        return answer

    def reply(self, turn: int, said: str, answered: str) -> None:
        if turn % 7 == 0:
            answered += f'<tableEdit>insertRow(0, {{"0":"第{turn}轮","1":"城门"}})</tableEdit>'
        turn_id = f"t{turn}"
        self.call(
            "POST",
            "/turns",
            {
                "turnId": turn_id,
                "scenarioId": self.scenario_id,
                "user": {"text": said},
                "assistant": {"text": answered},
                "accepted": True,
            },
            status=202,
        )
        for role, text in (("user", said), ("assistant", answered)):
            self.messages.append({"turnId": turn_id, "role": role, "content": text})

    def settle(self, turn: int) -> None:
        claim = self.call("POST", "/story/prepare", {})["claim"]
        body = {
            "claim": claim,
            "events": [{"id": f"e{turn}", "text": f"第{turn}轮过去了。"}],
            "world": {"轮": turn},
            "narrative": f"故事走到第{turn}轮。",
        }
        self.call("POST", "/story/settle", body)


def test_sixty_turns_with_everything_on(api: Api, stack: Stack) -> None:
    name, canary = f"all-{secrets.token_hex(4)}", f"canary-{secrets.token_hex(8)}"
    saved = api.call("PUT", f"/v1/scenarios/{name}", {"expectedRevision": 0, "scenario": scenario(canary)})
    assert saved.status == 200, saved.text
    session = Session(api, name)
    sheet = {"name": "事", "columns": ["时", "地"], "rows": []}
    session.call("PUT", "/table", {"expectedRevision": 0, "table": {"sheets": [sheet]}})
    actors_input, mark = [], secrets.token_hex(6)
    for turn, (said, answered) in enumerate(dialogue(mark), start=1):
        seen = session.context(said, session.compact())
        actors_input.append(json.dumps(seen, ensure_ascii=False))
        session.reply(turn, said, answered)
        if turn % 10 == 0:
            session.settle(turn)
            memory = {"turn": turn, "scene": "城门"}
            session.call("PUT", "/memory", {"expectedRevision": turn // 10 - 1, "memory": memory})
    api.wait_for(f"{BASE}/state", lambda answer: f'"round":{TURNS}' in answer.text.replace(" ", ""))
    api.wait_for(f"{BASE}/table", lambda answer: answer.json["throughRound"] == TURNS)
    last = session.context("然后呢？", session.compact())
    check_last(session, last)
    # The actor never saw what is the director's alone, and the state did hold it.
    assert canary not in "".join(actors_input) + json.dumps(last, ensure_ascii=False)
    assert canary in json.dumps(session.call("GET", "/state"), ensure_ascii=False)
    made = session.statuses.count("compacted")
    assert 2 <= made <= TURNS / 4
    assert set(session.statuses) == {"unchanged", "reused", "compacted"}
    assert len([one for one in prompts(stack, mark) if "〔较早的对话〕" in one["user"]]) == made


def check_last(session: Session, last: Any) -> None:
    """The last context has what was written last, of every kind."""
    told = last["messages"][0]["content"]
    assert '"turn": 60' in told or '"turn":60' in told
    assert "故事走到第60轮" in told
    assert "第56轮" in told  # the table's last row
    assert "守卫" in told
    missing = {one["source"]: one["reason"] for one in last["missing"]}
    assert set(missing) <= {"directorState"}, missing
    receipts = session.call("GET", "/receipts?limit=100")["receipts"]
    told_by = {one["worker"] for one in receipts}
    assert {"table", "diary", "state", "story", "compact"} <= told_by


def test_compaction_at_every_turn_asks_the_model_only_at_checkpoints(api: Api, stack: Stack) -> None:
    name, mark = f"short-{secrets.token_hex(4)}", secrets.token_hex(6)
    body = {"memoryRuntime": "axon_go", "compact": {"checkpointEveryTurns": 10}}
    assert api.call("PUT", f"/v1/scenarios/{name}", {"expectedRevision": 0, "scenario": body}).status == 200
    messages: list[dict[str, Any]] = []
    made = []
    for turn, (said, answered) in enumerate(dialogue(mark), start=1):
        for role, text in (("user", said), ("assistant", answered)):
            messages.append({"turnId": f"t{turn}", "role": role, "content": text})
        asked = {"scenarioId": name, "messages": messages, "tokenBudget": 100_000}
        answer = api.call("POST", f"{BASE}/compact", asked)
        assert answer.status == 200, answer.text
        assert answer.json["messages"] == messages
        if answer.json["status"] == "checkpointed":
            made.append(turn)
    assert made == [12, 22, 32, 42, 52]
    assert len(prompts(stack, mark)) == len(made)
