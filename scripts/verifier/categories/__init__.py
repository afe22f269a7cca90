"""Pairs of answers by category, labelled by the way they are made."""
from . import algebra, constants, numbers, relations, structures
from .core import CATEGORIES, Draw, Pair

__all__ = ["CATEGORIES", "Draw", "Pair", "algebra", "constants", "numbers", "relations", "structures"]
