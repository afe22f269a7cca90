"""Math-Verify's functions: their shape, their verdicts, and threads."""

from __future__ import annotations

import importlib
import json
import logging
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import juror_rs.math_verify
from juror_rs.math_verify import (
    ExprExtractionConfig,
    LatexExtractionConfig,
    LatexNormalizationConfig,
    StringExtractionConfig,
    UndecidedError,
    Value,
    parse,
    verify,
)

PRODUCT = r"\prod_{i=1}^{100} i"
CASES = Path(__file__).parents[2] / "crates" / "rules" / "tests" / "cases" / "math_verify"


def test_parse_lists_a_value_and_its_text() -> None:
    value, text = parse(r"The answer is $\frac{1}{2}$.")
    assert isinstance(value, Value)
    assert (str(value), text) == ("1/2", r"\frac{1}{2}")
    assert len(parse("$5$", fallback_mode="no_fallback")) == 1
    assert parse("Nothing.") == []


def test_a_text_is_kept_where_nothing_parses() -> None:
    assert parse(r"so $\frac{1$", extraction_mode="first_match") == [r"\frac{1"]
    assert parse(r"so $\frac{1$", extraction_mode="first_match", fallback_mode="no_fallback") == []
    assert [str(reading) for reading in parse(r"so $\frac{1$ is 5")] == ["5", "5"]


def test_targets_say_what_is_looked_for() -> None:
    text = r"answer: 7, of which \boxed{5}"
    assert verify("5", parse(text, [LatexExtractionConfig(boxed_match_priority=0)]))
    assert verify("7", parse(text, [ExprExtractionConfig()]))
    letters = [StringExtractionConfig(strings=("yes", "no"), lowercase=False)]
    assert parse("no, yes", letters) == ["yes", "yes"] or parse("no, yes", letters) == ["no", "no"]
    assert parse("so 5", [ExprExtractionConfig(try_extract_without_anchor=False)]) == []


def test_the_settings_of_each_side_are_its_own() -> None:
    gold = parse("5")
    boxed = [LatexExtractionConfig(boxed_match_priority=0, try_extract_without_anchor=False)]
    assert verify(gold, parse(r"7 or rather \boxed{5}", boxed, extraction_mode="first_match"))
    assert parse("5", boxed) == []


def test_normalization_is_kept() -> None:
    kept = LatexExtractionConfig(normalization_config=LatexNormalizationConfig(units=True))
    assert parse(r"$\frac12$", [LatexExtractionConfig()])[-1] == r"\frac{1}{2}"
    assert parse(r"$\frac12$", [kept]) == [r"\frac12"]
    with pytest.raises(ValueError, match="boxed='all'"):
        parse("5", [LatexExtractionConfig(normalization_config=LatexNormalizationConfig(boxed="none"))])
    with pytest.warns(UserWarning, match="equations=True has no effect"):
        parse("5", [LatexExtractionConfig(normalization_config=LatexNormalizationConfig(equations=True))])


def test_targets_that_differ_in_what_is_common_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in `try_extract_without_anchor`"):
        parse("5", [LatexExtractionConfig(try_extract_without_anchor=False), ExprExtractionConfig()])
    with pytest.raises(TypeError, match="must hold LatexExtractionConfig"):
        parse("5", [ThreadPoolExecutor])  # type: ignore[list-item] # pyright: ignore[reportArgumentType]


def test_single_readings_are_compared() -> None:
    # As verl does: each with each.
    gold, pred = parse(r"\boxed{\frac{1}{2}}"), parse("It is 0.5")
    found = [verify(a, b) for a in gold for b in pred]
    assert found == [True, False, False, False]


def test_texts_are_parsed() -> None:
    assert verify("1/2", "The answer is 0.5.")
    assert verify(["1/3", "1/2"], "0.5")
    assert verify("same words", "same words")
    assert not verify("", "")
    assert not verify([], "5")


