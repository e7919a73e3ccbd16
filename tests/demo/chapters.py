"""The chapters of the demo: each writes something, and shows that the next request has it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.api import Answer, Api, send
from tests.demo.telling import Broken, Teller

DATA = Path(__file__).resolve().parents[1] / "data"
BASE = "/v1/conversations/demo"
SECRET = "canary-0a1b2c"
"""What only the director may see."""


def scenario() -> dict[str, Any]:
    """Return a scenario with everything on."""
    printed = ("memory", "memoryTable", "compassMemory", "actorState", "storyWorld", "storyNarrative")
    content = "\n".join(f"{{% if {name} %}}[{name}]\n{{{{ {name} }}}}\n{{% endif %}}" for name in printed)
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
            "instruction": f"Note who is there. The director's secret is {SECRET}.",
        },
        "compact": {"keepTurns": 2},
        "template": {"messages": [{"role": "system", "content": content}, {"history": True}]},
    }


def memory(api: Api, tell: Teller) -> None:
    """Read the old value, one clear change, read the new value; a conflict; a refusal; another product."""
    path = f"{BASE}/memory"
    gate, guard = (
        {"scene": tell.words["gate"], "keyHolder": "user"},
        {"scene": tell.words["gate"], "keyHolder": "guard"},
    )
    tell.heading("memory")
    tell.step(
        "memory_none", api.call("GET", path), holds=lambda body: body == {"revision": 0, "memory": None}
    )
    tell.step("memory_first", api.call("PUT", path, {"expectedRevision": 0, "memory": gate}))
    tell.step(
        "memory_change",
        api.call("PUT", path, {"expectedRevision": 1, "memory": guard}),
        holds=lambda body: body == {"revision": 2},
    )
    now = {"revision": 2, "memory": guard}
    tell.step("memory_read", api.call("GET", path), holds=lambda body: body == now)
    tell.step(
        "memory_conflict",
        api.call("PUT", path, {"expectedRevision": 1, "memory": {}}),
        status=409,
        holds=lambda body: body["currentRevision"] == 2,
        facts=lambda body: body,
    )
    tell.step(
        "memory_refused",
        api.call("PUT", path, {"expectedRevision": 2, "memory": ["x"]}),
        status=400,
        facts=lambda body: body,
    )
    tell.step("memory_unchanged", api.call("GET", path), holds=lambda body: body == now)
    other = Api(api.stack, client="otherClient", user=api.user)
    tell.step("memory_other", other.call("GET", path), holds=lambda body: body["revision"] == 0)


def context(api: Api, tell: Teller) -> None:
    """A scenario says what the next model input is made of, and the context call says what it got."""
    tell.heading("context")
    body = {"expectedRevision": 0, "scenario": scenario()}
    tell.step("context_scenario", api.call("PUT", f"/v1/scenarios/{_scenario_id(tell)}", body))
    tell.step(
        "context_bad_scenario",
        api.call(
            "PUT", "/v1/scenarios/demo-bad", {"expectedRevision": 0, "scenario": {"memoryRuntime": "x"}}
        ),
        status=422,
        facts=lambda body: body["problems"][0],
    )
    seen = tell.step(
        "context_memory",
        _context(api, tell),
        holds=lambda body: '"guard"' in body["messages"][0]["content"] and "memory" in body["referenced"],
    )
    missing = {one["source"]: one for one in seen["missing"]}
    if missing["compassMemory"]["nextAt"] != 20 or missing["memoryTable"]["reason"] != "empty":
        raise Broken(json.dumps(missing))
    tell.line("context_missing", next_at=missing["compassMemory"]["nextAt"])
    plain = {
        "memoryRuntime": "axon_go",
        "memorySources": [],
        "documents": ["memory"],
        "template": {"messages": [{"history": True}]},
    }
    api.call("PUT", "/v1/scenarios/demo-blind", {"expectedRevision": 0, "scenario": plain})
    tell.step(
        "context_unreferenced",
        _context(api, tell, scenario_id="demo-blind"),
        holds=lambda body: body["unreferenced"] == ["memory"] and "memoryTable" not in body["variables"],
        facts=lambda body: body["warnings"][0],
    )
    tell.step("context_unknown", _context(api, tell, scenario_id="demo-nobody"), status=404)


def table(api: Api, tell: Teller) -> None:
    """The model edits the table in its replies; the background applies the edits once."""
    tell.heading("table")
    sheet = {"name": tell.words["people"], "columns": ["name", "has"], "rows": [[tell.words["guard"], "-"]]}
    tell.step(
        "table_set", api.call("PUT", f"{BASE}/table", {"expectedRevision": 0, "table": {"sheets": [sheet]}})
    )
    first, second = dialogue(tell)[:2]
    reply = f'{first[1]}<tableEdit>updateRow(0, 0, {{"1":"{tell.words["key"]}"}})</tableEdit>'
    for duplicate in (False, True):
        tell.step(
            "table_twice" if duplicate else "table_reply",
            _post(api, tell, "t1", first[0], reply),
            status=202,
            holds=lambda body, twice=duplicate: (body["round"], body["duplicate"]) == (1, twice),
        )
    seen = tell.step(
        "table_saved",
        api.wait_for(f"{BASE}/table", lambda answer: answer.json["throughRound"] == 1),
        holds=lambda body: body["revision"] == 2 and tell.words["key"] in body["memoryTable"],
    )
    tell.quote(seen["memoryTable"])
    _post(api, tell, "t2", *second)
    tell.step(
        "table_no_edits",
        api.wait_for(f"{BASE}/receipts?limit=10", lambda answer: _told(answer, "table", 2)),
        holds=lambda body: any(one["reason"] == "no_block" for one in body["receipts"]),
    )
    tell.step(
        "table_in_context",
        _context(api, tell),
        holds=lambda body: tell.words["key"] in body["messages"][0]["content"],
    )
    other = f'{first[1]}<tableEdit>updateRow(0, 0, {{"1":"{tell.words["lamp"]}"}})</tableEdit>'
    tell.step("table_regenerated", _post(api, tell, "t2b", second[0], other, replaces="t2"), status=202)
    tell.step(
        "table_then",
        api.wait_for(f"{BASE}/table", lambda answer: tell.words["lamp"] in answer.text),
        holds=lambda body: body["revision"] == 3,
    )


def diary(api: Api, tell: Teller) -> None:
    """None for 19 rounds, one at 20, then every 10; recalled by tier; in the next context."""
    tell.heading("diary")
    rounds = dialogue(tell)
    for number, (said, answered) in enumerate(rounds[2:], start=3):
        posted = _post(api, tell, f"t{number}", said, answered, accepted=True)
        if posted.status != 202:
            raise Broken(posted.text)
        if number == 19:
            seen = api.wait_for(f"{BASE}/receipts?limit=20", lambda answer: _told(answer, "diary", 19))
            tell.line("diary_none", reason=_told(seen, "diary", 19)["reason"])
    last = len(rounds)
    api.wait_for(f"{BASE}/receipts?limit=20", lambda answer: _told(answer, "diary", last))
    tell.step(
        "diary_written",
        api.call("GET", f"{BASE}/diary"),
        holds=lambda body: [entry["lastRound"] for entry in body["entries"]] == [40, 30, 20],
        facts=lambda body: {"rounds": last, "generator": body["entries"][0]["generator"]},
    )
    counts = {}
    for tier in ("default", "plus", "ultra", "max", "platinum"):
        recalled = api.call("GET", f"{BASE}/diary/recall?subscriptionCategory={tier}").json
        counts[tier] = len(recalled["entries"])
    if counts != {"default": 1, "plus": 2, "ultra": 3, "max": 3, "platinum": 1}:
        raise Broken(json.dumps(counts))
    tell.line("diary_tiers", **counts)
    seen = tell.step(
        "diary_in_context", _context(api, tell), holds=lambda body: "compassMemory" in body["referenced"]
    )
    tell.quote(seen["variables"]["compassMemory"])


def state(api: Api, tell: Teller) -> None:
    """The background keeps a state; the actor gets its own of it, and the director's text never."""
    tell.heading("state")
    rounds = len(dialogue(tell))
    api.wait_for(f"{BASE}/receipts?limit=20", lambda answer: _told(answer, "state", rounds))
    actor, director = (
        api.call("GET", f"{BASE}/state/projection?audience={audience}&scenarioId={_scenario_id(tell)}")
        for audience in ("actor", "director")
    )
    tell.step("state_director", director, holds=lambda body: SECRET in json.dumps(body))
    tell.step("state_actor", actor, holds=lambda body: SECRET not in json.dumps(body))
    tell.step(
        "state_context",
        _context(api, tell),
        holds=lambda body: SECRET not in json.dumps(body) and "actorState" in body["referenced"],
    )
    revision = api.call("GET", f"{BASE}/state").json["revision"]
    tell.step(
        "state_no_change",
        api.call(
            "POST",
            f"{BASE}/state/candidates",
            {"expectedRevision": revision, "candidate": None, "scenarioId": _scenario_id(tell)},
        ),
        holds=lambda body: body == {"changed": False, "revision": revision},
    )
    tell.step(
        "state_stale",
        api.call(
            "POST",
            f"{BASE}/state/candidates",
            {
                "expectedRevision": revision,
                "candidate": {"text": "x", "records": {}},
                "basedOn": {"round": 3},
                "scenarioId": _scenario_id(tell),
            },
        ),
        status=409,
        facts=lambda body: body,
    )


