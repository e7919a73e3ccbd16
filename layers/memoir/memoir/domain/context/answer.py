"""A context as the API answers it."""

import json
from dataclasses import dataclass
from typing import Any

from memoir.domain.context.build import Context
from memoir.domain.context.compare import Comparison
from memoir.domain.context.history import HistoryMessage
from memoir.domain.context.source import Missing
from memoir.domain.context.telling import Advice
from memoir.domain.template.values import JsonText


@dataclass(frozen=True, kw_only=True)
class AnsweredContext:
    """A context and the text that answers it.

    `comparison`: what `axon_shadow` found; `comparison_failure`: the kind of error by which it found nothing.
    """

    context: Context
    text: str
    comparison: Comparison | None = None
    comparison_failure: str = ""


def context_answer(
    context: Context, *, generation: int, manifest: str, hinos: dict[str, Any] | None = None
) -> str:
    """Return the answer as JSON text. Documents are spliced in as they are stored: their numbers are exact.

    *manifest*: the opaque text for `context`. *hinos*: what Hinos prepared, where it was asked.
    """
    members: dict[str, str] = {
        "variables": _object({name: _value_text(value) for name, value in context.variables.items()}),
        "revisions": _text(context.revisions),
        "generation": _text(generation),
        "messages": "[" + ",".join(map(_message_text, context.messages)) + "]",
        "referenced": _text(context.referenced),
        "unreferenced": _text(context.unreferenced),
        "missing": _text([_missing(name, missing) for name, missing in context.missing.items()]),
        "cut": _text(_cut(context)),
        "tokens": _text(
            {
                "total": context.tokens,
                "limit": context.token_limit,
                "estimated": True,
                "tokenizer": context.tokenizer,
            }
        ),
        "warnings": _text([_advice(advice) for advice in context.warnings]),
        "context": _text(manifest),
    }
    if hinos is not None:
        members["hinos"] = _text(hinos)
    return _object(members)


def _value_text(value: str | JsonText) -> str:
    return value.text if isinstance(value, JsonText) else _text(value)


def _message_text(message: HistoryMessage) -> str:
    members = {"role": _text(message.role), "content": _text(message.content)}
    if message.turn_id is not None:
        members["turnId"] = _text(message.turn_id)
    if message.tool_calls is not None:
        members["toolCalls"] = message.tool_calls
    if message.tool_call_id is not None:
        members["toolCallId"] = _text(message.tool_call_id)
    return _object(members)


def _missing(variable: str, missing: Missing) -> dict[str, Any]:
    told: dict[str, Any] = {"source": variable, "reason": missing.reason}
    return told if missing.next_at is None else {**told, "nextAt": missing.next_at}


def _cut(context: Context) -> list[dict[str, Any]]:
    cut: list[dict[str, Any]] = []
    if context.cut_history:
        told = context.cut_history
        cut.append({"history": True, "messages": told.messages, "tokens": told.tokens})
    return cut + [{"source": source.variable, "tokens": source.tokens} for source in context.cut_sources]


def _advice(advice: Advice) -> dict[str, Any]:
    told = {"code": advice.code, "detail": advice.detail}
    places = {"variable": advice.variable, "message": advice.message}
    return {**told, **{name: value for name, value in places.items() if value is not None}}


def _object(members: dict[str, str]) -> str:
    return "{" + ",".join(f"{_text(name)}:{text}" for name, text in members.items()) + "}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
