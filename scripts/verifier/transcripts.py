#!/usr/bin/env python3
"""Labelled responses as chat and reasoning models write them today: a second generator, to measure the strict verifier with.

    python scripts/verifier/transcripts.py --seed 1 --count 3000 --out transcripts.jsonl

`corpus.py` varies the answer; this varies what stands around it. Each row is an answer of one of the kinds below, written in one
of the endings below behind some reasoning, with the line of `corpus.py`: ``{"id", "category", "gold", "pred", "expected",
"note"}``. The category is the ending. It shares no code with `corpus.py`, so that each can be reported for a verifier that was
improved on the other. Half of the rows are equal where an ending states an answer; an ending that takes its answer back, changes
or doubts it is expected not to be called equal. Needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """A reference, what is equal to it, and what is not; `latex` says that it stands between dollar signs."""

    gold: str
    same: str
    other: str
    latex: bool = False


def _number(r: random.Random) -> Answer:
    n = r.randrange(2, 5000)
    other = n + r.choice([-1, 1, 10, 100])
    return Answer(str(n), r.choice([str(n), f"{n:,}", f"{n}.0", f"+{n}"]), f"{other:,}")


def _negative(r: random.Random) -> Answer:
    n = r.randrange(2, 90)
    return Answer(f"-{n}", r.choice([f"-{n}", f"−{n}", f"negative {n}", f"minus {n}"]), str(n))


def _money(r: random.Random) -> Answer:
    n = r.randrange(2, 900)
    return Answer(f"${n}", r.choice([f"${n}", f"${n}.00", f"{n} dollars", f"USD {n}"]), f"${n + r.randrange(1, 9)}.50")


def _measure(r: random.Random) -> Answer:
    n = r.randrange(2, 60)
    unit, other = r.choice([("cm", "km"), ("kg", "mg"), ("hours", "minutes"), ("m/s", "m"), ("mL", "L"), ("miles", "feet")])
    return Answer(f"{n} {unit}", f"{n} {unit}", r.choice([f"{n} {other}", f"{n + 1} {unit}"]))


def _percent(r: random.Random) -> Answer:
    n = r.randrange(2, 99)
    return Answer(f"{n}%", r.choice([f"{n}%", f"{n} percent", f"{n} %"]), f"{n + 1}%")


def _fraction(r: random.Random) -> Answer:
    a, b = r.choice([(1, 2), (3, 4), (5, 8), (7, 3), (2, 9), (11, 6)])
    same = r.choice([f"\\frac{{{a}}}{{{b}}}", f"\\dfrac{{{2 * a}}}{{{2 * b}}}", f"{a}/{b}"])
    return Answer(f"\\frac{{{a}}}{{{b}}}", same, f"\\frac{{{b}}}{{{a}}}", True)


def _expression(r: random.Random) -> Answer:
    a, b = r.randrange(2, 9), r.randrange(2, 9)
    return Answer(f"{a}x^2+{b}x", f"x({a}x+{b})", f"{a}x^2-{b}x", True)


def _root(r: random.Random) -> Answer:
    a, n = r.randrange(2, 7), r.choice([2, 3, 5, 7])
    return Answer(f"{a}\\sqrt{{{n}}}", f"\\sqrt{{{a * a * n}}}", f"{a + 1}\\sqrt{{{n}}}", True)


def _solutions(r: random.Random) -> Answer:
    a, b = r.sample(range(-9, 12), 2)
    return Answer(f"{a}, {b}", r.choice([f"x = {b} or x = {a}", f"\\{{{b}, {a}\\}}"]), f"{a}, {b + 1}", True)


def _interval(r: random.Random) -> Answer:
    a = r.randrange(-5, 5)
    b = a + r.randrange(1, 9)
    return Answer(f"({a}, {b}]", f"{a} < x \\le {b}", f"[{a}, {b}]", True)


def _option(r: random.Random) -> Answer:
    texts = ["Osmosis", "Budding", "12 cm", "the mitochondria", "Newton's third law", "It doubles", "Paris", "1945"]
    letter = r.choice("ABCD")
    other = r.choice([it for it in "ABCD" if it != letter])
    text = r.choice(texts)
    style = r.choice(["{}", "({})", "{}. " + text, "({}) " + text, "{}) " + text, "option {}", "choice ({})"])
    return Answer(letter, style.format(letter), style.format(other))


def _truth(r: random.Random) -> Answer:
    yes, no = r.choice([("Yes", "No"), ("True", "False")])
    return Answer(yes, r.choice([yes, yes.lower()]), no)


def _name(r: random.Random) -> Answer:
    gold, other = r.sample(["Marie Curie", "photosynthesis", "Mount Everest", "sodium chloride", "Tuesday", "Brazil"], 2)
    return Answer(gold, gold, other)


def _date(r: random.Random) -> Answer:
    day, year = r.randrange(13, 28), r.randrange(1800, 2020)
    month, other = r.sample(["January", "March", "May", "August", "November"], 2)
    return Answer(f"{month} {day}, {year}", r.choice([f"{day} {month} {year}", f"{month} {day}, {year}"]), f"{other} {day}, {year}")


KINDS: dict[str, Callable[[random.Random], Answer]] = {
    name[1:]: value for name, value in list(globals().items()) if name.startswith("_") and not name.startswith("__") and getattr(value, "__module__", "") == __name__
}

#: Endings that state `{}`. In `{$}` mathematics stands in formulas; `{b}` is what goes into a box.
STATED = {
    "boxed": ["Therefore, the answer is $\\boxed{b}$.", "\\[\n\\boxed{b}\n\\]", "Final: $$\\boxed{b}$$"],
    "heading": ["**Final Answer**\n\n{$}", "### Final Answer\n{$}", "## Answer\n\n**{$}**", "### ✅ Final Answer:\n**{$}**", "---\n\n**Answer:** {$}"],
    "bold": ["So the answer is **{$}**.", "The final answer is **{$}** ✅", "Hence the answer: **{$}**"],
    "label": ["Answer: {$}", "ANSWER: {$}", "Final answer: {$}.", "**Answer: {$}**", "> **Answer:** {$}", "Ans: {$}"],
    "sentence": ["The answer is {$}.", "So, the correct answer is {$}.", "Thus the final answer is {$}!", "I get {$} as the answer. The answer is {$}."],
    "tags": ["<answer>{$}</answer>", "<answer>\n{$}\n</answer>", "<final_answer>{$}</final_answer>"],
    "hashes": ["#### {$}"],
    "courtesy": [
        "The answer is {$}.\n\nLet me know if you'd like to see another method!",
        "**Answer:** {$}\n\nI hope this helps! 😊",
        "The answer is **{$}**.\n\nWould you like me to explain step 2 in more detail?",
        "The answer is {$}. Feel free to ask about any of the 3 steps.",
    ],
    "check": [
        "The answer is {$}.\n\n**Check:** substituting back gives the same on both sides.",
        "**Answer:** {$}\n\n*Verification:* all 3 conditions hold.",
        "The answer is {$}. Wait, let me double-check that. Yes, it holds.",
        "The answer is {$}. Actually, this can also be seen from the symmetry.",
    ],
    "explained": [
        "**Answer: {$}**\n\n**Explanation:** The other cases were excluded in step 2.",
        "The answer is {$}, because nothing else fits.",
        "The answer is {$} (see the steps above).",
        "Answer: {$}\n\nWhy: each of the 4 cases leads to it.",
    ],
    "corrected": [
        "The answer is 99991. Wait, no, that is wrong. The answer is {$}.",
        "So I would say 99991.\n\nHmm, actually that can't be right. Redoing it, the answer is {$}.",
        "First I got 99991, but I made a mistake. Answer: {$}",
    ],
    "table": ["| step | result |\n|---|---|\n| setup | done |\n| **answer** | {$} |"],
    "confidence": ["Answer: {$}\nConfidence: 95%", "Answer: {$}\nTime taken: 3 s", "The answer is {$}.\n\nConfidence: high"],
}

#: Endings that are no plain statement of `{}`.
UNSTATED = {
    "taken back": [
        "The answer is {$}. Actually no.",
        "The answer is {$}. Wait, no.",
        "**Answer:** {$}\n\nHmm, that's not right.",
        "#### {$}\nWait, I made an error.",
        "The answer is $\\boxed{b}$. No, wait, that is incorrect.",
        "The answer is {$}. Scratch that.",
        "The answer is {$}.\n\nSorry, I misread the question.",
    ],
    "denied": ["The answer is not {$}.", "The answer cannot be {$}.", "The answer isn't {$}.", "It is not true that the answer is {$}."],
    "doubted": ["I doubt that the answer is {$}.", "I'm not sure the answer is {$}.", "The answer is {$} or perhaps 99991.", "The answer might be {$}, or 99991."],
    "refused": ["I cannot determine the answer; some say {$}, others 99991.", "I'm unable to solve this. Please provide more information."],
    "replaced": ["The answer is not {$} but 99991.", "One might guess {$}, but the answer is 99991.", "The answer is {$}. Wait, no. The answer is 99991."],
}

REASONING = [
    "",
    "Let's work through it step by step.\n\n1. Read what is given.\n2. Set up the relation.\n3. Solve it.\n\n",
    "<think>\nOkay, so I need to find it. Maybe 17? Hmm, wait. Let me try again.\n</think>\n\n",
    "### Step 1: Understand\nWe are given 3 quantities.\n\n### Step 2: Compute\nFrom $2y = 14$ we get $y = 7$.\n\n",
    "Sure! Here's the solution:\n\n- First, note that $a + b = 12$.\n- Then subtract 5.\n\n",
    "We have 24 of them, and 24 / 2 = 12 remain. ",
]


def fill(ending: str, answer: Answer, text: str) -> str:
    """The ending with an answer in it."""
    math = answer.latex or "\\" in text
    boxed = text if math or text.replace(",", "").lstrip("+-").replace(".", "").isdigit() else f"\\text{{{text}}}"
    return ending.replace("{b}", "{" + boxed.replace("%", "\\%").replace("$", "\\$") + "}").replace("{$}", f"${text}$" if math else text)


def rows(seed: int, count: int) -> list[dict]:
    """So many rows; half of those with a stated answer are equal."""
    r = random.Random(f"transcripts {seed}")
    out = []
    for index in range(count):
        kind = r.choice(sorted(KINDS))
        answer = KINDS[kind](r)
        stated = r.random() < 0.75
        category = r.choice(sorted(STATED if stated else UNSTATED))
        ending = r.choice((STATED if stated else UNSTATED)[category])
        same = not stated or r.random() < 0.5
        text = answer.same if same else answer.other
        out.append(
            {
                "id": f"transcript-{seed}-{index}",
                "category": category,
                "gold": answer.gold,
                "pred": r.choice(REASONING) + fill(ending, answer, text),
                "expected": stated and same,
                "note": kind,
            }
        )
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--out", default="-", help="a file, or - for standard output")
    options = parser.parse_args()
    out = sys.stdout if options.out == "-" else open(options.out, "w", encoding="utf-8")
    with out:
        for row in rows(options.seed, options.count):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
