"""Draw labelled rollouts of the kind that the embedded judge knows: a question, a reference, a response, and what is true of it.

    python scripts/tiny_judge/labelled.py --split heldout --mix even --outside 0 --count 400 --seed 2026 -o labelled.jsonl
    juror judge labelled.jsonl -o verdicts.jsonl --eval

The labels are true by construction: the generator knows which flaw it put in. `domain` draws on the phrasings of the judge's
training with seeds of its own, `heldout` on sentence frames, names, objects and answer styles that training never saw. `--mix natural`
draws the kinds of answers as often as training does; `even` takes about 17 % lucky guesses and all other kinds equally often, the
rare and hard ones too. The same arguments give the same rows. Needs Python alone.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from problems import KINDS, Example, generate, outside

FIELDS = ("process", "outcome", "perfect")
LUCKY = ("lucky_cancelling", "lucky_contradiction")
LUCKY_SHARE = 0.17


def draw(options: argparse.Namespace) -> list[Example]:
    """The labelled problems, always the same for the same arguments."""
    rng = random.Random(f"{options.split} {options.seed}")
    others = [kind for kind in KINDS if kind not in LUCKY]
    found = []
    for _ in range(options.count):
        if rng.random() < options.outside:
            found.append(outside(rng, options.split))
        elif options.mix == "natural":
            found.append(generate(rng, split=options.split))
        else:
            kind = rng.choice(LUCKY if rng.random() < LUCKY_SHARE else others)
            found.append(generate(rng, split=options.split, kind=kind))
    return found


def write(examples: list[Example], path: Path, labels: bool) -> None:
    """One JSON line per problem: the rollout's columns and, if wanted, its labels."""
    with path.open("w", encoding="utf-8") as file:
        for index, e in enumerate(examples):
            row = {"id": f"{index:05d}", "question": e.question, "reference_answer": e.reference_answer, "student_answer": e.student_answer}
            if labels:
                labels_of = {f"{field}_label": getattr(e, field) for field in FIELDS}
                row |= {"subject": e.topic if e.inside else "outside the domain", "kind": e.kind, "inside": e.inside, **labels_of}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def draw_arguments(parser: argparse.ArgumentParser) -> None:
    """What is drawn."""
    parser.add_argument("--split", choices=("domain", "heldout"), default="domain")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7001)
    parser.add_argument("--outside", type=float, default=1 / 7, help="share of problems outside the domain")
    parser.add_argument("--mix", choices=("natural", "even"), default="natural", help="how often each kind of answer comes")


def main() -> None:
    """Write labelled problems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    draw_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    options = parser.parse_args()
    write(draw(options), options.output, labels=True)


if __name__ == "__main__":
    main()
