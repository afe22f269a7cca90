#!/usr/bin/env bash
# arena-rank 0.1.1: a model that has won a hundred of a hundred comparisons has won half of them if verdicts are "A" and "B". A verdict that is missing is a
# tie.
#
# `PairDataset.from_pandas` reads a table with the columns model_a, model_b and winner, and takes "model_a", "model_b", "tie" and "both_bad" for outcomes
# unless it is given a function. One would expect another word to be an error. Seen: whatever is not one of the four is half a win for each: "A", "[[A]]",
# "Model_A", a model's name, the numbers 1 and 0, nothing at all. That is right for the arena's own "tie (bothbad)", which it does not list either. There is
# no warning.
#
# Whom it hits: rankings from a judge's pairwise verdicts. Where all are named otherwise, all models are equal, which one sees; where some are (replies
# that could not be read, one judge of several with letters), the distances between models shrink by their share, and the order may change.
#
# The module is loaded with NumPy in the place of JAX. Prints the winner column for a hundred wins, and the mean outcome. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6 pandas==3.1.1
"$work/venv/bin/pip" install -q --no-deps arena-rank==0.1.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import numpy
import pandas

sys.modules["jax"] = ModuleType("jax")
sys.modules["jax"].numpy = sys.modules["jax.numpy"] = numpy
path = Path(sysconfig.get_path("purelib")) / "arena_rank" / "utils" / "data_utils.py"
spec = importlib.util.spec_from_file_location("data_utils", path)
data = importlib.util.module_from_spec(spec)
spec.loader.exec_module(data)

# What stands in the column where the first model has won, and its mean outcome; at last, where a fifth of the verdicts is missing.
CASES = [
    (["model_a"] * 100, 1.0),
    (["model_b"] * 100, 0.0),
    (["tie"] * 100, 0.5),
    (["A"] * 100, 0.5),
    (["[[A]]"] * 100, 0.5),
    (["Model_A"] * 100, 0.5),
    (["model_a "] * 100, 0.5),
    ([1] * 100, 0.5),
    ([None] * 100, 0.5),
    (["model_a"] * 80 + [None] * 20, 0.9),
]

changed = False
for winners, expected in CASES:
    outcomes = data.get_outcomes(pandas.DataFrame({"winner": winners}), "winner", data.default_outcome_map)
    seen = round(float(outcomes.mean()), 3)
    print(f"{winners[0]!s:10} {'a fifth missing' if winners[0] != winners[-1] else '':16} {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
