#!/usr/bin/env bash
# atroposlib 0.4.0 (math-verify 0.9.0): behind "####" 1,234 is right where 1 is asked for and wrong where 1,234 is; 3/4 is right for 3. No negative
# answer is right.
#
# `AccuracyReward` is documented to work "with boxed LaTeX answers, GSM8K-style answers, and other formats", and takes the number behind "####" out of a
# gold solution as a whole. One would expect the same of a response. Seen: of a response it takes the digits and points that follow the first "####"
# up to anything else, a comma, a slash; in front of them there may be spaces, but no sign and no dollar. And the first "####" is the heading of
# a first step where a solution has headings of the fourth level. The same numbers in a box are compared by Math-Verify and are right.
#
# Whom it hits: GRPO with Atropos on GSM8K and data sets like it, from models that have learnt its own form: answers of a thousand and more cannot be
# rewarded, and a policy that writes the beginning of a number is, where that is the gold.
#
# The module is loaded without the package's others. Prints the gold answer, the end of a response and the reward. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
"$work/venv/bin/pip" install -q --no-deps atroposlib==0.4.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType

logging.disable(logging.CRITICAL)
package = Path(importlib.util.find_spec("atroposlib").submodule_search_locations[0])
for name in ("atroposlib", "atroposlib.envs", "atroposlib.envs.reward_fns"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [str(package.joinpath(*name.split(".")[1:]))]
from atroposlib.envs.reward_fns.accuracy_reward import AccuracyReward

# The gold answer, the response's end, the reward.
CASES = [
    ("18", "So 18.\n#### 18", 1.0),
    ("1234", "So 1,234.\n#### 1,234", 0.0),
    ("1234", r"So \boxed{1,234}", 1.0),
    ("1", "So 1,234.\n#### 1,234", 1.0),
    ("-5", "So -5.\n#### -5", 0.0),
    ("-5", r"So \boxed{-5}", 1.0),
    ("3", "So 3/4.\n#### 3/4", 1.0),
    ("3/4", "So 3/4.\n#### 3/4", 0.0),
    ("18", "So $18.\n#### $18", 0.0),
    ("18", "#### 1. Eggs\nThere are 18.\n#### 18", 0.0),
    ("1", "#### 1. Eggs\nThere are 18.\n#### 18", 1.0),
]

changed = False
for gold, response, expected in CASES:
    seen = AccuracyReward().compute([response], solution=gold)[0]
    print(f"gold {gold:5} reward {seen}   {response!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
