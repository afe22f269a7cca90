#!/usr/bin/env bash
# irrCAC 0.4.4 and scikit-learn 1.9.1 (beside them krippendorff 0.9.0): a weighted agreement of "low", "mid" and "high" takes mid and low for neighbours,
# and low and high too: they stand in alphabetical order. Gwet's coefficient is 0.26 where the same grades as 1, 2, 3 have 0.71, and kappa 0.29 for 0.69.
#
# Ordinal, linear and quadratic weights count a disagreement by how far grades are apart. One would expect texts, which have no order, to be refused, as
# krippendorff does, or an order to be asked for. Seen: without a list of categories the order is that of texts. Confusing mid with high, which are
# neighbours, is the worst mistake there can be, and confusing low with high a slight one. Numbers that are texts in the table are ordered so as well,
# 1, 10, 2, 9: a kappa of 0.67 is 0.13. No warning. With a list (`categories`, `labels`) both are right.
#
# Whom it hits: agreement of a judge with people on a scale of words, or with grades read from a file as texts: the figure looks like any other, and can
# be lower or higher than the true one.
#
# Prints for each weight the coefficients for words, for words with a list, and for numbers. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q scikit-learn==1.9.1 scipy==1.17.0 pandas==3.1.1 numpy==2.4.6 krippendorff==0.9.0
"$work/venv/bin/pip" install -q --no-deps irrCAC==0.4.4
cat >"$work/try.py" <<'PYTHON'
import sys

import krippendorff
import pandas
from irrCAC.raw import CAC
from sklearn.metrics import cohen_kappa_score

SCALE = ["low", "mid", "high"]
JUDGE, PERSON = ["low", "mid", "high", "low", "mid"], ["low", "mid", "high", "mid", "high"]
NUMBERS = [[SCALE.index(grade) + 1 for grade in grades] for grades in (JUDGE, PERSON)]
TEXTS = [["1", "2", "10", "1", "2", "9"], ["1", "2", "10", "2", "10", "10"]]


def gwet(judge, person, weights, scale=None):
    ratings = pandas.DataFrame({"judge": judge, "person": person})
    return float(CAC(ratings, weights=weights, categories=scale).gwet()["est"]["coefficient_value"])


def kappa(judge, person, weights, scale=None):
    return cohen_kappa_score(judge, person, weights=weights, labels=scale)


# Measure, weights, and what is seen of words, of words with the scale, and of numbers.
CASES = [
    (gwet, "identity", 0.403, 0.403, 0.403),
    (gwet, "ordinal", 0.292, 0.646, 0.646),
    (gwet, "linear", 0.333, 0.556, 0.556),
    (gwet, "quadratic", 0.265, 0.706, 0.706),
    (kappa, None, 0.412, 0.412, 0.412),
    (kappa, "linear", 0.348, 0.545, 0.545),
    (kappa, "quadratic", 0.286, 0.688, 0.688),
]

changed = False
for measure, weights, *expected in CASES:
    seen = [measure(JUDGE, PERSON, weights), measure(JUDGE, PERSON, weights, SCALE), measure(*NUMBERS, weights)]
    print(f"{measure.__name__:5} {weights!s:9} words {seen[0]:.3f}   with the scale {seen[1]:.3f}   numbers {seen[2]:.3f}")
    changed |= any(abs(a - b) > 0.001 for a, b in zip(seen, expected, strict=True))
for measure, *expected in ((gwet, 0.476, 0.687), (kappa, 0.129, 0.673)):
    seen = [measure(*TEXTS, "quadratic"), measure(*([int(grade) for grade in grades] for grades in TEXTS), "quadratic")]
    print(f"{measure.__name__:5} quadratic '1', '2', '9', '10' as texts {seen[0]:.3f}   as numbers {seen[1]:.3f}")
    changed |= any(abs(a - b) > 0.001 for a, b in zip(seen, expected, strict=True))
try:
    krippendorff.alpha([JUDGE, PERSON], level_of_measurement="ordinal")
    print("krippendorff: no error")
    changed = True
except ValueError:
    print("krippendorff: an error")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
