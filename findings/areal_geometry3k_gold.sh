#!/usr/bin/env bash
# areal 1.0.4 (math-verify 0.9.0): in Geometry3K, where 2√221 is right, 221 has reward 1 and `2\sqrt{221}` 0. Where 1/2 is right, 2 has 1.
#
# The reward takes the response's answer from its last square brackets, for which the prompt asks, or else its last number, and compares it with
# the gold answer by Math-Verify. One would expect the gold answer to be compared as it stands in the data set. Seen: it goes through the same
# extraction; it has no square brackets, so it is its last number: of `2 \sqrt { 221 }` 221, of `\frac { 1 } { 2 }` 2, of `4 + 3 \sqrt { 3 }` 3.
# A response without dollar signs is read as that number too where spaces stand around it, and so has 1 whatever else it says; the same answer in
# dollar signs, or as \frac{1}{2} and 2\sqrt{221} are usually written, is read whole and has 0. Only an answer that is one number is what it is.
#
# Whom it hits: AReaL's example of GRPO for vision models on this data set, whose answers are often roots and fractions: the policy is paid for the
# number under the root.
#
# The reward's modules are loaded without the package's others, which need torch. Prints gold answer, response and reward. Exits with 1 if one
# of the rewards is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
"$work/venv/bin/pip" install -q --no-deps areal==1.0.4
cat >"$work/try.py" <<'PYTHON'
import importlib
import importlib.util
import logging
import sys
from types import ModuleType

package = importlib.util.find_spec("areal").submodule_search_locations[0]
for name in ("areal", "areal.utils"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [package + name.removeprefix("areal").replace(".", "/")]
sys.modules["areal.utils"].logging = logging
geometry3k = importlib.import_module("areal.reward.geometry3k")
logging.disable(logging.WARNING)

# Gold answer, response, reward.
CASES = [
    ("5.5", "So x is [5.5].", 1.0),
    ("-3", "So x is [-3].", 1.0),
    (r"2 \sqrt { 221 }", r"So x is [2\sqrt{221}].", 0.0),
    (r"2 \sqrt { 221 }", r"So x is [$2 \sqrt{221}$].", 0.0),
    (r"2 \sqrt { 221 }", r"So x is [2 \sqrt { 221 }].", 1.0),
    (r"2 \sqrt { 221 }", r"So x is [5 \sqrt { 221 }].", 1.0),
    (r"2 \sqrt { 221 }", "So x is [221].", 1.0),
    (r"2 \sqrt { 221 }", "The square of the hypotenuse is 100 + 121 = 221", 1.0),
    (r"\frac { 1 } { 2 }", r"So x is [\frac{1}{2}].", 0.0),
    (r"\frac { 1 } { 2 }", "So x is [0.5].", 0.0),
    (r"\frac { 1 } { 2 }", "So x is [2].", 1.0),
    (r"4 + 3 \sqrt { 3 }", r"So x is [$4 + 3\sqrt{3}$].", 0.0),
    (r"4 + 3 \sqrt { 3 }", "So x is [3].", 1.0),
]

changed = False
for gold, response, expected in CASES:
    seen = geometry3k.geometry3k_reward_fn(None, response, None, None, gold)
    print(f"gold {gold:20} reward {seen}: {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
