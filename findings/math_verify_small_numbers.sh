#!/usr/bin/env bash
# math-verify 0.9.0 (latex2sympy2_extended 1.11.0, sympy 1.14.0): where the charge of an electron is asked for, 1.6 x 10^-19, Planck's constant is right, 6.63
# x 10^-34. So are others of that size, of either sign.
#
# `verify` compares numbers by their value. One would expect a tolerance that is relative, or significant digits. Seen: numbers with a power of ten are
# subtracted, and a difference below some 10^-17 is nothing, however large it is beside the numbers. Two small numbers are equal then, with no
# digit in common: the masses of electron and proton, 1.6 and 9.9 x 10^-19. Decimals are rounded to six places (`float_rounding`): 0.0000001 is 0.0000004,
# and, where one of the two is a fraction, 1/3000000. The exact 0 is not equal to any of them, "0.0" is. `numeric_precision` is 15 "decimal places", and its
# description says to raise it where values are small: with 40 the powers of ten are told apart, the decimals are not. TRL's rewards leave it.
#
# Whom it hits: rewards and accuracies on physics and chemistry, whose answers in SI units are of this size (charges, masses, energies, cross
# sections), and probabilities: each answer with a large negative exponent is paid.
#
# Prints each pair with the verdict, and the one with `numeric_precision=40`. Exits with 1 if one of them is another.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q math-verify==0.9.0 latex2sympy2_extended==1.11.0 antlr4-python3-runtime==4.13.2 sympy==1.14.0
cat >"$work/try.py" <<'PYTHON'
import sys

from math_verify import parse, verify

# Gold answer, answer, whether that is found right, and with a precision of 40.
CASES = [
    (r"1.6 \times 10^{-19}", r"6.63 \times 10^{-34}", True, False),
    (r"1.6 \times 10^{-19}", r"-6.63 \times 10^{-34}", True, False),
    (r"1.6 \times 10^{-19}", r"9.9 \times 10^{-19}", True, False),
    (r"9.11 \times 10^{-31} \text{ kg}", r"1.67 \times 10^{-27} \text{ kg}", True, False),
    (r"5 \times 10^{-17}", r"7 \times 10^{-17}", True, False),
    (r"5 \times 10^{-16}", r"7 \times 10^{-16}", False, False),
    (r"6.67 \times 10^{-11}", r"8.85 \times 10^{-12}", False, False),
    (r"6.63 \times 10^{-34}", r"0.0", True, True),
    (r"6.63 \times 10^{-34}", r"0", False, False),
    (r"0.0000001", r"0.0000004", True, True),
    (r"\frac{1}{3000000}", r"0.0000001", True, True),
    (r"0.000012", r"0.000014", False, False),
]

changed = False
for gold, answer, *expected in CASES:
    pair = parse(f"${gold}$"), parse(rf"The result is $\boxed{{{answer}}}$.")
    seen = [verify(*pair), verify(*pair, numeric_precision=40)]
    print(f"{gold:32} {answer:32} {seen[0]!s:5}   with 40: {seen[1]}")
    changed |= seen != expected
sys.exit(changed)
PYTHON
"$work/venv/bin/python" -W ignore "$work/try.py"
