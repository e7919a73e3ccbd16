"""The functions and their world, once for each module: importing them is the dear part."""

from collections.abc import Iterator

import pytest

from tests.simulation.calls import Calls
from tests.simulation.lambdas import Lambdas, lambdas


@pytest.fixture(scope="module")
def world() -> Iterator[Lambdas]:
    """The handlers in modules of their own."""
    with lambdas() as found:
        yield found


@pytest.fixture
def calls(world: Lambdas) -> Calls:
    """A caller in a world with nothing in it."""
    world.reset()
    return Calls(world)
