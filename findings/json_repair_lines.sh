#!/usr/bin/env bash
# json_repair 0.64.6: of verdicts in JSON Lines only the last is left, if all have the same keys. If one has another key, all are there.
#
# The package reads JSON as language models write it, with text around it and commas missing. Several objects one after the other, in lines or
# with prose between them, become a list. One would expect that of any objects. Seen: an object whose keys are those of the object before it, with
# values of the same types, takes its place, as a corrected version would. So {"id": 1, "score": 2} and {"id": 2, "score": 5} are one verdict, of
# which the first is lost, and two lists of one verdict each are a list of one; with a "note" in the first there are two again. What is returned is
# an object in one case, a list in the other. (A draft and a correction in one reply are so resolved, where one counts on that: an additional key
# in one of them, or a score that is 4.5 instead of 4, gives back both.)
#
# Whom it hits: a judge that rates several responses in one reply, an object in each line: `loads(...)` gives the last one's score without an
# error. Tests with two different objects pass.
#
# Prints each text with what is read from it. Exits with 1 if it is something else.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q json_repair==0.64.6
cat >"$work/try.py" <<'PYTHON'
import json
import sys

from json_repair import loads

ONE, TWO = {"id": 1, "score": 2}, {"id": 2, "score": 5}
NOTED = {"id": 1, "score": 2, "note": ""}


def lines(*values, between="\n"):
    return between.join(map(json.dumps, values))


# Text, what is read.
CASES = [
    (json.dumps([ONE, TWO]), [ONE, TWO]),
    (lines(NOTED, TWO), [NOTED, TWO]),
    (lines(ONE, TWO), TWO),
    (lines(ONE, TWO, NOTED), [TWO, NOTED]),
    (lines(ONE, TWO, between="\nResponse 2 is better:\n"), TWO),
    (lines([ONE], [TWO]), [TWO]),
    (lines({"score": 4}, {"score": 5}), {"score": 5}),
    (lines({"score": 4.5}, {"score": 5}), [{"score": 4.5}, {"score": 5}]),
    (lines({"score": 4}, {"score": None}), [{"score": 4}, {"score": None}]),
    (lines(ONE, TWO, between=",\n"), [ONE, TWO]),
]

changed = False
for text, expected in CASES:
    seen = loads(text)
    print(f"{text!r}: {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
