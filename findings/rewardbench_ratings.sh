#!/usr/bin/env bash
# rewardbench 0.1.4: "Rating: 3/10" is a rating of 10, and "Rating: 9.5" is one of 5.
#
# RewardBench 2's generative judges rate each of the answers from 1 to 10, as a number at the end; the highest wins. One would expect that other
# usual forms of a rating are read as what they say, or not at all, and that a judgment which is not read is an error of the question. Seen:
# what counts is a digit, or 10, at the very end with no letter or digit before it. So the scale of "3/10" is the rating, and of "9.5" the
# half point. With a full stop or in bold there is no rating, which leaves the answer out of the comparison: the others win.
#
# Whom it hits: scores of judges that write so: if they do it always, all four answers are equal; if they do it now and then, half points lose
# to whole ones, and whoever is given "/10" wins. The result looks like a weak judge.
#
# A judge with given replies to the four answers of a question, of which the first is the best: prints what is read and who wins. Exits with 1
# if something else is read.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
# The clients of the APIs are not called, and stood in for.
"$work/venv/bin/pip" install -q --no-deps rewardbench==0.1.4
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock

package = Path(importlib.util.find_spec("rewardbench").submodule_search_locations[0])
for name in ("anthropic", "google", "google.generativeai", "google.generativeai.types", "openai", "together"):
    sys.modules[name] = MagicMock()
sys.modules["fastchat"] = sys.modules["fastchat.conversation"] = MagicMock()
spec = importlib.util.spec_from_file_location("generative_v2", package / "generative_v2.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)

# What the judge writes after its explanation of each answer; the ratings, -1 for none; who wins.
CASES = [
    (["9", "3", "4", "2"], [9, 3, 4, 2], [0]),
    (["Rating: 9", "Rating: 3", "Rating: 4", "Rating: 2"], [9, 3, 4, 2], [0]),
    (["9/10", "3/10", "4/10", "2/10"], [10, 10, 10, 10], [0, 1, 2, 3]),
    (["9", "3/10", "4", "2"], [9, 10, 4, 2], [1]),
    (["9.5", "7", "6.5", "2"], [5, 7, 5, 2], [1]),
    (["**9**", "3", "4", "2"], [-1, 3, 4, 2], [2]),
    (["Rating: 9.", "Rating: 3", "Rating: 4", "Rating: 2"], [-1, 3, 4, 2], [2]),
]

changed = False
for ratings, expected, expected_winners in CASES:
    replies = iter(f"It is easy to follow.\n\n{rating}" for rating in ratings)
    module.chat_completion = lambda **request: next(replies)
    answers = [[{"role": "user", "content": "Why?"}, {"role": "assistant", "content": f"Answer {number}"}] for number in range(4)]
    winners, _, info = module.run_judge_ratings_multi("Why?", answers, module.OPENAI_MODEL_LIST[-1])
    print(f"{ratings}: read as {info['ratings']}, best {winners}")
    changed |= info["ratings"] != expected or winners != expected_winners
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
