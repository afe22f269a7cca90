#!/usr/bin/env bash
# scikit-learn 1.9.1: a weighted kappa of scores is weighted by which scores occur, not by their distance.
#
# `cohen_kappa_score(judge, human, weights="quadratic")` is the usual agreement of scores from 1 to 10. One would expect a disagreement of 1
# against 10 to weigh 81 times one of 1 against 2. Seen: the labels that occur in either list are sorted and numbered, and the weights are of
# those numbers.
#  - A judge that gives only 1, 2 and 10 has 2 and 10 as neighbours, and 1 against 10 weighs 4.
#  - One more sample on which both agree moves the weights of all others, if its score had not occurred.
#  - Each resample of a bootstrap in which a rare score is missing is on another scale, so the interval is of a mixture of statistics.
#  - Scores that are texts, as from JSON or CSV, are sorted as texts: "10" lies between "1" and "2". With `labels=` all of it is as expected;
#    the documentation says of `labels` that it selects a subset.
#
# Whom it hits: agreement of judges with people, of essays and rubrics, whose scores leave gaps; comparisons of judges that use different
# parts of the scale.
#
# Prints kappa as it comes, with all labels, and computed from the values. Exits with 1 if scores as they come have the kappa of their values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q scikit-learn==1.9.1
cat >"$work/try.py" <<'PYTHON'
import sys

import numpy as np
from sklearn.metrics import cohen_kappa_score

SCALE = list(range(1, 11))


def by_value(judge, human):
    """One less the mean squared distance over that of unrelated pairs."""
    judge, human = np.asarray(judge, dtype=float), np.asarray(human, dtype=float)
    return 1 - ((judge - human) ** 2).mean() / ((judge[:, None] - human[None, :]) ** 2).mean()


def show(name, judge, human):
    as_it_comes = cohen_kappa_score(judge, human, weights="quadratic")
    labels = [str(score) for score in SCALE] if isinstance(judge[0], str) else SCALE
    whole = cohen_kappa_score(judge, human, weights="quadratic", labels=labels)
    value = by_value(judge, human)
    print(f"{name:46} as it comes {as_it_comes:6.3f}   all labels {whole:6.3f}   by value {value:6.3f}")
    return as_it_comes, whole, value


human = [1, 1, 2, 2, 10, 10, 10, 2, 1, 10]
judge = [1, 2, 2, 1, 10, 10, 10, 1, 2, 10]
results = [
    show("1 and 2 confused, 10 never", judge, human),
    show("the same, and one sample that both call 5", [*judge, 5], [*human, 5]),
    show("the same, and samples that both call 3 to 9", [*judge, *range(3, 10)], [*human, *range(3, 10)]),
    show("scores as texts: 9 and 10 confused", "9 10 9 10 2 3 1 2".split(), "10 9 9 10 2 3 1 2".split()),
]

random = np.random.default_rng(0)
human = np.array([1] * 30 + [2] * 30 + [10] * 2 + [9] * 2)
judge = np.where(random.random(len(human)) < 0.3, np.where(human < 5, 3 - human, human), human)
draws = [random.integers(0, len(human), len(human)) for _ in range(2000)]
intervals = []
for labels in (None, SCALE):
    kappas = [cohen_kappa_score(judge[draw], human[draw], weights="quadratic", labels=labels) for draw in draws]
    intervals.append(np.percentile(kappas, [2.5, 97.5]))
    print(f"bootstrap, 95 %, {'labels as they come' if labels is None else 'all labels':20} {intervals[-1][0]:.3f} to {intervals[-1][1]:.3f}")
# All labels are the values; those that occur are not, but for the third.
right = all(abs(whole - value) < 1e-9 for _, whole, value in results)
differ = all(abs(as_it_comes - value) > 0.02 for as_it_comes, _, value in (results[0], results[1], results[3]))
sys.exit(not (right and differ))
PYTHON
"$work/venv/bin/python" "$work/try.py"
