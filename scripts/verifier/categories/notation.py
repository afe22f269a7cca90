"""Writing numbers, sums and polynomials in LaTeX."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, prod

from .core import Draw

Number = int | Fraction

#: Whole numbers without a square factor.
SQUAREFREE = (2, 3, 5, 6, 7, 10, 11, 13, 14, 15, 17, 19, 21, 22, 23)


def number(value: Number) -> str:
    """``3``, ``-\\frac{1}{2}``."""
    value = Fraction(value)
    sign = "-" if value < 0 else ""
    return (
        f"{sign}{abs(value.numerator)}"
        if value.denominator == 1
        else f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    )


def total(terms: Iterable[tuple[Number, str]]) -> str:
    """A sum of coefficients times bodies: ``3x^2-x+\\frac{1}{2}``."""
    text = ""
    for coefficient, body in terms:
        if coefficient == 0:
            continue
        size = number(abs(coefficient))
        text += "-" if coefficient < 0 else "+" if text else ""
        text += body if body and size == "1" else size + body
    return text or "0"


def power(variable: str, exponent: int) -> str:
    """``x^{3}``, ``x``, and nothing for exponent 0."""
    if exponent == 0:
        return ""
    return (
        variable if exponent == 1 else f"{variable}^{exponent}" if 0 < exponent < 10 else f"{variable}^{{{exponent}}}"
    )


def polynomial(coefficients: list[Number], variable: str = "x", order: list[int] | None = None) -> str:
    """A polynomial from its coefficients, constant first; falling powers unless an order is given."""
    order = order or sorted(range(len(coefficients)), reverse=True)
    return total((coefficients[k], power(variable, k)) for k in order)


def expand(*factors: list[Number]) -> list[Number]:
    """The product of polynomials, each a list of coefficients, constant first."""
    result: list[Number] = [1]
    for factor in factors:
        longer: list[Number] = [0] * (len(result) + len(factor) - 1)
        for i, a in enumerate(result):
            for k, b in enumerate(factor):
                longer[i + k] += a * b
        result = longer
    return result


def fraction(d: Draw, size: int = 12, negative: bool = True) -> Fraction:
    """A fraction that is not whole."""
    while True:
        q = d.whole(2, size)
        p = d.whole(1, 2 * size)
        if gcd(p, q) == 1:
            return Fraction(-p if negative and d.chance(0.25) else p, q)


def surd(coefficient: Number, radicand: int) -> tuple[Number, str]:
    """A term of :func:`total`."""
    return coefficient, f"\\sqrt{{{radicand}}}"


def binomial(n: int, k: int) -> int:
    """How many subsets of size k a set of size n has."""
    return prod(range(n - k + 1, n + 1)) // prod(range(1, k + 1))


def grouped(n: int, separator: str) -> str:
    """Digits in groups of three."""
    return f"{n:,}".replace(",", separator)
