"""Drills: rows packed with arithmetic, in the very form of the thinking.

In a student's answer the written result is usually right, so a model that copies it is
usually right too and never learns to compute.  A drill row shows nothing to copy from: a
list of numbers and unrelated steps over them, with loss on results, origins and verdicts.
"""

from __future__ import annotations

import random
from fractions import Fraction

from layout import Piece, product_pieces
from problems.core import CENTS, PERCENTS
from problems.numbers import Clock, apply, exact, followable, form, known, same, workable, writable
from problems.retell import near
from problems.students import slip


def number(rng: random.Random, top: int, decimals: bool):
    """An operand: small ones more often."""
    u = rng.random()
    if decimals and u < 0.5:
        cents = rng.choice(CENTS) if rng.random() < 0.6 else rng.randint(1, 99)
        return exact(Fraction(rng.randint(0, min(top, 999)) * 100 + cents, 100))
    n = rng.randint(0, 12) if u < 0.2 else rng.randint(10, 99) if u < 0.5 else rng.randint(2, top)
    return n // 10 * 10 if n > 99 and rng.random() < 0.3 else n


def operation(rng: random.Random, given: list, results: list, top: int, decimals: bool, wide: bool = False):
    """A random operation that the judge can check, and where its operands are from."""
    while True:
        op = rng.choice("++--***/")
        pair = []
        for _ in range(2):
            u = rng.random()
            if results and u < 0.4:
                pair.append(rng.choice(results[-2:]))
            elif u < 0.85:
                pair.append(rng.choice(given))
            else:
                pair.append(number(rng, top, decimals))
        a, b = pair
        u = rng.random()
        if op == "*" and u < 0.6:
            b = rng.randint(2, 12) if u < 0.3 else rng.randint(2, 99) if u < 0.45 else exact(Fraction(rng.choice(PERCENTS), 100))
            a, b = (a, b) if rng.random() < 0.6 else (b, a)
        elif op == "/":
            b = rng.randint(2, 12) if u < 0.7 else rng.randint(2, 60)
            if isinstance(a, int) and u < 0.6:
                a = a // b * b
        elif op in "+-" and u < 0.05:
            a, b = Clock(rng.randint(13, 130) * 5), rng.randint(1, 90)
        if a and b and (workable(a, op, b) or wide and not isinstance(a, Clock) and followable(a, op, b) and apply(a, op, b) >= 0):
            return a, op, b


def mark(value, given: list, results: list) -> str:
    """Where an operand comes from, by the rules of `layout.sources`."""
    if results and same(results[-1], value):
        return "s"
    if any(same(value, n) for n in given) or not isinstance(value, Clock) and value < 1 and exact(value * 100) in given:
        return "q"
    return "s" if any(same(value, r) for r in results) else "x"


def row(rng: random.Random, lines: int = 12) -> list[Piece]:
    """A packed row."""
    top = rng.choice((60, 99, 99, 300, 999, 999, 4999))
    decimals = rng.random() < 0.35
    wide = rng.random() < 0.3  # as in real text: larger numbers, more decimals, three digits times three
    if wide:
        top = rng.choice((99, 999, 9999, 99_999, 999_999))
    given = [number(rng, top, decimals) for _ in range(rng.randint(4, 8))]
    given = list(dict.fromkeys(n for n in given if n))
    results: list = []
    pieces = [Piece("<think>", ""), Piece("domain in\n", ""), Piece(f"num {','.join(map(form, given))}\n", "")]
    for _ in range(lines):
        a, op, b = operation(rng, given, results, top, decimals, wide)
        true = apply(a, op, b)
        if wide and not isinstance(true, Clock) and true > 0:
            claimed = true if rng.random() < 0.5 else near(true, rng)
            if not writable(claimed) or not followable(a, op, b, claimed):
                claimed = true
        else:
            claimed = true if rng.random() < 0.5 or not known(true) else slip(true, a, op, b, rng)
            if op == "/" and not workable(claimed, "*", b) or not wide and not known(claimed):
                claimed = true
        right = same(claimed, true)
        verdict = Piece(" ok\n" if right else " no\n", "same" if right else "differs")
        for value, after in ((a, op), (b, "")):
            pieces += [Piece(form(value), ""), Piece(mark(value, given, results), "drill"), Piece(after, "")]
        if op == "/":
            pieces += [Piece(f",{form(claimed)}*{form(b)}", "")] + _product(claimed, b) + [verdict]
        elif op == "*":
            pieces += [*_product(a, b), Piece(f",{form(claimed)}", ""), verdict]
        else:
            pieces += [Piece("=", ""), Piece(form(true), "drill"), Piece(f",{form(claimed)}", ""), verdict]
        results.append(claimed)
    return [p for p in pieces if p.text]


def _product(a, b) -> list[Piece]:
    return [Piece(p.text, "drill") for p in product_pieces(a, b)]
