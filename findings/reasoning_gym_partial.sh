#!/usr/bin/env bash
# reasoning-gym 0.1.25: where 256 is right, 2560 and -256 have the reward 0.75, and "The answer is 256" has 0.18.
#
# Tasks with one right number (arithmetic, counting, equations, geometry) score an answer with the data set's default, which gives partial
# reward to an answer that is not exactly the right one. One would expect that for the right number among words, and 0 for another number.
# Seen: the share that the right text has of the answer's length, wherever it stands in it. Another number that holds its digits is little
# longer: a zero more or the other sign costs a quarter where there are three digits, and a tenth where there are ten. A sentence around the
# right number costs most of the reward. In `gsm_symbolic`, which looks for the number, the sign does not count: -20 is 20.
#
# Whom it hits: GRPO and evaluations on these tasks, here or through harnesses that take the score as it is: in a group, being ten times off
# beats being right in a sentence, and mean scores are no accuracies. Only what is exactly 1 can be counted as right.
#
# Prints task, right answer and the scores of answers. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q reasoning-gym==0.1.25
cat >"$work/try.py" <<'PYTHON'
import sys

import reasoning_gym

changed = False
for task in ("leg_counting", "lcm", "products", "simple_equations", "count_primes", "gsm_symbolic"):
    data = reasoning_gym.create_dataset(task, size=1, seed=3)
    entry = data[0]
    right = entry["answer"]
    scores = {text: round(data.score_answer(text, entry), 2) for text in (right, right + "0", "-" + right, f"The answer is {right}")}
    print(f"{task:16} {scores}")
    exact, tenfold, negative, sentence = scores.values()
    if task == "gsm_symbolic":
        changed |= negative != 1
    else:
        changed |= exact != 1 or not sentence < 0.5 < tenfold or not sentence < 0.5 < negative
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
