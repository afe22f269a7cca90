#!/usr/bin/env bash
# evalica 0.4.2: if one model has won all its comparisons, or lost all, Bradley-Terry gives every model the score 0.000001. With weights, Elo
# takes points from the winner: a win of weight 0.1 costs him 1.6.
#
# In a Bradley-Terry model an unbeaten competitor has no finite score. One would expect a very large one that stands first or an error, and
# the other models ranked by what they did. Seen: one step divides by the unbeaten model's zero losses, the normalisation
# makes "not a number" of all scores, and these are replaced by the tolerance. The result reports no failure; sorted, it is the order in which
# the models were mentioned. A model without a win does the same. `newman` fails on the unbeaten model alone. Elo (k 4): the weight multiplies
# the result, not the change of the rating, so that a win counts `weight` and the expected score is taken off whole: below the expectation the
# winner loses points, what the loser loses does not depend on the weight, and the points are no longer a zero-sum game.
#
# Whom it hits: leaderboards made of a judge's pairwise verdicts: small ones, those with a very weak baseline, and each bootstrap sample in which
# one model happens not to lose. Weights by a judge's confidence make a leaderboard of who was compared least.
#
# Prints the scores of both solvers. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q evalica==0.4.2
cat >"$work/try.py" <<'PYTHON'
import sys

from evalica import Winner, bradley_terry, elo, newman

# Winner and loser of each comparison: b and c have beaten each other twice and once.
BETWEEN = [("b", "c"), ("b", "c"), ("c", "b")]
# Method, comparisons, the scores rounded.
CASES = [
    (bradley_terry, [("a", "b"), ("a", "b"), ("c", "a"), *BETWEEN], {"a": 1.556, "b": 0.731, "c": 0.88}),
    (bradley_terry, [("a", "b"), ("a", "c"), *BETWEEN], {"a": 0.000001, "b": 0.000001, "c": 0.000001}),
    (bradley_terry, [("b", "a"), ("c", "a"), *BETWEEN], {"b": 0.000001, "a": 0.000001, "c": 0.000001}),
    (newman, [("a", "b"), ("a", "c"), *BETWEEN], {"a": 0.000001, "b": 0.000001, "c": 0.000001}),
]

changed = False


def show(text, seen, expected):
    global changed
    print(f"{text}: {seen}")
    changed |= seen.keys() != expected.keys() or any(abs(seen[name] - expected[name]) > 1e-9 for name in expected)


for solver in ("naive", "pyo3"):
    for method, comparisons, expected in CASES:
        winners, losers = zip(*comparisons)
        result = method(list(winners), list(losers), [Winner.X] * len(comparisons), solver=solver)
        beaten = ", ".join(f"{winner} beats {loser}" for winner, loser in comparisons)
        digits = 3 if result.scores.max() > 0.01 else 9
        show(f"{solver:5} {method.__name__}, {beaten}", result.scores.round(digits).to_dict(), expected)
    for weight, expected in [(1.0, (1002.0, 998.0)), (0.5, (1000.0, 998.0)), (0.1, (998.4, 998.0)), (10.0, (1038.0, 998.0))]:
        result = elo(["a"], ["b"], [Winner.X], weights=[weight], solver=solver)
        show(f"{solver:5} elo, a beats b, weight {weight}", result.scores.round(3).to_dict(), dict(zip("ab", expected)))
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