def story(api: Api, tell: Teller) -> None:
    """Prepared on the accepted turn, settled once; who comes second learns what moved."""
    tell.heading("story")
    prepared = tell.step(
        "story_prepare", api.call("POST", f"{BASE}/story/prepare", {}), facts=lambda body: body["anchor"]
    )
    body = {
        "claim": prepared["claim"],
        "events": [{"id": "e1", "text": tell.words["event"]}],
        "world": {"gate": "closed"},
        "narrative": tell.words["narrative"],
    }
    tell.step(
        "story_settle",
        api.call("POST", f"{BASE}/story/settle", body),
        holds=lambda got: got == {"revision": 1},
    )
    tell.step(
        "story_again",
        api.call("POST", f"{BASE}/story/settle", body),
        holds=lambda got: got == {"revision": 1},
    )
    tell.step(
        "story_second",
        api.call("POST", f"{BASE}/story/settle", {**body, "narrative": "x"}),
        status=409,
        facts=lambda got: got,
    )
    tell.step(
        "story_context",
        _context(api, tell),
        holds=lambda got: tell.words["narrative"] in got["messages"][0]["content"],
    )


def compact(api: Api, tell: Teller) -> None:
    """A long history is brought within a budget; the model is asked once, the next turn stands on it."""
    tell.heading("compact")
    messages = [
        {"turnId": f"t{number}", "role": role, "content": text}
        for number, (said, answered) in enumerate(dialogue(tell), start=1)
        for role, text in (("user", said), ("assistant", answered))
    ]
    body = {"scenarioId": _scenario_id(tell), "messages": messages, "tokenBudget": 1_200}
    made = tell.step(
        "compact_made",
        api.call("POST", f"{BASE}/compact", body),
        holds=lambda got: got["status"] == "compacted" and got["tokens"]["total"] <= 1_200,
        facts=lambda got: {**got["checkpoint"], **got["tokens"], "messages": len(messages)},
    )
    tell.quote(made["summary"])
    tell.step(
        "compact_again",
        api.call("POST", f"{BASE}/compact", body),
        holds=lambda got: got["status"] == "reused" and got["messages"] == made["messages"],
    )
    short = {**body, "messages": messages[-4:], "tokenBudget": 100_000, "scenarioId": "default"}
    tell.step("compact_none", api.call("POST", f"{BASE}/compact", short), status=422, facts=lambda got: got)


