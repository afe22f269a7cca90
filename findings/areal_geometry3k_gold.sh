#!/usr/bin/env bash
# areal 1.0.4 (math-verify 0.9.0): in Geometry3K, where 1/2 is right, \boxed{\frac{7}{2}} and \boxed{2} have reward 1, and \boxed{0.5} has 0.
#
# The prompt asks for the answer in a box, and the reward compares by Math-Verify. One would expect what is in the box to be compared with the
# gold answer. Seen: the reward looks for square brackets, of which the prompt says nothing, and else takes the last number of the response, and
# it does the same with the gold answer: of `2 \sqrt { 221 }` that is 221, of `\frac { 1 } { 2 }` 2, of `4 + 3 \sqrt { 3 }` 3. So two answers are
# equal if their last numbers are: the denominator, what is under the root. The same value in another form is wrong. A response that does use
# square brackets, `[2\sqrt{221}]`, is read whole and compared with 221: 0. Only an answer that is one number is what it is.
#
# Whom it hits: AReaL's example of GRPO for vision models on this data set, whose answers are often roots and fractions: the policy is paid for half
# of the answer.
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
    ("5.5", r"So x is \boxed{5.5}.", 1.0),
    ("5.5", r"So x is \boxed{5.6}.", 0.0),
    (r"\frac { 1 } { 2 }", r"So x is \boxed{\frac{1}{2}}.", 1.0),
    (r"\frac { 1 } { 2 }", r"So x is \boxed{\frac{7}{2}}.", 1.0),
    (r"\frac { 1 } { 2 }", r"So x is \boxed{2}.", 1.0),
    (r"\frac { 1 } { 2 }", r"So x is \boxed{0.5}.", 0.0),
    (r"2 \sqrt { 221 }", r"So x is \boxed{2\sqrt{221}}.", 1.0),
    (r"2 \sqrt { 221 }", r"So x is \boxed{5\sqrt{221}}.", 1.0),
    (r"2 \sqrt { 221 }", r"So x is \boxed{\sqrt{884}}.", 0.0),
    (r"2 \sqrt { 221 }", r"The square of x is 10^2 + 11^2 = 221", 1.0),
    (r"2 \sqrt { 221 }", r"So x is [2\sqrt{221}].", 0.0),
    (r"4 + 3 \sqrt { 3 }", r"So x is \boxed{3}.", 1.0),
]

changed = False
for gold, response, expected in CASES:
    seen = geometry3k.geometry3k_reward_fn(None, response, None, None, gold)
    print(f"gold {gold:20} reward {seen}: {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
