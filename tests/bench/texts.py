"""Role-play memories of a given size, in Chinese and English: varied sentences, not one that is repeated."""

import json
import random
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"

_ZH = {
    "who": [
        "阿莱娜",
        "守卫队长",
        "老铁匠",
        "商会的信使",
        "北境来的猎人",
        "城主夫人",
        "酒馆老板",
        "见习法师",
        "瞎眼的乐师",
        "逃兵",
        "渡口的船夫",
    ],
    "did": [
        "把铜钥匙藏进靴筒",
        "在雪夜里救下一匹受伤的灰马",
        "答应三天后归还借走的短剑",
        "提起十年前那场大火",
        "拒绝说出同伴的名字",
        "用一枚狮鹫银币付了酒钱",
        "怀疑巡逻路线被人泄露",
        "在地图上圈出废弃的盐矿",
        "承认自己害怕黑森林里的钟声",
        "悄悄烧掉了议会的密信",
        "换上平民的斗篷混出城门",
        "教用户辨认毒草的气味",
    ],
    "where": [
        "城门",
        "码头",
        "黑森林边缘",
        "旧礼拜堂",
        "盐矿入口",
        "议会大厅",
        "雪原上的哨塔",
        "酒馆后院",
        "渡口",
        "地下水道",
    ],
    "then": [
        "用户因此欠她一个人情",
        "守卫开始留意她的行踪",
        "没有人再提起这件事",
        "她第一次露出笑容",
        "铁匠答应重新淬火",
        "线索指向南方的港口",
        "雨水冲掉了所有脚印",
        "他们约定满月之前碰头",
    ],
}
_EN = {
    "who": [
        "Mira",
        "the guard captain",
        "an old smith",
        "the guild's courier",
        "a hunter from the north",
        "the innkeeper",
        "a half-blind bard",
        "the ferryman",
        "a deserter",
        "the abbess",
    ],
    "did": [
        "hid the copper key inside her boot",
        "pulled a lame grey mare out of the snow",
        "promised to bring back the borrowed dagger within three days",
        "spoke of the fire ten years ago",
        "would not say who had travelled with him",
        "paid for the ale with a griffin coin",
        "suspects that someone sold the patrol routes",
        "circled an abandoned salt mine on the map",
        "burned the council's letter behind the chapel",
        "taught the user how hemlock smells",
    ],
    "where": [
        "the city gate",
        "the harbour",
        "the edge of the black forest",
        "the old chapel",
        "the mine's mouth",
        "the council hall",
        "a watchtower on the snowfield",
        "the yard behind the inn",
    ],
    "then": [
        "the user owes her a favour now",
        "the guards keep an eye on her",
        "nobody mentions it again",
        "she smiled for the first time",
        "the trail leads south to the port",
        "rain washed the footprints away",
        "they will meet before the full moon",
    ],
}


def memory(language: str, size_bytes: int) -> dict[str, Any]:
    """Return a memory of about *size_bytes* of compact JSON, never more."""
    chance = random.Random(f"{language}-{size_bytes}")
    words = _ZH if language == "zh" else _EN
    value: dict[str, Any] = {"scene": chance.choice(words["where"]), "day": 12, "people": [], "events": []}
    dialogue = (DATA / f"demo-{language}.txt").read_text()
    vocabulary = sorted(set(dialogue.split() if language == "en" else dialogue) - {"\n"})
    number = 0
    while True:
        number += 1
        sentence = (" " if language == "en" else "").join(
            chance.choice(words[part]) for part in ("who", "did")
        )
        # As much again of words in no order: phrases alone would flatter compression.
        mixed = (" " if language == "en" else "").join(chance.choices(vocabulary, k=16))
        event = {
            "round": number,
            "text": f"{sentence}，{chance.choice(words['then'])}。{mixed}",
            "place": chance.choice(words["where"]),
            "weight": round(chance.random(), 3),
        }
        value["events"].append(event)
        if number % 4 == 0:
            name = f"{chance.choice(words['who'])}{chance.randrange(1000)}"
            value["people"].append({"name": name, "trust": chance.randint(-50, 100)})
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > size_bytes:
            value["events"].pop()
            if number % 4 == 0:
                value["people"].pop()
            return value


def text_of(value: Any) -> str:
    """Return compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