def rewind(api: Api, tell: Teller) -> None:
    """The user takes rounds back: every kind goes back to the end of a round, and forth again."""
    tell.heading("rewind")
    now = _context(api, tell).json["messages"][0]["content"]
    api.call("PUT", f"{BASE}/memory", {"expectedRevision": 2, "memory": {"keyHolder": "nobody"}})
    told = tell.step(
        "rewind_done",
        api.call("POST", f"{BASE}/rewind", {"toRound": 30}),
        holds=lambda body: body["lastRound"] == 30 and body["kinds"]["diary"]["cutEntries"] == 1,
        facts=lambda body: {**body["discarded"], "not_rewound": ", ".join(body["notRewound"])},
    )
    tell.step(
        "rewind_context",
        _context(api, tell),
        holds=lambda body: (
            '"guard"' in body["messages"][0]["content"]
            and tell.words["narrative"] not in body["messages"][0]["content"]
        ),
    )
    tell.step(
        "rewind_late",
        _post(api, tell, "t45", *dialogue(tell)[44]),
        status=409,
        facts=lambda body: body,
    )
    tell.step(
        "rewind_undone",
        api.call("POST", f"{BASE}/rewind", {"undo": told["generation"]}),
        holds=lambda body: body["lastRound"] == 45,
    )
    again = _context(api, tell).json["messages"][0]["content"]
    if again.split("[memoryTable]")[1] != now.split("[memoryTable]")[1]:
        raise Broken(f"{now}\n---\n{again}")
    tell.line("rewind_again")


