"""The client on the local stack, answers dropped after execution: nothing is lost, nothing doubled."""

import random
from typing import Any

import httpx

from memoir_client import ClientCredentials, Memoir
from tests.api import Api


class Dropping(httpx.BaseTransport):
    """Sends every request, and drops some answers."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._chance = random.Random(7)
        self.dropped = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        if "oauth2" not in request.url.path and self._chance.random() < 0.3:
            answer.read()
            answer.close()
            self.dropped += 1
            raise httpx.ReadTimeout("dropped", request=request)
        return answer

    def close(self) -> None:
        self._inner.close()


def client(api: Api, transport: Any) -> Memoir:
    known = api.stack["hostClient"]
    auth = ClientCredentials(api.stack["tokenUrl"], known["id"], known["secret"])
    return Memoir(api.stack["apiUrl"], auth=auth, transport=transport, retries=6)


def test_with_answers_that_are_dropped_nothing_is_lost_or_doubled(api: Api) -> None:
    dropping = Dropping()
    with client(api, dropping) as memoir:
        chat = memoir.conversation("c1", user=api.user)
        for number in range(1, 16):
            said = chat.say(f"t{number}", user="问", assistant=f"答{number}", accepted=True)
            assert said["round"] == number
            assert chat.memory.change(lambda old: {"n": (old or {"n": 0})["n"] + 1}).revision == number
            settled = chat.settle_story(
                chat.prepare_story()["claim"], events=[{"id": f"e{number}", "text": "x"}]
            )
            assert settled == number
        assert [turn["turnId"] for turn in chat.turns()] == [f"t{n}" for n in range(15, 0, -1)]
        assert chat.memory.get().value == {"n": 15}
        assert len(chat.story()["events"]) == 15
        assert chat.rewind(10)["generation"] == 1
        assert (chat.undo_rewind(1)["lastRound"], len(list(chat.turns()))) == (15, 15)
    assert dropping.dropped > 10
