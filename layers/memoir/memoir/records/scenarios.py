"""Scenarios: a document of the product by its id, with a copy of every revision, for turns name theirs."""

import json
from functools import lru_cache
from typing import Any

from memoir.domain.json_document import JsonDocument
from memoir.domain.scenario.reading import read_scenario
from memoir.domain.scenario.scenario import Scenario
from memoir.domain.scope import ProductScope, Scope, UserScope
from memoir.errors import MemoirError, RecordCorrupt
from memoir.ports.records import Put, Record, RecordKey
from memoir.records.documents import StoredDocument

_KEPT_SCENARIOS = 64


def scenario_key(owner: Scope | UserScope | ProductScope, scenario_id: str) -> RecordKey:
    """Return the key of a scenario of *owner*'s product."""
    return RecordKey(owner=ProductScope(product=owner.product), kind="scenario", name=(scenario_id,))


def scenario_copy_key(owner: Scope | UserScope | ProductScope, scenario_id: str, revision: int) -> RecordKey:
    """Return the key of one revision of a scenario."""
    name = ("scenario", scenario_id, f"{revision:016}")
    return RecordKey(owner=ProductScope(product=owner.product), kind="copy", name=name)


def scenario_document(text: str, program: dict[str, Any] | None) -> JsonDocument:
    """Return the document that keeps a scenario as it was sent, *text*, and its parsed template."""
    whole = f'{{"scenario":{text},"program":{json.dumps(program, ensure_ascii=False)}}}'
    return JsonDocument(text=whole, value={}, size_bytes=len(whole.encode()))


def scenario_copy(owner: ProductScope, scenario_id: str, *, revision: int, document: JsonDocument) -> Put:
    """Return the write that keeps one revision, beside the write that makes it."""
    key = scenario_copy_key(owner, scenario_id, revision)
    return Put(key=key, record=Record(facts={"revision": revision}, body=document.text))


def stored_scenario(stored: StoredDocument, scenario_id: str) -> Scenario | None:
    """Return the scenario that is stored, None where it was deleted. Raises RecordCorrupt."""
    if stored.document is None:
        return None
    return _read(scenario_id, stored.revision, stored.document.text)


@lru_cache(maxsize=_KEPT_SCENARIOS)
def _read(scenario_id: str, revision: int, text: str) -> Scenario:
    kept = json.loads(text)
    try:
        return read_scenario(
            kept["scenario"], scenario_id=scenario_id, revision=revision, program=kept["program"]
        )
    except (MemoirError, KeyError, TypeError):
        raise RecordCorrupt(detail="a stored scenario breaks its own rules; it is kept as it is") from None
