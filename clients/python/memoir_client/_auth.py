"""Where a token comes from."""

import base64
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_EARLY_SECONDS = 60


@dataclass
class StaticToken:
    """A token that the caller renews."""

    token: str

    def request(self) -> dict[str, Any] | None:
        """Return the request that gets a token, None where there is nothing to ask for."""
        return None

    def current(self) -> str:
        """Return the token."""
        return self.token

    def keep(self, answer: dict[str, Any]) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """Nothing can be renewed."""


@dataclass
class ClientCredentials:
    """A token by OAuth's client credentials, kept until a minute before it ends."""

    token_url: str
    client_id: str
    secret: str = field(repr=False)
    scope: str = ""
    clock: Callable[[], float] = time.monotonic
    _token: str = field(default="", repr=False)
    _until: float = 0.0

    def request(self) -> dict[str, Any] | None:
        """Return the request that gets a token, None while the one that is kept holds."""
        if self._token and self.clock() < self._until:
            return None
        form = {"grant_type": "client_credentials"} | ({"scope": self.scope} if self.scope else {})
        basic = base64.b64encode(f"{self.client_id}:{self.secret}".encode()).decode()
        headers = {
            "authorization": f"Basic {basic}",
            "content-type": "application/x-www-form-urlencoded",
        }
        return {"url": self.token_url, "content": urllib.parse.urlencode(form), "headers": headers}

    def current(self) -> str:
        """Return the token that is kept."""
        return self._token

    def keep(self, answer: dict[str, Any]) -> None:
        """Keep the token of *answer* until a minute before it ends."""
        self._token = str(answer["access_token"])
        self._until = self.clock() + float(answer.get("expires_in", 300)) - _EARLY_SECONDS

    def forget(self) -> None:
        """Let the next request get a new one."""
        self._token = ""
