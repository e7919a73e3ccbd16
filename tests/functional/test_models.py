"""The model adapters speak the real protocols, over a socket, to a server that misbehaves as models do."""

from collections.abc import Iterator
from typing import Any

import pytest

from memoir import wiring
from memoir.adapters.aws import make_client
from memoir.adapters.bedrock_model import BedrockModel
from memoir.adapters.openai_model import MAX_ANSWER_BYTES, OpenAiModel
from memoir.domain.diary.due.policy import Store
from memoir.domain.diary.prompt.prompt import build_prompt
from memoir.domain.diary.prompt.rounds import DialogueRound
from memoir.domain.language_model import FinishReason
from memoir.errors import ModelFailed, StoreUnavailable
from memoir.usecases.ask_model import WritingJob, ask_for_diary, extractive_writer, model_writer
from tests.fakes.model_server import ModelServer, Reply, completion, model_server
from tests.fakes.models import good

ROUNDS = tuple(
    DialogueRound(
        round=number,
        turn_id=f"t{number}",
        user_text="我把铜钥匙交给守卫。",
        assistant_text=f"第{number}天，守卫点头，答应明天日落前归还铜钥匙。",
    )
    for number in range(1, 21)
)


def job(store: Store = Store.SUMMARY_AND_DIARY) -> WritingJob:
    prompt = build_prompt(rounds=ROUNDS, previous_summary="", character="阿莱娜", store=store)
    return WritingJob(prompt=prompt, rounds=ROUNDS, previous_summary="", character="阿莱娜")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def openai(
    server: ModelServer,
    *,
    timeout_ms: int = 2_000,
    key: str | None = "secret",
    temperature: float | None = 0.3,
) -> OpenAiModel:
    return OpenAiModel(
        base_url=f"{server.url}/v1/",
        model="m",
        timeout_ms=timeout_ms,
        temperature=temperature,
        api_key=lambda: key,
    )


def failure(model: Any) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        model.answer(job().prompt)
    return failed.value


def test_a_completion_is_asked_for_in_json_mode_and_read(server: ModelServer) -> None:
    server.script = [Reply(completion(good(20), finish_reason="length"))]
    answer = openai(server).answer(job().prompt)
    assert (answer.text, answer.finish, answer.generator) == (good(20), FinishReason.LENGTH, "openai:m")
    assert (answer.input_tokens, answer.output_tokens) == (120, 30)
    path, headers, body = server.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer secret")
    assert body["response_format"] == {"type": "json_object"}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["max_tokens"] == job().prompt.max_tokens


def test_a_server_without_a_key_is_sent_none(server: ModelServer) -> None:
    server.script = [Reply(completion(good(20)))]
    openai(server, key=None).answer(job().prompt)
    assert "authorization" not in server.requests[0][1]


def test_a_server_that_refuses_json_mode_is_asked_again_without(server: ModelServer) -> None:
    server.script = [Reply({"error": "response_format"}, status=400), Reply(completion(good(20)))]
    assert openai(server).answer(job().prompt).text == good(20)
    assert "response_format" not in server.requests[1][2]


@pytest.mark.parametrize(
    ("reply", "code", "again", "after"),
    [
        (Reply("{}", status=429, headers={"retry-after": "7"}), "model_throttled", True, 7.0),
        (Reply("{}", status=429, headers={"retry-after": "soon"}), "model_throttled", True, 0.0),
        (Reply("{}", status=500), "model_unavailable", True, 0.0),
        (Reply("{}", status=503), "model_unavailable", True, 0.0),
        (Reply("{}", status=401), "model_refused_request", False, 0.0),
        (Reply("{}", status=404), "model_refused_request", False, 0.0),
        (Reply("", status=302, headers={"location": "/v1/elsewhere"}), "model_refused_request", False, 0.0),
        (Reply("not json"), "model_bad_reply", True, 0.0),
        (Reply("[]"), "model_bad_reply", True, 0.0),
        (Reply({"choices": []}), "model_bad_reply", True, 0.0),
        (Reply("[" * 100_000), "model_bad_reply", True, 0.0),
        (Reply(b"x" * (MAX_ANSWER_BYTES + 1)), "model_answer_too_large", True, 0.0),
        (Reply(b"x" * (10 * 1024 * 1024)), "model_answer_too_large", True, 0.0),
    ],
)
def test_what_is_no_answer_has_a_code(
    server: ModelServer, reply: Reply, code: str, again: bool, after: float
) -> None:
    server.script = [reply]
    failed = failure(openai(server))
    assert (failed.code, failed.worth_another_try, failed.retry_after_seconds) == (code, again, after)
    assert len(server.requests) == 1


