#!/usr/bin/env bash
# openbench 0.5.3 (inspect-ai 0.3.125): in MMMU's open questions, where 5 is right, 15, 250, 0.5 and -5 are right.
# Where 1 is right, so is every answer with a 1 in it.
#
# The scorer takes key phrases and numbers from the response and compares them with the right answer, as the
# benchmark's own evaluation does. There a number is compared as a number and a text as part of a phrase. One would
# expect the same. Seen: a right answer that is a number is kept as a number and as a text, and the text need only
# stand somewhere in a phrase, so that the comparison of numbers decides nothing where the digits occur. 1.50 is found
# in no phrase with 1.5 and is compared as a number, rightly. A right answer in words is part of a longer word too:
# `no` is in "know" and "not", `active` in "inactive".
#
# Whom it hits: evaluations of models that read charts, tables and circuits: the shorter the right number, the more
# wrong ones have its digits. A model that lists some numbers beats one that gives a single one.
#
# Prints right answer, response and score with a mock model. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q openbench==0.5.3 inspect-ai==0.3.125 mcp==1.30.0
cat >"$work/try.py" <<'PYTHON'
import sys

from inspect_ai import Task
from inspect_ai import eval as run
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from openbench.scorers.mmmu import mmmu_mixed_scorer

# Right answer, response, and its score.
CASES = [
    ("5", "The answer is 5.", 1),
    ("5", "The answer is 6.", 0),
    ("5", "The answer is 15.", 1),
    ("5", "The answer is 0.5.", 1),
    ("5", "The answer is -5.", 1),
    ("5", "The answer is 250.", 1),
    ("2", "The answer is 1.25.", 1),
    ("20", "The answer is 20.9.", 1),
    ("24", "The graph is of 2024.", 1),
    ("1", "It is 10, 11 or 12.", 1),
    ("1.50", "The answer is 1.5.", 1),
    ("1.50", "The answer is 1.51.", 0),
    ("no", "The answer is no.", 1),
    ("no", "I do not know.", 1),
    ("active", "The enzyme is inactive.", 1),
]

samples = [Sample(input="?", target=gold, metadata={"question_type": "open", "answer": gold}) for gold, _, _ in CASES]
outputs = [ModelOutput.from_content("mockllm/model", response) for _, response, _ in CASES]
task = Task(dataset=MemoryDataset(samples), scorer=mmmu_mixed_scorer()())
model = get_model("mockllm/model", custom_outputs=outputs)
log = run(task, model=model, max_connections=1, max_samples=1, log_dir=sys.argv[1], display="none")[0]
changed = False
for sample, (gold, response, expected) in zip(log.samples, CASES):
    (score,) = sample.scores.values()
    print(f"right is {gold:6} {response:25} {score.value:g}")
    changed |= score.value != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
