#!/usr/bin/env bash
# instructor 1.17.0: a judge that writes sixteen fractions in LaTeX before its JSON gives no verdict. One that adds "See [1]." behind it gives none
# either.
#
# In the mode `MD_JSON`, for models without structured output, the reply may have reasons around its JSON, and the last JSON in it counts. One would
# expect the last one that fits the model class, after reasons of any length. Seen: each brace or bracket that begins no JSON is charged with all
# that follows it, and sixteen times the length of the reply is all there is: some thirty braces in a text of formulas, less if they stand at
# its beginning. A longer derivation is a `ValueError` in place of the verdict, and the judge is asked again. The last JSON is any: a footnote [1],
# the empty set {}, an interval [0, 1]; or, without an error, the example of what a right answer would have had.
#
# Whom it hits: judges and solvers of mathematics with local models: the longer the derivation, the more likely it is lost, and each loss is
# paid with `max_retries` further generations. Short tests pass.
#
# A client with given replies. Prints each reply with what is read from it. Exits with 1 if it is something else.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q instructor==1.17.0
cat >"$work/try.py" <<'PYTHON'
import logging
import sys

import instructor
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

logging.disable(logging.CRITICAL)


class Verdict(BaseModel):
    correct: bool
    score: int


def read(reply):
    def create(**arguments):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply}}
        return ChatCompletion.model_validate({"id": "1", "object": "chat.completion", "created": 0, "model": "judge", "choices": [choice]})

    judge = instructor.patch(create=create, mode=instructor.Mode.MD_JSON)
    try:
        verdict = judge(model="judge", messages=[{"role": "user", "content": "?"}], response_model=Verdict, max_retries=0)
        return verdict.correct, verdict.score
    except instructor.core.InstructorRetryException as error:
        return "work limit exceeded" if "work limit exceeded" in str(error) else "does not fit"


WRONG = '{"correct": false, "score": 1}'
STEP = r"so $\frac{3}{4}$ of 48 are 36, "
# Name, reply, what is read.
CASES = [
    ("one step", STEP + WRONG, (False, 1)),
    ("14 steps", STEP * 14 + WRONG, (False, 1)),
    ("16 steps", STEP * 16 + WRONG, "work limit exceeded"),
    ("16 steps, then words", STEP * 16 + "and that is not what is asked for. " * 20 + WRONG, "work limit exceeded"),
    ("16 steps behind words", "The answer has to be looked at step by step. " * 20 + STEP * 16 + WRONG, (False, 1)),
    ("a footnote before", "As in [1], it is wrong. " + WRONG, (False, 1)),
    ("a footnote behind", WRONG + "\nSee [1].", "does not fit"),
    ("the empty set behind", WRONG + "\nThe set of solutions is {}.", "does not fit"),
    ("the other verdict", WRONG + '\nWith a unit it would have been {"correct": true, "score": 5}.', (True, 5)),
]

changed = False
for name, reply, expected in CASES:
    seen = read(reply)
    print(f"{name:22} {len(reply):5} characters: {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
