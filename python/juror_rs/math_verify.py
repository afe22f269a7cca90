r"""Math-Verify's `parse` and `verify`, for programs written for it.

    from juror_rs.math_verify import LatexExtractionConfig, parse, verify

>>> verify(parse("$\\frac{1}{2}$"), parse("The answer is 0.5."))
True

The verdicts are those of math-verify 0.9.0 (profile `compat`), or with `profile="strict"` what is mathematically true. What is
different:

- Any thread may call, and many may at once: there are no signals. Time-outs are taken and ignored, since work is
  counted and not timed: every call ends.
- `parse` gives no SymPy objects. A `Value` stands for what was parsed; its text is for people.
- `verify` also takes texts that were not parsed.
- Nothing is raised by what stands in a text, so there is little for `raise_on_error`: it raises where a comparison would
  take too much work, which otherwise counts as different, as a time-out does with Math-Verify.
- `try_extract_without_anchor`, `boxed_match_priority` and `normalization_config` hold for all targets of a call; targets
  that differ in them are a `ValueError`.

Configurations may be Math-Verify's own objects. `juror_rs.verify` says more: three values, and why.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from juror_rs.rules import rules

if TYPE_CHECKING:
    from juror_rs._rules import Rules

__all__ = [
    "ExprExtractionConfig",
    "LatexExtractionConfig",
    "LatexNormalizationConfig",
    "StringExtractionConfig",
    "Text",
    "UndecidedError",
    "Value",
    "parse",
    "verify",
]

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LatexNormalizationConfig:
    """How formulas are rewritten before they are parsed. `basic_latex` and `boxed` must stay as they are."""

    basic_latex: bool = True
    units: bool = False
    malformed_operators: bool = False
    nits: bool = False
    boxed: Literal["all", "last", "none"] = "all"
    equations: bool = False


@dataclass(frozen=True)
class LatexExtractionConfig:
    """Look for formulas in LaTeX delimiters or boxes."""

    try_extract_without_anchor: bool = True
    boxed_match_priority: int = 50
    normalization_config: LatexNormalizationConfig = field(
        default_factory=lambda: LatexNormalizationConfig(units=True, malformed_operators=True, nits=True)
    )


@dataclass(frozen=True)
class ExprExtractionConfig:
    """Look for plain numbers and arithmetic."""

    try_extract_without_anchor: bool = True


@dataclass(frozen=True)
class StringExtractionConfig:
    """Look for one of these strings."""

    strings: tuple[str, ...] = ("A", "B", "C", "D")
    try_extract_without_anchor: bool = True
    lowercase: bool = True


class ExtractionTarget(Protocol):
    """One of the three configurations above, or Math-Verify's own."""

    @property
    def try_extract_without_anchor(self) -> bool:
        """Whether an answer may stand without a word that announces it."""
        ...


@dataclass(frozen=True, repr=False)
class Value:
    """A parsed value; under the profile `strict` its text is the answer as it was found."""

    text: str
    source: str = field(compare=False)
    """The text that it was parsed from."""
    settings: _Settings = field(compare=False)
    """How it was parsed."""

    def __repr__(self) -> str:
        return self.text


class Text(str):
    """A text that is compared as it is: a string that was searched for, or the first match, parsed or not."""

    __slots__ = ()


class UndecidedError(Exception):
    """A comparison would take too much work; only raised with `raise_on_error`."""


@dataclass(frozen=True)
class _Settings:
    profile: Literal["compat", "strict"]
    targets: tuple[ExtractionTarget, ...]
    fallback_mode: str
    extraction_mode: str


_DEFAULT_TARGETS: tuple[ExtractionTarget, ...] = (LatexExtractionConfig(), ExprExtractionConfig())


def parse(
    pred: str,
    extraction_config: Sequence[ExtractionTarget] = _DEFAULT_TARGETS,
    fallback_mode: Literal["no_fallback", "first_match"] = "first_match",
    extraction_mode: Literal["first_match", "any_match"] = "any_match",
    parsing_timeout: float | None = None,
    raise_on_error: bool = False,
    *,
    profile: Literal["compat", "strict"] = "compat",
) -> list[Value | Text]:
    r"""Finds and parses the answer of a text; an empty list if there is none.

    Args:
        pred: A response, or a bare answer.
        extraction_config: What is looked for.
        fallback_mode: `first_match` puts the text of the first match after its value, or alone if that does not parse.
        extraction_mode: `any_match` tries matches until one parses, `first_match` only the first.
        parsing_timeout: Ignored: every call ends.
        raise_on_error: Ignored: no text is an error.
        profile: `compat` finds what Math-Verify finds; `strict` what `juror_rs.verify` finds.

    >>> parse(r"So it is $\frac{1}{2}$.")
    [1/2, '\\frac{1}{2}']
    >>> parse("Choose b or A.", [StringExtractionConfig()])
    ['a', 'A']
    >>> parse("I do not know.")
    []
    """
    settings = _Settings(profile, tuple(extraction_config), fallback_mode, extraction_mode)
    readings = _reader(settings).read(pred)
    return [Value(text, pred, settings) if is_value else Text(text) for is_value, text in readings]


