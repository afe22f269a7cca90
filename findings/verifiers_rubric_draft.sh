#!/usr/bin/env bash
# verifiers 0.4.0: a rubric judge that drafts its verdicts while it thinks is held to the draft.
#
# `RubricJudge` asks for one JSON object of verdicts, as text unless it is told otherwise. One would expect what is behind `</think>` to count,
# as in the package's `ReferenceJudge`, or the last such object, or a refusal where two of them differ. Seen: the first object with the key
# "verdicts" counts, thinking is not set aside, and what follows is not read: neither the answer behind the thinking, nor a correction ("On a
# second look ..."). A draft with another word than the choices fails the rollout although the answer is whole. The package passes over an echo
# of the prompt's own example alone, as that is not JSON.
#
# Whom it hits: reasoning judges behind servers without a parser for thinking, and judges that check themselves: the reward is of the verdict
# that they gave up, and the more they think the more often.
#
# Prints the judge's reply and the score of the criterion. Exits with 1 if one of the scores is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q verifiers==0.4.0
cat >"$work/try.py" <<'PYTHON'
import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from verifiers.v1.judge import JudgeResponse
from verifiers.v1.judges.reference import ReferenceJudge, ReferenceJudgeConfig
from verifiers.v1.judges.rubric import RubricJudge, RubricJudgeConfig

rubric = Path(sys.argv[1]) / "rubric.json"
rubric.write_text(json.dumps([{"name": "signs", "text": "All signs are right."}]))


class Judge(RubricJudge):
    """Gives a reply instead of asking for one."""

    async def complete(self, messages, **settings):
        return JudgeResponse(text=self.reply)


def verdicts(answer, name="signs"):
    return json.dumps({"verdicts": [{"name": name, "reason": "See step 2.", "verdict": answer}]})


NO, YES = verdicts("no"), verdicts("yes")
# The judge's reply, the score of the criterion.
CASES = [
    (YES, 1.0),
    (f"<think>Step 2 is right.</think>\n{YES}", 1.0),
    (f"<think>A draft: {NO} But step 2 is right after all.</think>\n{YES}", 0.0),
    (f"{NO}\nOn a second look, step 2 is right:\n{YES}", 0.0),
    (f"<think>A draft: {verdicts('perhaps')}</think>\n{YES}", "error"),
]

judge = Judge(RubricJudgeConfig(path=rubric))
reference = ReferenceJudge(ReferenceJudgeConfig())
changed = False
for reply, expected in CASES:
    judge.reply = reply
    task, trace = SimpleNamespace(prompt_text="What is -2 * -3?"), SimpleNamespace(transcript="It is 6.")
    try:
        seen = asyncio.run(judge.grade_batch(task, trace, judge.criteria))["signs"]
    except ValueError:
        seen = "error"
    print(f"{seen!s:6} {reply!r}")
    changed |= seen != expected
thinking = "<think>A draft: no. But step 2 is right after all.</think>\nyes"
print(f"{reference.parse(JudgeResponse(text=thinking))!s:6} {thinking!r} (ReferenceJudge)")
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" "$work"
