"""Positions and revisions in keys and facts. Positions have a fixed width: their order as text is theirs."""

from collections.abc import Mapping

from memoir.domain.turns import Position


def position_name(position: Position) -> tuple[str, str]:
    """Return a position as the parts of a name."""
    return f"{position.round:010}", f"{position.version:06}"


def round_name(turn_round: int) -> str:
    """Return a round as a part of a name."""
    return f"{turn_round:010}"


def position_text(position: Position) -> str:
    """Return a position as a fact."""
    return "#".join(position_name(position))


def read_position(text: str) -> Position:
    """Return the position that `position_text` wrote; the start for empty text. Raises ValueError."""
    if not text:
        return Position()
    turn_round, version = text.split("#")
    return Position(round=int(turn_round), version=int(version))


def revisions_text(revisions: Mapping[str, int]) -> str:
    """Return revisions by kind as a fact."""
    return ",".join(f"{kind}={revision}" for kind, revision in revisions.items())


def read_revisions(text: str) -> dict[str, int]:
    """Return what `revisions_text` wrote. Raises ValueError."""
    pairs = (part.split("=") for part in text.split(",") if part)
    return {kind: int(revision) for kind, revision in pairs}
