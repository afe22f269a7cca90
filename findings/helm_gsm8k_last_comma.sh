#!/usr/bin/env bash
# crfm-helm 0.5.16: in GSM8K, "She makes 18 dollars, as asked." is wrong where 18 is right. A comma behind the answer is the last number.
#
# `final_number_exact_match`, the accuracy of GSM8K on HELM's leaderboards, compares the last number of the gold with the last of the response.
# One would expect a number to have a digit. Seen: it is a run of digits and commas, and a single comma is one; commas are struck out afterwards,
# so that it is the empty text, which equals nothing. The decimal point is any character: the end of "3+6+9=18" is the number 9=18, and 18/1,
# 9-18 or "18 2" are one number each. What is left is compared as text, so that 18.00 is wrong too.
#
# Whom it hits: chat models, which end in a sentence with a subordinate clause or without spaces around the equals sign, and are compared with base
# models, which imitate the five examples' "The answer is 18.". A right answer is lost to its punctuation, and none is won by it.
#
# The module is loaded without the package's others. Prints each response with its score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps crfm-helm==0.5.16
cat >"$work/try.py" <<'PYTHON'
import importlib
import sys
from unittest.mock import MagicMock

for name in ("numpy", "rouge_score", *("nltk." + part for part in ("metrics.scores", "tokenize", "translate.bleu_score"))):
    sys.modules[name] = MagicMock()
for name in (
    "adaptation.adapter_spec adaptation.request_state metrics.code_metrics_helper metrics.cleva_metrics_helper metrics.metric "
    "metrics.metric_name metrics.metric_service metrics.nltk_helper metrics.statistic scenarios.code_scenario scenarios.math_scenario "
    "scenarios.scenario"
).split():
    sys.modules["helm.benchmark." + name] = MagicMock()
for name in ("optional_dependencies", "request"):
    sys.modules["helm.common." + name] = MagicMock()
metrics = importlib.import_module("helm.benchmark.metrics.evaluate_reference_metrics")

# As HELM makes it of the data set's solution.
GOLD = "She sells 16 - 7 = <<16-7=9>>9 eggs for 9 * 2 = $<<9*2=18>>18. The answer is 18."
# Response, score.
CASES = [
    ("The answer is 18.", 1),
    ("The answer is $16.", 0),
    (r"She makes \boxed{18} dollars.", 1),
    ("She makes 18 dollars, as asked.", 0),
    ("The answer is 18, since she sells 9 eggs, at 2 dollars each, which is 18.", 1),
    ("The answer is 18, since nine eggs are left, which are sold at two dollars each.", 0),
    ("She makes 9 + 9 = 18", 1),
    ("She makes 9+9=18", 1),
    ("She makes 3+6+9=18", 0),
    ("She makes 18/1", 0),
    ("The answer is 18.00.", 0),
]

changed = False
for response, expected in CASES:
    seen = metrics.final_number_exact_match(GOLD, response)
    print(f"score {seen}: {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
