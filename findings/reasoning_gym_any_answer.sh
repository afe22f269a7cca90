#!/usr/bin/env bash
# reasoning-gym 0.1.25: in `game_of_life_halting` every answer has the reward 1. In `puzzle24`, 8*3*1*1 solves each
# puzzle, whatever its numbers are. A sorted list whose numbers are all a half too large is right.
#
# The environments of the package check answers by code of their own, and one would expect a wrong answer to have less
# than a right one. Seen: `game_of_life_halting` asks for True or False and compares `bool(answer)` with `bool(...)`
# of the text "True" or "False", and a text that is not empty is true. `puzzle24` ("Make 24 using 8, 5, 10, 6. You can
# only use each number once") asks that there are four numbers from 1 to 10 and that they make 24, not that they are
# the puzzle's, and what is computed is cut to a whole number, so that 24.9 is 24. `number_sorting` allows each number
# to be off by 1, also among numbers like 0.25 and 0.5. In `gsm_symbolic` a number ends at a comma: 288,000 is 288.
# The answers of the data sets themselves all have 1, so that a check with those shows nothing.
#
# Whom it hits: training on mixtures of these environments: one of them rewards every answer alike, hence teaches
# nothing and lifts the mean, and one is solved for good by a text of seven characters, which a policy finds soon.
#
# Prints, for twenty tasks each, the mean reward of the right answers, and of others. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q reasoning-gym==0.1.25
cat >"$work/try.py" <<'PYTHON'
import ast
import json
import sys

import reasoning_gym


def opposite(entry):
    return "False" if entry["answer"] == "True" else "True"


def shifted(by):
    return lambda entry: json.dumps([str(float(number) + by) for number in ast.literal_eval(entry["answer"])])


def other_numbers(entry):
    """Four numbers that make 24, and are not the puzzle's."""
    return "8*3*1*1" if sorted(entry["metadata"]["numbers"]) != [1, 1, 3, 8] else "6*4*1*1"


# Environment; what is answered; the answer to a task; the mean reward.
CASES = [
    ("game_of_life_halting", "the right one", lambda entry: entry["answer"], 1),
    ("game_of_life_halting", "the opposite", opposite, 1),
    ("game_of_life_halting", "I do not know.", lambda entry: "I do not know.", 1),
    ("puzzle24", "the right one", lambda entry: entry["answer"], 1),
    ("puzzle24", "8*3*1*1", other_numbers, 1),
    ("puzzle24", "5*5-1/10, which is 24.9", lambda entry: "5*5-1/10", 1),
    ("puzzle24", "5*5-1", lambda entry: "5*5-1", 0.01),
    ("number_sorting", "the right one", lambda entry: entry["answer"], 1),
    ("number_sorting", "each 0.5 more", shifted(0.5), 1),
    ("number_sorting", "each 1.5 more", shifted(1.5), 0),
    ("gsm_symbolic", "the right one", lambda entry: entry["answer"], 1),
    ("gsm_symbolic", "a thousand times that", lambda entry: entry["answer"] + ",000", 1),
]

changed = False
sets = {}
for name, label, answer, expected in CASES:
    tasks = sets.setdefault(name, reasoning_gym.create_dataset(name, size=20, seed=1))
    rewards = [tasks.score_answer(answer(entry), entry) for entry in tasks]
    seen = round(sum(rewards) / len(rewards), 6)
    print(f"{name:21} {label:28} {seen:g}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
