#!/usr/bin/env bash
# inspect-ai 0.3.285: a grader that writes `**GRADE:** I` gives no grade, and the sample is left out of the accuracy.
#
# `model_graded_qa` asks for "GRADE: $LETTER". Graders like to set that in bold, and `**GRADE: I**` is read. One would expect that of its
# other usual forms, or an I, or an error of the sample. Seen: the letter must follow the colon with nothing but space between, so that
# `**GRADE:** I`, `GRADE: **I**`, `GRADE: "I"`, `GRADE: [I]` and, after the prompt's own wording, `GRADE: $I` are unscored. Accuracy and its
# error are over the others: a grader that sets only its refusals in bold, as one that explains them at length may, makes a model perfect. The
# log's status is success; how many are missing is in `unscored_samples`.
#
# Whom it hits: evaluations graded by local models, and comparisons of graders: each is on another subset.
#
# Grades nine samples with a mock model, eight of them refused, and prints what is read and the accuracy. Exits with 1 if one is read
# otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q inspect-ai==0.3.285
cat >"$work/try.py" <<'PYTHON'
import math
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import model_graded_qa

# What the grader writes, what is read; None is unscored.
GRADES = [
    ("It is right.\n\nGRADE: C", "C"),
    ("It is wrong.\n\nGRADE: I", "I"),
    ("It is wrong.\n\n**GRADE: I**", "I"),
    ("It is wrong.\n\n**GRADE:** I", None),
    ("It is wrong.\n\nGRADE: **I**", None),
    ("It is wrong.\n\nGRADE: $I", None),
    ("It is wrong.\n\nGRADE: [I]", None),
    ('It is wrong.\n\nGRADE: "I"', None),
    ("It is wrong.\n\nGRADE: \\boxed{I}", None),
]


def model(texts):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        # Without a stated usage the mock model counts tokens by a table that it downloads.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


samples = [Sample(id=number, input="question", target="answer") for number, _ in enumerate(GRADES, start=1)]
task = Task(dataset=samples, scorer=model_graded_qa(model=model([text for text, _ in GRADES])))
log = eval(task, model=model(["answer"] * len(GRADES)), display="none", log_dir=sys.argv[1], max_samples=1, max_connections=1)[0]
changed = log.status != "success"
for sample, (text, expected) in zip(log.samples, GRADES, strict=True):
    value = sample.scores["model_graded_qa"].value
    seen = None if isinstance(value, float) and math.isnan(value) else value
    print(f"{text!r:40} read {seen}")
    changed |= seen != expected
score = log.results.scores[0]
print(f"status {log.status}, accuracy {score.metrics['accuracy'].value:.3f} over {score.scored_samples}, {score.unscored_samples} unscored")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py" "$work/logs"
