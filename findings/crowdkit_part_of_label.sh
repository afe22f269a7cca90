#!/usr/bin/env bash
# crowd-kit 1.4.2: votes that are "correct" for each answer have the accuracy 1 where three of four labels are "incorrect". So has "1" where the label is 10.
#
# `evaluate` of `crowdkit.aggregation.utils` compares labels that were aggregated from several judges or workers with true ones. One would expect the share of
# equal ones. Seen: a label counts if it is `in` the true one, which is meant for lists of labels, any of which is right. In a text that is a part of
# it: "correct" of "incorrect", "safe" of "unsafe", the empty text of each. The other way round it is wrong. Whole numbers as labels are an error, so that they
# are made texts, and "1" is a part of "10". `evaluate_func=evaluate_equal` compares them whole.
#
# Whom it hits: comparisons of majority votes, Dawid-Skene and the like on judges' verdicts, whose two words often hold one another: whatever errs
# towards the shorter one has no errors, and looks better than what is right more often.
#
# The module is loaded without the package's others. Prints the true labels, the votes, and both shares. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6 pandas==3.1.1 attrs==26.1.0
"$work/venv/bin/pip" install -q --no-deps crowd-kit==1.4.2
cat >"$work/try.py" <<'PYTHON'
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pandas

folder = Path(sysconfig.get_path("purelib")) / "crowdkit"
for name, path in (("crowdkit", folder), ("crowdkit.aggregation", folder / "aggregation")):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(path)]
base = sys.modules["crowdkit.aggregation.base"] = ModuleType("crowdkit.aggregation.base")
base.BaseClassificationAggregator = sys.modules["crowdkit.aggregation"].base = base

from crowdkit.aggregation.utils import evaluate, evaluate_equal


def table(labels):
    return pandas.DataFrame({"task": range(len(labels)), "label": labels})


def share(true, votes, **options):
    try:
        return evaluate(table(true), table(votes), **options)
    except TypeError:
        return None


# True labels, votes, their share and the share of equal ones.
CASES = [
    (["yes", "no", "no", "no"], ["yes"] * 4, 0.25, 0.25),
    (["correct", "incorrect", "incorrect", "incorrect"], ["correct"] * 4, 1.0, 0.25),
    (["correct", "incorrect", "incorrect", "incorrect"], ["incorrect"] * 4, 0.75, 0.75),
    (["safe", "unsafe", "unsafe", "unsafe"], ["safe"] * 4, 1.0, 0.25),
    (["1", "10", "10", "10"], ["1"] * 4, 1.0, 0.25),
    ([1, 10, 10, 10], [1] * 4, None, 0.25),
]

changed = False
for true, votes, part, whole in CASES:
    seen = share(true, votes), share(true, votes, evaluate_func=evaluate_equal)
    print(f"{true!s:52} {votes[0]!s:10} {'an error' if seen[0] is None else seen[0]!s:8}  equal {seen[1]}")
    changed |= seen != (part, whole)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
