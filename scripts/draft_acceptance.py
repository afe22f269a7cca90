#!/usr/bin/env python3
"""How many tokens drafts from the text so far would give a row and step (prompt look-up), measured on texts that others wrote.

    python scripts/draft_acceptance.py FILE.jsonl[.gz] [--prompt question] [--text response] [--gram 2] [--draft 3]

The last `gram` tokens are looked for in prompt and text so far, and what followed them last is the draft. Pieces stand for tokens:
words with the space before them, single digits, punctuation, as the vocabularies of Qwen and GPT-4 mostly have them.
"""

import argparse
import gzip
import json
import re
from pathlib import Path

PIECE = re.compile(
    r"'(?:[sdmt]|ll|ve|re)|[^\r\nA-Za-z0-9]?[A-Za-z]+|\d| ?[^\sA-Za-z0-9]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def steps(prompt: list[str], text: list[str], gram: int, draft: int) -> tuple[int, int]:
    """Steps that writing `text` takes, and tokens drafted in them."""
    every = prompt + text
    at, indexed, taken, drafted = len(prompt), 0, 0, 0
    last: dict[tuple[str, ...], int] = {}
    while at < len(every):
        while indexed + gram < at:
            last[tuple(every[indexed : indexed + gram])] = indexed + gram
            indexed += 1
        found = last.get(tuple(every[at - gram : at]))
        guess = every[found : min(found + draft, at)] if found is not None else []
        right = 0
        while right < len(guess) and every[at + right : at + right + 1] == [guess[right]]:
            right += 1
        taken += 1
        drafted += len(guess)
        at += right + 1
    return taken, drafted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--prompt", default="question", help="the column, or columns joined by +")
    parser.add_argument("--text", default="response")
    parser.add_argument("--gram", type=int, default=2)
    parser.add_argument("--draft", type=int, default=3)
    arguments = parser.parse_args()
    opened = gzip.open if arguments.file.suffix == ".gz" else open
    tokens = taken = drafted = 0
    with opened(arguments.file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            prompt = "\n".join(str(row[column]) for column in arguments.prompt.split("+")) + "\n"
            text = row[arguments.text]
            text = "\n".join(text) if isinstance(text, list) else text
            pieces = PIECE.findall(text)
            more = steps(PIECE.findall(prompt), pieces, arguments.gram, arguments.draft)
            tokens, taken, drafted = tokens + len(pieces), taken + more[0], drafted + more[1]
    print(f"{tokens} tokens in {taken} steps: {tokens / taken:.2f} a step, with {drafted / taken:.2f} drafted")


if __name__ == "__main__":
    main()
