#!/usr/bin/env bash
# inspect-evals 0.28.0: in AssistantBench the answer "66 Main Street" has the score 1 for the target "Route 66 Diner". Where 10 is asked for, -1 has
# 0.62 and 1 has 0.
#
# Texts are scored by the words they have in common, numbers by their orders of magnitude (1 - log10 of the ratio). One would expect a name to be a
# text, and the score to fall with the distance. Seen: whatever has a digit in it, and is no list or object, is its first number: a name, a time,
# a date, a length without its unit. 12:45 is right for 12:30, 2019-11 for 2019-05, 5 km for 5 miles, 1/3 for 1/2. A name with a number and the
# same name without one are of different kinds: 0. Numbers of which one is negative are both raised by the difference of their sizes: -1 for 10 is
# compared as 8 and 19, 20 for -2 as 38 and 16, but 2 for -2 is 0.
#
# Whom it hits: agents that search the web, whose answers are names of shops and gyms, opening hours and prices: an answer needs its first number
# alone. Scores for temperatures and changes in percent grow with the error.
#
# Loaded without Inspect and the package's others; "words in common" is therefore not Inspect's own function, and no case turns on it but the
# second. Prints target, answer and score. Exits with 1 if one of the scores is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps inspect-evals==0.28.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock


def common_words(answer, target):
    answer, target = set(answer.split()), set(target.split())
    return 2 * len(answer & target) / (len(answer) + len(target))


for name in ("inspect_ai", "inspect_ai.scorer", "inspect_ai.solver", "inspect_evals.assistant_bench.solver"):
    sys.modules[name] = MagicMock()
sys.modules["inspect_ai.scorer._classification"] = MagicMock(compute_f1=common_words)
package = Path(importlib.util.find_spec("inspect_evals").submodule_search_locations[0])
sys.modules["inspect_evals"] = sys.modules["inspect_evals.assistant_bench"] = MagicMock()
spec = importlib.util.spec_from_file_location("scoring", package / "assistant_bench/scoring.py")
scoring = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scoring)

# Target, answer, score.
CASES = [
    ("Planet Fitness", "Planet Fitness", 1.0),
    ("Planet Fitness", "Gold's Fitness", 0.5),
    ("Route 66 Diner", "66 Main Street", 1.0),
    ("Route 66 Diner", "The Route Diner", 0.0),
    ("24 Hour Fitness", "open 24 hours a day, but I found no name", 1.0),
    ("12:30", "12:45", 1.0),
    ("2019-05", "2019-11", 1.0),
    ("5 miles", "5 km", 1.0),
    ("1/2", "1/3", 1.0),
    ("10", "20", 0.699),
    ("10", "1", 0.0),
    ("10", "-1", 0.624),
    ("-2", "2", 0.0),
    ("-2", "20", 0.624),
]

changed = False
for target, answer, expected in CASES:
    seen = float(scoring.score_answer(answer, target))
    print(f"target {target:16} score {seen:<6.3} {answer}")
    changed |= abs(seen - expected) > 0.0005
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
