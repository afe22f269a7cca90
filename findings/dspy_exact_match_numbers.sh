#!/usr/bin/env bash
# dspy 3.4.1 (beside it verl 0.9.1 and skyrl-gym 0.4.0): an "exact match" of numbers: -5 is right for 5, 1.5 for 15, 3/4 for 34. For the choice A an
# empty answer is right, and "the".
#
# `dspy.evaluate.answer_exact_match`, and the rewards for Search-R1's data sets in verl and SkyRL, compare answers as SQuAD did: in small letters,
# without punctuation and articles. One would expect that a number stays the number. Seen: the minus sign, the decimal point and the slash are
# punctuation and go without leaving a space, so that numbers of the same digits are equal; "a" is an article, so that the letter A is the empty
# text.
#
# Whom it hits: who optimises prompts for arithmetic, dates, quantities or multiple choice with it, or rewards them: sign and size of a number are
# not taught, and an optimiser may settle on a prompt that makes them wrong.
#
# The modules are loaded without their packages' others. Prints gold answer, answer, and what each says. Exits with 1 if one says otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-deps dspy==3.4.1 verl==0.9.1 skyrl-gym==0.4.0
cat >"$work/try.py" <<'PYTHON'
import contextlib
import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace


def load(package, file):
    path = Path(importlib.util.find_spec(package).submodule_search_locations[0]) / file
    sys.modules[package] = ModuleType(package)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


for name in ("dspy.dsp", "dspy.dsp.utils", "dspy.dsp.utils.utils"):
    sys.modules[name] = SimpleNamespace(print_message=print)
dspy = load("dspy", "evaluate/metrics.py")
verl = load("verl", "utils/reward_score/search_r1_like_qa_em.py")
skyrl = load("skyrl_gym", "envs/search/utils.py")

# Gold answer, answer, whether all three find it right.
CASES = [
    ("5", "5", True),
    ("5", "6", False),
    ("5", "-5", True),
    ("15", "1.5", True),
    ("34", "3/4", True),
    ("2024", "20:24", True),
    ("x+1", "x-1", True),
    ("A", "B", False),
    ("A", "", True),
    ("A", "the", True),
]

changed = False
for gold, answer, expected in CASES:
    with contextlib.redirect_stdout(io.StringIO()):  # verl prints one in 64
        seen = [
            dspy.answer_exact_match(SimpleNamespace(answer=gold), SimpleNamespace(answer=answer)),
            verl.compute_score(f"<answer>{answer}</answer>", {"target": [gold]}) == 1,
            skyrl.compute_score(f"<answer>{answer}</answer>", {"target": [gold]}) == 1,
        ]
    print(f"gold {gold:5} answer {answer!r:8} dspy {seen[0]!s:6} verl {seen[1]!s:6} skyrl-gym {seen[2]}")
    changed |= seen != [expected] * 3
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
