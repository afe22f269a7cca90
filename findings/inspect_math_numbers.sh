#!/usr/bin/env bash
# inspect-ai 0.3.285 (latex2sympy2_extended 1.11.0): for the target 18 the scorer `math` finds "The answer is 20 rather than 18" right, and "The
# answer is 18, since 3*6 = 18" wrong.
#
# The scorer takes an answer from a box, else from behind "answer", "final answer" or "result", else from the end. One would expect the first of
# these that is there to be the answer. Seen: what is announced is an answer if it can be parsed whole. Where it has words, "the fallback" looks for
# any other candidate that equals the target: the last formula, the last line, the last number of the response. So a response whose announcement
# says something else, or that there is no answer, is right if its last number is the target; the log shows that number as the answer. With a
# comma, an equals sign or a bracket in it, an announcement counts as no prose but as a formula, and then nothing else is looked at: a right number
# with its reason behind it is wrong.
#
# Whom it hits: evaluations of mathematics with Inspect's newest scorer for it. Refusals and rejected values count as right where the target stands
# last, which it does in "not", "rather than" and lists; short reasons behind an answer cost a point.
#
# Prints each response with the answer and the value that the scorer gives. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q inspect-ai==0.3.285 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import sys

from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Target, math
from inspect_ai.solver import TaskState

# Response, whether it gives 18 as the answer, what the scorer gives.
CASES = [
    ("The answer is 18.", True, "C"),
    ("The answer is 20.", False, "I"),
    ("The answer is 20 rather than 18", False, "C"),
    ("The answer is unknown. I have tried 16, 17 and 18", False, "C"),
    ("Answer: none of 16, 17, 18", False, "C"),
    ("The final answer is somewhere between 12 and 18.", False, "C"),
    ("The answer is 18, since 3*6 = 18", True, "I"),
    ("The answer is 18 (three boxes of six).", True, "I"),
    ("The answer is 18 apples.", True, "C"),
]


async def main():
    scorer = math()
    changed = False
    for response, right, expected in CASES:
        state = TaskState("model", 1, 1, "What is 3 * 6?", [], output=ModelOutput.from_content("model", response))
        score = await scorer(state, Target("18"))
        print(f"{score.value} {'  ' if (score.value == 'C') == right else '< '} {response!r}, answer {score.answer!r}")
        changed |= score.value != expected
    return changed


sys.exit(asyncio.run(main()))
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
