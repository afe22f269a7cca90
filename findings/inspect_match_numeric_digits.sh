#!/usr/bin/env bash
# inspect-ai 0.3.285: `match(numeric=True)` compares five significant digits. 100001 is right where 100000 is asked for.
#
# The scorer "extracts the number from the value, normalizes both, and compares for numeric equality"; its documentation tells what is
# stripped (currency, thousands, asterisks) and of no precision. One would expect whole numbers to be compared as such. Seen: both are
# written with `.5g` first, so that from six digits on the last ones do not count, in whole numbers as in decimals: a count that is one off,
# a price of 123,456 against 123,457, any two days of a month written as 20240131. Below 100000 each whole number is itself, which is why tests
# of the scorer do not show it.
#
# Whom it hits: GSM8K and other word problems scored with it (answers in money or populations), and anyone who takes it as a baseline for
# a judge: the judge that calls these wrong is counted as mistaken.
#
# Prints target, answer and verdict. Exits with 1 if one of the verdicts is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q inspect-ai==0.3.285
cat >"$work/try.py" <<'PYTHON'
import asyncio
import sys

from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.scorer import Target, match
from inspect_ai.solver import TaskState

numeric, text = match(numeric=True), match()


def verdict(scorer, target, answer):
    output = ModelOutput.from_content("mockllm/model", f"The answer is {answer}")
    state = TaskState(model="mockllm/model", sample_id=1, epoch=1, input="", messages=[ChatMessageUser(content="")], output=output)
    return asyncio.run(scorer(state, Target(target))).value


# Target, answer, the numeric verdict.
CASES = [
    ("99999", "99998", "I"),
    ("18", "$18.00", "C"),
    ("100000", "100001", "C"),
    ("123456", "123,457", "C"),
    ("125000", "125,001", "C"),
    ("20240131", "20240229", "C"),
    ("1234567", "1234568", "C"),
    ("1234567", "1,234,999", "I"),
    ("0.333333", "0.333330", "C"),
    ("3.14159", "3.1416", "C"),
]

changed = False
for target, answer, expected in CASES:
    seen = verdict(numeric, target, answer)
    print(f"target {target:10} answer {answer:12} numeric {seen}   as text {verdict(text, target, answer)}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
