"""One local stack for all tests over HTTP; MEMOIR_STACK_FILE names the file of one that runs already."""

import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import Api
from tests.localcloud.cloud import Stack, local_cloud


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    running = os.environ.get("MEMOIR_STACK_FILE")
    if running:
        yield json.loads(Path(running).read_text())
        return
    with local_cloud() as started:
        yield started


@pytest.fixture
def api(stack: Stack) -> Api:
    """A host that acts for a user whom no other test uses."""
    return Api(stack, user=f"user-{secrets.token_hex(6)}")
