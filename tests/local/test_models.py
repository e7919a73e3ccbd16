"""Bedrock Converse on the emulator: another hand's server than the scripted one of the functional tests."""

import pytest

from memoir.adapters.aws import make_client
from memoir.adapters.bedrock_model import BedrockModel
from memoir.domain.diary.answer.judgement import Outcome
from memoir.domain.language_model import FinishReason
from memoir.usecases.ask_model import ask_for_diary, model_writer
from tests.functional.test_models import job
from tests.localcloud.cloud import Stack

MODEL = "anthropic.claude-3-haiku-20240307-v1:0"


@pytest.mark.usefixtures("aws_environment")
def test_an_answer_of_converse_is_read_and_prose_is_no_diary(stack: Stack) -> None:
    client = make_client(
        "bedrock-runtime", endpoint_url=stack["endpointUrl"], read_timeout_seconds=10, sends=1
    )
    model = BedrockModel(client=client, model_id=MODEL, timeout_ms=10_000, temperature=0.3)
    asked = ask_for_diary(model_writer(model), job(), sleep=lambda _: None)
    assert asked.answer is not None
    assert (asked.answer.generator, asked.answer.finish) == (f"bedrock:{MODEL}", FinishReason.STOP)
    assert asked.answer.text and asked.answer.input_tokens > 0 and asked.answer.output_tokens > 0
    assert (asked.judgement.outcome, asked.judgement.summary) == (Outcome.REJECT, "")
