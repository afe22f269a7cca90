#!/usr/bin/env bash
# scikit-learn 1.9.1: weighted kappa goes by the position of a grade among those that occur. On a scale from 1 to 10 of which a judge uses 1, 2
# and 10, confusing 2 with 10 weighs as much as confusing 1 with 2.
#
# `cohen_kappa_score(weights="quadratic")` is the usual measure of agreement between a judge's grades and people's: the further two grades are
# apart, the more a confusion weighs. One would expect the distance of the numbers. Seen: the grades are numbered in their order, and the numbers
# are compared. A grade that nobody gave is not there, so that its neighbours move together: agreement depends on which grades the sample
# happens to hold, and is the same for 1, 2, 10 as for 1, 2, 3. Grades in words stand in alphabetical order: high, low, medium. With
# `labels=range(1, 11)` it is the distance of the numbers. Half grades, 4.5, are an error.
#
# Whom it hits: kappas of judges on scales from 1 to 10 or 0 to 100, where most grades are rare: here 0.80 in place of 0.74, 0.50 in
# place of 0.98. Comparing two judges on the same texts, each has a scale of its own. Grades in words: 0.38 in place of 0.80.
#
# Prints the kappa of the package, and that of the distances (1 - mean of the squared distances / that of all pairs). Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q scikit-learn==1.9.1
cat >"$work/try.py" <<'PYTHON'
import sys

import numpy as np
from sklearn.metrics import cohen_kappa_score


def of_distances(judge, person):
    judge, person = np.array(judge, float), np.array(person, float)
    return 1 - ((judge - person) ** 2).mean() / ((judge[:, None] - person[None, :]) ** 2).mean()


WORDS = {"low": 1, "medium": 2, "high": 3}
# Grades of a judge, of a person, labels, the kappa that is seen.
CASES = [
    ([1, 2, 3, 3, 1, 2, 2, 3], [1, 2, 3, 2, 1, 1, 2, 3], None, 0.805),
    ([1, 2, 10, 10, 1, 2, 2, 10], [1, 2, 10, 2, 1, 1, 2, 10], None, 0.805),
    ([1, 2, 10, 10, 1, 2, 2, 10], [1, 2, 10, 2, 1, 1, 2, 10], range(1, 11), 0.744),
    ([1, 9, 10, 9, 10, 1], [1, 10, 9, 10, 9, 1], None, 0.5),
    (["low", "medium", "high", "high"], ["low", "medium", "medium", "high"], None, 0.385),
]

changed = False
for judge, person, labels, expected in CASES:
    seen = cohen_kappa_score(judge, person, weights="quadratic", labels=labels)
    numbers = [[WORDS.get(grade, grade) for grade in grades] for grades in (judge, person)]
    print(f"kappa {seen:.3f}, of the distances {of_distances(*numbers):.3f}, labels {labels}: {judge} {person}")
    changed |= abs(seen - expected) > 0.0005
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
