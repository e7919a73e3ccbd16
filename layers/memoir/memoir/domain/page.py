"""How much a page may hold, so that its answer stays below what Lambda can return."""

import json

MAX_PAGE_BYTES = 5 * 1024 * 1024
"""Lambda returns 6 MB, of an answer that it escapes once more."""


class PageRoom:
    """The room of one page."""

    def __init__(self) -> None:
        self._left = MAX_PAGE_BYTES

    def takes(self, *texts: str) -> bool:
        """Tell whether *texts* still fit, escaped twice; an empty page takes anything. They are counted."""
        size_bytes = len(json.dumps(json.dumps(texts, ensure_ascii=False)))
        fits = size_bytes <= self._left or self._left == MAX_PAGE_BYTES
        self._left -= size_bytes
        return fits
