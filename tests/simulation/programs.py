"""Histories: what a host, its queues and bad luck do, as data that Hypothesis can make and make smaller."""

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.simulation.faults import FAULTS

MIN_STEPS, MAX_STEPS = 4, 14
_REQUESTS = st.integers(0, 7)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that happens. `a` and `b` choose among what there is at that time.

    `faults`: what its requests meet, by their number. `meanwhile`: before which request what else happens.
    """

    act: str
    a: int = 0
    b: int = 0
    faults: tuple[tuple[int, str], ...] = ()
    meanwhile: "tuple[int, Step] | None" = None

    def __repr__(self) -> str:
        """Tell what differs from the plain step."""
        told = [repr(self.act), f"a={self.a}", f"b={self.b}"]
        told += [f"faults={self.faults!r}"] if self.faults else []
        told += [f"meanwhile={self.meanwhile!r}"] if self.meanwhile else []
        return f"Step(act={', '.join(told)})"


SAYING = ("say", "say", "regenerate", "burst")
QUEUES = ("deliver", "deliver", "lose", "double")
HOSTS = ("accept", "again", "memory", "edit", "put_table", "put_diary", "delete_diary")
INNER = (*SAYING[:3], "deliver", "edit", "accept")
KEYS = ("keyed_edit", "repeat")

_faults = st.lists(st.tuples(_REQUESTS, st.sampled_from(sorted(FAULTS))), max_size=2).map(tuple)


def _steps(acts: tuple[str, ...], *, inner: tuple[str, ...]) -> st.SearchStrategy[Step]:
    deep = bool(inner)
    meanwhile: st.SearchStrategy[tuple[int, Step] | None] = st.none()
    if deep:
        meanwhile = st.one_of(st.none(), st.none(), st.tuples(_REQUESTS, _steps(inner, inner=())))
    return st.builds(
        Step,
        act=st.sampled_from(("wait", *acts)),  # what a step that is not needed shrinks to
        a=st.integers(0, 15),
        b=st.integers(0, 15),
        faults=st.one_of(st.just(()), _faults) if deep else st.just(()),
        meanwhile=meanwhile,
    )


def histories(*acts: str, inner: tuple[str, ...] = INNER) -> st.SearchStrategy[list[Step]]:
    """Return histories of *acts*; *inner* may happen between two requests of another."""
    return st.lists(_steps(acts, inner=inner), min_size=MIN_STEPS, max_size=MAX_STEPS)


SCENE = ("propose", "put_state", "settle", "settle", "compact")
ALL = (*SAYING, *QUEUES, *HOSTS, *KEYS, *SCENE, "commit")
