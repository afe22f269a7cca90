"""Judge fresh synthetic problems with the `juror` binary and compare its verdicts with the true labels.

    python scripts/tiny_judge/evaluate.py --split domain --count 2000 --seed 7001
    python scripts/tiny_judge/evaluate.py --split heldout --count 2000 --seed 7001
    python scripts/tiny_judge/evaluate.py --file scripts/tiny_judge/handwritten_wide.jsonl

`domain` draws on the phrasings of training with seeds of its own, `heldout` on sentence frames, names, objects and
answer styles that training never saw. `--mix natural` draws the kinds of answers as often as the generator does; `even`
takes about 17 % lucky guesses and all other kinds equally often, the rare and hard ones too. A seventh of the problems
lie outside the domain (`--outside` changes the share); they are right where the status is `out_of_domain`.
`--calibrate` prints the temperatures for `judge.json`, fitted to the judged problems: use a seed that no figure comes from.
Prints Markdown tables. What the judge left unreadable counts as wrong everywhere.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from labelled import draw, draw_arguments, write
from problems import Example
from score import from_file
from tables import FIELDS, Table

INCOMPLETE = 3
"""The exit code of a run in which some samples have no readable verdict."""


def judge_command(options: argparse.Namespace, source: Path, target: Path) -> list[str]:
    """The command line of one run."""
    command = [options.binary, "judge", source, "-o", target, "--model", options.model, "--quiet"]
    return [*map(str, command), *options.extra]


def judge(options: argparse.Namespace, examples: list[Example]) -> dict[str, dict]:
    """Run the binary on the problems; its labels are not shown to it."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "rollouts.jsonl"), Path(folder, "verdicts.jsonl")
        write(examples, source, labels=False)
        code = subprocess.run(judge_command(options, source, target), check=False).returncode
        if code not in (0, INCOMPLETE):
            sys.exit(f"{options.binary} failed with exit code {code}")
        with target.open(encoding="utf-8") as file:
            return {row["id"]: row for row in map(json.loads, file)}


def temperature(confidences: list[float], labels: list[bool]) -> str:
    """The temperature with the least negative log-likelihood (Guo et al. 2017), and what it changes."""
    odds = [math.log(p / (1 - p)) for p in (min(max(c, 1e-7), 1 - 1e-7) for c in confidences)]

    def loss(t: float) -> float:
        return sum(math.log1p(math.exp(-(o if label else -o) / t)) for o, label in zip(odds, labels, strict=True)) / len(odds)

    best = min((1.02**k for k in range(-50, 250)), key=loss)
    return f"{best:.2f} (negative log-likelihood {loss(1.0):.3f}, calibrated {loss(best):.3f}, {len(odds)} problems)"


def main() -> None:
    """Judge labelled problems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/release/juror")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--file", type=Path, help="labelled problems to judge instead")
    draw_arguments(parser)
    parser.add_argument("--show", type=int, default=0, help="print this many wrongly judged problems")
    parser.add_argument("--calibrate", action="store_true", help="fit the temperatures of judge.json")
    parser.add_argument("extra", nargs="*", help="further arguments for the binary, behind --")
    options = parser.parse_args()
    examples = from_file(options.file) if options.file else draw(options)
    verdicts, table, shown = judge(options, examples), Table(), 0
    certain: dict[str, tuple[list[float], list[bool]]] = {field: ([], []) for field in ("process", "outcome")}
    for index, e in enumerate(examples):
        verdict = verdicts.get(f"{index:05d}", {})
        readable = verdict.get("status") == "ok" and all(isinstance(verdict.get(field), bool) for field in FIELDS)
        right = table.add(e, {field: verdict[field] for field in FIELDS} if readable else None, verdict.get("status") == "out_of_domain")
        for field, (confidences, labels) in certain.items():
            if readable and e.inside:
                confidences.append(verdict["confidence"][field])
                labels.append(getattr(e, field))
        if not right and shown < options.show:
            shown += 1
            print(f"--- {e.kind}, {e.topic}: inside {e.inside}, process {e.process}, outcome {e.outcome}")
            print(f"{e.question}\n>> {e.student_answer}\n== {e.reference_answer}")
            print(json.dumps({key: verdict.get(key) for key in ("status", *FIELDS, "reason")}) + "\n")
    if options.calibrate:
        for field, seen in certain.items():
            print(f"temperature of {field}: {temperature(*seen)}")
    source = options.file or f"{options.split}, {options.count} problems, seed {options.seed}"
    print(f"{source}\n\n{table.text()}")


if __name__ == "__main__":
    main()
