#!/usr/bin/env bash
# unitxt 1.26.10: a judge that says "4/5" has given the grade 5, one that says nothing has too. "It does not pass." is Pass.
#
# `LLMJudgeDirect` asks a judge for an assessment, then for one of a criterion's options, and the score is what `option_map` has for it. One would expect
# a reply that names one option to be that option, and one that names none or several to be a failure. Seen: a reply is whichever option `difflib` finds most
# like it, however unlike the two are. What a reply names counts for little where it is longer than the options: letters that it shares with a longer option
# outweigh a whole short one. If it is as unlike to all, the last in the order of texts is taken: 5 of 1 to 5, Yes of Yes and No. No count says how
# many replies were none of the options. The check for positional bias, which asks again with the options turned round, finds both the same.
#
# Whom it hits: judges on scales with local models, which add a word or a reason, and whose replies can be cut off or empty: here most such replies raise the
# score.
#
# A judge with given replies: prints the options, the reply, the option it was taken for, and the score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile unitxt==1.26.10 datasets==5.2.0 evaluate==0.4.6 scipy==1.17.1 diskcache==5.6.3 numpy==2.4.6
cat >"$work/try.py" <<'PYTHON'
import sys

from unitxt.inference import InferenceEngine
from unitxt.llm_as_judge import LLMJudgeDirect
from unitxt.llm_as_judge_constants import CriteriaOption, CriteriaWithOptions
from unitxt.test_utils.metrics import apply_metric


class Judge(InferenceEngine):
    reply: str
    use_cache = False
    label = "given"

    def prepare_engine(self):
        pass

    def get_engine_id(self):
        return self.label

    def _infer(self, dataset, return_meta_data=False):
        return [self.reply] * len(dataset)


def judged(scores, reply):
    criteria = CriteriaWithOptions(
        name="quality",
        description="How good is the answer?",
        options=[CriteriaOption(name=name, description="") for name in scores],
        option_map=scores,
        prediction_field="answer",
        context_fields=[],
    )
    judge = LLMJudgeDirect(inference_engine=Judge(reply=reply), criteria=criteria, context_fields=[])
    score = apply_metric(metric=judge, predictions=["Paris"], references=[["Paris"]], task_data=[{}])[0]["score"]["instance"]
    return score["quality_selected_option"], score["quality"], score["quality_positional_bias"]


YES = {"Yes": 1.0, "No": 0.0}
PASS = {"Pass": 1.0, "Fail": 0.0}
GRADES = {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}
WORDS = {"Excellent": 1.0, "Acceptable": 0.5, "Could be Improved": 0.25, "Bad": 0.0}
# Options with scores, reply, the option that is seen.
CASES = [
    (YES, "No", "No"),
    (YES, "", "Yes"),
    (YES, "false", "Yes"),
    (PASS, "Fail", "Fail"),
    (PASS, "It does not pass.", "Pass"),
    (GRADES, "4", "4"),
    (GRADES, "4/5", "5"),
    (GRADES, "2 out of 5", "5"),
    (GRADES, "2 - it names 5 facts", "5"),
    (GRADES, "Three", "5"),
    (GRADES, "", "5"),
    (WORDS, "bad", "Bad"),
    (WORDS, "The response is bad.", "Could be Improved"),
    (WORDS, "", "Excellent"),
]

changed = False
for scores, reply, expected in CASES:
    option, score, bias = judged(scores, reply)
    print(f"{', '.join(scores):44} {reply!r:24} {option:18} {score}", flush=True)
    changed |= option != expected or score != scores[expected] or bias
sys.exit(changed)
PYTHON
export HF_HUB_OFFLINE=1 UNITXT_DEFAULT_VERBOSITY=error HF_DATASETS_DISABLE_PROGRESS_BARS=1
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/log" || { tail -n 5 "$work/log" >&2; exit 1; }
