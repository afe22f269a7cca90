"""Score a judge on fresh problems, by kind of answer and topic, with greedy decoding.

    python scripts/tiny_judge/score.py --split domain --seed 1001 --count 2000
    python scripts/tiny_judge/score.py --split heldout --seed 1001 --count 2000
    python scripts/tiny_judge/score.py --file scripts/tiny_judge/handwritten.jsonl
    python scripts/tiny_judge/score.py --checkpoint runs/a.pt --model runs/state --short --count 300

`domain` draws on the phrasings of training with new seeds, `heldout` on sentence frames,
names, objects and answer styles that training never saw; a seventh of the problems lie outside
the domain. `--file` takes problems typed by hand, with their labels.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

import torch

import layout
import tokenizer as vocabulary
from data import Encoder
from decode import Decoder
from export import load
from model import Config, Judge
from problems import Example, generate, outside
from tables import FIELDS, Table


def verdict(text: str) -> dict[str, bool] | None:
    """The three grades written after the thinking, or None."""
    _, closed, answer = text.rpartition("</think>")
    grades = {f: re.search(rf"<{f}> (True|False) </{f}>", answer) for f in FIELDS}
    if not closed or not all(grades.values()):
        return None
    return {field: found[1] == "True" for field, found in grades.items()}


def called_outside(text: str) -> bool:
    """Whether the judge says that the problem is outside its domain."""
    return text.startswith("<think>domain out")


def from_file(path: Path) -> list[Example]:
    """Problems typed by hand: the three inputs, the labels, and perhaps a topic; `inside` false without labels."""
    nothing = {"plan": (), "student_steps": (), "final": None, "flags": frozenset()}
    labels = {"kind": "handwritten", "process": False, "outcome": False, "perfect": False, "topic": "handwritten"}
    lines = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return [Example(**{**labels, **line}, **nothing) for line in lines]


def draw(split: str, count: int, seed: int) -> list[Example]:
    """The labelled problems, always the same for the same arguments; every seventh is outside."""
    rng = random.Random(f"{split} {seed}")
    return [outside(rng, split) if i % 7 == 6 else generate(rng, split=split) for i in range(count)]


def judge_of(options: argparse.Namespace) -> Judge:
    """The exported judge or that of a checkpoint."""
    if not options.checkpoint:
        return load(options.model)
    state = torch.load(options.checkpoint, weights_only=True)
    model = Judge(Config(**state["config"]))
    model.load_state_dict(state["model"])
    return model.eval()


def main() -> None:
    """Decode and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=vocabulary.FOLDER)
    parser.add_argument("--checkpoint", type=Path, help="weights of a training run; the tokenizer is that of --model")
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
    decoder = Decoder(judge_of(options), prefix, {encoder.stop, encoder.end})
    if options.file:
        examples = from_file(options.file)
    else:
        examples = draw(options.split, options.count, options.seed)
    prompts = [encoder.prompt(example) for example in examples]
    order = sorted(range(len(examples)), key=lambda index: len(prompts[index]))
    table, shown = Table(), 0
    for start in range(0, len(examples), options.batch):
        chosen = order[start : start + options.batch]
        for index, tokens in zip(chosen, decoder.greedy([prompts[i] for i in chosen]), strict=True):
            example = examples[index]
            text = encoder.trusted.decode(tokens, skip_special_tokens=False)
            right = table.add(example, verdict(text), called_outside(text))
            if not right and shown < options.show:
                shown += 1
                expected = "".join(p.text for p in layout.target(example, False)) if example.plan or not example.inside else (
                    f"process {example.process}, outcome {example.outcome}")
                print(f"--- {example.kind}, {example.topic}\n{example.question}\n>> {example.student_answer}\n== {example.reference_answer}")
                print(f"expected {expected}\nfound    {text}\n")
    source = options.file or f"{options.split}, seed {options.seed}"
    print(f"{source}\n\n{table.text()}")


if __name__ == "__main__":
    main()
