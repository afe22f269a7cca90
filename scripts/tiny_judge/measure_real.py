"""Judge real grade-school solutions with the `juror` binary: paid, refused, abstained, on each set.

    python scripts/tiny_judge/measure_real.py --data DATA --model models/tiny runs/export

DATA holds `gsm8k_train`, `gsm8k_dev_people`, `gsm8k_dev_models` and `bigbench_mistake_arithmetic`, each as JSON lines
(`.jsonl` or `.jsonl.gz`). Of the training questions only the third that training keeps out is told here, as people wrote it,
in the manner of today's models, long, and with faults whose end is right. A row is *paid* where its status is `ok`
and process and outcome are found right, *refused* where the status is `ok` and they are not, else *abstained*.
A wrong row is one whose final answer is wrong, or whose derivation is known to be. Prints a Markdown table a model.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from problems import outside
from problems.marks import Lost, rows, solutions
from problems.retell import tell
from problems.unfollowed import unfollowed

INCOMPLETE = 3
"""The exit code of a run in which some samples have no readable verdict."""


@dataclass
class Case:
    """A row to judge."""

    group: str
    sound: bool | None
    """None where the derivation is not known to be right or wrong, and the judge is to abstain."""
    question: str
    response: str
    answer: str


def file(folder: Path, name: str) -> Path:
    """The data file of that name."""
    return next(path for path in (folder / f"{name}.jsonl.gz", folder / f"{name}.jsonl") if path.exists())


def of_people(folder: Path) -> list[Case]:
    """People's own solutions, all sound."""
    return [Case("people", True, r["question"], r["response"], r["answer"]) for r in rows(file(folder, "gsm8k_dev_people"))]


def of_models(folder: Path, count: int) -> list[Case]:
    """A fixed sample of real models' short rollouts."""
    found = rows(file(folder, "gsm8k_dev_models"))
    chosen = random.Random(600).sample(found, min(count, len(found)))
    return [Case("models, right end" if r["outcome_label"] else "models, wrong end", r["outcome_label"], r["question"], r["response"], r["answer"]) for r in chosen]


def of_expressions(folder: Path) -> list[Case]:
    """BIG-Bench-Mistake's arithmetic: right where the answer is and no step is marked."""
    cases = []
    for r in rows(file(folder, "bigbench_mistake_arithmetic")):
        sound = str(r["answer"]) == str(r["target"]) and r["mistake_index"] is None
        cases.append(Case("expressions, right" if sound else "expressions, wrong", sound, r["input"], "\n".join(r["steps"]), str(r["target"])))
    return cases


