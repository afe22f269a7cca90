#!/usr/bin/env bash
# elote 1.5.1 (numpy 2.4.6, pandas 3.1.1): in an arena whose scores are in a pandas series or a NumPy array, the best
# model is last and the worst is first.
#
# `LambdaArena` asks a function whether the first of two competitors beats the second: True, False, or None for a
# draw. One would expect what counts as true to count as a win, or an error. Seen: a result is compared by `is True`,
# and all that is neither that nor None is a loss of the first. A comparison of two scores from NumPy or pandas is
# `numpy.True_`, which prints as True and is not the same object; so are 1, 1.0 and the text "A". Each match is then
# lost by the model that is named first, whatever the scores say. In pairs as `itertools.combinations` makes them of a
# list from best to worst, the ranking is that list upside down, with ratings as far apart as the right ones. Where
# each pair is played in both orders, all come out nearly equal. No word of it is given. In `matchup(...,
# outcome=...)` 1.0 is a win and other numbers are an error, which is as one would expect.
#
# Whom it hits: rankings of models by judges' scores, which are mostly in a data frame: a leaderboard of the order in
# which the pairs were listed.
#
# Three models, thirty matches for each pair: prints who is first and last, with the ratings. Exits with 1 if one
# order is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q elote==1.5.1 numpy==2.4.6 pandas==3.1.1
cat >"$work/try.py" <<'PYTHON'
import itertools
import sys

import pandas
from elote import Glicko2Competitor, LambdaArena

NAMES = ["good", "fair", "poor"]
plain = dict(zip(NAMES, (0.9, 0.5, 0.1)))
series = pandas.Series(plain)
array = series.to_numpy()


def by_array(a, b):
    return array[NAMES.index(a)] > array[NAMES.index(b)]


DOWN, UP = NAMES, NAMES[::-1]
# What the function returns, the function, the ranking.
CASES = [
    ("bool", lambda a, b: plain[a] > plain[b], DOWN),
    ("pandas", lambda a, b: series[a] > series[b], UP),
    ("pandas, made a bool", lambda a, b: bool(series[a] > series[b]), DOWN),
    ("NumPy", by_array, UP),
    ("1 or 0", lambda a, b: int(plain[a] > plain[b]), UP),
    ("1.0 or 0.0", lambda a, b: float(plain[a] > plain[b]), UP),
    ("A or B", lambda a, b: "A" if plain[a] > plain[b] else "B", UP),
]


def ranking(function, pairs, **settings):
    arena = LambdaArena(function, **settings)
    for _ in range(30):
        for a, b in pairs:
            arena.matchup(a, b)
    ratings = {name: arena.competitors[name].rating for name in NAMES}
    return sorted(ratings, key=ratings.get, reverse=True), ratings


once = list(itertools.combinations(NAMES, 2))
changed = False
for name, function, expected in CASES:
    seen, ratings = ranking(function, once)
    print(f"{name:20} {' > '.join(seen)}  {', '.join(f'{ratings[model]:.0f}' for model in seen)}")
    changed |= seen != expected
seen, _ = ranking(CASES[1][1], once, base_competitor=Glicko2Competitor)
print(f"{'pandas, Glicko-2':20} {' > '.join(seen)}")
changed |= seen != UP
twice = list(itertools.permutations(NAMES, 2))
for (name, function, _), apart in zip(CASES[:2], (True, False)):
    seen, ratings = ranking(function, twice)
    width = ratings["good"] - ratings["poor"]
    print(f"{name:20} both orders: good is {width:.0f} above poor")
    changed |= (width > 500) != apart
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
