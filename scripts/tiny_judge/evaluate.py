"""Judge fresh synthetic problems with the `juror` binary and compare its verdicts with the true labels.

    python scripts/tiny_judge/evaluate.py --split domain --count 2000 --seed 7001
    python scripts/tiny_judge/evaluate.py --split heldout --count 2000 --seed 7001
    python scripts/tiny_judge/evaluate.py --split heldout --count 200 --write labelled.jsonl

`domain` draws on the phrasings of training with seeds of its own, `heldout` on sentence frames, names, objects and
answer styles that training never saw. `--mix natural` draws the kinds of answers as often as the generator does; `even`
takes about 17 % lucky guesses and all other kinds equally often, the rare and hard ones too.
Prints a Markdown table per kind of answer. What the judge left unreadable counts as wrong everywhere.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from problems import KINDS, Example, generate

FIELDS = ("process", "outcome", "perfect")
LUCKY = ("lucky_cancelling", "lucky_contradiction")
LUCKY_SHARE = 0.17
COLUMNS = ("outcome", "process", "overall", "perfect", "unparsed")
INCOMPLETE = 3
"""The exit code of a run in which some samples have no readable verdict."""


def judge_command(options: argparse.Namespace, source: Path, target: Path) -> list[str]:
    """The command line of one run."""
    command = [options.binary, "judge", source, "-o", target, "--model", options.model, "--quiet"]
    return [*map(str, command), *options.extra]


def draw(split: str, count: int, seed: int, mix: str) -> list[Example]:
    """The labelled problems, always the same for the same arguments."""
    rng = random.Random(f"{split} {seed}")
    if mix == "natural":
        return [generate(rng, split=split) for _ in range(count)]
    others = [kind for kind in KINDS if kind not in LUCKY]
    kinds = [rng.choice(LUCKY if rng.random() < LUCKY_SHARE else others) for _ in range(count)]
    return [generate(rng, split=split, kind=kind) for kind in kinds]


def write(examples: list[Example], path: Path) -> None:
    """One JSON line per problem: the rollout's columns and, beside them, its labels."""
    with path.open("w", encoding="utf-8") as file:
        for index, example in enumerate(examples):
            row = {
                "id": f"{index:05d}",
                "question": example.question,
                "reference_answer": example.reference_answer,
                "student_answer": example.student_answer,
                "kind": example.kind,
                **{field: getattr(example, field) for field in FIELDS},
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_verdicts(path: Path) -> dict[str, dict]:
    """The verdict lines by id."""
    with path.open(encoding="utf-8") as file:
        return {row["id"]: row for row in map(json.loads, file)}


def judge(options: argparse.Namespace, examples: list[Example]) -> dict[str, dict]:
    """Run the binary on the problems; its labels are not shown to it."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "rollouts.jsonl"), Path(folder, "verdicts.jsonl")
        with source.open("w", encoding="utf-8") as file:
            for index, e in enumerate(examples):
                row = {"id": f"{index:05d}", "question": e.question, "reference_answer": e.reference_answer}
                file.write(json.dumps(row | {"student_answer": e.student_answer}, ensure_ascii=False) + "\n")
        code = subprocess.run(judge_command(options, source, target), check=False).returncode
        if code not in (0, INCOMPLETE):
            sys.exit(f"{options.binary} failed with exit code {code}")
        return read_verdicts(target)


def tally(examples: list[Example], verdicts: dict[str, dict]) -> dict[str, dict[str, int]]:
    """Counts of right verdicts per kind, of all lucky guesses and of all problems."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for index, example in enumerate(examples):
        verdict = verdicts.get(f"{index:05d}", {})
        readable = verdict.get("status") == "ok" and all(isinstance(verdict.get(f), bool) for f in FIELDS)
        groups = [example.kind, "all", *(["lucky guesses"] if example.kind in LUCKY else [])]
        for row in (counts[group] for group in groups):
            row["problems"] += 1
            if not readable:
                row["unparsed"] += 1
                continue
            for field in FIELDS:
                row[field] += verdict[field] == getattr(example, field)
            overall = verdict["process"] and verdict["outcome"]
            row["overall"] += overall == (example.process and example.outcome)
    return counts


def table(counts: dict[str, dict[str, int]]) -> str:
    """The counts in Markdown, accuracies in percent."""
    lines = [f"| answer | problems | {' | '.join(COLUMNS)} |", "|---|---:|" + "---:|" * len(COLUMNS)]
    for group in (*KINDS, "lucky guesses", "all"):
        row = counts[group]
        if row["problems"]:
            cells = " | ".join(f"{100 * row[column] / row['problems']:.1f}" for column in COLUMNS)
            lines.append(f"| {group.replace('_', ' ')} | {row['problems']} | {cells} |")
    return "\n".join(lines)


def show_wrong(examples: list[Example], verdicts: dict[str, dict], limit: int) -> None:
    """Print some of the problems whose overall verdict is wrong."""
    for index, e in enumerate(examples):
        verdict = verdicts.get(f"{index:05d}", {})
        if limit and (verdict.get("process"), verdict.get("outcome")) != (e.process, e.outcome):
            limit -= 1
            print(f"--- {e.kind}: process {e.process}, outcome {e.outcome}; {e.reason}")
            print(f"{e.question}\n>> {e.student_answer}\n== {e.reference_answer}")
            print(json.dumps({key: verdict.get(key) for key in ("status", *FIELDS, "reason")}) + "\n")


def main() -> None:
    """Write or judge labelled problems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/release/juror")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--split", choices=("domain", "heldout"), default="domain")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7001)
    parser.add_argument("--mix", choices=("natural", "even"), default="natural", help="how often each kind of answer comes")
    parser.add_argument("--show", type=int, default=0, help="print this many wrongly judged problems")
    parser.add_argument("--write", type=Path, metavar="FILE", help="only write the labelled problems")
    parser.add_argument("extra", nargs="*", help="further arguments for the binary, behind --")
    options = parser.parse_args()
    examples = draw(options.split, options.count, options.seed, options.mix)
    if options.write:
        write(examples, options.write)
        return
    verdicts = judge(options, examples)
    show_wrong(examples, verdicts, options.show)
    print(f"{options.split}, {options.count} problems, seed {options.seed}\n\n{table(tally(examples, verdicts))}")


if __name__ == "__main__":
    main()