def receipts(api: Api, tell: Teller) -> None:
    """Every effect of the background has a receipt, and every time that there was none says why."""
    tell.heading("receipts")
    listed = tell.step("receipts_read", api.call("GET", f"{BASE}/receipts?limit=100"))["receipts"]
    reasons: dict[str, set[str]] = {}
    for one in listed:
        reasons.setdefault(one["worker"], set()).add(one["reason"])
    for worker in sorted(reasons):
        tell.line("receipts_of", worker=worker, reasons=", ".join(sorted(reasons[worker])))
    calls = len(send("GET", f"{api.stack['modelControlUrl']}/log").json["log"])
    tell.line("receipts_calls", calls=calls)


CHAPTERS: tuple[Callable[[Api, Teller], None], ...] = (
    memory,
    context,
    table,
    diary,
    state,
    story,
    compact,
    rewind,
    receipts,
)


def dialogue(tell: Teller) -> list[tuple[str, str]]:
    """Return the demo's dialogue of 45 rounds: a line for the user, a line for the character."""
    lines = (DATA / f"demo-{tell.language}.txt").read_text().strip().splitlines()
    return list(zip(lines[::2], lines[1::2], strict=True))


def _scenario_id(tell: Teller) -> str:
    return f"demo-{tell.language}"


def _context(api: Api, tell: Teller, *, scenario_id: str = "") -> Answer:
    asked = [{"role": "user", "content": tell.words["question"]}]
    body = {"scenarioId": scenario_id or _scenario_id(tell), "history": asked}
    return api.call("POST", f"{BASE}/context", body)


def _post(api: Api, tell: Teller, turn_id: str, said: str, answered: str, **members: Any) -> Answer:
    texts = {"user": {"text": said}, "assistant": {"text": answered}}
    body = {"turnId": turn_id, "scenarioId": _scenario_id(tell), **texts, **members}
    return api.call("POST", f"{BASE}/turns", body)


def _told(answer: Answer, worker: str, turn_round: int) -> Any:
    """Return the worker's receipt for a round, None where there is none yet."""
    listed = answer.json["receipts"]
    return next((one for one in listed if (one["worker"], one["round"]) == (worker, turn_round)), None)
