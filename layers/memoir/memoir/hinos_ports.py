"""What the Hinos proxy needs from the outside world."""

from collections.abc import Mapping
from typing import Any, Protocol

from memoir.domain.hinos import Claim, ClaimState
from memoir.domain.scope import Scope


class Hinos(Protocol):
    """The external memory service."""

    def call(self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Any:
        """Post *body* and return the parsed JSON answer, all within one budget of time.

        Raises HinosUnavailable (`sent` False: nothing reached Hinos), HinosTimeout, HinosBadReply.
        """


class ClaimStore(Protocol):
    """The claims of conversations."""

    def keep(self, scope: Scope, claim_id: str, *, valid_until: float) -> None:
        """Keep a new claim as prepared. Raises StoreUnavailable, WriteOutcomeUnknown."""

    def take(self, scope: Scope, claim_id: str, *, texts: str, now: float) -> Claim | None:
        """Take a prepared claim for committing *texts*; None if it is ours now, else what is stored of it.

        Raises NotFound, StoreUnavailable, WriteOutcomeUnknown.
        """

    def settle(self, scope: Scope, claim_id: str, *, state: ClaimState, error_code: str = "") -> None:
        """Note what became of a claim that we took. Raises StoreUnavailable, WriteOutcomeUnknown."""
