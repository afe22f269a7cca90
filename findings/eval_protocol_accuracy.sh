#!/usr/bin/env bash
# eval-protocol 0.3.33: `accuracy_reward` takes 12, 2 and 1 for -12, and 3 and 4 for 3/4.
#
# The reward compares a final answer with the gold, as numbers where both are numbers. One would expect a missing sign or half of a fraction to
# be wrong. Seen: numbers are the last thing that is tried. Before that, a gold with any other sign than digits and a point (a minus, a
# fraction bar, a comma, a letter), of three characters or more, is right as soon as one of the texts is in the other: "2" is in "-12". And
# before that, points are struck out as punctuation, so that 1.8 is 18 and 3.10 is not 3.1. Where the text says no "answer is" with a number
# behind it, it is the first "= 9" of a calculation that is compared, not the box at its end.
#
# Whom it hits: reinforcement fine-tuning and evaluations with the package's own reward. All golds below zero and all fractions can be had by a
# single digit, which a policy finds out; right answers in a box have reward 0.
#
# Prints gold, response and score. Exits with 1 if one of the scores is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q eval-protocol==0.3.33
cat >"$work/try.py" <<'PYTHON'
import sys

from eval_protocol.models import Message
from eval_protocol.rewards.accuracy import accuracy_reward

# Gold, response, score.
CASES = [
    ("12", "The answer is 12.", 1.0),
    ("12", "The answer is 2.", 0.0),
    ("-12", "The answer is -12.", 1.0),
    ("-12", "The answer is 12.", 1.0),
    ("-12", "The answer is 2.", 1.0),
    ("3/4", "The answer is 3.", 1.0),
    ("3/4", "The answer is 4.", 1.0),
    ("x = 25", "The answer is 2.", 1.0),
    ("18", "The answer is 1.8.", 1.0),
    ("3.1", "The answer is 3.10.", 0.0),
    ("18", "She sells 16 - 7 = 9 eggs, for 9 * 2 = 18 dollars. The answer is 18.", 1.0),
    ("18", r"She sells 16 - 7 = 9 eggs, for 9 * 2 = 18 dollars. \boxed{18}", 0.0),
]

changed = False
for gold, response, expected in CASES:
    messages = [Message(role="user", content="How much?"), Message(role="assistant", content=response)]
    seen = accuracy_reward(messages=messages, ground_truth=[Message(role="assistant", content=gold)]).score
    print(f"gold {gold:8} score {seen}: {response}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
export LITELLM_LOCAL_MODEL_COST_MAP=True
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
