#!/usr/bin/env bash
# judgy 0.1.0: ten verdicts are as good as a thousand. If the judge agreed with all of the labels, the 95 % interval of the success rate is a point:
# 0.6 to 0.6.
#
# `estimate_success_rate` takes people's labels with the judge's verdicts on them, and the judge's verdicts on what has no labels; it gives
# the "true pass rate", corrected for the judge's errors, and a confidence interval by the bootstrap. One would expect the interval to be
# wider where there are fewer verdicts. Seen: the bootstrap draws from the labelled cases alone, and the share of the verdicts on the others is
# taken for exact. So the interval is the same for 10, 100 and 1000 verdicts; it shrinks with the number of labels only, and with a
# judge that made no error on the labels it has no width, however few labels there are. No warning, and no word of it in the documentation.
#
# Whom it hits: reports of a product's success rate from a judge with labels for a few dozen cases, small samples, and the better judges most: a
# difference between two versions of ten cases each looks certain.
#
# Prints for each number of verdicts the estimate, its interval, and how often the interval has the true rate in it, over 200 samples of a product
# that succeeds in 60 % of the cases. Exits with 1 if a width or a share is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q judgy==0.1.0
cat >"$work/try.py" <<'PYTHON'
import sys

import numpy as np
from judgy import estimate_success_rate

LABELS = [1] * 200 + [0] * 200
PERFECT = LABELS
GOOD = [1] * 180 + [0] * 20 + [0] * 180 + [1] * 20
# The judge, the rate at which it says yes to the successes and to the failures, number of verdicts, the widest and the largest share to be seen.
CASES = [
    ("no error", PERFECT, 1.0, 0.0, 10, 0.0, 0.4),
    ("no error", PERFECT, 1.0, 0.0, 1000, 0.0, 0.2),
    ("right in 90 %", GOOD, 0.9, 0.1, 10, 0.1, 0.4),
    ("right in 90 %", GOOD, 0.9, 0.1, 100, 0.1, 0.75),
    ("right in 90 %", GOOD, 0.9, 0.1, 1000, 0.1, 1.0),
]

changed = False
generator = np.random.default_rng(1)
np.random.seed(1)
for name, judged, yes_to_right, yes_to_wrong, count, widest, largest in CASES:
    exact = [1] * (count * 6 // 10) + [0] * (count * 4 // 10)
    estimate, low, high = estimate_success_rate(LABELS, judged, exact, bootstrap_iterations=500)
    inside = 0
    for _ in range(200):
        right = generator.random(count) < 0.6
        said = (generator.random(count) < np.where(right, yes_to_right, yes_to_wrong)).astype(int)
        _, lower, upper = estimate_success_rate(LABELS, judged, said.tolist(), bootstrap_iterations=100)
        inside += lower - 1e-9 <= 0.6 <= upper + 1e-9
    print(f"{name:14} {count:5} verdicts, 60 % yes: {estimate:.3f}, from {low:.3f} to {high:.3f}   has the true rate in {inside / 200:.0%}")
    changed |= high - low > widest + 1e-9 or inside / 200 > largest
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
