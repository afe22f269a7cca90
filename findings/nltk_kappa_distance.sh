#!/usr/bin/env bash
# nltk 3.10.4 (beside it scikit-learn 1.9.1): a weighted kappa of 0.91 is -0.48 if one says how far the grades can be apart.
#
# `AnnotationTask.weighted_kappa(max_distance)` is Cohen's weighted kappa with a distance of one's own. The greatest distance brings the disagreements
# into the range from 0 to 1; in kappa, their quotient, it cancels out. One would expect the same kappa with 1, the default, and with the distance
# from the lowest grade to the highest, 16 for the square on a scale from 1 to 5. Seen: the expected disagreement is divided by `max_distance`, the
# observed one is not, so the result is 1 - max_distance * (1 - kappa). It is right with 1 alone, also where distances are greater than 1. No
# error, and no warning. `Do_Kw`, the observed disagreement by itself, does divide by it.
#
# Whom it hits: agreement of judges with people, or with each other, on a scale: very good agreement looks worse than chance, and the finer the
# scale the worse.
#
# Prints kappa of two graders for each distance, with each greatest distance, and what scikit-learn says. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q nltk==3.10.4 scikit-learn==1.9.1
cat >"$work/try.py" <<'PYTHON'
import sys

from nltk.metrics.agreement import AnnotationTask
from sklearn.metrics import cohen_kappa_score

JUDGE = [1, 2, 3, 4, 5, 5, 4, 2]
HUMAN = [1, 2, 4, 4, 5, 4, 4, 1]
# Name for scikit-learn, distance, its greatest value on this scale, kappa, kappa when told that value.
CASES = [
    ("linear", lambda a, b: abs(a - b), 4, 0.765, 0.059),
    ("quadratic", lambda a, b: (a - b) ** 2, 16, 0.908, -0.477),
    ("quadratic", lambda a, b: (a - b) ** 2 / 16, 1, 0.908, 0.908),
]

triples = [("judge", item, grade) for item, grade in enumerate(JUDGE)] + [("human", item, grade) for item, grade in enumerate(HUMAN)]
changed = False
for name, distance, greatest, *expected in CASES:
    task = AnnotationTask(triples, distance=distance)
    seen = [task.weighted_kappa(), task.weighted_kappa(max_distance=greatest)]
    right = cohen_kappa_score(JUDGE, HUMAN, weights=name)
    print(f"{name:9} scikit-learn {right:.3f}   nltk {seen[0]:.3f}, with max_distance={greatest} {seen[1]:.3f}")
    changed |= any(abs(a - b) > 0.001 for a, b in zip([*seen, right], [*expected, expected[0]]))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
