#!/usr/bin/env bash
# statsmodels 0.15.0: two graders who never agree on a 5 have a kappa of 1. What one of them gave a 5 is left out.
#
# `to_table(data, bins)` counts the pairs of two graders' grades, for `cohens_kappa`; `bins` may be the number of grades, which are then "assumed" to be 0 to
# that less one. One would expect an error for a grade that is not among them, as `aggregate_raters(data, n_cat=5)` has, which is its like for
# more graders. Seen: on a scale from 1 to 5 with `bins=5` each pair in which one of the two is a 5 is dropped, without a word, and there is a row
# and a column of zeros for grade 0. That the table's sum is less than the number of pairs is all that tells. With 6, or without `bins`, it is right.
#
# Whom it hits: agreement of a judge with people on a scale from 1 to n when the number of grades is given, as one has to if a grade does not occur:
# the top grade, which judges like best, has no part in it. In a two-grade scale of 1 and 2 the 1 is all that there is, and kappa is not a number.
#
# Prints for each `bins` the number of pairs in the table, kappa and the linearly weighted one. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q statsmodels==0.15.0 pandas==3.1.1 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import math
import sys

import numpy as np
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, to_table

FIVE = np.column_stack([[1, 2, 3, 4, 5, 5, 5, 5, 2, 3], [1, 2, 3, 4, 1, 2, 3, 4, 2, 3]])
TWO = np.column_stack([[1, 2, 2, 1, 2], [1, 2, 2, 1, 1]])
# Grades of two graders, `bins`, pairs in the table, kappa, weighted kappa.
CASES = [
    ("1 to 5", FIVE, None, 10, 0.524, 0.398),
    ("1 to 5", FIVE, 5, 6, 1.0, 1.0),
    ("1 to 5", FIVE, 6, 10, 0.524, 0.398),
    ("1 and 2", TWO, None, 5, 0.615, 0.615),
    ("1 and 2", TWO, 2, 2, math.nan, math.nan),
]

changed = False
for scale, grades, bins, *expected in CASES:
    table = to_table(grades, bins)[0]
    seen = [table.sum(), *(cohens_kappa(table, wt=weights, return_results=False) for weights in (None, "linear"))]
    print(f"{scale:8} bins {bins!s:5} {seen[0]:.0f} of {len(grades)} pairs   kappa {seen[1]:.3f}   weighted {seen[2]:.3f}")
    changed |= not all(abs(a - b) < 0.001 or math.isnan(a) and math.isnan(b) for a, b in zip(seen, expected, strict=True))
try:
    aggregate_raters(FIVE, n_cat=5)
    print("aggregate_raters: no error")
    changed = True
except ValueError:
    print("aggregate_raters: an error")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
