"""Exact values: integers, fractions with at most four decimals (two in problems of our own making), and times of day."""
from __future__ import annotations

from fractions import Fraction

LIMIT = 9999
"""The largest value in problems of our own making."""
LARGEST = 9_999_999
"""The largest value the judge writes, in real text."""


class Clock(int):
    """A time of day in minutes since midnight."""


def exact(value):
    """An integer where the value is one."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return int(value)
    return value


def apply(a, op: str, b):
    """The exact value of ``a op b``; None where there is none."""
    if op == "+":
        if isinstance(a, Clock) or isinstance(b, Clock):
            return None if isinstance(a, Clock) and isinstance(b, Clock) else Clock(a + b)
        return exact(a + b)
    if op == "-":
        if isinstance(a, Clock):
            return int(a) - int(b) if isinstance(b, Clock) else Clock(a - b)
        return None if isinstance(b, Clock) else exact(a - b)
    if isinstance(a, Clock) or isinstance(b, Clock):
        return None
    if op == "*":
        return exact(a * b)
    return exact(Fraction(a) / Fraction(b)) if b else None


def form(value) -> str:
    """The one form in which the judge writes a value: 37, -4, 37.50, 0.125 or 9:45."""
    if isinstance(value, Clock):
        return f"{value // 60}:{value % 60:02d}"
    if isinstance(value, int):
        return str(value)
    parts = value * 10_000
    if parts.denominator != 1:
        raise ValueError(f"{value} has more than four decimals")
    whole, rest = divmod(abs(int(parts)), 10_000)
    return f"{'-' * (value < 0)}{whole}.{(f'{rest:04d}'.rstrip('0')).ljust(2, '0')}"


def same(a, b) -> bool:
    """Equality that keeps times of day apart from numbers."""
    return a is not None and b is not None and isinstance(a, Clock) == isinstance(b, Clock) and a == b


def _digits(value) -> tuple[int, Fraction]:
    """Significant digits and scale: 0.35 is (35, 1/100), 2400 is (24, 100)."""
    if isinstance(value, int):
        number, scale = int(value), 1
        while number and number % 10 == 0:
            number, scale = number // 10, scale * 10
        return number, scale
    whole, scale = Fraction(value) * 10_000, Fraction(1, 10_000)
    number = int(whole)
    while number and number % 10 == 0:
        number, scale = number // 10, scale * 10
    return number, scale


def partials(a, b, digits: int = 2) -> list | None:
    """The partial products of a * b in the judge's long multiplication, or None where it knows no way.

    The factor with fewer significant digits (at most `digits`) is taken digit by digit, the other in pairs of digits.
    """
    (x, sx), (y, sy) = _digits(a), _digits(b)
    if not x or not y:
        return [0]
    if len(str(x)) < len(str(y)):
        (x, sx), (y, sy) = (y, sy), (x, sx)
    if len(str(y)) > digits or len(str(x)) > 5:
        return None
    result = []
    for i, digit in enumerate(str(y)):
        if digit == "0":
            continue
        power = sy * 10 ** (len(str(y)) - 1 - i)
        text = str(x)
        first = len(text) % 2 or 2
        places = [(0, first)] + [(at, at + 2) for at in range(first, len(text), 2)]
        for start, end in places:
            chunk = int(text[start:end])
            if chunk:
                value = exact(chunk * sx * 10 ** (len(text) - end) * int(digit) * power)
                if isinstance(value, Fraction) and (value * (100 if digits == 2 else 10_000)).denominator != 1:
                    return None
                result.append(value)
    return result


def known(value) -> bool:
    """Whether the judge can write this value."""
    if value is None or value < 0 or value > LIMIT:
        return False
    if isinstance(value, Clock):
        return 60 <= value < 1440
    if isinstance(value, int):
        return True
    return (value * 100).denominator == 1 and value < 2000


def workable(a, op: str, b) -> bool:
    """Whether the judge can check ``a op b``."""
    result = apply(a, op, b)
    if not known(a) or not known(b) or not known(result):
        return False
    if op == "*":
        return partials(a, b) is not None
    if op == "/":
        return partials(result, b) is not None
    return True


def writable(value) -> bool:
    """Whether the judge can write this value in real text: at most four decimals, up to ten million, a sign."""
    return isinstance(value, int | Fraction) and abs(value) <= LARGEST and (Fraction(value) * 10_000).denominator == 1


def followable(a, op: str, b, claimed=None) -> bool:
    """Whether the judge can check ``a op b`` in real text; a quotient by multiplying what the student found."""
    result = apply(a, op, b)
    if result is None or not writable(a) or not writable(b):
        return False
    if op == "/":
        result = result if claimed is None else claimed
        return writable(result) and min(result, b) >= 0 and partials(result, b, 3) is not None
    return writable(result) and (op != "*" or min(a, b) >= 0 and partials(a, b, 3) is not None)


def rounded(a, b, claimed) -> bool:
    """Whether `claimed` is ``a / b``, rounded to at least two decimals where it does not end."""
    if claimed is None or not b:
        return False
    true = Fraction(a) / Fraction(b)
    places = next((n for n in range(5) if (Fraction(claimed) * 10**n).denominator == 1), 5)
    ends = (true * 10_000).denominator == 1
    return true == claimed or not ends and 2 <= places <= 4 and abs(true - Fraction(claimed)) < Fraction(1, 10**places)
