"""Random draws and the register of categories."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class Draw(random.Random):
    """A seeded source of choices; everything a generator draws comes from here."""

    def one(self, *options: T) -> T:
        """One of the options."""
        return self.choice(options)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    def whole(self, low: int, high: int, but: tuple[int, ...] = ()) -> int:
        """A whole number from low to high, both possible, that is none of ``but``."""
        while (n := self.randint(low, high)) in but:
            pass
        return n

    def nonzero(self, size: int) -> int:
        """A whole number other than 0 of at most this size, of either sign."""
        return self.whole(-size, size, (0,))

    def other(self, n: int, positive: bool = False) -> int:
        """A whole number that one may mistake for n, but another: off by one, sign, factor ten, digits swapped."""
        digits = str(abs(n))
        choices = {n + 1, n - 1, n + 2, n + 10, 2 * n, -n, int(digits[::-1])} - {n}
        if positive:
            choices = {c for c in choices if c > 0}
        return self.choice(sorted(choices))

    def shuffled(self, items: list[T]) -> list[T]:
        """A copy in another order, if there is another order."""
        items = list(items)
        if all(item == items[0] for item in items):
            return items
        while True:
            copy = items[:]
            self.shuffle(copy)
            if copy != items:
                return copy


@dataclass(frozen=True)
class Pair:
    """A gold answer, what a model wrote, and how it was made."""

    gold: str
    pred: str
    note: str


#: Makes a pair whose answers are equal, or one whose answers are not.
Maker = Callable[[Draw, bool], Pair]

CATEGORIES: dict[str, Maker] = {}


def category(name: str) -> Callable[[Maker], Maker]:
    """Registers a maker whose pairs are complete as they are."""

    def register(make: Maker) -> Maker:
        if name in CATEGORIES:
            raise ValueError(f"two categories are called {name}")
        CATEGORIES[name] = make
        return make

    return register
