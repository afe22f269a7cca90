#!/usr/bin/env bash
# opencompass 0.5.4 and atroposlib 0.4.0 (math-verify 0.9.0): for the gold answer \{1,2\} the answer 1<x<2 is right. For x>2, (2,\infty) is wrong.
#
# Math-Verify's `verify` takes the gold answer and then the response; it is documented that the order matters. One would expect graders made of it to
# keep to that, or the order not to matter for answers that are equal. Seen: OpenCompass's `MATHVerifyEvaluator` and Atropos's `AccuracyReward` give it
# the response first. What a gold answer is forgiven is then forgiven the response: an inequality may stand for the two numbers that are its ends,
# for two solutions, for a point. And what a response is forgiven is not: an inequality as the gold has to be written as one.
#
# Whom it hits: accuracies on mathematics and rewards: an inequality is a wrong answer to most questions that have two solutions or a point, and a
# right one to those that ask for an interval. Elsewhere both orders agree, so that a comparison on numbers does not show it.
#
# Both modules are loaded without their packages' others. Prints gold answer, answer, what each says, and Math-Verify with the gold answer first.
# Exits with 1 if one says otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
"$work/venv/bin/pip" install -q --no-deps opencompass==0.5.4 atroposlib==0.4.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

from math_verify import parse, verify

logging.disable(logging.CRITICAL)
package = Path(importlib.util.find_spec("opencompass").submodule_search_locations[0])
for name in ("opencompass", "opencompass.openicl"):
    sys.modules[name] = ModuleType(name)
base = type("BaseEvaluator", (), {"is_num_equal": lambda self, predictions, references: None})
sys.modules["opencompass.openicl.icl_evaluator"] = SimpleNamespace(BaseEvaluator=base)
registry = SimpleNamespace(register_module=lambda *names: lambda evaluator: evaluator)
sys.modules["opencompass.registry"] = SimpleNamespace(ICL_EVALUATORS=registry)
spec = importlib.util.spec_from_file_location("math_evaluator", package / "evaluator/math_evaluator.py")
opencompass = importlib.util.module_from_spec(spec)
spec.loader.exec_module(opencompass)

package = Path(importlib.util.find_spec("atroposlib").submodule_search_locations[0])
for name in ("atroposlib", "atroposlib.envs", "atroposlib.envs.reward_fns"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(package.joinpath(*name.split(".")[1:]))]
from atroposlib.envs.reward_fns.accuracy_reward import AccuracyReward

# Gold answer, answer, whether it is right for OpenCompass, for Atropos, for Math-Verify.
CASES = [
    (r"\{1,2\}", r"\{1,2\}", True, True, True),
    (r"\{1,2\}", "1<x<2", True, True, False),
    (r"(1,2)", "1<x<2", True, True, False),
    (r"x=1 \text{ or } x=2", "1<x<2", True, True, False),
    ("x>2", "x>2", True, True, True),
    ("x>2", r"(2,\infty)", False, False, True),
    ("1<x<2", r"x \in (1,2)", False, False, True),
    (r"(2,\infty)", "x>2", True, True, False),
]

changed = False
for gold, answer, *expected in CASES:
    response = rf"It is \boxed{{{answer}}}."
    seen = [
        opencompass.MATHVerifyEvaluator().score([response], [gold])["accuracy"] == 100,
        AccuracyReward().compute([response], solution=gold)[0] == 1,
        verify(parse(f"${gold}$"), parse(response)),
    ]
    print(f"gold {gold:24} answer {answer:14} OpenCompass {seen[0]!s:5} Atropos {seen[1]!s:5} Math-Verify {seen[2]}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
