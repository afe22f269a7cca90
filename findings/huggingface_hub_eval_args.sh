#!/usr/bin/env bash
# huggingface_hub 2.4.0: a result without examples in the prompt is written into the model card as one with eight, if that one stands before it.
#
# `EvalResult` holds one figure of an evaluation, with `dataset_args` for what it was made with (num_few_shot: 8) and `dataset_name`, `task_name`, and
# `ModelCardData(eval_results=...)` makes the card's `model-index` of a list of them. One would expect each figure to keep what is said of it. Seen:
# results are put together by the type of the task and the data set's type, config, split and revision alone, and the first of them
# describes them all. So 0-shot and 8-shot are two accuracies of one 8-shot evaluation; MMLU's subjects that differ in `dataset_name`, and
# judges that differ in `task_name`, are two values of the first one. In the other order both are 0-shot. Nothing is said, and what is read back from
# the card differs from what was given to it. `metric_args` and `metric_name` are kept for each.
#
# Whom it hits: model cards with more than one set-up of the same benchmark, and the leaderboards and comparisons that read them.
#
# Prints each result as it was given and as it is read back from the card. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q huggingface_hub==2.4.0
cat >"$work/try.py" <<'PYTHON'
import sys

import yaml
from huggingface_hub import EvalResult, ModelCardData
from huggingface_hub.repocard_data import model_index_to_eval_results

def result(value, **what):
    given = {"task_type": "text-generation", "dataset_type": "bench", "dataset_name": "Bench", "metric_type": "accuracy"}
    return EvalResult(metric_value=value, **(given | what))


# What two results differ in, whether it is kept for the second.
CASES = [
    ("dataset_args", {"num_few_shot": 8}, {"num_few_shot": 0}, False),
    ("dataset_args", {"num_few_shot": 0}, {"num_few_shot": 8}, False),
    ("dataset_name", "MMLU law", "MMLU physics", False),
    ("task_name", "judged by A", "judged by B", False),
    ("dataset_split", "validation", "test", True),
    ("metric_args", {"judge": "A"}, {"judge": "B"}, True),
]

changed = False
for field, first, second, expected in CASES:
    given = [result(0.62, **{field: first}), result(0.31, **{field: second})]
    card = yaml.safe_load(ModelCardData(model_name="model", eval_results=given).to_yaml())
    read = {one.metric_value: getattr(one, field) for one in model_index_to_eval_results(card["model-index"])[1]}
    print(f"{field:14} given 0.62 {first}, 0.31 {second}   in the card 0.62 {read[0.62]}, 0.31 {read[0.31]}")
    changed |= read[0.62] != first or (read[0.31] == second) != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
