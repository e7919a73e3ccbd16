"""`make client`: make the sync client from the async one."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "clients" / "python" / "memoir_client"
_REPLACED = (
    (r'"""The client\. .*?"""', '"""Made from `_async.py` by `make client`: change that one."""'),
    (r"import asyncio\nimport json\nimport time\n", "import json\nimport time\n"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"\b(async|await) ", ""),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\bAsync(Client|Iterator|Memoir|Memory|Conversation)\b", r"\1"),
    (r"from collections\.abc import Iterator, Callable", "from collections.abc import Callable, Iterator"),
)


def sync_text() -> str:
    """Return the sync client as it is committed."""
    text = (FOLDER / "_async.py").read_text()
    for pattern, replacement in _REPLACED:
        text = re.sub(pattern, replacement, text)
    command = [str(Path(sys.executable).with_name("ruff")), "format", "--line-length", "110", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    (FOLDER / "_sync.py").write_text(sync_text())
