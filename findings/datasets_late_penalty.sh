#!/usr/bin/env bash
# datasets 5.2.0: a function of `map` that gives True or False for a thousand rows, and for the next one the penalty -1.0, has given it True. Half a point,
# 0.5, is True as well.
#
# `map` and `from_generator` write what they get in batches of a thousand rows. One would expect -1.0 to be kept, or an error: where the first thousand
# are whole numbers, 0.5 is one ("was truncated"), and within the first thousand version 5 keeps each value as it is. Seen: the first batch decides
# the column's type, and later ones are cast to it. A number is cast to a boolean without a word: all but 0 are True. So it is in lists and in
# objects. Of an integer the boolean becomes 1, of a text the number becomes a text; those lose nothing. With `batched=True` the first batch of the
# function's own size decides.
#
# Whom it hits: rewards and labels by rules, most of which are a comparison's True or False, and some of which are partial credit or a penalty for an
# unreadable answer: on a few rows, in a test, they are right; in the whole data set what is rare and worst is the best.
#
# Prints the rows before, the value, and what is in the data set by `map` and by `from_generator`. Exits with 1 if something else is.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q datasets==5.2.0 pandas==3.1.1 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import os
import sys

os.environ["HF_HOME"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cache")

from datasets import Dataset, disable_progress_bars
from datasets.exceptions import DatasetGenerationError
from pyarrow import ArrowInvalid

disable_progress_bars()


def by_map(values):
    return Dataset.from_dict({"row": list(range(len(values)))}).map(lambda row: {"reward": values[row["row"]]})


def by_generator(values):
    return Dataset.from_generator(lambda: ({"reward": value} for value in values))


def last(make, values):
    try:
        return make(values)["reward"][-1]
    except (ArrowInvalid, DatasetGenerationError):
        return "an error"


# How often the first value, the value behind them, and what it is in the data set.
CASES = [
    (999, True, -1.0, -1.0),
    (1000, True, -1.0, True),
    (1000, False, -1.0, True),
    (1000, True, 0.5, True),
    (1000, True, 2, True),
    (1000, True, 0.0, False),
    (1000, {"right": True}, {"right": 0.5}, {"right": True}),
    (1000, [True], [-1.0], [True]),
    (1000, 1, 0.5, "an error"),
    (1000, True, "half", "an error"),
]

changed = False
for often, first, value, expected in CASES:
    seen = [last(make, [first] * often + [value]) for make in (by_map, by_generator)]
    print(f"{often:4} times {first!s:15} then {value!s:14} map: {seen[0]!s:15} from_generator: {seen[1]}")
    changed |= any(repr(item) != repr(expected) for item in seen)
rewards = [True, False] * 500 + [-1.0] * 1000
mean = sum(by_map(rewards)["reward"]) / 2000
print(f"mean of 500 times True, 500 times False, 1000 times -1.0: {mean}, it is {sum(rewards) / 2000}")
sys.exit(changed or mean != 0.75)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { code=$?; cat "$work/errors"; exit $code; }
