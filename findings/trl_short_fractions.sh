#!/usr/bin/env bash
# trl 1.16.0, ms-swift 4.6.0 and opencompass 0.5.4 (math-verify 0.9.0, latex2sympy2_extended 1.11.0): \boxed{\frac12} has reward 0, also where the
# solution is the same text. So have \tfrac34, 2\sqrt3 and \frac{\sqrt2}2.
#
# TeX takes one digit as an argument without braces, and MATH writes its own solutions so (\frac12, \sqrt3). One would expect a grader made of
# Math-Verify to read that on both sides. Seen: the solution is read with Math-Verify's settings, the response with settings of its own, in which
# "malformed operators" are not mended (TRL: "we require the answer to be provided in correct latex"). But among those are these, which are
# correct. The response is then a text, which is not compared with a number: no error, and not `None`. In ms-swift the same answer inside of
# <answer> is read like the solution, and has 1.
#
# Whom it hits: GRPO with `accuracy_reward` or `reasoning_accuracy_reward`, with ms-swift's `accuracy`, and accuracies of OpenCompass's
# `MATHVerifyEvaluator`, on MATH and the like: a right model has 0 for two braces, and in a group it is taught to write them.
#
# The modules of rewards are loaded without their packages' others, which need torch or models. Prints solution, response and rewards. Exits
# with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
"$work/venv/bin/pip" install -q --no-deps ms-swift==4.6.0 opencompass==0.5.4 trl==1.16.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

logging.disable(logging.WARNING)


def load(package, file):
    folder = Path(importlib.util.find_spec(package).submodule_search_locations[0])
    sys.modules[package] = ModuleType(package)
    spec = importlib.util.spec_from_file_location(f"{package}.rewards.module", folder / file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Evaluator:
    def is_num_equal(self, predictions, references):
        assert len(predictions) == len(references)


sys.modules["swift.infer_engine"] = SimpleNamespace(InferRequest=object)
sys.modules["opencompass.openicl"] = ModuleType("opencompass.openicl")
sys.modules["opencompass.openicl.icl_evaluator"] = SimpleNamespace(BaseEvaluator=Evaluator)
registry = SimpleNamespace(register_module=lambda: lambda kind: kind)
sys.modules["opencompass.registry"] = SimpleNamespace(ICL_EVALUATORS=registry)
sys.modules["trl.import_utils"] = SimpleNamespace(is_math_verify_available=lambda: True)
sys.modules["trl.rewards"] = ModuleType("trl.rewards")
swift = load("swift", "rewards/orm.py").MathAccuracy()
opencompass = load("opencompass", "evaluator/math_evaluator.py").MATHVerifyEvaluator()
trl = load("trl", "rewards/accuracy_rewards.py").accuracy_reward

# Solution, response, reward of TRL, of ms-swift and of OpenCompass.
CASES = [
    (r"\frac{1}{2}", r"So it is \boxed{\frac{1}{2}}.", 1, 1, 1),
    (r"\frac{1}{2}", r"So it is \boxed{\frac12}.", 0, 0, 0),
    (r"\frac12", r"So it is \boxed{\frac12}.", 0, 0, 0),
    (r"\frac12", r"So it is \boxed{\frac{1}{2}}.", 1, 1, 1),
    (r"\frac12", r"So it is <answer>\boxed{\frac12}</answer>.", 0, 1, 0),
    (r"\frac{3}{4}", r"So it is \boxed{\tfrac34}.", 0, 0, 0),
    (r"2\sqrt{3}", r"So it is \boxed{2\sqrt{3}}.", 1, 1, 1),
    (r"2\sqrt{3}", r"So it is \boxed{2\sqrt3}.", 0, 0, 0),
    (r"\frac{\sqrt{2}}{2}", r"So it is \boxed{\frac{\sqrt2}2}.", 0, 0, 0),
]

changed = False
print("solution             TRL ms-swift OpenCompass")
for solution, response, *expected in CASES:
    boxed = rf"$\boxed{{{solution}}}$"
    seen = [
        trl([[{"role": "assistant", "content": response}]], [boxed])[0],
        swift([response], [boxed])[0],
        opencompass.score([response], [solution])["accuracy"] / 100,
    ]
    print(f"{solution:20} {seen[0]:2.0f} {seen[1]:8.0f} {seen[2]:9.0f}        {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
