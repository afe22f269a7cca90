#!/usr/bin/env bash
# inspect-ai 0.3.285 (latex2sympy2_extended 1.11.0; beside it math-verify 0.9.0): the scorer `math` finds the closed interval [1, 2] right for the
# open (1, 2), and the open one for the closed. The solutions "2, 1" are wrong for "1, 2".
#
# The scorer reads an answer by SymPy's means and compares it with the target. One would expect intervals of different ends to differ, since [1, 2)
# differs from both, and a list of solutions to be one in any order, as a set in braces is. Seen: before the parser of LaTeX, which knows intervals, a
# parser of plain expressions is asked, for which round and square brackets around values with commas are both tuples. With \infty or \frac in
# it, which that parser does not know, an answer is an interval, and right. A tuple without brackets is compared in order. Units are dropped on
# both sides, and letters made small where both have no other: 5 m is right for 5 cm, a for A.
#
# Whom it hits: evaluations on MATH and the like, where domains and ranges are asked for: the error of the ends, the one that such questions are
# about, is not seen; a right list in another order is an error.
#
# Prints target and answer with the scorer's value and Math-Verify's. Exits with 1 if one of the scorer's is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q inspect-ai==0.3.285 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
"$work/venv/bin/pip" install -q math-verify==0.9.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import sys

import math_verify
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, math
from inspect_ai.solver import TaskState

# Target, answer, whether the scorer finds it right.
CASES = [
    ("(1, 2)", "(1, 2)", True),
    ("(1, 2)", "[1, 2]", True),
    ("[1, 2]", "(1, 2)", True),
    ("[-3, 3]", "(-3, 3)", True),
    ("(1, 2)", "[1, 2)", False),
    (r"(1, \frac{5}{2})", r"[1, \frac{5}{2}]", False),
    ("1, 2", "1, 2", True),
    ("1, 2", "2, 1", False),
    (r"\{1, 2\}", r"\{2, 1\}", True),
    (r"5 \text{ cm}", r"5 \text{ m}", True),
]


async def main():
    scorer = math()
    changed = False
    for target, answer, expected in CASES:
        output = ModelOutput.from_content("model", rf"So it is $\boxed{{{answer}}}$.")
        score = await scorer(TaskState("model", 1, 1, "Solve it.", [], output=output), Target(target))
        verdict = math_verify.verify(math_verify.parse(f"${target}$"), math_verify.parse(f"${answer}$"))
        print(f"{answer:22} for {target:22} {score.value == 'C'!s:6} Math-Verify {verdict}")
        changed |= (score.value == "C") != expected
    return changed


sys.exit(asyncio.run(main()))
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
