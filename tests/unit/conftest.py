"""Unit tests reach no network."""

import socket

import pytest


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a unit test tried to open a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
