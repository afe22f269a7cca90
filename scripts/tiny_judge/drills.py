"""Drills: rows packed with arithmetic and comparisons, in the very form of the thinking.

In a student's answer the written result is usually right, so a model that copies it is
usually right too and never learns to compute.  A drill row shows nothing to copy from:
random steps and plans, with loss on results and verdicts only.
"""

from __future__ import annotations

import random

from layout import ERRORS, Expression, Piece
from problems.core import apply


def number(rng: random.Random) -> int:
    """An operand: small ones more often."""
    u = rng.random()
    return (
        rng.randint(0, 12) if u < 0.25 else rng.randint(10, 99) if u < 0.9 else rng.randint(0, 199)
    )


def expression(rng: random.Random) -> Expression:
    """A random operation whose result is neither negative nor above 999."""
    while True:
        op = rng.choice("++--**")
        a, b = number(rng), number(rng)
        if op == "*":
            small = rng.randint(0, 12) if rng.random() < 0.9 else rng.randint(0, 25)
            a, b = (a, small) if rng.random() < 0.6 else (small, a)
            if a * b > 199 and rng.random() < 0.7:
                continue
        if 0 <= apply(a, op, b) <= 999:
            return Expression(a, op, b)


def value(e: Expression) -> int:
    """What an expression gives."""
    return apply(e.a, e.op, e.b)


def near(rng: random.Random, n: int) -> int:
    """A plausible wrong value for n."""
    while True:
        u = rng.random()
        if u < 0.4:
            wrong = n + rng.choice((-2, -1, 1, 2))
        elif u < 0.7:
            wrong = n + rng.choice((-20, -10, 10, 20))
        elif u < 0.8:
            wrong = int(str(n)[::-1])
        else:
            wrong = rng.randint(0, 99)
        if wrong >= 0 and wrong != n:
            return wrong


def step_line(rng: random.Random) -> list[Piece]:
    """One step of an imagined student: wanted, written, verdict; value, claimed, verdict."""
    want = got = expression(rng)
    fit = "ok"
    if rng.random() < 0.4:
        if rng.random() < 0.5:
            others = [op for op in "+-*" if op != got.op and 0 <= apply(got.a, op, got.b) <= 999]
            want = Expression(got.a, rng.choice(others), got.b) if others else got
            fit = ERRORS["operation"] if others else "ok"
        else:
            changed = (near(rng, got.a), got.b) if rng.random() < 0.5 else (got.a, near(rng, got.b))
            want, fit = Expression(changed[0], got.op, changed[1]), ERRORS["copied"]
    true = value(got)
    claimed = true if rng.random() < 0.5 else near(rng, true)
    return [
        Piece(f"{want},{got}", ""),
        Piece(f" {fit}", "misfit" if fit != "ok" else "fit"),
        Piece("=", ""),
        Piece(str(true), "drill"),
        Piece(f",{claimed}", ""),
        Piece(" ok\n" if claimed == true else " calc\n", "same" if claimed == true else "differs"),
    ]


def plan_line(rng: random.Random) -> list[Piece]:
    """A plan of unrelated steps and its verdict against an imagined reference."""
    pieces, true = [Piece("plan ", "")], 0
    steps = rng.randint(2, 5)
    for index in range(steps):
        e = expression(rng)
        true = value(e)
        pieces += [Piece(f"{e}=", ""), Piece(str(true), "drill")]
        pieces.append(Piece(";" if index + 1 < steps else ",", ""))
    reference = true if rng.random() < 0.5 else near(rng, true)
    pieces.append(Piece(str(reference), ""))
    pieces.append(Piece(" ok\n" if reference == true else " no\n", "same"))
    return pieces


def row(rng: random.Random, lines: int = 14) -> list[Piece]:
    """A packed row."""
    make = plan_line if rng.random() < 0.5 else step_line
    pieces = [Piece("<think>", "")]
    for _ in range(lines if make is step_line else lines // 2):
        pieces += make(rng)
    return pieces
