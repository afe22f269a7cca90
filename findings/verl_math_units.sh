#!/usr/bin/env bash
# verl 0.9.1: with the gold `5\text{ or }7`, the answers `5` and `5\text{ or }9` have reward 1. So has `\text{ odd}` for `\text{ even}`.
#
# The reward for the data sources of MATH ("lighteval/MATH", "HuggingFaceH4/MATH-500" and the like) strikes units on the right. One would
# expect that "cm" goes. Seen: whatever stands behind `\text{` and a space is a unit, up to the end of the answer: the second solution after
# "or", the last element after "and", the word that is the answer. It is struck from both sides, so what is left are equal texts, or two empty
# ones. Without the space, which is as usual (`\text{or}`), nothing is struck, and `18\text{dollars}` is not 18.
#
# And a `\boxed` that is followed by a space anywhere in the response ("I shall use the \boxed format") is taken for the answer, with all that
# follows it, in place of the box at the end.
#
# Whom it hits: GRPO and PPO runs on MATH, and accuracies on MATH-500 reported from them: a policy can leave out solutions; a judge that calls
# these answers wrong is counted as mistaken.
#
# Prints gold, response and reward. Exits with 1 if one of the rewards is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The module of this reward needs nothing else, of verl or of others.
"$work/venv/bin/pip" install -q --no-deps verl==0.9.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

package = Path(importlib.util.find_spec("verl").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("math_reward", package / "utils/reward_score/math_reward.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

# Gold, response, reward.
CASES = [
    (r"5\text{ or }7", r"\boxed{5\text{ or }7}", 1.0),
    (r"5\text{ or }7", r"\boxed{5}", 1.0),
    (r"5\text{ or }7", r"\boxed{5\text{ or }9}", 1.0),
    (r"5\text{or}7", r"\boxed{5\text{or}9}", 0.0),
    (r"1, 3, \text{ and } 4", r"\boxed{1, 3, \text{ and } 9}", 1.0),
    (r"\text{ even}", r"\boxed{\text{ odd}}", 1.0),
    (r"\text{even}", r"\boxed{\text{odd}}", 0.0),
    ("18", r"\boxed{18\text{ dollars}}", 1.0),
    ("18", r"\boxed{18\text{dollars}}", 0.0),
    ("18", r"I shall use the \boxed format. It is $\boxed{18}$.", 0.0),
    ("18", r"I shall use a box. It is $\boxed{18}$.", 1.0),
]

changed = False
for gold, response, expected in CASES:
    seen = module.compute_score(response, gold)
    print(f"gold {gold:22} reward {seen}: {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
