"""The external memory service Hinos."""

from collections.abc import Mapping
from typing import Any, Protocol


class Hinos(Protocol):
    """The external memory service."""

    def ready(self) -> None:
        """Have the credential at hand that a call needs. Raises StoreUnavailable."""

    def call(self, path: str, body: Mapping[str, Any], *, headers: Mapping[str, str]) -> Any:
        """Post *body* and return the parsed JSON answer, all within one budget of time.

        Raises HinosUnavailable (`sent` False: nothing reached Hinos), HinosTimeout, HinosBadReply.
        """