def told(folder: Path, count: int) -> list[Case]:
    """The third that is kept out: sound solutions in several styles, and faults."""
    held, rng, cases = solutions(file(folder, "gsm8k_train"), held=True), random.Random(400), []

    def add(group: str, number: int, sound: bool, keep=lambda e: True, **how) -> None:
        found = 0
        while found < number:
            try:
                e = tell(rng.choice(held), rng, **how)
            except Lost:
                continue
            if keep(e) and (e.process and e.outcome) == sound:
                found += 1
                cases.append(Case(group, sound, e.question, e.student_answer, e.reference_answer))

    everyone = rng.sample(held, min(count, len(held)))
    for s in everyone:
        cases.append(Case("kept out: as people wrote", True, s.question, s.answer, s.answer.rpartition("####")[2].strip()))
    add("kept out: told by people, marks or none", count // 2, True, kind="sound", style="people")
    add("kept out: in a model's manner", count // 2, True, keep=lambda e: len(e.student_answer) < 500, kind="sound", style="model")
    add("kept out: long, 500 characters and more", count // 2, True, keep=lambda e: len(e.student_answer) >= 500, kind="sound", style="model")
    add("fault: one value, all else sound", count // 2, False, kind="stay", style="people")
    add("fault: one value, a model's manner", count // 2, False, kind="stay", style="model")
    add("fault: two that cancel", count // 4, False, kind="cancel")
    add("fault: another end than the derivation's", count // 4, False, kind="contradiction")
    add("fault: a wrong end", count // 2, False, keep=lambda e: not e.outcome, kind="final")
    add("fault: sign or point of the end", count // 4, False, keep=lambda e: not e.outcome, kind="shape")
    add("fault: carried, wrong number or sign", count // 4, False, kind="value")
    add("fault: carried, wrong number or sign", count // 4, False, kind="number")
    add("fault: carried, wrong number or sign", count // 4, False, kind="sign")
    return cases


def strange(folder: Path, count: int) -> list[Case]:
    """Responses with unknowns, and problems outside."""
    held, rng, cases = solutions(file(folder, "gsm8k_train"), held=True), random.Random(500), []
    while len(cases) < count // 2:
        try:
            e = unfollowed(rng.choice(held), rng)
        except Lost:
            continue
        cases.append(Case("with unknowns", None, e.question, e.student_answer, e.reference_answer))
    for _ in range(count):
        e = outside(rng, "heldout")
        cases.append(Case("outside, held out", None, e.question, e.student_answer, e.reference_answer))
    return cases


def judge(binary: str, model: str, cases: list[Case]) -> list[tuple[str, dict]]:
    """Paid, refused or abstained for each case, and the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "rows.jsonl"), Path(folder, "verdicts.jsonl")
        with source.open("w", encoding="utf-8") as out:
            for index, c in enumerate(cases):
                out.write(json.dumps({"id": f"{index:05d}", "question": c.question, "response": c.response, "answer": c.answer}) + "\n")
        code = subprocess.run([binary, "judge", source, "-o", target, "--model", model, "--quiet", "--raw"], check=False, stderr=subprocess.DEVNULL).returncode
        if code not in (0, INCOMPLETE):
            sys.exit(f"{binary} failed with exit code {code}")
        with target.open(encoding="utf-8") as verdicts:
            by_id = {v["id"]: v for v in map(json.loads, verdicts)}
    found = []
    for index in range(len(cases)):
        v = by_id.get(f"{index:05d}", {})
        ok = v.get("status") == "ok"
        found.append(("paid" if ok and v.get("process") and v.get("outcome") else "refused" if ok else "abstained", v))
    return found


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--binary", default="target/release/juror")
    parser.add_argument("--model", nargs="+", default=["tiny"])
    parser.add_argument("--models", type=int, default=600, help="how many of the models' rollouts")
    parser.add_argument("--count", type=int, default=160, help="how many of the kept-out questions; the styles and faults have a half or a quarter of it")
    parser.add_argument("--only", default="", help="groups whose name begins so")
    parser.add_argument("--show", type=int, default=0, help="print this many rows a group that are judged wrongly")
    options = parser.parse_args()
    cases = of_people(options.data) + of_models(options.data, options.models) + of_expressions(options.data) + told(options.data, options.count) + strange(options.data, options.count)
    cases = [c for c in cases if c.group.startswith(options.only)]
    for model in options.model:
        counts: dict[tuple[str, bool | None], Counter] = {}
        found, shown = judge(options.binary, model, cases), Counter()
        for case, (state, verdict) in zip(cases, found, strict=True):
            counts.setdefault((case.group, case.sound), Counter())[state] += 1
            good = state == ("abstained" if case.sound is None else "paid" if case.sound else "refused")
            if not good and shown[case.group] < options.show:
                shown[case.group] += 1
                print(f"--- {case.group}, {state}\nQ {case.question}\n>> {case.response}\n== {case.answer}\n{(verdict.get('raw') or {}).get('completion')}\n")
        print(f"{model}\n\n| | rows | paid | refused | abstained |\n|---|--:|--:|--:|--:|")
        wrong = Counter()
        for (group, sound), c in counts.items():
            total = sum(c.values())
            if sound is False:
                wrong += c
            print(f"| {group}{' (wrong)' if sound is False else ' (to abstain)' if sound is None else ''} | {total} | " + " | ".join(f"{100 * c[s] / total:.1f}" for s in ("paid", "refused", "abstained")) + " |", flush=True)
        print(f"| all wrong ones | {sum(wrong.values())} | " + " | ".join(f"{100 * wrong[s] / max(1, sum(wrong.values())):.2f}" for s in ("paid", "refused", "abstained")) + " |\n", flush=True)


if __name__ == "__main__":
    main()
