#!/usr/bin/env bash
# agentevals 0.0.9: for trajectories of the mode "subset", the argument mode "superset" means subset and "subset" superset. For "unordered" both
# mean exact.
#
# `create_trajectory_match_evaluator` compares an agent's calls of tools with reference calls: which calls may be missing or in excess
# (`trajectory_match_mode`), and which of their arguments (`tool_args_match_mode`: "superset" allows the agent arguments that the reference does
# not have). One would expect that the second is independent of the first. Seen: "subset" is computed as "superset" with the agent and the
# reference exchanged, and so are the arguments; "unordered" as both of them, so that arguments must be equal. A comparison of one's own
# (`tool_args_match_overrides`) gets the reference as the agent's arguments likewise.
#
# Whom it hits: evaluations of agents that are lenient about optional arguments: with "unordered" every additional argument fails, with "subset"
# an agent that leaves out arguments passes and one that adds some fails.
#
# One call with q and limit, and one with q alone: as the agent's and the reference's, and the other way round. Prints which of them match.
# Exits with 1 if that is otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q agentevals==0.0.9
cat >"$work/try.py" <<'PYTHON'
import json
import sys

from agentevals.trajectory.match import create_trajectory_match_evaluator


def trajectory(**arguments):
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": json.dumps(arguments)}}
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": [call]}]


FEW, MANY = trajectory(q="a"), trajectory(q="a", limit=5)
# Mode of trajectories, of arguments, whether the agent may have an argument more than the reference, one less.
CASES = [
    ("strict", "superset", True, False),
    ("strict", "subset", False, True),
    ("superset", "superset", True, False),
    ("superset", "subset", False, True),
    ("subset", "superset", False, True),
    ("subset", "subset", True, False),
    ("unordered", "superset", False, False),
    ("unordered", "subset", False, False),
]

changed = False
for mode, arguments, *expected in CASES:
    evaluate = create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode=arguments)
    seen = [evaluate(outputs=agent, reference_outputs=reference)["score"] for agent, reference in [(MANY, FEW), (FEW, MANY)]]
    print(f"trajectories {mode:10} arguments {arguments:9} one more {seen[0]!s:6} one less {seen[1]}")
    changed |= seen != expected

given = {}


def compare(agent, reference):
    given.update(agent=agent, reference=reference)
    return True


evaluate = create_trajectory_match_evaluator(trajectory_match_mode="subset", tool_args_match_overrides={"search": compare})
evaluate(outputs=MANY, reference_outputs=FEW)
print(f"the agent's {json.dumps({'q': 'a', 'limit': 5})} is given as: {given}")
changed |= given != {"agent": {"q": "a"}, "reference": {"q": "a", "limit": 5}}
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
