#!/usr/bin/env bash
# lighteval 0.13.0: in ASDiv a gold answer is its first digit: where 12 is right, the model has to say 1. MMLU-Pro's prompt asks for "one of ABCD",
# of ten options.
#
# A task turns a row of its data set into a query, a list of choices and the positions of those which are gold. For a free answer that is a list
# of one. One would expect "12" of the row's "12 (apples)", and the letters of the options that are shown. Seen: ASDiv's choices are the text "12"
# instead of a list, of which the first element is "1"; that of 125 is the same, and that of -3 is "-". Answers of one digit are right, which is
# why the task has a score at all. (Where the task is run by Inspect, its scorer gets the whole answer.) MMLU-Pro's prompt is that of four
# options, with up to ten below it, A to J: a gold from E on is a letter which it does not name.
#
# Whom it hits: comparisons of small models by ASDiv, whose scores are those of results below ten, and of instruction-tuned models by MMLU-Pro,
# where obedience costs points.
#
# The tasks are loaded without the package's others. Prints a row's answer and its gold, and MMLU-Pro's instruction. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps lighteval==0.13.0
cat >"$work/try.py" <<'PYTHON'
import importlib
import sys
from unittest.mock import MagicMock

OTHERS = "inspect_ai.dataset inspect_ai.scorer inspect_ai.solver lighteval.metrics.metrics lighteval.tasks.lighteval_task lighteval.utils.utils"
for name in OTHERS.split():
    sys.modules[name] = MagicMock()
sys.modules["lighteval.utils.utils"].as_list = lambda item: item if isinstance(item, list) else [item]
asdiv = importlib.import_module("lighteval.tasks.tasks.asdiv")
mmlu_pro = importlib.import_module("lighteval.tasks.tasks.mmlu_pro")

changed = False
# Answer of the row, the gold.
for answer, expected in [("9 (apples)", "9"), ("12 (apples)", "1"), ("125 (km)", "1"), ("0.5 (hours)", "0"), ("-3 (degrees)", "-")]:
    doc = asdiv.asdiv_prompt({"body": "There are ...", "question": "How many?", "answer": answer})
    print(f"ASDiv: answer {answer:14} gold {doc.get_golds()}")
    changed |= doc.get_golds() != [expected]

options = [f"option {number}" for number in range(1, 11)]
doc = mmlu_pro.mmlu_pro_prompt_function({"question": "Which?", "options": options, "answer_index": 8})
print(f"MMLU-Pro: gold {doc.get_golds()} in the prompt:\n{doc.query}")
changed |= doc.get_golds() != ["I"] or "LETTER is one of ABCD." not in doc.query or "\nJ: option 10" not in doc.query
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
