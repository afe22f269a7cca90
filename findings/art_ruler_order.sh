#!/usr/bin/env bash
# openpipe-art 0.5.18: a RULER judge that lists the best trajectory first gives its reward to the trajectory that stands first.
#
# RULER shows a judge all trajectories of a group, numbered, and asks for a list of `{trajectory_id, explanation, score}`. One would expect
# that a score goes to the trajectory whose id it has, and that an id which is missing or there twice is an error, as a wrong number of scores
# is. Seen: `trajectory_id` is asked for and never looked at. Scores are handed out in the order of the list, so that a judge which ranks, from
# the best to the worst, turns the rewards round: the worst of three has 1, the best 0. The explanation goes to the wrong trajectory as well.
# Three scores for the same id are three rewards.
#
# Whom it hits: GRPO with a judge instead of rewards. "Relative" scores invite a ranking, and no schema can forbid another order. Training goes
# on without an error; the mean reward of a group is what it should be.
#
# The judge is LiteLLM's own mock. Prints the order of the judge's ids and the reward of each trajectory. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q openpipe-art==0.5.18 litellm==1.82.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import json
import sys

import art
import litellm
from art.rewards import ruler_score_group

litellm.suppress_debug_info = True
# Answer, the judge's score; ids count from 1.
JUDGED = [("2 + 2 = 5", 0.0), ("about 4", 0.3), ("2 + 2 = 4", 1.0)]
# Order of the ids in the judge's list, the rewards.
ORDERS = [
    (["1", "2", "3"], [0.0, 0.3, 1.0]),
    (["3", "2", "1"], [1.0, 0.3, 0.0]),
    (["2", "3", "1"], [0.3, 1.0, 0.0]),
    (["3", "3", "3"], [1.0, 1.0, 1.0]),
]


def trajectory(answer):
    messages = [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": answer}]
    return art.Trajectory(messages_and_choices=messages, reward=0.0)


def verdict(order):
    scores = [{"trajectory_id": name, "explanation": f"of {name}", "score": JUDGED[int(name) - 1][1]} for name in order]
    return json.dumps({"scores": scores})


async def main():
    changed = False
    for order, expected in ORDERS:
        group = art.TrajectoryGroup([trajectory(answer) for answer, _ in JUDGED])
        scored = await ruler_score_group(group, "openai/judge", extra_litellm_params={"mock_response": verdict(order)})
        seen = [one.reward for one in scored.trajectories]
        rewards = ", ".join(f"{answer!r} {reward}" for (answer, _), reward in zip(JUDGED, seen))
        print(f"judge lists {' '.join(order)}: {rewards}")
        changed |= seen != expected
    return changed


sys.exit(asyncio.run(main()))
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/errors" || { status=$?; cat "$work/errors" >&2; exit "$status"; }
