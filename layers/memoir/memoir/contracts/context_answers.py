"""What a context call answers. The domain writes the text; here is what the log and the metrics say of it."""

from typing import TYPE_CHECKING, Any

from memoir.contracts.answers import Answer, Spliced

if TYPE_CHECKING:
    from memoir.domain.context.answer import AnsweredContext


def context_answer(answered: "AnsweredContext") -> Answer:
    """Return a context, as its text is."""
    context = answered.context
    facts = {
        "tokens": context.tokens,
        "referenced": len(context.referenced),
        "unreferenced": len(context.unreferenced),
        "missing": len(context.missing),
        "cut": len(context.cut_sources),
    }
    compared, measures = _comparison(answered)
    return Answer(body=Spliced(answered.text), facts={**facts, **compared}, measures=measures)


def _comparison(answered: "AnsweredContext") -> tuple[dict[str, Any], dict[str, float]]:
    """Return what the log and the metrics say of what `axon_shadow` compared."""
    found = answered.comparison
    if found is None:
        failure = answered.comparison_failure
        return ({"shadow_error": failure}, {"context.shadow_failed": 1}) if failure else ({}, {})
    facts = {
        "shadow_equal": found.equal,
        "shadow_similarity": found.similarity,
        "shadow_only_here": ",".join(found.only_here),
        "shadow_only_there": ",".join(found.only_there),
        "shadow_bytes_here": found.bytes_here,
        "shadow_bytes_there": found.bytes_there,
    }
    return facts, {"context.shadow_similarity": found.similarity}
