#!/usr/bin/env bash
# lighteval 0.13.0: the standard error of a metric that is not a plain mean is thirty times too small: 0.0015 where it is 0.046.
#
# Metrics over a whole data set (F1, correlations, BLEU) have no formula for their error, so it is estimated by the bootstrap: the metric of a
# thousand resamples, whose standard deviation is the standard error. One would expect that, and an estimate which gets no smaller with more
# resamples. Seen: the deviation is divided by the square root of the number of resamples as well, as if each of them were a sample of the
# data. With a thousand the error is 1/31.6 of what it is, with four thousand 1/63. (The code is from lm-evaluation-harness, which does not
# divide.) An aggregation with "mean" in its name has the right error, by the formula.
#
# Whom it hits: every comparison of models by such a metric: differences within the noise are many standard errors wide. In one table right
# and wrong errors stand side by side.
#
# Gives the same scores to two aggregations that are both the mean, of which one has another name; prints their standard errors. Exits with 1
# if they agree.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The module of standard errors needs nothing else of lighteval.
"$work/venv/bin/pip" install -q numpy==2.4.1 scipy==1.17.0 tqdm==4.67.1
"$work/venv/bin/pip" install -q --no-deps lighteval==0.13.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

import numpy

package = Path(importlib.util.find_spec("lighteval").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("stderr", package / "metrics/utils/stderr.py")
module = importlib.util.module_from_spec(spec)
sys.modules["stderr"] = module
spec.loader.exec_module(module)


def accuracy(scores):
    return numpy.mean(scores)


# 100 answers, 70 of them right.
SCORES = [1.0] * 70 + [0.0] * 30

by_formula = module.get_stderr_function(numpy.mean)(SCORES)
print(f"numpy.mean: standard error {by_formula:.5f}")
changed = False
for resamples in (1000, 4000):
    bootstrap = module.get_stderr_function(accuracy, number_experiments=resamples)(SCORES)
    print(f"accuracy, {resamples} resamples: standard error {bootstrap:.5f}, 1/{by_formula / bootstrap:.1f} of it")
    changed |= bootstrap > by_formula / 10
sys.exit(changed)
PYTHON
LIGHTEVAL_DISABLE_TQDM=1 "$work/venv/bin/python" -W ignore "$work/try.py"
