#!/usr/bin/env bash
# weave 0.54.0: a judge that says "no" to everything has an F1 of 0.95 if labels are "yes" and "no", and of 0 if they are True and False.
#
# `MultiTaskBinaryClassificationF1` gives precision, recall and F1 for each named label of a row. One would expect an error for labels that are not
# boolean, or the F1 of one of the two words, or a mean over both. Seen: an output counts as positive if Python takes it for true, as each text but
# the empty one is. So every output that equals its label is a true positive, a right "no" too, and every other one a false positive. There are no
# false negatives: the recall is 1 whatever the judge misses, the precision is the accuracy, and F1 grows with it. The numbers 1 and 0 are read as True and
# False, the texts "1" and "0" and "True" and "False" as texts are. An output that is missing is read as no.
#
# Whom it hits: evaluations of judges and classifiers on rare cases, where F1 is taken since accuracy says nothing: of verdicts that come as words out
# of JSON Lines, a table or the judge itself. The documentation's first evaluation scores texts with it ("apple", "red").
#
# The module is loaded without the package's others. Prints the words for yes and no, the judge, and its scores. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps weave==0.54.0
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path
from types import ModuleType


class Scorer:
    def __init__(self, **members):
        self.__dict__.update(members)


def transpose(rows):
    columns = defaultdict(list)
    for row in rows:
        for key, value in row.items():
            columns[key].append(value)
    return dict(columns)


for name in ("weave", "weave.flow", "weave.flow.util"):
    sys.modules[name] = ModuleType(name)
sys.modules["weave"].Scorer = Scorer
sys.modules["weave"].op = lambda function: function
sys.modules["weave.flow.util"].transpose = transpose
path = Path(sysconfig.get_path("purelib")) / "weave" / "scorers" / "classification_scorer.py"
spec = importlib.util.spec_from_file_location("classification_scorer", path)
classification = importlib.util.module_from_spec(spec)
spec.loader.exec_module(classification)


def scores(words, judge):
    scorer = classification.MultiTaskBinaryClassificationF1(class_names=["hallucinated"])
    labels = [True] * 10 + [False] * 90
    rows = [
        scorer.score(target={"hallucinated": words[label]}, model_output={"hallucinated": words[judge(number, label)]})
        for number, label in enumerate(labels)
    ]
    return tuple(round(scorer.summarize(rows)["hallucinated"][name], 2) for name in ("precision", "recall", "f1"))


JUDGES = {
    "always right": lambda number, label: label,
    "always no": lambda number, label: False,
    "finds half": lambda number, label: label and number % 2 == 0,
}
# The words for no and yes; precision, recall and F1 of each judge.
BOOLEAN = [(1, 1, 1), (0, 0, 0), (1, 0.5, 0.67)]
TEXT = [(1, 1, 1), (0.9, 1, 0.95), (0.95, 1, 0.97)]
CASES = [((False, True), BOOLEAN), ((0, 1), BOOLEAN), (("no", "yes"), TEXT), (("0", "1"), TEXT), (("False", "True"), TEXT)]

changed = False
for words, expected in CASES:
    for name, value in zip(JUDGES, expected):
        seen = scores(words, JUDGES[name])
        print(f"{words!s:18} {name:12} precision {seen[0]:4}  recall {seen[1]:4}  F1 {seen[2]:4}")
        changed |= seen != value
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
