#!/usr/bin/env bash
# openskill 6.2.0: with the weights 1 and 1 a winner gains 5.3 and the loser loses 1.3; without weights it is 2.6 for both. Weights of 100 and of 0.1 are
# the same. After a hundred games with as many wins each, two models stand at 92 instead of 25.
#
# `rate(..., weights=...)` takes a number for each player, what he contributed to his team. One would expect 1, which stands for players without a
# weight, to change nothing, and a larger weight to count for more. Seen: weights are scaled within each team to the range from 1 to 2, whatever they
# are; the one of a team of one is always 2, two equal ones in a team of two are both 1. The winner's change is multiplied by that and the loser's
# divided, so that the sum of the ratings grows with each game, and a rating says how often one has played. It is so in all five models. With
# `weight_bounds=None` nothing is scaled, says the documentation; the wheel for Linux, which is compiled, refuses None. With (1, 1) weights have no effect.
#
# Whom it hits: leaderboards from a judge's comparisons, with the judge's confidence as a weight: it has no effect, and the models that were compared most
# stand first.
#
# Prints the ratings after one game for each weight, and after a hundred. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q openskill==6.2.0
cat >"$work/try.py" <<'PYTHON'
import sys

from openskill.models import BradleyTerryFull, BradleyTerryPart, PlackettLuce, ThurstoneMostellerFull, ThurstoneMostellerPart

changed = False


def show(text, seen, expected):
    global changed
    print(f"{text:58} {seen}")
    changed |= any(abs(a - b) > 0.015 for a, b in zip(seen, expected, strict=True))


def game(model, weights):
    winner, loser = model.rate([[model.rating()], [model.rating()]], weights=weights)
    return [round(rating, 2) for rating in (winner[0].mu, loser[0].mu)]


# Settings of the model, weights of the winner and the loser, their ratings, which were 25.
CASES = [
    ({}, None, (27.64, 22.36)),
    ({}, [[1], [1]], (30.27, 23.68)),
    ({}, [[0.1], [0.1]], (30.27, 23.68)),
    ({}, [[100], [100]], (30.27, 23.68)),
    ({}, [[1], [100]], (30.27, 23.68)),
    ({"weight_bounds": (1.0, 1.0)}, [[0.1], [5]], (27.64, 22.36)),
]
for settings, weights, expected in CASES:
    show(f"PlackettLuce {settings or ''} weights {weights}", game(PlackettLuce(**settings), weights), expected)
for kind in (BradleyTerryFull, BradleyTerryPart, ThurstoneMostellerFull, ThurstoneMostellerPart):
    (won, lost), (won_weighted, lost_weighted) = (game(kind(), weights) for weights in (None, [[1], [1]]))
    factors = [round((weighted - 25) / (alone - 25), 2) for weighted, alone in ((won_weighted, won), (lost_weighted, lost))]
    show(f"{kind.__name__}: change with weights 1, by that without", factors, (2, 0.5))
for weights, expected in ((None, (25, 25)), ([[1], [1]], (92, 92))):
    model = PlackettLuce()
    first, second = model.rating(), model.rating()
    for number in range(100):
        [first], [second] = model.rate([[first], [second]], ranks=[1, 2] if number % 2 else [2, 1], weights=weights)
    seen = [round(rating.mu) for rating in (first, second)]
    show(f"a hundred games, each has won fifty, weights {weights}", seen, expected)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
