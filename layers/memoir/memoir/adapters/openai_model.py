"""Any server that speaks OpenAI's chat completions: a base URL, a model name, and a key where it wants one.

JSON mode is asked for; a server that refuses it is asked again without, which is no failed try.
"""

import json
from collections.abc import Callable
from typing import Any

import urllib3

from memoir.diary_ports import ModelAnswer, WritingJob
from memoir.domain.language_model import finish_reason_of
from memoir.errors import ModelFailed

MAX_ANSWER_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024


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
        """Call *model* at *base_url*. *timeout_ms*: the longest silence. *api_key* may return None.

        *temperature*: 0–1, None to leave it to the server.
        """
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._model = model
        self._api_key = api_key
        self._inference = {} if temperature is None else {"temperature": temperature}
        timeout = urllib3.Timeout(connect=5, read=timeout_ms / 1000)
        # One more try where the connection was not made: nothing has been sent then.
        retries = urllib3.Retry(total=None, connect=1, read=0, status=0, redirect=0, other=0)
        self._http = urllib3.PoolManager(timeout=timeout, retries=retries)

    def write(self, job: WritingJob) -> ModelAnswer:
        """See `LanguageModel.write`. One request, or two where the server has no JSON mode."""
        request = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": job.prompt.system},
                {"role": "user", "content": job.prompt.user},
            ],
            "max_tokens": job.prompt.max_tokens,
            **self._inference,
        }
        status, headers, body = self._post({**request, "response_format": {"type": "json_object"}})
        if status in (400, 422):
            status, headers, body = self._post(request)
        if status != 200:
            raise _refused(status, headers)
        return self._answer(body)

    def _post(self, request: dict[str, Any]) -> tuple[int, Any, bytes]:
        headers = {"content-type": "application/json"}
        if key := self._api_key():
            headers["authorization"] = f"Bearer {key}"
        body = json.dumps(request, ensure_ascii=False).encode()
        try:
            answer = self._http.request(
                "POST", self._url, body=body, headers=headers, preload_content=False, redirect=False
            )
            with answer:
                return answer.status, answer.headers, _read(answer)
        except urllib3.exceptions.TimeoutError as error:
            raise ModelFailed(code="model_timeout", detail="the model did not answer in time") from error
        except urllib3.exceptions.HTTPError as error:
            raise ModelFailed(code="model_unavailable", detail="the model was not reached") from error

    def _answer(self, body: bytes) -> ModelAnswer:
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


def _read(answer: Any) -> bytes:
    parts: list[bytes] = []
    size_bytes = 0
    for part in answer.stream(_READ_BYTES):
        size_bytes += len(part)
        if size_bytes > MAX_ANSWER_BYTES:
            raise ModelFailed(
                code="model_answer_too_large", detail=f"the model answered more than {MAX_ANSWER_BYTES} bytes"
            )
        parts.append(part)
    return b"".join(parts)


def _refused(status: int, headers: Any) -> ModelFailed:
    if status == 429 or status >= 500:
        after = headers.get("retry-after", "")
        return ModelFailed(
            code="model_throttled" if status == 429 else "model_unavailable",
            retry_after_seconds=float(after) if after.isascii() and after.isdigit() else 0.0,
            detail=f"the model is not available now (status {status})",
        )
    return ModelFailed(
        code="model_refused_request",
        worth_another_try=False,
        detail=f"the model refuses the request (status {status}): check its name, URL and key",
    )
