#!/usr/bin/env bash
# mathruler 0.1.0 (sympy 1.14.0, pylatexenc 2.11): for the gold answer "hour" the answer "minute" is right, 2 days for 2 years, 10 feet 5 inches for 5 feet
# 10 inches, and 12/3 for 1 2/3.
#
# `grade_answer` is documented to find an answer right if it is the same text when both are normalized, or if sympy finds the difference 0. One would
# expect units to be compared where both have one, or the gold's alone to be struck. Seen: names of units from second to year, of lengths and of
# angles are struck from both, wherever they stand, with a power behind them. What is left of two bare names is nothing, which is equal; of daylight it
# is light, of 5 cm^2 and 5 cm^3 it is 5. Numbers that are left side by side are multiplied. Spaces are struck too, so that a mixed number is a
# fraction with another numerator. Abbreviations and units that are not in the list ("m", "dollars") stay, and are wrong beside the bare number.
#
# Whom it hits: rewards made of it, as in EasyR1's examples for mathematics and geometry: which unit, or which hand of a clock, cannot be taught, and
# conversions by a wrong factor are paid.
#
# Prints gold answer, answer, and whether it is right. Exits with 1 if one is judged otherwise. (The package does not say what it needs, so that is
# installed beside it.)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q mathruler==0.1.0 sympy==1.14.0 pylatexenc==2.11 tqdm==4.70.1
cat >"$work/try.py" <<'PYTHON'
import sys

from mathruler.grader import grade_answer

# Gold answer, answer, whether it is right.
CASES = [
    ("hour", "minute", True),
    ("minute hand", "hour hand", True),
    ("day", "week", True),
    ("2 years", "2 days", True),
    ("5 miles", "5 feet", True),
    ("2 meters", "2 centimeters", True),
    ("60 miles per hour", "60 feet per second", True),
    (r"5\text{ cm}^2", r"5\text{ cm}^3", True),
    ("5 feet 10 inches", "10 feet 5 inches", True),
    ("5 feet 10 inches", "70 inches", False),
    ("1 2/3", "5/3", True),
    ("1 2/3", "12/3", True),
    ("1 hour", "60 minutes", False),
    ("2 m", "2", False),
    ("5 dollars", "5", False),
    ("5 miles", "5", True),
    ("5 miles", "6 miles", False),
    ("daylight", "light", True),
]

changed = False
for gold, answer, expected in CASES:
    seen = grade_answer(answer, gold)
    print(f"{gold:18} {answer:18} {'right' if seen else 'wrong'}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
