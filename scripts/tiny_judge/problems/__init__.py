"""Synthetic word problems, students' answers to them, and the true verdicts.

``generate`` draws one labelled example. The phrase banks are divided by a stable hash into those of training (splits
'train' and 'domain', which differ by their seeds only) and those held out (split 'heldout').
"""
from __future__ import annotations

import random
from dataclasses import replace

from . import outside as beyond
from .core import Bank, Example, Step, StudentStep, lines
from .kinds import KINDS, build
from .phrases import instructions

__all__ = ["Example", "KINDS", "Step", "StudentStep", "generate", "outside"]

_BEFORE, _BEHIND = Bank(lines(instructions.BEFORE)), Bank(lines(instructions.BEHIND))
_INSTRUCTED = 0.15
"""Share of questions with a system text before them, a wish behind them, or both."""


def generate(rng: random.Random, *, split: str, kind: str | None = None, noisy: bool = False, steps: int | None = None,
             topic: str | None = None) -> Example:
    """One labelled example.

    ``kind`` None draws a kind (lucky guesses about 17 %). ``noisy`` makes every step wrong with probability 0.6 (for
    training only; ``kind`` is then what came out). ``steps`` fixes the number of steps of the plan.
    """
    return _instructed(build(rng, split, kind, noisy, steps, topic), rng, split)


def outside(rng: random.Random, split: str, sort: str | None = None) -> Example:
    """A problem that is none of the judge's business."""
    return _instructed(beyond.outside(rng, split, sort), rng, split)


def _instructed(example: Example, rng: random.Random, split: str) -> Example:
    """The example, now and then with instructions around its question."""
    if rng.random() >= _INSTRUCTED:
        return example
    text, u = example.question, rng.random()
    if u < 0.08:
        text = rng.choice(("User: {}\nAssistant:", "Question: {}\nAnswer:", "Q: {}\nA:", "Human: {}", "Problem: {}\nSolution:")).format(text)
    elif u < 0.65:
        text = _BEFORE.pick(rng, split) + rng.choice(("\n\n", "\n\n", "\n", " ")) + text
    if u >= 0.5:
        text += rng.choice(("\n\n", "\n", " ")) + _BEHIND.pick(rng, split)
    return replace(example, question=text)
