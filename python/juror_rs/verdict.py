"""What a judge said about one sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

__all__ = ["Confidence", "Status", "Usage", "Verdict"]

Status = Literal["ok", "unparsed", "too_long", "failed", "out_of_domain", "unsure"]
"""The one state every judged sample ends in; only `ok` has a reward."""


class Confidence(TypedDict, total=False):
    """The judge's probability of True against False for each field; None if it was not recorded."""

    process: float | None
    outcome: float | None
    perfect: float | None
    score: float | None


class Usage(TypedDict, total=False):
    """Tokens spent."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    known_tokens: int
    left_out_tokens: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one sample.

    >>> verdict = Verdict.from_line({"id": "a", "index": 0, "status": "ok", "outcome": True, "reward": 1.0, "label": "A"})
    >>> verdict.status, verdict.reward, verdict.process
    ('ok', 1.0, None)
    >>> verdict.line["label"]
    'A'
    """

    id: str | None
    """The sample's id; if it had none, a hash of its texts."""
    index: int
    """The sample's place in the call."""
    status: Status
    process: bool | None = None
    """Whether the derivation is free of errors."""
    outcome: bool | None = None
    """Whether the final answer is right."""
    perfect: bool | None = None
    """Whether the work is free of even small flaws."""
    overall: bool | None = None
    """`process` and `outcome`; for a protocol that judges the outcome alone, the outcome."""
    reward: float | None = None
    """The reward; None unless the status is `ok`."""
    reason: str | None = None
    """The judge's few sentences, if asked for."""
    outcome_source: Literal["judge", "rules"] | None = None
    rule_outcome: bool | None = None
    """The rule-based verifier's result for the final answer; None if it cannot tell."""
    confidence: Confidence = field(default_factory=Confidence)
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    """Why the status is not `ok`."""
    line: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """Every key that the server sent, also those that only some protocols have (`label`, `score`, `criteria`, …)."""

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> Verdict:
        """The verdict of a line of the server or of `verdicts.jsonl`."""
        known: dict[str, Any] = {"id": None}
        known.update((name, line[name]) for name in _FIELDS if line.get(name) is not None)
        return cls(**known, line=line)


_FIELDS = tuple(name for name in Verdict.__dataclass_fields__ if name != "line")