def test_a_model_that_is_silent_for_too_long_is_given_up(server: ModelServer) -> None:
    server.script = [Reply(completion(good(20)), wait=0.5)]
    assert failure(openai(server, timeout_ms=100)).code == "model_timeout"


@pytest.mark.parametrize(("temperature", "sent"), [(0.0, {"temperature": 0.0}), (None, {})])
def test_a_temperature_is_sent_unless_the_model_refuses_it(
    server: ModelServer, temperature: float | None, sent: dict[str, float]
) -> None:
    server.script = [Reply(completion(good(20)))]
    openai(server, temperature=temperature).answer(job().prompt)
    _, _, body = server.requests[0]
    assert {name: value for name, value in body.items() if name == "temperature"} == sent


def test_a_server_that_is_not_there_is_unavailable() -> None:
    nowhere = OpenAiModel(
        base_url="http://127.0.0.1:1/v1", model="m", timeout_ms=500, temperature=None, api_key=lambda: None
    )
    assert failure(nowhere).code == "model_unavailable"


def test_an_answer_in_a_fence_is_accepted_and_its_path_told(server: ModelServer) -> None:
    server.script = [Reply(completion(f"```json\n{good(20)}\n```"))]
    asked = ask_for_diary(model_writer(openai(server)), job(), sleep=lambda _: None)
    assert asked.judgement.summary.startswith("到第20天")
    assert asked.facts()["parsePath"] == "fenced"


def test_a_cut_answer_gets_twice_the_room(server: ModelServer) -> None:
    cut = Reply(completion(good(20)[:-20], finish_reason="length"))
    server.script = [cut, Reply(completion(good(20)))]
    asked = ask_for_diary(model_writer(openai(server)), job(), sleep=lambda _: None)
    assert (asked.tries, bool(asked.judgement.diary)) == (2, True)
    first, second = (body["max_tokens"] for _, _, body in server.requests)
    assert second == 2 * first


def converse(text: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text[:9]}, {"text": text[9:]}]}},
        "stopReason": stop_reason,
        "usage": {"inputTokens": 120, "outputTokens": 30, "totalTokens": 150},
        "metrics": {"latencyMs": 1},
    }


def bedrock(server: ModelServer, *, timeout_seconds: float = 2) -> BedrockModel:
    client = make_client(
        "bedrock-runtime", endpoint_url=server.url, read_timeout_seconds=timeout_seconds, sends=1
    )
    return BedrockModel(
        client=client,
        model_id="anthropic.claude-x-v1:0",
        timeout_ms=int(timeout_seconds * 1000),
        temperature=0.3,
    )


@pytest.mark.usefixtures("aws_environment")
def test_bedrock_is_asked_by_converse(server: ModelServer) -> None:
    server.script = [Reply(converse(good(20), "max_tokens"))]
    answer = bedrock(server).answer(job().prompt)
    assert (answer.text, answer.finish) == (good(20), FinishReason.LENGTH)
    assert (answer.generator, answer.input_tokens, answer.output_tokens) == (
        "bedrock:anthropic.claude-x-v1:0",
        120,
        30,
    )
    path, _, body = server.requests[0]
    assert path == "/model/anthropic.claude-x-v1%3A0/converse"
    assert body["inferenceConfig"]["maxTokens"] == job().prompt.max_tokens
    assert body["system"][0]["text"] == job().prompt.system


