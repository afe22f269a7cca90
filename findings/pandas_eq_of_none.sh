#!/usr/bin/env bash
# pandas 3.1.1: of four samples two have equal verdicts and labels, one a label alone, and one neither. The share of equal ones is 0.5 with `judge == human`
# and 0.75 with `judge.eq(human)`.
#
# `Series.eq` is documented to be "equivalent to series == other, but with support to substitute a fill_value". One would expect the same truth values.
# Seen: in a column of type object, which True, False and None make, and labels of several kinds or lists, `==` finds None unequal to None, as NaN is
# to itself, and `eq` finds them equal. `!=` and `ne` differ likewise. Where the same columns have another type, as numbers, texts or "boolean", or
# NaN for None, both say the same: written to a file and read again, the 0.75 is 0.5. A `DataFrame`'s `eq` says what `==` says.
#
# Whom it hits: agreement and accuracy of judges whose verdicts are booleans with None for what could not be read, against labels that are not complete:
# samples without either count as agreement, and the worse a judge can be read the better it is.
#
# Prints for each kind of column the shares by `==` and by `eq`, and by `!=` and `ne`. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import io
import sys

import pandas

JUDGE, HUMAN = [True, None, False, None], [True, None, False, True]


def columns(values, **settings):
    return [pandas.Series([values[label] for label in labels], **settings) for labels in (JUDGE, HUMAN)]


def read_again(columns):
    frame = pandas.read_csv(io.StringIO(pandas.concat(columns, axis=1, keys=["judge", "human"]).to_csv(index=False)))
    return [frame["judge"], frame["human"]]


BOOLEANS = columns({True: True, False: False, None: None})
# Kind, columns, type, and shares by ==, eq, !=, ne.
CASES = [
    ("booleans and None", BOOLEANS, "object", 0.5, 0.75, 0.5, 0.25),
    ("the same from a file", read_again(BOOLEANS), "object", 0.5, 0.5, 0.5, 0.5),
    ("booleans and NaN", columns({True: True, False: False, None: float("nan")}), "object", 0.5, 0.5, 0.5, 0.5),
    ("lists and None", columns({True: [1], False: [0], None: None}), "object", 0.5, 0.75, 0.5, 0.25),
    ("1, a text and None", columns({True: 1, False: "no", None: None}), "object", 0.5, 0.75, 0.5, 0.25),
    ("numbers and None", columns({True: 1, False: 0, None: None}), "float64", 0.5, 0.5, 0.5, 0.5),
    ("texts and None", columns({True: "yes", False: "no", None: None}), "str", 0.5, 0.5, 0.5, 0.5),
]

changed = False
for kind, (judge, human), type_expected, *expected in CASES:
    seen = [float(equal.mean()) for equal in (judge == human, judge.eq(human), judge != human, judge.ne(human))]
    print(f"{kind:20} {judge.dtype!s:8} == {seen[0]}  eq {seen[1]}  != {seen[2]}  ne {seen[3]}")
    changed |= str(judge.dtype) != type_expected or seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
