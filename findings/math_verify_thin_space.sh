#!/usr/bin/env bash
# math-verify 0.9.0 (latex2sympy2_extended 1.11.0, sympy 1.14.0): `2\,500` is 502, `10\,000` is 0, and `0.123\,456` is 56.088.
#
# A thin space between groups of three digits is how ISO 80000, most journals and much of Europe write thousands, and how language models
# often do. Math-Verify takes `2,500`, `2{,}500` and `2,\!500` for 2500, and outside of formulas also `2 500`. One would expect 2500 here as
# well, or that the number is not read. Seen: two whole numbers beside each other are a mixed number, so they are added (`12\,345` is
# 357, as 2 1/3 is 7/3); if the latter is a zero, or one of them has a point, they are multiplied. With a tie (`2~500`) or a
# guarded space (`2{\,}500`) the answer is what stands before it.
#
# Whom it hits: rewards and scores over sets of other origin than American contests. Such a right answer is wrong, and where the gold
# is written so, `0` is right for every ten thousand and every million.
#
# Prints what each spelling is read as and what it is equal to. Exits with 1 if one of them is read otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2
cat >"$work/try.py" <<'PYTHON'
import sys

from math_verify import parse, verify

# What is written, what it says, what it is read as.
NUMBERS = [
    (r"$2,500$", "2500", "2500"),
    (r"$2{,}500$", "2500", "2500"),
    (r"$2,\!500$", "2500", "2500"),
    (r"The answer is 2 500.", "2500", "2500"),
    (r"$2\,500$", "2500", "502"),
    (r"\boxed{12\,345}", "12345", "357"),
    (r"$1\,234\,567$", "1234567", "802"),
    (r"$10\,000$", "10000", "0"),
    (r"$1\,000\,000$", "1000000", "0"),
    (r"$0.123\,456$", "0.123456", "56.088"),
    (r"$2~500$", "2500", "2"),
    (r"$2{\,}500$", "2500", "2"),
]

changed = False
print(f"{'written':24}{'read as':16}{'equal to':10}what it says")
for written, said, expected in NUMBERS:
    answer = parse(written)
    equal = [number for number in dict.fromkeys((said, expected)) if verify(parse(f"${number}$"), answer)]
    print(f"{written:24}{answer[0]!s:16}{', '.join(equal):10}{said}")
    changed |= equal != [expected]
# And the other way round: a gold so written.
gold = parse(r"$10\,000$")
for answer, expected in (("10000", False), ("0", True)):
    seen = verify(gold, parse(rf"\boxed{{{answer}}}"))
    print(rf"gold $10\,000$, answer \boxed{{{answer}}}: {seen}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
