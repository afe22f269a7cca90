#!/usr/bin/env bash
# math-verify 0.9.0 (latex2sympy2_extended 1.11.0, sympy 1.14.0): `2i` and `2 i` are different numbers, and `6-8\mathrm{i}` is -2.
#
# Answers that are complex numbers are usual in contest and textbook mathematics, and a verifier that computes with SymPy has its imaginary
# unit at hand. One would expect `(1+i)^2` to be `2i`, and two spellings of one number to be equal at the least. Seen:
#  - `i` is a variable without a value: no power, root, modulus or quotient that holds for the unit holds for it. Only a capital `I` is the
#    unit.
#  - It is a variable of two kinds. Whether the variables of an answer are real is decided for each side by itself, by a regular expression on
#    its LaTeX that looks for `i` as a word of its own: there is one in `2 i`, none in `2i`, where a digit stands before it. SymPy holds a
#    real and a non-real variable of one name to be different, so `2i` is not `2 i` or `2\,i`, and `\frac{2}{5}i` not `\frac{2i}{5}`.
#  - An upright unit, `\mathrm{i}` as ISO 80000 has it, is struck out as a unit of measurement when a number is before it.
#
# Whom it hits: rewards and scores over MATH-like sets (TRL's accuracy_reward, verifiers, minerva_math of lm-evaluation-harness): a right
# answer has reward 0 because of a space, and whether a sample is one of these depends on how the gold was typeset.
#
# Prints each pair with what it is told apart by. Exits with 1 if one of the verdicts is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2
cat >"$work/try.py" <<'PYTHON'
import sys

from math_verify import parse, verify

# Gold, answer, whether they are the same number, what is seen.
PAIRS = [
    (r"$2i$", r"$2i$", True, True),
    (r"$3+4i$", r"$4i+3$", True, True),
    (r"$2i$", r"$2 i$", True, False),
    (r"$6-8i$", r"$6-8\,i$", True, False),
    (r"$2i$", r"$2\cdot i$", True, False),
    (r"$\frac{2}{5}i$", r"$\frac{2i}{5}$", True, False),
    (r"$i$", r"$1i$", True, False),
    (r"$2i$", r"$(1+i)^2$", True, False),
    (r"$-1$", r"$i^2$", True, False),
    (r"$5$", r"$|3+4i|$", True, False),
    (r"$2i$", r"$\sqrt{-4}$", True, False),
    (r"$6-8i$", r"$6-8\mathrm{i}$", True, False),
    (r"$-2$", r"$6-8\mathrm{i}$", False, True),
]

changed = False
print(f"{'gold':18}{'answer':18}{'equal':8}{'verify':8}gold and answer as SymPy has them")
for gold, answer, equal, expected in PAIRS:
    sides = [parse(text) for text in (gold, answer)]
    seen = verify(*sides)
    kinds = [f"{side[0]} {[f'{v}: real={v.is_real}' for v in side[0].free_symbols]}" for side in sides]
    print(f"{gold:18}{answer:18}{equal!s:8}{seen!s:8}{kinds[0]} | {kinds[1]}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" "$work/try.py"
