#!/usr/bin/env bash
# skyrl-gym 0.4.0 (beside it verl 0.9.1): in the GSM8K environment the answer is the first number behind "####". A solution whose steps are
# numbered headings, "#### 1. Eggs", has reward 0 although it ends in "#### 18".
#
# Four number signs and the answer are how GSM8K's own solutions end. They are also Markdown's heading of the fourth level. One would expect
# that the last one counts, as in verl, from which the function comes. Seen: the first. "#### 1." is the answer "1.", and "#### 16 eggs are
# laid" is 16. The other way round, a response that gives 18 and then corrects itself to 16 is right. (In both libraries the full stop of
# "#### 18." belongs to the answer, which is wrong then.)
#
# Whom it hits: GRPO from instruction-tuned models, which like headings: the reward teaches the level of headings, and a run's accuracy is not
# that of the same outputs in verl.
#
# Prints each response with the rewards of the two. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q skyrl-gym==0.4.0
# The module of this reward needs nothing else, of verl or of others.
"$work/venv/bin/pip" install -q --no-deps verl==0.9.1
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path

import skyrl_gym

package = Path(importlib.util.find_spec("verl").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("gsm8k", package / "utils/reward_score/gsm8k.py")
verl = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verl)

# Response, the reward in skyrl-gym, in verl. The gold is 18.
CASES = [
    ("She sells 9 eggs for 2 dollars each.\n#### 18", 1, 1),
    ("She sells 9 eggs for 2 dollars each.\n#### 18.", 0, 0),
    ("### 1. Eggs\n16 - 7 = 9\n\n### 2. Money\n9 * 2 = 18\n\n#### 18", 1, 1),
    ("#### 1. Eggs\n16 - 7 = 9\n\n#### 2. Money\n9 * 2 = 18\n\n#### 18", 0, 1),
    ("#### 16 eggs are laid\n16 - 7 = 9 are sold, for 18 dollars.\n\n#### 18", 0, 1),
    ("#### Eggs\n16 - 7 = 9\n\n#### Money\n9 * 2 = 18\n\n#### 18", 1, 1),
    ("#### 18\nWait, one more egg is eaten, so that is 8 eggs.\n#### 16", 1, 0),
]

changed = False
for response, expected, expected_verl in CASES:
    environment = skyrl_gym.make("gsm8k", extras={"reward_spec": {"method": "rule", "ground_truth": "18"}})
    seen = environment.step(response)["reward"]
    seen_verl = verl.compute_score(response, "18")
    print(f"skyrl-gym {seen}, verl {seen_verl}: {response!r}")
    changed |= (seen, seen_verl) != (expected, expected_verl)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
