"""Pairs that aim at Math-Verify's extraction, its order of matches and the habits of its parser."""

from importlib import import_module

from .core import QUIRKS

for _theme in ("numbers", "structures", "extraction"):
    import_module(f".{_theme}", __name__)  # registers its quirks

__all__ = ["QUIRKS"]
