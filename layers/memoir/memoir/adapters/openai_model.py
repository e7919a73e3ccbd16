"""Any server that speaks OpenAI's chat completions: a base URL, a model name, and a key where it wants one.

JSON mode is asked for where JSON is wanted; a server that refuses it is asked again without, which is no
failed try.
"""

import json
import time
from collections.abc import Callable
from typing import Any

from memoir.adapters.bounded_http import BrokenOff, HttpAnswer, NotReached, TooMuch, post
from memoir.domain.language_model import ModelAnswer, Prompt, finish_reason_of
from memoir.errors import ModelFailed

MAX_ANSWER_BYTES = 1024 * 1024


class OpenAiModel:
    """The LanguageModel port on `POST {base_url}/chat/completions`."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        timeout_ms: int,
        temperature: float | None,
        api_key: Callable[[], str | None],
    ) -> None:
        """Call *model* at *base_url*. *timeout_ms*: of a whole call. *api_key* may return None.

        *temperature*: 0–1, None to leave it to the server.
        """
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._model = model
        self._api_key = api_key
        self._budget_seconds = timeout_ms / 1000
        self._inference = {} if temperature is None else {"temperature": temperature}

    def answer(self, prompt: Prompt) -> ModelAnswer:
        """See `LanguageModel.answer`. One request, or two where the server has no JSON mode."""
        deadline = time.monotonic() + self._budget_seconds
        request = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "max_tokens": prompt.max_tokens,
            **self._inference,
        }
        asked = {**request, "response_format": {"type": "json_object"}} if prompt.wants_json else request
        answer = self._post(asked, deadline)
        if prompt.wants_json and answer.status in (400, 422):
            answer = self._post(request, deadline)
        if answer.status != 200:
            raise _refused(answer)
        return self._read(answer.body)

    def _post(self, request: dict[str, Any], deadline: float) -> HttpAnswer:
        headers = {"content-type": "application/json"}
        if key := self._api_key():
            headers["authorization"] = f"Bearer {key}"
        body = json.dumps(request, ensure_ascii=False).encode()
        try:
            try:
                return post(self._url, body, headers, deadline=deadline, max_bytes=MAX_ANSWER_BYTES)
            except NotReached as failure:
                if failure.late:
                    raise
                return post(self._url, body, headers, deadline=deadline, max_bytes=MAX_ANSWER_BYTES)
        except TooMuch as failure:
            raise ModelFailed(
                code="model_answer_too_large", detail=f"the model answered more than {MAX_ANSWER_BYTES} bytes"
            ) from failure
        except (NotReached, BrokenOff) as failure:
            if failure.late:
                raise ModelFailed(
                    code="model_timeout", detail="the model did not answer in time"
                ) from failure
            raise ModelFailed(code="model_unavailable", detail="the model was not reached") from failure

    def _read(self, body: bytes) -> ModelAnswer:
        try:
            answer = json.loads(body)
            choice = answer["choices"][0]
            text = choice["message"]["content"] or ""
            usage = answer.get("usage") or {}
            return ModelAnswer(
                text=str(text),
                finish=finish_reason_of(choice.get("finish_reason")),
                generator=f"openai:{self._model}",
                input_tokens=int(usage.get("prompt_tokens") or 0),
                output_tokens=int(usage.get("completion_tokens") or 0),
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise ModelFailed(
                code="model_bad_reply", detail="the server's answer is not a chat completion"
            ) from error


def _refused(answer: HttpAnswer) -> ModelFailed:
    if answer.status == 429 or answer.status >= 500:
        after = answer.headers.get("retry-after", "")
        return ModelFailed(
            code="model_throttled" if answer.status == 429 else "model_unavailable",
            retry_after_seconds=float(after) if after.isascii() and after.isdigit() else 0.0,
            detail=f"the model is not available now (status {answer.status})",
        )
    return ModelFailed(
        code="model_refused_request",
        worth_another_try=False,
        detail=f"the model refuses the request (status {answer.status}): check its name, URL and key",
    )
