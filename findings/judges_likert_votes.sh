#!/usr/bin/env bash
# judges 0.1.1: three judges that say "bad" are a jury that says 3, "average". So are three that say "good". Three that say "terrible" are
# a jury that says True.
#
# `Judgment(score=..., score_type="likert")` holds a word; the documentation gives the scale as terrible, bad, average, good, excellent, and
# votes are over 1 to 5. One would expect 2 for "bad" and 4 for "good". Seen: a validator that makes "yes", "good" and "1" True and "no", "bad"
# and "0" False is meant for the type "boolean" and works for all: `score` is declared before `score_type`, so the type is not known yet when
# the score is read, and the validator takes the default, which is "boolean". Votes look for "True" and "False" on the scale and, as for any
# word that is not on it, count 3. And a result of 1.0 is kept as the boolean True, because `Verdict.score` may be one. A judgment of type
# "numerical" whose score is the text "1", as a judge that answers in JSON may give, is True as well.
#
# Whom it hits: juries over words, the library's own graders of type "likert" among them; "bad" and "good" can no longer be told apart in what
# is stored.
#
# Prints each word, the judgment's score and the votes of three such judges. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q judges==0.1.1 instructor==1.17.0 pydantic==2.14.4
cat >"$work/try.py" <<'PYTHON'
import sys

from judges import Jury
from judges.base import BaseJudge, Judgment


class Fixed(BaseJudge):
    def __init__(self, score, score_type):
        self.judgment = Judgment(score=score, reasoning="", score_type=score_type)

    def judge(self, input, output=None, expected=None):
        return self.judgment


# What the judge says, its type, the judgment's score, the vote of three by average and by majority.
CASES = [
    ("terrible", "likert", "terrible", True),
    ("bad", "likert", False, 3),
    ("average", "likert", "average", 3),
    ("good", "likert", True, 3),
    ("excellent", "likert", "excellent", 5),
    ("1", "numerical", True, 1),
    ("2", "numerical", "2", 2),
]

changed = False
for said, score_type, score, vote in CASES:
    judges = [Fixed(said, score_type) for _ in range(3)]
    seen = judges[0].judgment.score
    votes = [Jury(judges, method).vote("").score for method in ("average", "majority")]
    print(f"{score_type:10} {said!r:12} judgment {seen!r:12} votes {votes}")
    changed |= (seen, type(seen)) != (score, type(score))
    changed |= any((value, type(value)) != (vote, type(vote)) for value in votes)
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
