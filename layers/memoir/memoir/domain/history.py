"""What a round began from: which revision of each document, as far as it is known.

A write of a memory belongs to the coming round, for its tools write while a reply is made; a write of a
table, state or story belongs to the round that it names, else to the newest. So a round ends with the memory
that the next one begins from, and with the newest table, state and story of its round or an earlier one.
"""

from collections.abc import Mapping

MEMORY = "memory"
BY_ROUND = ("table", "state", "story")
REWOUND = (MEMORY, *BY_ROUND)
"""The documents that a rewind brings back."""

NOT_REWOUND = ("profile", "hinosMemory")


def before_of_round(
    *, marks: Mapping[str, int], current: Mapping[str, int], recalled: int | None, is_kept: bool
) -> dict[str, int]:
    """Return what a new round began from.

    *marks*: the revisions as the last turn was stored. *current*: those that stand now. *recalled*: the
    memory that the model was given, where the host says so; *is_kept*: it has a copy.
    """
    before = {kind: current[kind] for kind in BY_ROUND}
    known = recalled is not None and (recalled in (current[MEMORY], marks.get(MEMORY), 0) or is_kept)
    if known and recalled is not None:
        before[MEMORY] = recalled
    elif MEMORY in marks:
        before[MEMORY] = marks[MEMORY]
    elif current[MEMORY] == 0:
        before[MEMORY] = 0
    return before


def not_undone(before: Mapping[str, int], current: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return what a regenerated reply leaves as it is: documents that moved since its round began.

    The table is not among them: what the old reply did to it is undone.
    """
    return {
        kind: (before[kind], current[kind])
        for kind in (MEMORY, "state", "story")
        if kind in before and before[kind] != current[kind]
    }
