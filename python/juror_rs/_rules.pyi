"""Bindings of the crate juror-rules; `juror_rs.rules` and `juror_rs.math_verify` are what is used."""

from typing import Final, final

EMULATES: Final[str]
VERSION: Final[str]

_Answer = tuple[bool | None, str, str, list[str], list[str], str]

@final
class Rules:
    """Rules under one profile and one set of settings."""

    def __new__(cls, profile: str, config: str, gold_config: str | None = None) -> Rules: ...
    def verify(self, gold: str, pred: str) -> _Answer:
        """Is the answer of `pred` that of `gold`?"""

    def verify_batch(self, golds: list[str], preds: list[str]) -> list[_Answer]:
        """The same for many pairs, on all cores."""

    def parts(self, gold: str, pred: str) -> list[bool | None]:
        """Which labelled parts of `gold` are right in `pred`; none under other profiles than `strict`."""

    def read(self, text: str) -> list[tuple[bool, str]]:
        """What is read in a text as its answer: (is a value, text) of each reading."""
