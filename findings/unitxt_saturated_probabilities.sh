#!/usr/bin/env bash
# unitxt 1.26.10: a judge that gives each right answer 0.9997 or more and each wrong one 0.0003 or less has a `max_f1_binary` of 0.67, as one that always
# says yes. `max_accuracy_binary` of the same numbers is 1.
#
# `BinaryMaxF1` "tests all possible thresholds to maximize F1 score", and is the metric of unitxt's tasks of judging (faithfulness, answer correctness,
# relevance: `tasks.rag_eval`). One would expect 1 wherever a threshold separates the two. Seen: the thresholds that are tried are the predictions rounded to
# three decimals, and the predictions are compared as they are. What rounds up is below its own threshold: above 0.9995 all become 1.0, which none of them
# reaches, and below 0.0005 all become 0.0, which each reaches. In the middle of the scale it loses cases only where two are closer than that.
#
# Whom it hits: judges whose verdict is the probability of a token, which is nearly always that close to 0 or 1: the surer and the more often right a judge is,
# the more it looks like no judge at all. The threshold that is reported decides nothing either.
#
# Prints both metrics of each judge, and the F1 at the best of all thresholds. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile unitxt==1.26.10 datasets==5.2.0 evaluate==0.4.6 scipy==1.17.1 diskcache==5.6.3 scikit-learn==1.9.1 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import sys

from sklearn.metrics import f1_score
from unitxt.metrics import BinaryMaxAccuracy, BinaryMaxF1
from unitxt.test_utils.metrics import apply_metric

LABELS = [1.0, 1.0, 0.0, 0.0]


def score(metric, probabilities):
    outputs = apply_metric(metric=metric(n_resamples=None), predictions=probabilities, references=[[label] for label in LABELS])
    return float(outputs[0]["score"]["global"][metric.main_score])


# Probabilities of yes for two right and two wrong answers, the metric's F1, the best F1.
CASES = [
    ([0.9, 0.8, 0.2, 0.1], 1.0, 1.0),
    ([0.6, 0.5, 0.5, 0.4], 0.8, 0.8),
    ([0.9997, 0.9998, 0.0003, 0.0001], 0.667, 1.0),
    ([0.9997, 0.9998, 0.9991, 0.9992], 0.667, 1.0),
    ([0.9996, 0.9999, 0.9001, 0.3], 0.8, 1.0),
    ([0.0004, 0.0003, 0.0001, 0.00001], 0.667, 1.0),
    ([0.8704, 0.8702, 0.8701, 0.2], 0.8, 1.0),
]

changed = False
for probabilities, expected, best in CASES:
    seen, accuracy = score(BinaryMaxF1, probabilities), score(BinaryMaxAccuracy, probabilities)
    exact = max(f1_score(LABELS, [float(number >= limit) for number in probabilities]) for limit in probabilities)
    print(f"max F1 {seen:.3f}, best F1 {exact:.3f}, max accuracy {accuracy:.2f}: {probabilities}")
    changed |= abs(seen - expected) > 0.001 or abs(exact - best) > 0.001
sys.exit(changed)
PYTHON
export HF_HUB_OFFLINE=1 UNITXT_DEFAULT_VERBOSITY=error
"$work/venv/bin/python" -W ignore "$work/try.py"
