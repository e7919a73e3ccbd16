"""Amazon Bedrock by the Converse API: one request form for every model that it offers."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError

from memoir.adapters.deadline import within
from memoir.domain.language_model import ModelAnswer, Prompt, finish_reason_of
from memoir.errors import ModelFailed

_TRY_AGAIN = {
    "ThrottlingException": "model_throttled",
    "ServiceQuotaExceededException": "model_throttled",
    "ModelNotReadyException": "model_unavailable",
    "ModelTimeoutException": "model_timeout",
    "ServiceUnavailableException": "model_unavailable",
    "InternalServerException": "model_unavailable",
}


class BedrockModel:
    """The LanguageModel port on Bedrock Converse."""

    def __init__(self, *, client: Any, model_id: str, timeout_ms: int, temperature: float | None) -> None:
        """Call *model_id* (a model or inference profile) through *client*, which sends each request once.

        *timeout_ms*: of a whole call. *temperature*: 0–1, None to leave it to the model.
        """
        self._client = client
        self._model_id = model_id
        self._budget_seconds = timeout_ms / 1000
        self._inference = {} if temperature is None else {"temperature": temperature}

    def answer(self, prompt: Prompt) -> ModelAnswer:
        """See `LanguageModel.answer`. One Converse."""
        request = {
            "modelId": self._model_id,
            "system": [{"text": prompt.system}],
            "messages": [{"role": "user", "content": [{"text": prompt.user}]}],
            "inferenceConfig": {"maxTokens": prompt.max_tokens, **self._inference},
        }
        try:
            answer = within(self._budget_seconds, lambda: self._client.converse(**request))
        except (ReadTimeoutError, ConnectTimeoutError, TimeoutError) as error:
            raise ModelFailed(code="model_timeout", detail="the model did not answer in time") from error
        except ClientError as error:
            raise _refused(error.response["Error"]["Code"]) from error
        except BotoCoreError as error:
            raise ModelFailed(code="model_unavailable", detail="the model was not reached") from error
        content = answer.get("output", {}).get("message", {}).get("content", [])
        usage = answer.get("usage", {})
        return ModelAnswer(
            text="".join(block.get("text", "") for block in content),
            finish=finish_reason_of(answer.get("stopReason")),
            generator=f"bedrock:{self._model_id}",
            input_tokens=int(usage.get("inputTokens", 0)),
            output_tokens=int(usage.get("outputTokens", 0)),
        )


def _refused(code: str) -> ModelFailed:
    if code in _TRY_AGAIN:
        return ModelFailed(code=_TRY_AGAIN[code], detail=f"the model is not available now ({code})")
    return ModelFailed(
        code="model_refused_request",
        worth_another_try=False,
        detail=f"the model refuses the request ({code}): check its id, region and access",
    )
