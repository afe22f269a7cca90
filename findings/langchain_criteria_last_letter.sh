#!/usr/bin/env bash
# langchain-classic 1.0.8: a judge of criteria that says N and ends its reason with "far too wordy" has said Y, since y is the last letter.
#
# `CriteriaEvalChain` (the evaluators "criteria" and "labeled_criteria") asks for reasons and then for Y or N alone on a line. One would expect a
# letter that stands alone, or no verdict. Seen: the last letter of the reply is the verdict if it is a y or an n, in any case, also within a
# word. So a reason behind the verdict turns it round: "far too wordy" is Y, "an answer to the question" N. If the reply ends otherwise (a full
# stop will do), its first letter counts in the same way: "Now I look at the criterion." is N, "Your submission fails." Y. And what follows the
# form but for Markdown or a full stop has no score: "**N**", "Answer: N.".
#
# Whom it hits: the evaluators of LangChain and of LangSmith's older recipes, with judges that put the verdict first. No error, no warning; the
# value is "y" or "n" in small letters, which is the only trace.
#
# Prints each reply with its value and score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q langchain-classic==1.0.8
cat >"$work/try.py" <<'PYTHON'
import sys

from langchain_classic.evaluation import CriteriaEvalChain
from langchain_core.language_models import FakeListLLM

# Reply, score.
CASES = [
    ("It says what is asked and no more.\n\nY\nY", 1),
    ("It says everything twice.\n\nN\nN", 0),
    ("N\n\nThe submission is far too wordy", 1),
    ("N: it is correct, but not helpful in any way", 1),
    ("Y\n\nIt is a short answer to the question", 0),
    ("Your submission says everything twice. N.", 1),
    ("Now I look at the criterion. It is met.\n\n**Y**", 0),
    ("The criterion is not met.\n\n**N**", None),
    ("The criterion is met.\n\nAnswer: Y.", None),
]

changed = False
for reply, expected in CASES:
    judge = CriteriaEvalChain.from_llm(FakeListLLM(responses=[reply]), criteria="conciseness")
    seen = judge.evaluate_strings(input="What is 2 + 2?", prediction="4")
    print(f"value {seen['value']!r:11} score {seen['score']!s:5} {reply!r}")
    changed |= seen["score"] != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
