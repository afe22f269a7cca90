"""Register of the quirks, and what stands around their formulas."""

from __future__ import annotations

from collections.abc import Callable

from categories import Draw
from categories.dressing import reasoning

Maker = Callable[[Draw], tuple[str, str]]
QUIRKS: dict[str, Maker] = {}


def quirk(make: Maker) -> Maker:
    """Registers a maker under its name."""
    QUIRKS[f"quirk: {make.__name__.replace('_', ' ')}"] = make
    return make


def wrapped(d: Draw, tex: str) -> str:
    """A formula in delimiters."""
    return d.one(
        f"${tex}$",
        f"${tex}$",
        f"$ {tex} $",
        f"$${tex}$$",
        f"\\[{tex}\\]",
        f"\\({tex}\\)",
        f"$\\boxed{{{tex}}}$",
        f"\\boxed{{{tex}}}",
    )


def around(d: Draw, formula: str) -> str:
    """What may stand before and behind a formula, numbers included."""
    n = d.whole(2, 30)
    return d.one(
        formula,
        formula,
        f"The answer is {formula}.",
        f"The final answer is {formula}. I hope it is correct.",
        f"Final answer: {formula}",
        f"Answer: {formula}",
        f"**Answer:** {formula}",
        f"{reasoning(d, 2)} Hence {formula}.",
        f"{formula}, which is more than {n}.",
        f"We have {n} and then {formula}",
        f"final answer is {formula}, and ${n}$ was a guess",
        f"The answer is not {n} but {formula}",
        f"{formula}\n\nThis took {n} steps.",
        f"answer {n} then answer {formula}",
        f"So x = {formula}",
        f"answer: x = {n} = {formula}",
    )


def meet(d: Draw, families: Callable[[int], list[list[str]]], n: int, dress: bool = False) -> tuple[str, str]:
    """Two writings of mostly the same number, mostly from one family of writings that may mean the same."""
    m = n if d.chance(0.75) else n + d.one(-1, 1, 10)
    first, second = families(n), families(m)
    family = d.randrange(len(first))
    gold = d.choice(first[family])
    pred = d.choice(second[family] if d.chance(0.8) else d.choice(second))
    return (wrapped(d, gold), wrapped(d, pred)) if dress else (gold, pred)
