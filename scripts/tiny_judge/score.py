"""Score an exported judge on fresh problems, by kind of answer, with greedy decoding.

    python scripts/tiny_judge/score.py --split domain --seed 2001 --count 2000
    python scripts/tiny_judge/score.py --split heldout --seed 2001 --count 2000
    python scripts/tiny_judge/score.py --file scripts/tiny_judge/handwritten.jsonl

`domain` draws on the phrasings of training with new seeds, `heldout` on sentence frames,
names, objects and answer styles that training never saw.  `--file` takes problems typed by
hand, with their labels.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from pathlib import Path

import torch

import layout
import tokenizer as vocabulary
from data import Encoder
from decode import Decoder
from export import load
from problems import Example, generate

FIELDS = ("process", "outcome", "perfect")
LUCKY = "lucky guesses"


def verdict(text: str) -> dict[str, bool] | None:
    """The three grades written after the thinking, or None."""
    _, closed, answer = text.rpartition("</think>")
    grades = {f: re.search(rf"<{f}> (True|False) </{f}>", answer) for f in FIELDS}
    if not closed or not all(grades.values()):
        return None
    return {field: found[1] == "True" for field, found in grades.items()}


class Table:
    """Counts per kind of answer."""

    columns = ("outcome", "process", "overall", "perfect", "unparsed")

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def add(self, example: Example, found: dict[str, bool] | None) -> None:
        """Count one verdict; what cannot be read is wrong everywhere."""
        groups = [example.kind, "all"]
        if example.outcome and not example.process:
            groups.append(LUCKY)
        for group in groups:
            row = self.counts[group]
            row["problems"] += 1
            if found is None:
                row["unparsed"] += 1
                continue
            for field in FIELDS:
                row[field] += found[field] == getattr(example, field)
            overall = found["process"] and found["outcome"]
            row["overall"] += overall == (example.process and example.outcome)

    def text(self) -> str:
        """The table in Markdown, in percent."""
        last = [LUCKY, "all"]
        lines = [
            "| answer | problems | " + " | ".join(self.columns) + " |",
            "|---|---:|" + "---:|" * len(self.columns),
        ]
        for kind in [*sorted(set(self.counts) - set(last)), *last]:
            row = self.counts[kind]
            cells = " | ".join(
                f"{100 * row[c] / max(1, row['problems']):.1f}" for c in self.columns
            )
            lines.append(f"| {kind.replace('_', ' ')} | {row['problems']} | {cells} |")
        return "\n".join(lines)


def from_file(path: Path) -> list[Example]:
    """Problems typed by hand: the three inputs and the three labels."""
    nothing = {"plan": (), "student_steps": (), "final": None, "flags": frozenset(), "reason": ""}
    lines = map(json.loads, path.read_text().splitlines())
    return [Example(kind="handwritten", **line, **nothing) for line in lines]


def main() -> None:
    """Decode and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=vocabulary.FOLDER)
    parser.add_argument("--split", choices=("domain", "heldout"), default="domain")
    parser.add_argument("--file", type=Path, help="JSON lines to judge instead")
    parser.add_argument("--seed", type=int, default=1001)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="print this many wrong verdicts")
    parser.add_argument("--short", action="store_true", help="prompt without its instructions")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    encoder = Encoder(options.model)
    prefix = encoder.prefix if options.short else encoder.template
    decoder = Decoder(load(options.model), prefix, {encoder.stop, encoder.end})
    rng = random.Random(options.seed)
    if options.file:
        examples = from_file(options.file)
    else:
        examples = [generate(rng, split=options.split) for _ in range(options.count)]
    prompts = [encoder.prompt(example) for example in examples]
    order = sorted(range(len(examples)), key=lambda index: len(prompts[index]))
    table, shown = Table(), 0
    for start in range(0, len(examples), options.batch):
        chosen = order[start : start + options.batch]
        for index, tokens in zip(chosen, decoder.greedy([prompts[i] for i in chosen]), strict=True):
            example = examples[index]
            text = encoder.trusted.decode(tokens, skip_special_tokens=False)
            found = verdict(text)
            table.add(example, found)
            right = found and all(found[f] == getattr(example, f) for f in FIELDS[:2])
            if not right and shown < options.show:
                shown += 1
                pieces = layout.target(example, reason=False) if example.plan else ()
                expected = "".join(piece.text for piece in pieces)
                print(f"--- {example.kind}\n{example.question}\n>> {example.student_answer}")
                print(f"expected {expected}\nfound    {text}\n")
    source = options.file or f"{options.split}, seed {options.seed}"
    print(f"{source}\n\n{table.text()}")


if __name__ == "__main__":
    main()