def test_what_parse_has_not_made_is_refused() -> None:
    for side in (5, None, object(), {"5": 5}):
        with pytest.raises(TypeError, match="`target` must be a text or what"):
            verify("5", side)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_the_strict_profile_is_named_twice() -> None:
    gold = parse(r"2\sqrt{3}", profile="strict")
    assert [str(reading) for reading in gold] == [r"2\sqrt{3}"]
    assert verify(gold, parse(r"$\sqrt{12}$", profile="strict"), profile="strict")
    assert not verify(r"28\%", "28", profile="strict")
    with pytest.raises(ValueError, match="pass the same `profile`"):
        verify(gold, "5")


def test_settings_of_the_comparison() -> None:
    assert not verify(r"$\frac{1}{3}$", "0.33")
    assert verify(r"$\frac{1}{3}$", "0.33", float_rounding=2)
    assert not verify("$(1,3)$", r"$\{3,1\}$")
    assert verify("$x$", "$y$", strict=False)


def test_what_is_too_much_work_is_different_or_an_error(caplog: pytest.LogCaptureFixture) -> None:
    gold, pred = parse("5"), parse(rf"\boxed{{{5 * PRODUCT}}}")
    with caplog.at_level(logging.WARNING):
        assert not verify(gold, pred)
    assert "not decided" in caplog.text
    with pytest.raises(UndecidedError):
        verify(gold, pred, raise_on_error=True)


def test_readings_can_be_pickled() -> None:
    for readings in (parse("$5$"), parse("A", [StringExtractionConfig()])):
        again = pickle.loads(pickle.dumps(readings))
        assert again == readings
        assert verify(again, readings)


def test_any_thread_may_call_and_no_signal_is_touched() -> None:
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)

    def equal(number: int) -> bool:
        # Time-outs that Math-Verify could not keep in a thread.
        gold = parse(str(number), parsing_timeout=5)
        return verify(gold, parse(rf"It is \boxed{{\frac{{{3 * number}}}{{3}}}}", parsing_timeout=5), timeout_seconds=5)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(equal, range(1, 500)))
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == before


def rows(name: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in map(json.loads, (CASES / name).read_text().splitlines())]


@pytest.fixture(scope="module")
def original() -> Any:
    """The real package."""
    pytest.importorskip("math_verify")
    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    return importlib.import_module("math_verify")


def plain(package: Any, gold: str, pred: str) -> tuple[Any, ...]:
    golds, preds = package.parse(gold), package.parse(pred)
    return package.verify(golds, preds), len(golds), len(preds)


def like_trl(package: Any, gold: str, pred: str) -> tuple[Any, ...]:
    golds = package.parse(gold)
    target = package.LatexExtractionConfig(
        normalization_config=package.LatexNormalizationConfig(units=True), boxed_match_priority=0, try_extract_without_anchor=False
    )
    preds = package.parse(pred, extraction_config=[target], extraction_mode="first_match")
    return package.verify(golds, preds), len(golds), len(preds)


def like_verl(package: Any, gold: str, pred: str) -> tuple[Any, ...]:
    golds = package.parse(rf"\boxed{{{gold}}}", (package.LatexExtractionConfig(),))
    preds = package.parse(pred, (package.ExprExtractionConfig(), package.LatexExtractionConfig()))
    return max((package.verify(a, b) for a in golds for b in preds), default=False), len(golds), len(preds)


@pytest.mark.parametrize("use", [plain, like_trl, like_verl])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_verdicts_and_lists_are_those_of_the_original(original: Any, use: Any) -> None:
    for gold, pred in rows("answers.jsonl") + [(f"${a}$", f"${b}$") for a, b in rows("pairs.jsonl")[::8]]:
        assert use(juror_rs.math_verify, gold, pred) == use(original, gold, pred), (gold, pred)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_configurations_of_the_original_are_taken(original: Any) -> None:
    targets = [original.LatexExtractionConfig(boxed_match_priority=0), original.ExprExtractionConfig()]
    assert verify("5", parse(r"7, \boxed{5}", targets))
    assert parse("B", [original.StringExtractionConfig()]) == ["b", "B"]