def verify(
    gold: Sequence[Value | str] | Value | str,
    target: Sequence[Value | str] | Value | str,
    float_rounding: int = 6,
    numeric_precision: int = 15,
    strict: bool = True,
    allow_set_relation_comp: bool = False,
    timeout_seconds: float | None = None,
    raise_on_error: bool = False,
    *,
    profile: Literal["compat", "strict"] = "compat",
) -> bool:
    r"""Whether any reading of the prediction equals any reading of the gold answer.

    Args:
        gold: What `parse` gave for the gold answer, or one item of that, or a text, which is then parsed.
        target: The same of the prediction.
        float_rounding: Decimal places at which a written decimal is compared.
        numeric_precision: Decimal digits of a numeric evaluation; without effect in the profile `strict`.
        strict: Do the names of variables matter, and are sets different from tuples?
        allow_set_relation_comp: May a relation in the prediction be compared with a set in the gold answer?
        timeout_seconds: Ignored: every call ends.
        raise_on_error: Raise `UndecidedError` where it cannot be told whether values are equal; else that is False.
        profile: That of `parse`.

    >>> verify(parse("$1 < x < 2$"), parse("$(1, 2)$"))
    True
    >>> verify("1/2", "The answer is 0.5.")
    True

    Raises:
        TypeError: If a side is neither text nor from `parse` (SymPy objects are not taken).
        ValueError: If a side was parsed under another profile.
    """
    comparison = (float_rounding, numeric_precision, strict, allow_set_relation_comp)
    golds = list(_readings(gold, profile, "gold"))
    targets = list(_readings(target, profile, "target"))
    return any(_equal(a, b, comparison, raise_on_error) for a, b in product(golds, targets))


_Comparison = tuple[int, int, bool, bool]


def _equal(gold: Value | Text, target: Value | Text, comparison: _Comparison, raise_on_error: bool) -> bool:
    if isinstance(gold, Text) and isinstance(target, Text):
        return gold.strip() == target.strip() != ""
    if isinstance(gold, Text) or isinstance(target, Text):
        return False
    verifier = _verifier(gold.settings, target.settings, comparison)
    equal, status, _, _, _, reason = verifier.verify(gold.source, target.source)
    if equal is None:
        if raise_on_error:
            raise UndecidedError(f"{reason} ({status})")
        _logger.warning("not decided, so taken as different: %s", reason)
    return equal is True


def _readings(side: object, profile: Literal["compat", "strict"], name: str) -> Iterator[Value | Text]:
    match side:
        case Value():
            if side.settings.profile != profile:
                raise ValueError(
                    f"`{name}` was parsed under the profile {side.settings.profile!r} and is to be compared under "
                    f"{profile!r}; pass the same `profile` to `parse` and `verify`"
                )
            yield side
        case Text():
            yield side
        case str():
            yield Text(side)
            yield from parse(side, profile=profile)
        case list() | tuple():
            for item in cast(Sequence[object], side):
                yield from _readings(item, profile, name)
        case _:
            raise TypeError(
                f"`{name}` must be a text or what juror_rs.math_verify.parse gave, not {type(side).__qualname__}"
            )


@lru_cache(maxsize=64)
def _reader(settings: _Settings) -> Rules:
    return rules(settings.profile, _config(settings))


@lru_cache(maxsize=64)
def _verifier(gold: _Settings, target: _Settings, comparison: _Comparison) -> Rules:
    names = ("float_rounding", "numeric_precision", "strict", "allow_set_relation_comp")
    config = _values_of(target) | dict(zip(names, comparison, strict=True))
    return rules(gold.profile, config, _values_of(gold))


def _values_of(settings: _Settings) -> dict[str, Any]:
    """Settings under which only values are compared: Math-Verify compares texts with texts."""
    config = _config(settings)
    if settings.profile == "compat":
        config["fallback_mode"] = "no_fallback"
    return config


def _config(settings: _Settings) -> dict[str, Any]:
    """The settings, under the names that the rules have for them."""
    modes = {"fallback_mode": settings.fallback_mode, "extraction_mode": settings.extraction_mode}
    return _target_config(settings.targets) | modes


def _target_config(targets: tuple[ExtractionTarget, ...]) -> dict[str, Any]:
    config: dict[str, Any] = {"extract": []}
    for target in targets:
        name, own = _target(target)
        config["extract"].append(name)
        for key, value in own.items():
            if config.setdefault(key, value) != value:
                raise ValueError(
                    f"the targets of `extraction_config` differ in `{key}` ({config[key]!r}, {value!r}); "
                    "here it holds for all of them: give each the same"
                )
    return config


def _target(target: Any) -> tuple[object, dict[str, Any]]:
    """A target under the name that the rules have for it, and the settings inside it."""
    name: object
    own: dict[str, Any] = {}
    match type(target).__name__:
        case "LatexExtractionConfig":
            name = "latex"
            own["boxed_match_priority"] = target.boxed_match_priority
            own["normalization"] = _normalization(target.normalization_config)
        case "ExprExtractionConfig":
            name = "expr"
        case "StringExtractionConfig":
            name = {"string": {"strings": list(target.strings), "lowercase": target.lowercase}}
        case other:
            raise TypeError(
                "`extraction_config` must hold LatexExtractionConfig, ExprExtractionConfig or StringExtractionConfig, "
                f"not {other}"
            )
    own["try_extract_without_anchor"] = target.try_extract_without_anchor
    return name, own


def _normalization(config: Any) -> dict[str, bool]:
    if not config.basic_latex or config.boxed != "all":
        raise ValueError("`normalization_config`: only basic_latex=True and boxed='all' are known here")
    if config.equations:
        warnings.warn(
            "`normalization_config`: equations=True has no effect; chains of equations are read from their end anyway",
            stacklevel=2,
        )
    return {name: getattr(config, name) for name in ("units", "nits", "malformed_operators")}
