#!/usr/bin/env bash
# sympy 1.14.0 (antlr4-python3-runtime 4.11.1, lark 1.3.1): `parse_latex` reads `1, 2, 3` as 1, `x\in[1,2]` as `x\in[3,4]`, and \text{east} as \text{seat}.
# With lark 0.\overline{3} and 4\,000 are 0.
#
# Graders make expressions of two answers with it and ask whether their difference is 0. One would expect an error for what it cannot read, which is often
# raised and which graders catch. Seen: it reads as far as it can, and leaves out the rest: the other solutions, a second condition, all behind `1{,}`.
# `strict=True`, which is not the default, makes those errors. A command that is not known is a variable, and what follows is multiplied, also with `strict`:
# letters of words in any order, `3 \pm 2` is `2 \pm 3`, 7 \bmod 3 is 3 \bmod 7. The other backend, lark, refuses nearly all of these, but takes
# 0.\overline{3} for 0 times the conjugate of 3, and the thin space of 4\,000 for a product.
#
# Whom it hits: graders and rewards for answers that are lists, intervals, words or congruences, as many of MATH are: wrong ones are right.
#
# Prints both answers, and for antlr, antlr with `strict`, and lark whether their difference is 0, or that there was an error. Exits with 1 if one is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --no-compile sympy==1.14.0 antlr4-python3-runtime==4.11.1 lark==1.3.1
cat >"$work/try.py" <<'PYTHON'
import sys

from sympy import simplify
from sympy.parsing.latex import parse_latex

BACKENDS = ({"backend": "antlr"}, {"backend": "antlr", "strict": True}, {"backend": "lark"})


def equal(first, second, **options):
    try:
        first, second = (parse_latex(answer, **options) for answer in (first, second))
    except Exception:
        return None
    try:
        return bool(simplify(first - second) == 0)
    except TypeError:
        return bool(first == second)


# Two answers; whether they are equal for antlr, antlr with `strict`, and lark. None is an error.
CASES = [
    (r"\frac{1}{2}", r"0.5", True, True, True),
    (r"x^2-1", r"(x-1)(x+1)", True, True, True),
    (r"1, 2, 3", r"1", True, None, None),
    (r"\sqrt{2}, -\sqrt{2}", r"\sqrt{2}", True, None, None),
    (r"x \ge 2, x \le 5", r"x \ge 2", True, None, None),
    (r"1{,}000", r"1{,}500", True, None, None),
    (r"x\in[1,2]", r"x\in[3,4]", True, None, None),
    (r"\text{east}", r"\text{seat}", True, True, None),
    (r"3 \pm 2", r"2 \pm 3", True, True, None),
    (r"7 \bmod 3", r"3 \bmod 7", True, True, None),
    (r"0.\overline{3}", r"0.\overline{6}", None, None, True),
    (r"4\,000", r"5\,000", False, False, True),
    (r"4\,000", r"4000", True, True, False),
]

changed = False
for first, second, *expected in CASES:
    seen = [equal(first, second, **options) for options in BACKENDS]
    print(f"{first:22} {second:16}", *(f"{'an error' if answer is None else answer!s:9}" for answer in seen))
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py" 2>"$work/log" || { status=$?; tail -n 5 "$work/log" >&2; exit "$status"; }
