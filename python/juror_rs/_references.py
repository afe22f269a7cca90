"""The rules on responses, each with a reference answer or several that are all right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

from juror_rs import tables
from juror_rs.rules import Config, Profile, Verification, verify_batch, verify_parts

__all__ = ["Decision", "decide", "partial_credit", "references"]


class Decision(NamedTuple):
    """What the rules say of a response."""

    equal: bool | None
    """Whether its answer is one of the references; None where that cannot be told, or there is no reference."""
    verification: Verification | None
    """What it rests on: the reference that is equal, else the first."""


def decide(
    pairs: Iterable[tuple[object, str]], *, profile: Profile = "strict", config: Config | None = None
) -> list[Decision]:
    """The decisions on `(reference, response)`, in their order; a reference is a text or a number, or a list of right ones.

    >>> [decision.equal for decision in decide([("1/2", "It is 0.5."), (["7", "8"], "8"), ("7", "at least 7"), (None, "7")])]
    [True, True, None, None]
    """
    asked: list[tuple[str, str]] = []
    of: list[int] = []
    count = 0
    for place, (given, response) in enumerate(pairs):
        count = place + 1
        for reference in references(given):
            asked.append((reference, response))
            of.append(place)
    said: list[list[Verification]] = [[] for _ in range(count)]
    for place, verification in zip(of, verify_batch(asked, profile=profile, config=config), strict=True):
        said[place].append(verification)
    return [_decision(verifications) for verifications in said]


def partial_credit(reference: object, response: str, equal: bool | None, config: Config | None = None) -> float | None:
    """The share of the reference's labelled parts, `(a) …, (b) …`, that are right; without parts, or where one cannot be told, what `equal`
    says, which makes nothing wrong of what cannot be told.

    >>> partial_credit("(a) 3, (b) 5", "The answer is (a) 3, (b) 6.", False)
    0.5
    >>> partial_credit("7", "8", False), partial_credit("(a) 3, (b) 5", "3", None)
    (0.0, None)
    """
    of_each = [parts for one in references(reference) if (parts := verify_parts(one, response, config=config))]
    if not of_each:
        return None if equal is None else float(equal)
    best = max(of_each, key=lambda parts: (parts.count(True), None not in parts))
    if None in best:
        return 1.0 if equal else None
    return sum(bool(part) for part in best) / len(best)


def _decision(verifications: Sequence[Verification]) -> Decision:
    equal = [verification for verification in verifications if verification.equal]
    if equal:
        return Decision(True, equal[0])
    # Any of several references may be meant.
    told = bool(verifications) and all(verification.equal is False for verification in verifications)
    return Decision(False if told else None, verifications[0] if verifications else None)


def references(given: object) -> list[str]:
    """The references in a value of a data set; without one nothing is right or wrong."""
    plain: Any = cast(Any, given).tolist() if hasattr(given, "tolist") else given
    several = cast("Sequence[object]", plain) if isinstance(plain, (list, tuple)) else [plain]
    return [str(one) for one in several if not tables.is_missing(one) and str(one).strip()]
