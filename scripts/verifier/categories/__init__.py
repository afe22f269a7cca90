"""Pairs of answers by category, labelled by the way they are made."""

from importlib import import_module

from .core import CATEGORIES, Draw, Pair

for _theme in (
    "algebra",
    "constants",
    "relations",
    "structures",
    "numbers",
    "measures",
    "writing",
    "words",
    "responses",
):
    import_module(f".{_theme}", __name__)  # registers its categories

__all__ = ["CATEGORIES", "Draw", "Pair"]
