#!/usr/bin/env bash
# datasets 5.2.0: `class_encode_column` makes 0, 2, 3 ... 9, 1 of the grades 1, 2, 3 ... 9, 10. Of the grades A, B, C, D in one split and B, D in another
# it makes 0, 1, 2, 3 and 0, 1.
#
# The method turns a column into numbers with names (`ClassLabel`), as classifiers and stratified splits need them; its example is a dictionary of
# splits. One would expect numbers to keep their order, and a name to have one number. Seen: what is no text becomes one, and texts are sorted as texts:
# 10 stands behind 1, -2 behind -1, and the words of a scale stand in alphabetical order. Each split of a dictionary is encoded by itself: where one
# lacks a grade, all that follow have lower numbers than in the others. The columns' types, which hold the names, tell; nothing else does. To
# concatenate such splits is an error, to train on one and to evaluate on the other is not.
#
# Whom it hits: classifiers and reward models of judges' grades, where the highest or lowest grade is rare and the small split lacks it: the accuracy
# on the test split is wrong, and looks like a bad model's. Weighted kappa, rank correlation and regression on a scale to 10, where the best grade is
# next to the worst.
#
# Prints grades with their numbers. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q datasets==5.2.0 pandas==3.1.1 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import sys

from datasets import Dataset, DatasetDict, concatenate_datasets, disable_progress_bars

disable_progress_bars()


def of(grades):
    return Dataset.from_dict({"grade": grades})


# Grades, and their numbers.
CASES = [
    (list(range(1, 10)), list(range(9))),
    (list(range(1, 11)), [0, 2, 3, 4, 5, 6, 7, 8, 9, 1]),
    ([-2, -1, 0, 1, 2], [1, 0, 2, 3, 4]),
    (["poor", "fair", "good", "excellent"], [3, 1, 2, 0]),
]

changed = False
for grades, expected in CASES:
    seen = of(grades).class_encode_column("grade")["grade"][:]
    print(f"{grades} are {seen}")
    changed |= seen != expected

splits = {"train": ["A", "B", "C", "D"], "test": ["B", "D", "D"]}
encoded = DatasetDict({name: of(grades) for name, grades in splits.items()}).class_encode_column("grade")
for name, grades in splits.items():
    print(f"{name}: {grades} are {encoded[name]['grade'][:]}")
changed |= encoded["train"]["grade"][:] != [0, 1, 2, 3] or encoded["test"]["grade"][:] != [0, 1, 1]
try:
    concatenate_datasets(list(encoded.values()))
    print("concatenated: no error")
    changed = True
except ValueError:
    print("concatenated: an error")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
