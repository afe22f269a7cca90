#!/usr/bin/env python3
"""Labelled pairs of answers, to measure the strict verifier with.

    python scripts/verifier/corpus.py --seed 1 --per-category 100 --out corpus.jsonl

Each line is ``{"id", "category", "gold", "pred", "expected", "note"}``. The labels follow from how the pairs are made;
no verifier is asked. In each category half of the pairs are equal and half are not. What a category holds depends on
the seed and on its name alone. Needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from categories import CATEGORIES, Draw

#: How often a pair that was there before is drawn again before a shorter category is accepted.
_PATIENCE = 200


def pairs(category: str, seed: int, count: int) -> Iterator[dict]:
    """The rows of one category, without repetition; equal and unequal ones alternate."""
    draw = Draw(f"{seed}/{category}")
    make = CATEGORIES[category]
    seen: set[tuple[str, str]] = set()
    for index in range(count):
        same = index % 2 == 0
        for _ in range(_PATIENCE):
            pair = make(draw, same)
            if (pair.gold, pair.pred) not in seen:
                break
        else:
            continue
        seen.add((pair.gold, pair.pred))
        slug = category.replace(" ", "-")
        yield {
            "id": f"{slug}-{seed}-{index}",
            "category": category,
            "gold": pair.gold,
            "pred": pair.pred,
            "expected": same,
            "note": pair.note,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--per-category", type=int, default=100, metavar="K")
    parser.add_argument(
        "--category", action="append", choices=sorted(CATEGORIES), help="only this one; may be repeated"
    )
    parser.add_argument("--out", default="-", help="a file, or - for standard output")
    options = parser.parse_args()
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8")
    with out:
        for category in options.category or CATEGORIES:
            for row in pairs(category, options.seed, options.per_category):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
