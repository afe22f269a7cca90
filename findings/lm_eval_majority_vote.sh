#!/usr/bin/env bash
# lm-eval 0.4.13: in `maj@8` of gsm8k_cot_self_consistency, four right answers lose to three wrong ones.
#
# The vote of self-consistency is over answers: equal ones count together, and a reply without one has no vote. Seen: the filter
# `majority_vote` counts the texts that the expression took from the replies. What the task's metric holds to be the same answer (it strikes
# commas and dollar signs, and a last point) is struck only after the vote, so `1,000` and `1000` are two candidates. And a reply from which
# nothing could be taken votes for `[invalid]`, which can be elected: with four such, three right answers and one wrong one, the question
# counts as wrong. So more samples can have less accuracy, and the measured gain of a vote depends on how the model writes its numbers.
#
# Whom it hits: anyone who compares maj@k with a judge or verifier that chooses among the same samples, or who uses the filter for tasks of
# their own.
#
# Reads the task's own filters and metric from the package, and prints the replies' answers, the vote, the score, and what the score of each
# single reply is. Exits with 1 if one of the votes is another.
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

TASKS = pathlib.Path(lm_eval.__file__).parent / "tasks" / "gsm8k"
filters = yaml.safe_load((TASKS / "gsm8k-cot-self-consistency.yaml").read_text())["filter_list"]
metric = yaml.safe_load((TASKS / "gsm8k-cot.yaml").read_text())["metric_list"][0]
settings = {key: metric[key] for key in ("ignore_case", "ignore_punctuation", "regexes_to_ignore")}


def filtered(name, replies):
    steps = next(entry["filter"] for entry in filters if entry["name"] == name)
    parts = [[step["function"], {key: value for key, value in step.items() if key != "function"} or None] for step in steps]
    instance = Instance("generate_until", {}, ("", {}), 0)
    instance.resps = replies
    build_filter_ensemble(name, parts).apply([instance])
    return instance.filtered_resps[name]


def score(answer, gold):
    return float(exact_match_fn(predictions=[answer], references=[gold], **settings)["exact_match"])


# The gold, how the replies end, what is elected.
CASES = [
    ("1000", ["The answer is 1000."] * 5 + ["The answer is 900."] * 3, "1000"),
    ("1000", [*["The answer is 1,000.", "The answer is 1000."] * 2, "So he has $1,000.", *["The answer is 900."] * 3], "900"),
    ("18", ["The answer is 18."] * 3 + ["The answer is 20."] + ["So the answer: 18."] * 4, "[invalid]"),
]

changed = False
for gold, replies, expected in CASES:
    elected = filtered("maj@8", replies)
    singly = [filtered("score-first", [reply]) for reply in replies]
    print(f"gold {gold}: {', '.join(singly)}")
    print(f"  each alone {[int(score(answer, gold)) for answer in singly]}, elected {elected}, score {score(elected, gold)}")
    changed |= elected != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
