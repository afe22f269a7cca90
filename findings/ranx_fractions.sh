#!/usr/bin/env bash
# ranx 0.3.21 (numpy 2.4.6, numba 0.68.1): grades from 0 to 1 are all 0, and the best order of the documents has an
# nDCG of 0. Of three judges' mean grades 2.67 and 2.0 are equal, so that the best and the worst order both have 1.
#
# `Qrels` takes a dictionary of each document's grade, by its type hints a whole number. One would expect a fraction
# to count as what it is, or to be an error, as it is in ir-measures ("Expected relevance to be integer") and in ranx
# itself where the grades are in a data frame or in a file in TREC's format. Seen: in a dictionary, in a file in JSON,
# and with `add` and `add_score`, fractions are cut to whole numbers towards zero, without a word. 0.9 is not
# relevant, 4.9 is a 4, and -0.5 is a 0. Of the grades 1, 0.9 and 0.5 the first alone counts. Every measure is made of
# these: nDCG, precision, the reciprocal rank and the average precision.
#
# Whom it hits: rankings of passages that are graded by a model: confidences, scores from 0 to 1, and means of several
# judges or of several runs. A 0 for every system looks like a bad retriever, and the means look like a perfect one.
#
# Four documents a, b, c, d: prints grades, what is made of them, and the nDCG of the first two of a, b, c, d and of
# d, c, b, a. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q ranx==0.3.21 numpy==2.4.6 numba==0.68.1
cat >"$work/try.py" <<'PYTHON'
import json
import sys
from pathlib import Path

from ranx import Qrels, Run, evaluate

best = Run({"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}})
worst = Run({"q": {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}})

# Grades of a, b, c and d; what they are; the nDCG of the best and of the worst order.
CASES = [
    ([3, 2, 1, 0], [3, 2, 1, 0], 1.0, 0.148),
    ([0.9, 0.8, 0.2, 0.1], [0, 0, 0, 0], 0.0, 0.0),
    ([2.67, 2.33, 2.0, 2.0], [2, 2, 2, 2], 1.0, 1.0),
    ([4.9, 4.8, 4.1, 4.0], [4, 4, 4, 4], 1.0, 1.0),
    ([1, 0.9, 0.5, 0], [1, 0, 0, 0], 1.0, 0.0),
    ([0.99, 1.0, 0.0, 0.0], [0, 1, 0, 0], 0.631, 0.0),
]

changed = False
for grades, whole, *expected in CASES:
    qrels = Qrels({"q": dict(zip("abcd", grades))})
    kept = qrels.to_dict()["q"]
    seen = [round(float(evaluate(qrels, run, "ndcg@2")), 3) for run in (best, worst)]
    print(f"{grades!s:24} are {[kept[name] for name in 'abcd']}  best order {seen[0]}, worst {seen[1]}")
    changed |= seen != expected or [kept[name] for name in "abcd"] != whole

folder = Path(sys.argv[1])
(folder / "grades.json").write_text(json.dumps({"q": {"a": 0.9, "b": 2.67}}))
(folder / "grades.txt").write_text("q 0 a 0.9\nq 0 b 2.67\n")
added = Qrels()
added.add_score("q", "a", 0.9)
added.add_score("q", "b", 2.67)
for name, qrels in (("JSON", Qrels.from_file(str(folder / "grades.json"))), ("add_score", added)):
    seen = dict(sorted(qrels.to_dict()["q"].items()))
    print(f"{name}: 0.9 and 2.67 are {seen}")
    changed |= seen != {"a": 0, "b": 2}
try:
    print("TREC:", Qrels.from_file(str(folder / "grades.txt"), kind="trec").to_dict())
    changed = True
except ValueError as error:
    print("TREC:", error)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
