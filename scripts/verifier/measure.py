#!/usr/bin/env python3
"""What `juror verify` says about labelled pairs, category by category; and what Math-Verify says.

    python scripts/verifier/measure.py corpus.jsonl --juror target/release/juror --show-errors 3
    python scripts/verifier/measure.py corpus.jsonl --math-verify .venv/bin/python --cache verdicts.jsonl

Prints Markdown. Labels are compared with the verdicts of ``--profile`` (strict unless it is said); with
``--math-verify`` the verdicts of ``--profile compat`` are compared with those of math-verify itself, which that
interpreter must have installed. Rows without ``expected`` take part in the second comparison only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

Row = dict
_RUNNER = Path(__file__).with_name("run_math_verify.py")


def read(path: Path) -> list[Row]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def ask_juror(juror: str, corpus: Path, profile: str) -> tuple[list[Row], float]:
    """Verdicts under a profile in the order of the rows, and the seconds that passed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "verdicts.jsonl"
        start = time.monotonic()
        command = [juror, "verify", str(corpus), "-o", str(out), "--profile", profile, "--quiet"]
        code = subprocess.run(command, check=False).returncode
        wall = time.monotonic() - start
        if code not in (0, 3):  # 3: some rows were no pairs
            sys.exit(f"`{' '.join(command)}` ended with {code}")
        return read(out), wall


def ask_math_verify(python: str, corpus: Path, cache: Path | None) -> tuple[list[Row], Row]:
    """Verdicts of math-verify and the summary of the run; a cache that exists is believed."""
    if cache and cache.exists():
        return read(cache), {"cases": 0, "note": f"verdicts read from {cache}"}
    with tempfile.TemporaryDirectory() as folder:
        out = cache or Path(folder) / "verdicts.jsonl"
        command = [python, str(_RUNNER), str(corpus), "--out", str(out)]
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return read(out), json.loads(run.stdout.splitlines()[-1])


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    head = list(head)
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def by_category(rows: list[Row], *columns: list[Row]) -> Iterator[tuple[str, list[tuple[Row, ...]]]]:
    """Rows with their verdicts, grouped; at last all of them."""
    groups: dict[str, list[tuple[Row, ...]]] = defaultdict(list)
    everything = list(zip(rows, *columns, strict=True))
    for entry in everything:
        groups[entry[0].get("category", "–")].append(entry)
    yield from groups.items()
    yield "**all**", everything


def against_labels(rows: list[Row], verdicts: list[Row]) -> str:
    """Accuracy, false positives and false negatives. A null is not true, so it is right where false is expected."""
    lines = []
    for name, entries in by_category(rows, verdicts):
        equal = [v for r, v in entries if r["expected"]]
        different = [v for r, v in entries if not r["expected"]]
        missed = sum(v.get("equal") is not True for v in equal)
        wrong = sum(v.get("equal") is True for v in different)
        nulls = [sum(v.get("equal") is None for v in side) for side in (equal, different)]
        right = len(entries) - missed - wrong
        shares = (percent(right, len(entries)), percent(wrong, len(different)), percent(missed, len(equal)))
        lines.append((name, len(entries), *shares, f"{nulls[0]} + {nulls[1]}"))
    head = ("category", "n", "accuracy", "false positives", "false negatives", "nulls (equal + different)")
    return table(head, lines)


def answered(verdict: Row) -> bool:
    """Did math-verify come to a verdict of its own, and not to the end of its time?"""
    return verdict.get("equal") is not None and verdict.get("end") != "timed_out"


def agreement(rows: list[Row], compat: list[Row], theirs: list[Row]) -> str:
    """How often the compat profile says what math-verify says. Where math-verify failed or timed out, nobody is asked."""
    lines = []
    for name, entries in by_category(rows, compat, theirs):
        judged = [(c, t) for _, c, t in entries if answered(t)]
        same = sum((c.get("equal") is True) == t["equal"] for c, t in judged)
        too_many = sum(c.get("equal") is True and not t["equal"] for c, t in judged)
        too_few = sum(c.get("equal") is not True and t["equal"] for c, t in judged)
        lines.append((name, len(judged), percent(same, len(judged)), too_many, too_few, len(entries) - len(judged)))
    head = (
        "category",
        "n",
        "agreement",
        "only juror says equal",
        "only math-verify does",
        "math-verify failed or timed out",
    )
    return table(head, lines)


def show(rows: list[Row], columns: list[list[Row]], wrong: Callable[..., bool], limit: int) -> str:
    """Up to ``limit`` pairs of each category for which ``wrong`` holds, with all that is known of them."""
    lines: list[str] = []
    for name, entries in list(by_category(rows, *columns))[:-1]:
        found = [entry for entry in entries if wrong(*entry)]
        if found[:limit]:
            lines.append(f"\n#### {name}: {len(found)}\n")
        for row, *verdicts in found[:limit]:
            shown = {key: row[key] for key in ("id", "gold", "pred", "expected", "note", "config") if key in row}
            lines.append(f"- {json.dumps(shown, ensure_ascii=False)}")
            for verdict in verdicts:
                said = {key: value for key, value in verdict.items() if key not in ("id", "index", "profile")}
                lines.append(f"  - {json.dumps(said, ensure_ascii=False)}")
    return "\n".join(lines) or "None."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="JSONL rows with gold, pred, and perhaps expected and category")
    parser.add_argument("--juror", default="juror", metavar="PATH", help="the program [default: juror]")
    parser.add_argument("--profile", choices=("strict", "compat"), default="strict", help="whose verdicts are graded")
    parser.add_argument("--math-verify", metavar="PYTHON", help="an interpreter that has math-verify installed")
    parser.add_argument("--cache", type=Path, help="math-verify's verdicts: read if the file exists, else written")
    parser.add_argument("--show-errors", type=int, default=0, metavar="K", help="K pairs of each category in full")
    options = parser.parse_args()

    rows = read(options.corpus)
    labelled = all("expected" in row for row in rows)
    verdicts, wall = ask_juror(options.juror, options.corpus, options.profile)
    if labelled:
        print(f"## {options.profile} against the labels ({len(rows)} pairs in {wall:.2f} s)\n")
        print(against_labels(rows, verdicts))
        if options.show_errors:
            print("\n### Errors")

            def wrong(row: Row, verdict: Row) -> bool:
                return (verdict.get("equal") is True) != row["expected"]

            print(show(rows, [verdicts], wrong, options.show_errors))
    if not options.math_verify:
        return

    compat = verdicts if options.profile == "compat" else ask_juror(options.juror, options.corpus, "compat")[0]
    theirs, summary = ask_math_verify(options.math_verify, options.corpus, options.cache)
    if [verdict["id"] for verdict in theirs] != [row.get("id", index) for index, row in enumerate(rows)]:
        sys.exit(f"the verdicts in {options.cache} are those of other pairs; delete the file")
    if labelled:
        print("\n## math-verify against the labels\n")
        print(against_labels(rows, theirs))
    print("\n## compat against math-verify\n")
    print(agreement(rows, compat, theirs))
    print(f"\nmath-verify: {json.dumps(summary)}")
    if options.show_errors:
        print("\n### Disagreements")

        def differ(_row: Row, ours: Row, other: Row) -> bool:
            return answered(other) and (ours.get("equal") is True) != other["equal"]

        print(show(rows, [compat, theirs], differ, options.show_errors))


if __name__ == "__main__":
    main()
