"""The numbers that a question names, in digits or in words."""
from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from . import words
from .numbers import LARGEST, Clock, exact

_WORDS = {words.spelled(n): n for n in range(2, 100)} | {"twice": 2, "double": 2, "doubles": 2, "half": 2, "thrice": 3, "triple": 3, "dozen": 12}
_NUMBER = re.compile(
    r"(?P<clock>(?<![\d:])\d{1,2}:[0-5]\d(?![\d:]))|(?P<grouped>\d{1,3}(?:,\d{3})+(?:\.\d+)?)|(?P<plain>\d+(?:\.\d+)?|(?<!\d)\.\d+)"
    r"|\b(?P<word>" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
MOST = 20
"""How many numbers are listed at most."""


def listed(question: str) -> list:
    """The numbers of a question in their order, at most `MOST`; those beyond the judge's range are left out."""
    return list(_listed(question))


@lru_cache(maxsize=64)
def _listed(question: str) -> tuple:
    found = []
    for m in _NUMBER.finditer(question):
        if m["clock"]:
            hours, minutes = m["clock"].split(":")
            value = Clock(int(hours) * 60 + int(minutes))
        elif m["word"]:
            value = _WORDS[m["word"].lower()]
        else:
            value = exact(Fraction(m[0].replace(",", "")))
        if value <= LARGEST and (isinstance(value, int) or (value * 10_000).denominator == 1) and value not in found:
            found.append(value)
    return tuple(found[:MOST])