@pytest.mark.usefixtures("aws_environment")
@pytest.mark.parametrize(
    ("kind", "status", "code", "again"),
    [
        ("ThrottlingException", 429, "model_throttled", True),
        ("ServiceUnavailableException", 503, "model_unavailable", True),
        ("ModelTimeoutException", 408, "model_timeout", True),
        ("AccessDeniedException", 403, "model_refused_request", False),
        ("ValidationException", 400, "model_refused_request", False),
    ],
)
def test_what_bedrock_refuses_has_a_code_and_is_sent_once(
    server: ModelServer, kind: str, status: int, code: str, again: bool
) -> None:
    server.script = [Reply({"message": "no"}, status=status, headers={"x-amzn-ErrorType": kind})]
    failed = failure(bedrock(server))
    assert (failed.code, failed.worth_another_try) == (code, again)
    assert len(server.requests) == 1


@pytest.mark.usefixtures("aws_environment")
def test_a_bedrock_that_is_silent_is_given_up(server: ModelServer) -> None:
    server.script = [Reply(converse(good(20)), wait=0.6)]
    assert failure(bedrock(server, timeout_seconds=0.1)).code == "model_timeout"


def test_the_extractive_writer_needs_no_model_and_says_so() -> None:
    answer = extractive_writer(job())
    assert answer.generator == "extractive"
    asked = ask_for_diary(extractive_writer, job(), sleep=lambda _: None)
    assert asked.judgement.code == ""
    assert "铜钥匙" in asked.judgement.summary
    assert extractive_writer(job()) == answer


@pytest.mark.filterwarnings("ignore:MEMOIR_MODEL_URL is plain http")
@pytest.mark.parametrize(
    ("environment", "generator"),
    [
        ({}, "extractive"),
        ({"MEMOIR_MODEL": "bedrock:some.model", "MEMOIR_ENDPOINT_URL": "{server}"}, "bedrock:some.model"),
        ({"MEMOIR_MODEL": "openai:m", "MEMOIR_MODEL_URL": "{server}/v1"}, "openai:m"),
    ],
)
def test_choosing_a_model_is_configuration(
    wired: Any,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    generator: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(server=server.url))
    wiring.settings.cache_clear()
    server.script = [Reply(converse(good(20)) if "bedrock" in generator else completion(good(20)))]
    assert wiring.diary_writer()(job()).generator == generator
    assert len(server.requests) == (generator != "extractive")


def test_a_key_is_read_from_secrets_manager_when_it_is_needed_and_kept(wired: Any) -> None:
    secrets = make_client("secretsmanager", endpoint_url=None)
    arn = secrets.create_secret(Name="key", SecretString=" the-key\n")["ARN"]
    secret = wiring.secret(arn)
    secrets.put_secret_value(SecretId=arn, SecretString="the-newer-key\n")
    assert secret() == "the-newer-key"
    secrets.put_secret_value(SecretId=arn, SecretString="other")
    assert wiring.secret(arn)() == "the-newer-key"
    assert wiring.secret("")() is None


def test_a_key_that_cannot_be_read_is_no_key(wired: Any) -> None:
    with pytest.raises(StoreUnavailable):
        wiring.secret("arn:aws:secretsmanager:us-east-1:123456789012:secret:none")()


def test_a_key_that_was_rotated_is_used_five_minutes_later(
    wired: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    secrets = make_client("secretsmanager", endpoint_url=None)
    arn = secrets.create_secret(Name="key", SecretString="old")["ARN"]
    key = wiring.secret(arn)
    assert key() == "old"
    secrets.put_secret_value(SecretId=arn, SecretString="rotated")
    now[0] += 301
    assert key() == "rotated"
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    now[0] += 301
    assert key() == "rotated"  # Secrets Manager does not answer: the last one may still do
