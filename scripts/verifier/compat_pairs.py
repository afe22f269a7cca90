#!/usr/bin/env python3
"""Pairs of answers with settings, to compare the compat profile with math-verify itself.

    python scripts/verifier/compat_pairs.py --seed 1 --count 4000 --out pairs.jsonl
    python scripts/verifier/measure.py pairs.jsonl --math-verify .venv/bin/python

Each line is ``{"id", "category", "gold", "pred", "config"?}``. There are no labels: what math-verify says is what is
expected. Half of the categories are those of the corpus, with golds in dollars; the others aim at extraction, at the
order of matches and at the habits of the parser. Two writings of numbers that are mostly the same meet in each pair.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from categories import CATEGORIES, Draw
from quirks import QUIRKS

#: Numbers that math-verify computes with until its time is up.
_TOO_LARGE = {"large numbers and powers", "near misses"}


def settings(d: Draw, *, strings: bool = False) -> dict:
    """Settings as people use them: mostly few."""
    config: dict = {}
    if strings:
        config["extract"] = d.one(
            ["string"], ["string"], ["latex", "string"], ["expr", "string"], ["latex", "expr", "string"]
        )
        if d.chance(0.3):
            letters = d.one(["A", "B", "C", "D", "E"], ["A", "B"], ["A", "AB", "B"], ["Yes", "No"])
            config["extract"] = [t if t != "string" else {"string": letters} for t in config["extract"]]
    elif d.chance(0.4):
        config["extract"] = d.one(["latex"], ["expr"], ["latex", "expr"], ["expr", "latex"])
    for name, chance, values in (
        ("boxed_match_priority", 0.4, (0, 0, 50, -1, 100, 400)),
        ("try_extract_without_anchor", 0.1, (False, True)),
        ("float_rounding", 0.15, (0, 1, 2, 3, 4, 5, 8)),
        ("strict", 0.08, (False, True)),
        ("allow_set_relation_comp", 0.15, (True, False)),
        ("extraction_mode", 0.15, ("first_match", "any_match")),
        ("fallback_mode", 0.2, ("no_fallback", "first_match")),
    ):
        if d.chance(chance):
            config[name] = d.one(*values)
    return config


def pairs(category: str, seed: int, count: int) -> Iterator[dict]:
    """The rows of one category."""
    d = Draw(f"compat/{seed}/{category}")
    for index in range(count):
        if category in QUIRKS:
            gold, pred = QUIRKS[category](d)
        else:
            pair = CATEGORIES[category](d, d.chance(0.6))
            gold, pred = pair.gold, pair.pred
            if "$" not in gold and "\\" in gold and d.chance(0.85):
                gold = f"${gold}$"
        config = {} if d.chance(0.35) else settings(d, strings="choice" in category or d.chance(0.03))
        row = {"id": f"{category.replace(' ', '-')}-{seed}-{index}", "category": category, "gold": gold, "pred": pred}
        yield row | ({"config": config} if config else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=4000, metavar="K", help="pairs in all")
    parser.add_argument("--out", default="-", help="a file, or - for standard output")
    options = parser.parse_args()
    usual = [name for name in CATEGORIES if name not in _TOO_LARGE]
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8")
    with out:
        for names, share in ((usual, options.count // 2), (list(QUIRKS), options.count - options.count // 2)):
            for place, name in enumerate(names):
                count = share * (place + 1) // len(names) - share * place // len(names)
                for row in pairs(name, options.seed, count):
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
