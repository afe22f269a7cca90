"""The progress of a call."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

LINE_EVERY = 60.0
"""Seconds between lines, if there is no bar."""


class Progress:
    """A bar of tqdm, if that is installed and standard error is a terminal or a notebook's; otherwise a line per minute."""

    def __init__(self, total: int | None, show: bool | None) -> None:
        """Progress towards `total`. `show`: True, False, or None for "where somebody looks on"."""
        self._total = total
        self._done = 0
        self._line_at = time.monotonic() + LINE_EVERY
        self._show = sys.stderr.isatty() or _is_notebook() if show is None else show
        self._bar: Any = _bar(total) if self._show else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.close()

    def advance(self) -> None:
        """Counts one more verdict."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(1)
        elif self._show and time.monotonic() >= self._line_at:
            self._line_at = time.monotonic() + LINE_EVERY
            total = "" if self._total is None else f" of {self._total:,}"
            print(f"{self._done:,}{total} verdicts", file=sys.stderr, flush=True)


def _is_notebook() -> bool:
    """Whether this runs in a notebook's kernel, whose standard error is not a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _bar(total: int | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="verdict")
