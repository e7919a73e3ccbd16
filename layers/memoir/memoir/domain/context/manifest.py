"""The manifest of a context: an opaque text that the host passes back with the turn.

It says what the model was given without the texts: enough to render the same again from kept revisions.
"""

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoir.domain.context.build import Context
from memoir.domain.context.compare import Comparison
from memoir.domain.context.history import HistoryMessage
from memoir.domain.turns import Position

FORMAT = 1
MAX_MANIFEST_CHARACTERS = 2_048
_MAX_JSON_BYTES = 16 * 1024
_HASH_CHARACTERS = 32


@dataclass(frozen=True, kw_only=True)
class ManifestSource:
    """A source as it was given. `versions`: of diary entries, as (end round, version)."""

    variable: str
    kind: str
    revision: int | None
    versions: tuple[tuple[int, int], ...]
    referenced: bool
    cut: bool


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a context was made of.

    `history_rounds`: the first and last round that were placed, where the history was ours; `history_hash`:
    of the placed messages, where the host gave them. `messages_hash`: of all messages. `comparison`: what
    `axon_shadow` found: whether equal, the similarity, and the bytes of either side.
    """

    generation: int
    head: Position
    scenario_id: str
    scenario_revision: int
    audience: str
    budget: int | None
    sources: tuple[ManifestSource, ...]
    history_rounds: tuple[int, int] | None
    history_hash: str | None
    tokens: int
    messages_hash: str
    comparison: tuple[bool, float, int, int] | None = None


def make_manifest(
    context: Context,
    *,
    generation: int,
    head: Position,
    scenario_id: str,
    scenario_revision: int,
    history_rounds: tuple[int, int] | None = None,
    comparison: Comparison | None = None,
) -> Manifest:
    """Return the manifest of *context*. *history_rounds*: which rounds were placed, where they were ours."""
    cut = {source.variable for source in context.cut_sources}
    own = history_rounds is not None or not context.history
    return Manifest(
        generation=generation,
        head=head,
        scenario_id=scenario_id,
        scenario_revision=scenario_revision,
        audience=context.audience,
        budget=context.token_limit,
        sources=tuple(
            ManifestSource(
                variable=source.variable,
                kind=source.kind,
                revision=source.revision,
                versions=source.versions,
                referenced=source.variable in context.referenced,
                cut=source.variable in cut,
            )
            for source in context.sources
        ),
        history_rounds=history_rounds,
        history_hash=None if own else hash_of(context.history),
        tokens=context.tokens,
        messages_hash=hash_of(context.messages),
        comparison=_sizes(comparison) if comparison else None,
    )


def _sizes(found: Comparison) -> tuple[bool, float, int, int]:
    return found.equal, found.similarity, found.bytes_here, found.bytes_there


def hash_of(messages: Sequence[HistoryMessage]) -> str:
    """Return a hash of the roles and contents of *messages*: half of their SHA-256."""
    pairs = [[m.role, m.content, m.tool_calls, m.tool_call_id] for m in messages]
    return hashlib.sha256(json.dumps(pairs).encode()).hexdigest()[:_HASH_CHARACTERS]


def encode_manifest(manifest: Manifest) -> str:
    """Return *manifest* as the text that goes out: at most 2,048 characters."""
    parts = [
        *(FORMAT, manifest.generation, manifest.head.round, manifest.head.version),
        *(manifest.scenario_id, manifest.scenario_revision, manifest.audience, manifest.budget),
        [
            [s.variable, s.kind, s.revision, s.versions, int(s.referenced), int(s.cut)]
            for s in manifest.sources
        ],
        *(manifest.history_rounds, manifest.history_hash, manifest.tokens, manifest.messages_hash),
        manifest.comparison,
    ]
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()


def decode_manifest(text: str) -> Manifest | None:
    """Return the manifest that *text* is, None where it is none of ours. Never raises."""
    if len(text) > MAX_MANIFEST_CHARACTERS:
        return None
    try:
        packed = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
        inflater = zlib.decompressobj()
        raw = inflater.decompress(packed, _MAX_JSON_BYTES)
        return _read(json.loads(raw)) if inflater.eof and not inflater.unused_data else None
    except (binascii.Error, zlib.error, ValueError, TypeError, RecursionError):
        return None


def _read(parts: Any) -> Manifest:
    """Return the manifest of decoded *parts*. Raises ValueError or TypeError for any other shape."""
    form, generation, turn_round, version, scenario_id, revision, audience, budget, *rest = parts
    sources, rounds, history_hash, tokens, messages_hash, comparison = rest
    numbers = (form, generation, turn_round, version, revision, tokens)
    if any(type(number) is not int or number < 0 for number in numbers) or form != FORMAT:
        raise ValueError("no manifest of this format")
    if not all(type(text) is str for text in (scenario_id, audience, messages_hash)):
        raise ValueError("no manifest")
    return Manifest(
        generation=generation,
        head=Position(round=turn_round, version=version),
        scenario_id=scenario_id,
        scenario_revision=revision,
        audience=audience,
        budget=_optional(int, budget),
        sources=tuple(_read_source(*source) for source in sources),
        history_rounds=None if rounds is None else _pair(rounds),
        history_hash=_optional(str, history_hash),
        tokens=tokens,
        messages_hash=messages_hash,
        comparison=None if comparison is None else _comparison(*comparison),
    )


def _comparison(equal: Any, similarity: Any, here: Any, there: Any) -> tuple[bool, float, int, int]:
    if type(equal) is not bool or not isinstance(similarity, int | float):
        raise ValueError("no comparison")
    return equal, float(similarity), *_pair((here, there))


def _read_source(
    variable: Any, kind: Any, revision: Any, versions: Any, referenced: Any, cut: Any
) -> ManifestSource:
    if type(variable) is not str or type(kind) is not str:
        raise ValueError("no source")
    return ManifestSource(
        variable=variable,
        kind=kind,
        revision=_optional(int, revision),
        versions=tuple(map(_pair, versions)),
        referenced=bool(referenced),
        cut=bool(cut),
    )


def _pair(value: Any) -> tuple[int, int]:
    first, second = value
    if type(first) is not int or type(second) is not int:
        raise ValueError("no pair of numbers")
    return first, second


def _optional(kind: type, value: Any) -> Any:
    if value is not None and type(value) is not kind:
        raise ValueError(f"not {kind.__name__}")
    return value
