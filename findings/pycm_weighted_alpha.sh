#!/usr/bin/env bash
# pycm 4.6 (beside it krippendorff 0.9.0): two graders who guess have a weighted alpha of 16.92, or of -0.42. Two who are never more than one grade apart
# have 1.21.
#
# `weighted_alpha` is "weighted Krippendorff's alpha" by a matrix of distances. With squared distances one would expect the alpha for intervals, as its
# unweighted `Alpha` is the alpha for names, and as `weighted_kappa` with the same matrix is the quadratic kappa. Seen: how often the grades i and j meet
# by chance is taken as the square of half of what the first grader's share of i and the second's share of j are together. For two equal grades that is
# right; for two different ones the share of i among both graders' has to be multiplied by that of j. Where all grades are equally frequent that is the
# same. Where one grade is frequent, chance is too great, and may be greater than one: then the sign is turned. There is no bound and no warning.
#
# Whom it hits: agreement of judges on a scale on which most answers have the same grade, as is usual: the value depends on how unequal the grades are more
# than on the judges. (Distances that are not whole numbers are refused with a warning, and what is returned is the unweighted coefficient.)
#
# Prints what the graders do, and the coefficients. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6 pycm==4.6 krippendorff==0.9.0
cat >"$work/try.py" <<'PYTHON'
import sys

import krippendorff
from pycm import ConfusionMatrix

GRADES = [1, 2, 3, 4, 5]
SQUARES = {i: {j: (i - j) ** 2 for j in GRADES} for i in GRADES}


def guessing(shares):
    return [[first * second // 100 for second in shares] for first in shares]


# How often the first grader gave the row's grade and the second the column's; unweighted alpha, quadratic kappa and weighted alpha here, and
# Krippendorff's alpha for names and for intervals.
CASES = {
    "as often each, always equal": ([[20 if i == j else 0 for j in GRADES] for i in GRADES], (1, 1, 1, 1, 1)),
    "as often each, by guessing": (guessing([20] * 5), (0, 0, 0, 0, 0.01)),
    "as often each, 5 for 1": ([[20 if i + j == 6 else 0 for j in GRADES] for i in GRADES], (0, -1, -0.99, 0, -0.99)),
    "often 5, by guessing": (guessing([10, 10, 20, 20, 40]), (0, 0, -0.42, 0, 0)),
    "often 5, one grade apart": ([[8, 4, 0, 0, 0], [4, 4, 4, 0, 0], [0, 4, 8, 6, 0], [0, 0, 6, 8, 8], [0, 0, 0, 8, 28]], (0.42, 0.89, 0.86, 0.42, 0.89)),
    "mostly 5, by guessing": (guessing([10, 10, 10, 10, 60]), (0.01, 0, 16.92, 0, 0.01)),
    "mostly 5, one grade apart": ([[4, 2, 0, 0, 0], [2, 2, 2, 0, 0], [0, 2, 4, 4, 0], [0, 0, 4, 4, 8], [0, 0, 0, 8, 54]], (0.44, 0.89, 1.21, 0.44, 0.89)),
}

changed = False
for name, (table, expected) in CASES.items():
    matrix = ConfusionMatrix(matrix={i: dict(zip(GRADES, row)) for i, row in zip(GRADES, table)})
    pairs = [(i, j) for i, row in zip(GRADES, table) for j, count in zip(GRADES, row) for _ in range(count)]
    ratings = [list(grader) for grader in zip(*pairs)]
    values = [matrix.Alpha, matrix.weighted_kappa(SQUARES), matrix.weighted_alpha(SQUARES)]
    values += [krippendorff.alpha(reliability_data=ratings, level_of_measurement=level) for level in ("nominal", "interval")]
    seen = tuple(round(float(value), 2) for value in values)
    print(f"{name:28} alpha {seen[0]:5}  quadratic kappa {seen[1]:5}  weighted alpha {seen[2]:6}   Krippendorff's: {seen[3]:5}, {seen[4]:5}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
