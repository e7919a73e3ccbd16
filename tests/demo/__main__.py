"""`make demo`: the story of one conversation, over HTTP on the deployed local stack, told for a person.

It is told in the language of `LANG`, or of `--lang en` or `--lang zh`. It ends non-zero at the first thing
that is not as promised, and then prints the whole answer.
"""

import argparse
import os
import sys

from tests.api import Api
from tests.demo.chapters import CHAPTERS
from tests.demo.telling import LANGUAGES, Broken, Teller
from tests.localcloud.cloud import local_cloud
from tests.localcloud.emulator import CannotStart


def main() -> int:
    """Bring the local stack up, tell the story, take it down. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--lang", choices=LANGUAGES, default=_language())
    teller = Teller(parser.parse_args().lang)
    teller.heading("start")
    try:
        with local_cloud(say=teller.progress) as stack:
            for chapter in CHAPTERS:
                chapter(Api(stack, user="demo-user"), teller)
    except Broken as broken:
        teller.line("broken", reason=broken)
        return 1
    except CannotStart as reason:
        teller.line("cannot_start", reason=reason)
        return 1
    teller.heading("end")
    teller.line("promises")
    return 0


def _language() -> str:
    said = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if said.lower().startswith("zh") else "en"


if __name__ == "__main__":
    sys.exit(main())
