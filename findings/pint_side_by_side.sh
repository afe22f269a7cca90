#!/usr/bin/env bash
# pint 0.25.3: 5 ft 10 in is as much as 10 ft 5 in. 1 1/2 h is half an hour, 2 500 g is a kilogram, and 1,5 m is 15 m.
#
# `UnitRegistry().Quantity(text)` reads a quantity with its unit, and two of them can be compared whatever their units. One would expect a text that is
# no single quantity, or a number that is not written as Python does, to be an error. Seen: what stands side by side is multiplied. Feet and inches are
# an area, which is equal to another area; hours and minutes are a time squared; a mixed number is its parts' product, and so is one whose thousands
# are set apart by a space: 2 500 is 2 times 500, 1 000 is 0. A comma is struck out, so that 1,5 is 15, and 0,5 is 0. `5 ft 10 in`
# and `70 in` are unequal, without an error, since only their dimensions differ.
#
# Whom it hits: graders of answers with units, for problems from physics, cooking and daily life: an answer is right whose parts are exchanged, and the
# right one in one unit is wrong. With metric answers of one number it works, and so tests pass.
#
# Prints texts, what they are, and which of them are equal. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q pint==0.25.3
cat >"$work/try.py" <<'PYTHON'
import sys

import pint

read = pint.UnitRegistry().Quantity

# Two texts, what they are, whether they are equal.
CASES = [
    ("5 ft 10 in", "10 ft 5 in", "50 foot * inch", "50 foot * inch", True),
    ("5 ft 10 in", "70 in", "50 foot * inch", "70 inch", False),
    ("5 lb 3 oz", "15 lb 1 oz", "15 ounce * pound", "15 ounce * pound", True),
    ("2 h 30 min", "30 h 2 min", "60 hour * minute", "60 hour * minute", True),
    ("1 1/2 h", "30 min", "0.5 hour", "30 minute", True),
    ("1 1/2 h", "90 min", "0.5 hour", "90 minute", False),
    ("2 500 g", "1 kg", "1000 gram", "1 kilogram", True),
    ("10 000 J", "0 J", "0 joule", "0 joule", True),
    ("1,5 m", "15 m", "15 meter", "15 meter", True),
    ("0,5 m", "0 m", "0 meter", "0 meter", True),
    ("1.5 h", "90 min", "1.5 hour", "90 minute", True),
    ("3.6 km/h", "1 m/s", "3.6 kilometer / hour", "1.0 meter / second", True),
]

changed = False
for first, second, *expected in CASES:
    seen = [str(read(first)), str(read(second)), bool(read(first) == read(second))]
    print(f"{first:10} {second:10} {seen[0]:20} {seen[1]:17} {'equal' if seen[2] else 'unequal'}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
