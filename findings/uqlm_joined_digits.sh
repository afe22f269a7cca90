#!/usr/bin/env bash
# uqlm 0.6.7: a judge that says 9.0 on the scale from 0 to 100 has given 0.9, one that says "5/5" 0.55, and one that says 85.0 nothing. On the scale from 1
# to 5 "5. All 12 facts are right." is the lowest score. "Not entirely correct." is 1.
#
# `LLMJudge` asks for a score alone, or for "Score: ..." with an explanation, and reads it itself. One would expect the number that stands there, with its
# point, or none where there are several: what is not read is asked for again. Seen: for `scoring_template="continuous"` all digits of the reply are put
# together ("all digits and decimal points" says the comment, but the points are left out), and if that is at most 100 it is the score: 8.5 is 85, and
# "7, with 2 errors" 72. For "likert" a reply that is not one digit has the lowest of the digits 1 to 5 that is anywhere in it, also in a 12. For
# "true_false" the words incorrect and wrong are looked for first, then correct and right, each wherever it stands: "nothing is wrong with it" is 0.
#
# Whom it hits: those who take a judge's score as confidence, as the package is for: small judges write decimals, fractions and a reason whatever they
# are told. A low score with a decimal becomes a high one, never the other way round, so that the area under the ROC curve falls for the judge's form.
#
# The module is loaded without the package's others. Prints the template, the reply and the score. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q numpy==2.4.6
"$work/venv/bin/pip" install -q --no-deps uqlm==0.6.7
cat >"$work/try.py" <<'PYTHON'
import importlib.util
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import numpy


def stub(name, **members):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__dict__.update(members)


class ResponseGenerator:
    def __init__(self, **_):
        pass


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, Path(sysconfig.get_path("purelib")) / "uqlm" / path)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


stub("pandas")
stub("rich", progress=ModuleType("progress"))
sys.modules["rich"].progress.Progress = object
for name in ("uqlm", "uqlm.utils"):
    stub(name, __path__=[])
stub("uqlm.utils.response_generator", ResponseGenerator=ResponseGenerator)
prompts = load("judge_prompts", "utils/prompts/judge_prompts.py")
stub("uqlm.utils.prompts", **vars(prompts))
judge = load("judge", "judges/judge.py")

# The template, the reply, the score.
CASES = [
    ("continuous", "85", 0.85),
    ("continuous", "85%", 0.85),
    ("continuous", "85.0", None),
    ("continuous", "85/100", None),
    ("continuous", "9.0", 0.9),
    ("continuous", "8.5", 0.85),
    ("continuous", "0.9", 0.09),
    ("continuous", "5/5", 0.55),
    ("continuous", "7, with 2 errors", 0.72),
    ("likert", "5", 1.0),
    ("likert", "5 - Completely correct", 1.0),
    ("likert", "5. All 12 facts are right.", 0.0),
    ("likert", "5 (on a scale from 1 to 5)", 0.0),
    ("likert", "4. One of the 3 dates is wrong.", 0.5),
    ("true_false", "Correct", 1.0),
    ("true_false", "Incorrect", 0.0),
    ("true_false", "Correct. Nothing is wrong with it.", 0.0),
    ("true_false", "Not entirely correct.", 1.0),
]

changed = False
for template, reply, expected in CASES:
    reader = judge.LLMJudge(llm=None, scoring_template=template)
    plain = reader._extract_answers([reply])[0]
    # What a reply with an explanation has, whose first line is the score.
    explained = reader._extract_answers([f"Score: {reply}\nExplanation: As it says."], explanations=True)[0][0]
    seen = [None if numpy.isnan(score) else score for score in (plain, explained)]
    print(f"{template:11} {reply:36} {'is asked for again' if seen[0] is None else seen[0]}")
    changed |= seen != [expected, expected]
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
