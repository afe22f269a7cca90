#!/usr/bin/env bash
# verl 0.9.1: of eight responses one is right, and `best@8` is 0.65. `maj@8` of five right and three wrong ones is 0.76.
#
# Validation with n samples reports best@n and maj@n in "val-core". One would expect 1 in both cases: among these eight there is a right one,
# as pass@8 counts it, and the vote of these eight is right. Seen: both are means over a thousand draws of n from the n responses with
# replacement, as for the standard error of a mean. A draw leaves out a third of the responses, the one that is right as often as any other,
# and no draw has more different ones than there are. So best@n is below pass@n, most where a question is hard (1 - (7/8)^8), and maj@n is
# drawn towards a coin's toss: down for the questions whose vote is right, up for the others. best@k for smaller k is too low as well, by less.
#
# Whom it hits: comparisons of best@n with pass@n of other harnesses or of papers, up to a third apart for the same outputs; the gap between
# best@n and mean@n, which is read as what training can still gain; and maj@n beside a judge that chooses among the same samples.
#
# Prints for each number of right ones what verl reports, the estimate of pass@k without replacement, and the vote. Exits with 1 if best@8 of
# one right response is above 0.7 or maj@8 of five above 0.9.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q verl==0.9.1 torch==2.15.0
cat >"$work/try.py" <<'PYTHON'
import sys
from math import comb

from verl.trainer.ppo.metric_utils import process_validation_metrics

COUNT = 8
changed = False
for right in (1, 2, 3, 5, 6):
    results = {"acc": [1.0] * right + [0.0] * (COUNT - right), "pred": ["18"] * right + ["17"] * (COUNT - right)}
    metrics = process_validation_metrics(["gsm8k"] * COUNT, ["question"] * COUNT, results)["gsm8k"]["acc"]
    best = {k: round(float(metrics[f"best@{k}/mean"]), 2) for k in (2, 4, 8)}
    passed = {k: round(1 - comb(COUNT - right, k) / comb(COUNT, k), 2) for k in (2, 4, 8)}
    vote = round(float(metrics["maj@8/mean"]), 2)
    print(f"{right} of {COUNT} right: best@k {best}, pass@k {passed}; maj@8 {vote}, their vote {int(2 * right > COUNT)}")
    changed |= right == 1 and best[8] > 0.7
    changed |= right == 5 and vote > 0.9
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
