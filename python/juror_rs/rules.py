"""The rule-based verifier: is the final answer of a response that of the reference? No model, no server, microseconds.

Work is bounded by the length of the texts and counted, not timed: there are no signals, time-outs or killed threads, a
pair has the same verdict on every machine, and any thread may call. The interpreter's lock is released meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from juror_rs._compiled import rules_type

if TYPE_CHECKING:
    from juror_rs._rules import Rules

__all__ = ["Config", "Profile", "Status", "Verification", "verify", "verify_batch", "verify_parts"]

Profile = Literal["strict", "compat", "gsm8k", "official", "strict-match", "flexible-extract", "multi"]
"""`strict`: what is mathematically true. `compat`: what Math-Verify 0.9.0 says. The others: plain numbers, as GSM8K's
scorers find and compare them."""

Status = Literal["decided", "numeric", "unparsed_gold", "unparsed_pred", "no_answer", "ambiguous", "too_complex"]
"""How a verdict was decided, or why it could not be."""

Config = Mapping[str, Any]
"""Settings of `strict` and `compat`, by the names that Math-Verify gives them: `float_rounding`, `boxed_match_priority`,
`extract`, …; of `strict` also `decimal` (`"comma"`, `"point"`), `percent` and `cents` (`"open"`, `"same"`, `"distinct"`: 20 against 20 %, 50 against
50 cents); of both `boxed_only` (nothing but the last boxes is an answer)."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on one pair, with the reason for it.

    It has no truth value, because `equal` has three: `if verify(gold, pred).equal:`.
    """

    equal: bool | None
    """Whether the answers are equal; None if that cannot be told, which is never "different"."""
    status: Status
    """How it was decided, or why it could not be."""
    method: str
    """The argument that settled it: `rational`, `identity`, `enclosure`, `text`, …"""
    gold: list[str]
    """The gold answer as it was found."""
    pred: list[str]
    """The prediction's answer as it was found."""
    reason: str
    """An explanation in one sentence."""

    def __bool__(self) -> NoReturn:
        raise TypeError("a Verification is neither true nor false: use its `equal`, which is True, False or None")


def verify(gold: str, pred: str, *, profile: Profile = "strict", config: Config | None = None) -> Verification:
    r"""Whether the answer in `pred`, a whole response or a bare answer, equals that of `gold`.

    >>> verification = verify(r"\frac{1}{2}", "Half of them, so the answer is **0.5**.")
    >>> verification.equal, verification.status, verification.pred
    (True, 'decided', ['0.5'])

    What cannot be read or decided is None, never False:

    >>> verify("3", r"The answer is $\frac{3$.").equal is None
    True

    Raises:
        ValueError: If there is no such profile or setting.
    """
    return _verification(rules(profile, config).verify(gold, pred))


def verify_batch(
    pairs: Iterable[tuple[str, str]], *, profile: Profile = "strict", config: Config | None = None
) -> list[Verification]:
    """Verifies many `(gold, pred)` on all cores; the verdicts in the order of the pairs.

    >>> golds, preds = ["1/2", "3"], ["0.5", "The answer is 4."]
    >>> [verification.equal for verification in verify_batch(zip(golds, preds))]
    [True, False]

    Raises:
        ValueError: If there is no such profile or setting.
    """
    golds: list[str] = []
    preds: list[str] = []
    for gold, pred in pairs:
        golds.append(gold)
        preds.append(pred)
    return [_verification(answer) for answer in rules(profile, config).verify_batch(golds, preds)]


def verify_parts(gold: str, pred: str, *, config: Config | None = None) -> list[bool | None]:
    """Which labelled parts of `gold` are right in `pred`, in their order; None for one that `pred` does not have, or that cannot be told.

    >>> verify_parts("(a) 3, (b) 5", "The answer is (a) 3, (b) 6.")
    [True, False]

    Empty where `gold` has no parts. Under the profile `strict`.

    Raises:
        ValueError: If there is no such setting.
    """
    return rules("strict", config).parts(gold, pred)


def rules(profile: str, config: Config | None = None, gold_config: Config | None = None) -> Rules:
    """Rules with settings; `gold_config` has the settings for finding the gold answer, if they differ."""
    return _rules(profile, _json(config), None if gold_config is None else _json(gold_config))


@lru_cache(maxsize=64)
def _rules(profile: str, config: str, gold_config: str | None) -> Rules:
    return rules_type()(profile, config, gold_config)


def _json(config: Config | None) -> str:
    return "{}" if not config else json.dumps(dict(config))


def _verification(answer: tuple[bool | None, str, str, list[str], list[str], str]) -> Verification:
    equal, status, method, gold, pred, reason = answer
    return Verification(equal, cast(Status, status), method, gold, pred, reason)
