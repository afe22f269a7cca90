#!/usr/bin/env bash
# tinker-cookbook 0.6.1 (math-verify 0.9.0): `grader="math_verify"` finds every answer wrong, also 18 for 18.
#
# `MathEnv` takes "sympy" or "math_verify" as its grader. One would expect Math-Verify's verdicts. Seen: the grader runs in a thread, so that it
# can be given up after a second, and Math-Verify's own limit of time is a signal, which Python allows in the main thread alone. Math-Verify says
# so in an error; the cookbook logs it, takes "no result" for "timed out", and that for wrong. Without the thread it would still give the
# prediction as the gold answer and the gold answer as the prediction, of which Math-Verify says that they cannot be exchanged.
#
# Whom it hits: who chooses the more lenient grader, for answers that are sets, intervals or matrices: reward 0 for every sample, so advantages
# of 0 in every group. The log has a warning for each answer, and one that says "Timeout".
#
# Only the cookbook's module of grading is loaded. Prints both graders' verdicts as its environment asks for them. Exits with 1 if one of
# Math-Verify's is right.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0 pylatexenc==2.10
"$work/venv/bin/pip" install -q --no-deps tinker-cookbook==0.6.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
from pathlib import Path

import math_verify

package = Path(importlib.util.find_spec("tinker_cookbook").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("math_grading", package / "recipes/math_rl/math_grading.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
logging.basicConfig(format="    %(levelname)s %(message).150s")


def grade(grader, given, gold):
    # As `safe_grade` of the environment does.
    result = module.run_with_timeout_signal(grader, args=(given, gold), timeout_seconds=1)
    return False if result is None else result


changed = False
for given, gold in [("18", "18"), (r"\frac{1}{2}", "0.5"), (r"(-\infty, 2]", r"(-\infty, 2]"), ("x + 1", "1 + x")]:
    alone = math_verify.verify(math_verify.parse(f"${gold}$"), math_verify.parse(f"${given}$"))
    sympy, seen = grade(module.grade_answer, given, gold), grade(module.grade_answer_math_verify, given, gold)
    print(f"{given} for {gold}: sympy {sympy}, math_verify {seen}; Math-Verify by itself {alone}", flush=True)
    changed |= seen or not alone
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py" 2>&1
