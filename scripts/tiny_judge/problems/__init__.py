"""Synthetic word problems, students' answers to them, and the true verdicts.

``generate`` draws one labelled example. The phrase banks are divided by a stable hash into those of training (splits
'train' and 'domain', which differ by their seeds only) and those held out (split 'heldout').
"""
from __future__ import annotations

import random

from .core import Example, Step, StudentStep
from .kinds import KINDS, build

__all__ = ["Example", "KINDS", "Step", "StudentStep", "generate"]


def generate(rng: random.Random, *, split: str, kind: str | None = None, noisy: bool = False, steps: int | None = None) -> Example:
    """One labelled example.

    ``kind`` None draws a kind (lucky guesses about 17 %). ``noisy`` makes every step wrong with probability 0.6 (for
    training only; ``kind`` is then what came out). ``steps`` fixes the number of steps of the plan.
    """
    return build(rng, split, kind, noisy, steps)
