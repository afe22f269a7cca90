#!/usr/bin/env bash
# verifiers 0.4.0: with verdicts in letters, the judge's reply "B. The response gives a different value." is an A, and the reward 1.
#
# `ReferenceJudge` takes `choices=["A", "B"]` "for graders that verdict with letters". One would expect the letter that the reply begins with,
# or the only capital one. Seen: the whole reply is turned into capitals before letters are looked for, and if no line begins with a word such
# as "verdict" or "answer", the last letter counts; if one does, the first behind it. The English article is a letter: each "a" behind the
# verdict, or between such a word and the verdict, is an A. A reply of the letter alone, which the prompt asks for, is read as it should be.
#
# Whom it hits: rewards and evaluations by judges that add a reason, which small local ones do whatever they are told. The error has one
# direction: B becomes A, the positive choice, and the wrong rollout has full reward.
#
# Prints each reply with the letter that is read and the reward. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q verifiers==0.4.0
cat >"$work/try.py" <<'PYTHON'
import sys

from verifiers.v1.judge import JudgeResponse
from verifiers.v1.judges.reference import ReferenceJudge, ReferenceJudgeConfig
from verifiers.v1.utils.score import parse_judge_choice

letters = ReferenceJudge(ReferenceJudgeConfig(choices=("A", "B")))
# Reply, what is read. Each says B but the first and the last.
REPLIES = [
    ("A", "A"),
    ("B", "B"),
    ("Verdict: B, a sign is wrong.", "B"),
    ("B. The response gives a different value.", "A"),
    ("**B** - a sign error in step 2", "A"),
    ("B\n\nThe response misses a factor of 2.", "A"),
    ("B because 5 is not a prime", "A"),
    ("It is a wrong answer, so B.", "B"),
    ("Judgment: this is a wrong answer, so B.", "A"),
    ('{"verdict": "B", "reason": "a different value"}', "A"),
    ("A. The values are equal.", "A"),
]

changed = False
for reply, expected in REPLIES:
    seen = parse_judge_choice(reply, ("A", "B"))
    reward = letters.parse(JudgeResponse(text=reply))
    print(f"{reply!r:52} read {seen}, reward {reward}")
    changed |= seen != expected or reward != float(expected == "A")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
