#!/usr/bin/env bash
# pydantic-evals 2.62.0: a judge that gives each wrong answer a higher score than any right one has an area of 1 under the precision-recall curve, if
# what people say is "correct" and "incorrect". One that gives all cases the same score has 0.55 where one case in ten is right.
#
# `PrecisionRecallEvaluator` and `ROCAUCEvaluator` compare a score with what is known of a case, from its expected output (`positive_from=
# "expected_output"`) or from a label, both of which are usually texts. One would expect to have to say which text is the positive one, or an error.
# Seen: a text is positive if it is not empty, so "incorrect", "no", "fail" and "False" are. Each case is positive then: precision is 1 everywhere,
# and so is the area, whatever the scores are. No warning; the area under the ROC curve is "not a number". A label is a text by its type, so with
# `positive_from="labels"` it is always so, also for a label "False". With True and False the area is one of straight lines from a point (recall 0,
# precision 1) that no threshold has: scores without information have half of 1 plus the share of positive cases, not that share, as
# scikit-learn's average precision has.
#
# Whom it hits: who checks a judge against people's labels with it: a perfect figure for any judge.
#
# Prints for each judge the two areas that are reported. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pydantic-evals==2.62.0
cat >"$work/try.py" <<'PYTHON'
import math
import sys
from dataclasses import dataclass

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import Evaluator, PrecisionRecallEvaluator, ROCAUCEvaluator


@dataclass
class Judge(Evaluator):
    """Gives the score that is the case's input, and what people said as a label."""

    def evaluate(self, ctx):
        return {"score": ctx.inputs, "people": str(ctx.expected_output)}


def areas(scores, people, **positive):
    cases = [Case(name=str(number), inputs=score, expected_output=said) for number, (score, said) in enumerate(zip(scores, people))]
    evaluators = [kind(score_key="score", **positive) for kind in (PrecisionRecallEvaluator, ROCAUCEvaluator)]
    dataset = Dataset(name="judge", cases=cases, evaluators=[Judge()], report_evaluators=evaluators)
    report = dataset.evaluate_sync(lambda given: given, progress=False)
    return [analysis.value for analysis in report.analyses if analysis.type == "scalar"]


GOOD, INVERTED, CONSTANT = [0.9, 0.8, 0.2, 0.1], [0.1, 0.2, 0.8, 0.9], [0.5] * 10
WORDS, VALUES = ["correct", "correct", "incorrect", "incorrect"], [True, True, False, False]
EXPECTED, LABEL = {"positive_from": "expected_output"}, {"positive_from": "labels", "positive_key": "people"}
# The judge, its scores, what people say, where that is taken from, the area under precision and recall, the one under ROC.
CASES = [
    ("good", GOOD, VALUES, EXPECTED, 1.0, 1.0),
    ("inverted", INVERTED, VALUES, EXPECTED, 0.292, 0.0),
    ("good", GOOD, WORDS, EXPECTED, 1.0, math.nan),
    ("inverted", INVERTED, WORDS, EXPECTED, 1.0, math.nan),
    ("inverted", INVERTED, WORDS, LABEL, 1.0, math.nan),
    ("inverted", INVERTED, VALUES, LABEL, 1.0, math.nan),
    ("constant", CONSTANT, [True] + [False] * 9, EXPECTED, 0.55, 0.5),
]

changed = False
for name, scores, people, positive, *expected in CASES:
    seen = areas(scores, people, **positive)
    print(f"{name:9} people say {sorted(set(people))!s:26} from {positive['positive_from']:16} precision-recall {seen[0]:.3f}  ROC {seen[1]:.3f}")
    changed |= not all(math.isclose(a, b, abs_tol=0.001) or math.isnan(a) and math.isnan(b) for a, b in zip(seen, expected, strict=True))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
