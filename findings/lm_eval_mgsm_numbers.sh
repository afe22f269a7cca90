#!/usr/bin/env bash
# lm-eval 0.4.13: MGSM's tasks hold 1.8 for 18 and 18.00 for wrong.
#
# Their metric is `exact_match` with `ignore_punctuation: true`. One would expect that this forgives the full stop of "The answer is 18." and
# the comma of 1,000. Seen: it strikes every sign of `string.punctuation` from both sides, so the decimal point and the minus sign as well. A
# wrong answer is right if its digits are the gold's (1.8, -18), a right one with cents is wrong (18.00 is 1800). The GSM8K tasks, of which
# MGSM is the translation, have other settings, under which the wrong ones are wrong.
#
# Whom it hits: results by language beside those of GSM8K; judges that are measured against this metric; own tasks that copy it for numbers.
#
# Takes filter and metric from the packaged tasks. Prints the score of each answer under both. Exits with 1 if one of MGSM's scores is
# another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q lm_eval==0.4.13
cat >"$work/try.py" <<'PYTHON'
import pathlib
import sys

import lm_eval
import yaml
from lm_eval.api.instance import Instance
from lm_eval.api.metrics import exact_match_fn
from lm_eval.filters import build_filter_ensemble

TASKS = pathlib.Path(lm_eval.__file__).parent / "tasks"


def scorer(file):
    task = yaml.safe_load((TASKS / file).read_text())
    steps = next(entry["filter"] for entry in task["filter_list"] if entry["name"] == "strict-match")
    parts = [[step["function"], {key: value for key, value in step.items() if key != "function"} or None] for step in steps]
    metric = task["metric_list"][0]
    settings = {key: metric[key] for key in ("ignore_case", "ignore_punctuation", "regexes_to_ignore") if key in metric}

    def score(reply, gold):
        instance = Instance("generate_until", {}, ("", {}), 0)
        instance.resps = [reply]
        build_filter_ensemble("strict-match", parts).apply([instance])
        return float(exact_match_fn(predictions=[instance.filtered_resps["strict-match"]], references=[gold], **settings)["exact_match"])

    return score


mgsm, gsm8k = scorer("mgsm/en_cot/cot_yaml"), scorer("gsm8k/gsm8k-cot.yaml")
# Gold, answer, whether it is the gold, MGSM's score.
CASES = [
    ("18", "18", True, 1.0),
    ("1000", "1,000", True, 1.0),
    ("18", "17", False, 0.0),
    ("18", "1.8", False, 1.0),
    ("18", "0.18", False, 0.0),
    ("25", "2.5", False, 1.0),
    ("5", "-5", False, 1.0),
    ("18", "18.00", True, 0.0),
    ("25", "25.0", True, 0.0),
]

changed = False
for gold, answer, right, expected in CASES:
    reply = f"So it is {answer}. The answer is {answer}."
    seen = mgsm(reply, gold)
    print(f"gold {gold:6} answer {answer:7} right {right!s:6} MGSM {seen}   GSM8K {gsm8k(reply, gold)}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
