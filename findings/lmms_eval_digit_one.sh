#!/usr/bin/env bash
# lmms-eval 0.7.3: a judge that says "0. The reference is 12, the response 15." has said 1, since there is a 1 in 12.
#
# `evaluate_binary` asks a judge for 1 if a response is right and 0 if not. One would expect the number that the reply begins or ends with, or
# one that stands alone. Seen: any digit 1 anywhere in the reply is the verdict 1 (the patterns "[1]" and "score: 1" that stand beside it never
# decide). So a 0 with a reason that names a number such as 10, 21 or 1998 passes the response, and "0 out of 10", "Score: 0 (not 1)", and thinking
# in front of the verdict. With `output_format="yes/no"` it is the other way round: only a reply that begins with "yes" is one, so that "**Yes**"
# and "The answer: yes" are wrong.
#
# Whom it hits: MathVerse, K12, OlympiadBench, RoboSpatial and other tasks that are judged so, with a local judge or one that thinks: verdicts on
# mathematics name numbers, most of which have a 1 in them. Accuracy rises with the length of the judge's reasons.
#
# A judge with given replies; the module is loaded without the package's others. Prints each reply with the result. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps lmms-eval==0.7.3
cat >"$work/try.py" <<'PYTHON'
import importlib
import importlib.util
import sys
from types import ModuleType

(package,) = importlib.util.find_spec("lmms_eval").submodule_search_locations
for name in ("lmms_eval", "lmms_eval.llm_judge"):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [package + name.removeprefix("lmms_eval").replace(".", "/")]
base = importlib.import_module("lmms_eval.llm_judge.base")
protocol = importlib.import_module("lmms_eval.llm_judge.protocol")


class Judge(base.ServerInterface):
    def is_available(self):
        return True

    def evaluate(self, request):
        return protocol.Response(content=self.reply, model_used="judge")


# Form that is asked for, reply, result.
CASES = [
    ("0/1", "1", 1),
    ("0/1", "0", 0),
    ("0/1", "0. The reference is 60, the response 80.", 0),
    ("0/1", "0. The reference is 12, the response 15.", 1),
    ("0/1", "The prediction gives 1998 for the year, which is not the reference. 0", 1),
    ("0/1", "Score: 0 out of 10", 1),
    ("0/1", "Is it 1? The unit is missing, so no.\n\n0", 1),
    ("yes/no", "Yes, both are 12.", True),
    ("yes/no", "**Yes**", False),
    ("yes/no", "Both are 12: yes", False),
]

changed = False
judge = Judge()
for form, reply, expected in CASES:
    judge.reply = reply
    seen = judge.evaluate_binary("How many?", "12", "15", output_format=form)["result"]
    print(f"{form:7} result {seen!s:6} {reply!r}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
