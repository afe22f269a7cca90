#!/usr/bin/env bash
# deepeval 4.3.1: in TruthfulQA (MC1), the right one of four choices is always the fourth, of five the fifth, of six the fifth. In MC2, listing all choices has
# an accuracy of 100, as what is right has, and listing one right choice four times has more.
#
# The data set has the right answer first, and choices are shuffled for each question. One would expect a place that differs between questions. Seen: before
# each shuffle the generator is set to the same seed, so the order depends on the number of choices alone, and so does the place of the right one. In
# MC2, where all right choices are asked for, one would expect that a wrong one costs something. Seen: the score is the share of right choices that are
# named, each as often as it is named; wrong ones are not looked at. It is a percentage, while MC1 goes to 1, and a reply that is not a bare
# list ("1 and 3", "[1, 3].") has 0 there.
#
# Whom it hits: comparisons of models by TruthfulQA: who says more is more truthful, and a habit for a place is knowledge or ignorance. For four and five
# choices that place is the last.
#
# Questions are in the data set's form, with two to thirteen choices as there. Prints the mode, what a model answers to each of them, and the overall
# accuracy. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pandas==3.1.1 pydantic==2.14.4 tqdm==4.70.1
"$work/venv/bin/pip" install -q --no-deps deepeval==4.3.1
cat >"$work/try.py" <<'PYTHON'
import contextlib
import io
import re
import sys
import sysconfig
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

# deepeval's benchmark, without the package's other modules.
for name in ("deepeval", "deepeval.benchmarks"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(Path(sysconfig.get_path("purelib"), *name.split(".")))]
OTHERS = "datasets deepeval.dataset deepeval.metrics.utils deepeval.models deepeval.models.base_model deepeval.telemetry deepeval.utils"
for name in OTHERS.split():
    sys.modules[name] = MagicMock()
sys.modules["deepeval.dataset"].Golden = SimpleNamespace
sys.modules["deepeval.models"].DeepEvalBaseLLM = object
sys.modules["deepeval.utils"].make_model_config = lambda **settings: settings
from deepeval.benchmarks.truthful_qa.mode import TruthfulQAMode
from deepeval.benchmarks.truthful_qa.task import TruthfulQATask
from deepeval.benchmarks.truthful_qa.truthful_qa import TruthfulQA

TASK = TruthfulQATask.SCIENCE


class Rows(list):
    def filter(self, function):
        return Rows(row for row in self if function(row))


def targets(number, choices, right):
    texts = [f"{'right' if place < right else 'wrong'} {number}.{place}" for place in range(choices)]
    return {"choices": texts, "labels": [int(place < right) for place in range(choices)]}


# Right answers stand first, as in the data set: one in MC1, some in MC2.
ROWS = Rows(
    {
        "question": f"What is number {number}?",
        "category": TASK.value,
        "mc1_targets": targets(number, 2 + number % 12, 1),
        "mc2_targets": targets(number, 2 + number % 12, 1 + number % 12 // 2),
    }
    for number in range(120)
)
PLACES = {2: 2, 3: 2, 4: 4, 5: 5, 6: 5, 7: 6, 8: 7, 9: 8, 10: 9, 11: 9, 12: 10, 13: 11}


class Model:
    """Answers by the choices of a prompt's last question, its lines "1. ..."."""

    def __init__(self, answer):
        self.answer = answer

    def generate(self, prompt):
        choices = re.findall(r"^\d+\. (.*)", prompt[prompt.rindex("Q: ") :], re.MULTILINE)
        return str(self.answer(choices))


def right(choices):
    return [place for place, choice in enumerate(choices, 1) if choice.startswith("right")]


def everything(choices):
    return list(range(1, len(choices) + 1))


MC1, MC2 = TruthfulQAMode.MC1, TruthfulQAMode.MC2
CASES = [
    (MC1, "what is right", lambda choices: right(choices)[0], 1.0),
    (MC1, "a place by the number of choices", lambda choices: PLACES[len(choices)], 1.0),
    (MC1, "the first place", lambda choices: 1, 0.0),
    (MC2, "what is right", right, 100.0),
    (MC2, "one of what is right", lambda choices: right(choices)[:1], 40.833),
    (MC2, "all choices", everything, 100.0),
    (MC2, "a right one, four times", lambda choices: right(choices)[:1] * 4, 163.333),
    (MC2, "what is right, and a full stop", lambda choices: f"{right(choices)}.", 0.0),
]

changed = False
for mode, name, answer, expected in CASES:
    benchmark = TruthfulQA(tasks=[TASK], mode=mode)
    benchmark.mc_dataset = ROWS
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        seen = round(benchmark.evaluate(Model(answer)).overall_accuracy, 3)
    print(f"{mode.name}  {name:34} {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
