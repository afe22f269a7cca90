"""The rules from Python: one pair, many, and what happens around the interpreter."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from juror_rs import Verification, verify, verify_batch
from juror_rs.rules import Profile, rules

PAIRS = [(str(number), f"So there are {number + number % 2} of them.") for number in range(2000)]
EQUAL = [number % 2 == 0 for number in range(2000)]


def test_a_verification_says_what_it_rests_on() -> None:
    verification = verify(r"2\sqrt{3}", r"So the side is $\sqrt{12}$ cm.")
    assert verification.equal is True
    assert verification.status == "decided"
    assert verification.gold == [r"2\sqrt{3}"]
    assert verification.pred == [r"\sqrt{12}$ cm"] or verification.pred == [r"\sqrt{12} cm"]
    assert verification.method
    assert verification.reason


@pytest.mark.parametrize(
    ("gold", "pred", "equal", "status"),
    [
        ("5", "I don't know the answer.", False, "no_answer"),
        (r"\frac{1", "5", None, "unparsed_gold"),
        ("5", r"\boxed{\frac{1}}", None, "unparsed_pred"),
        ("", "", None, "unparsed_gold"),
    ],
)
def test_what_cannot_be_told_is_none(gold: str, pred: str, equal: bool | None, status: str) -> None:
    verification = verify(gold, pred)
    assert (verification.equal, verification.status) == (equal, status)


def test_a_verification_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="its `equal`"):
        bool(verify("1", "2"))


def test_a_verification_can_be_pickled() -> None:
    verification = verify("1/2", "0.5")
    assert pickle.loads(pickle.dumps(verification)) == verification


@pytest.mark.parametrize(
    ("profile", "equal"),
    [
        ("strict", None),
        ("compat", True),
        ("gsm8k", True),
        ("official", False),
        ("strict-match", False),
        ("flexible-extract", True),
        ("multi", True),
    ],
)
def test_profiles_differ(profile: Profile, equal: bool | None) -> None:
    assert verify(r"$28\%$" if profile in ("strict", "compat") else "28", "28", profile=profile).equal is equal


def test_numbers_of_gsm8k_that_are_none() -> None:
    assert verify("no number", "5", profile="gsm8k").status == "unparsed_gold"
    assert verify("5", "It is five.", profile="gsm8k").status in ("unparsed_pred", "no_answer")
    assert verify("5", "Nothing.", profile="gsm8k").status == "no_answer"
    assert verify("no number", "5", profile="official").status == "unparsed_gold"


def test_settings_have_an_effect() -> None:
    assert verify(r"\frac{1}{3}", "0.33").equal is False
    assert verify(r"\frac{1}{3}", "0.33", config={"float_rounding": 2}).equal is True
    assert verify("20", r"\boxed{20\%}").equal is None
    assert verify("20", r"\boxed{20\%}", config={"percent": "same"}).equal is True
    assert verify("50", r"\boxed{50} cents", config={"cents": "distinct"}).equal is False
    assert verify("5", "The answer is 5.", config={"boxed_only": True}).status == "no_answer"


@pytest.mark.parametrize(
    ("profile", "config", "message"),
    [
        ("loose", {}, "no rules profile `loose`; there is strict, compat"),
        ("strict", {"float_roundin": 2}, "there is no setting `float_roundin`"),
        ("strict", {"float_rounding": "two"}, "`float_rounding`"),
        ("gsm8k", {"float_rounding": 2}, "`gsm8k` has no settings"),
    ],
)
def test_a_mistake_is_named(profile: Profile, config: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verify("1", "1", profile=profile, config=config)


def test_texts_must_be_texts() -> None:
    with pytest.raises(TypeError, match="instance of 'str'"):
        verify(5, "5")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_any_text_is_taken() -> None:
    for text in ("\ud800", "\0", "5\ud800", "𝟝" * 1000, "(" * 100_000):
        assert isinstance(verify(text, text), Verification)


def test_a_batch_is_in_order() -> None:
    assert [verification.equal for verification in verify_batch(PAIRS)] == EQUAL
    assert verify_batch([]) == []
    assert verify_batch(iter(PAIRS[:1])) == [verify(*PAIRS[0])]


def test_many_threads_may_call_at_once() -> None:
    with ThreadPoolExecutor(16) as pool:
        one_by_one = [pool.submit(verify, *pair) for pair in PAIRS]
        batches = [pool.submit(verify_batch, PAIRS) for _ in range(8)]
        assert [one.result().equal for one in one_by_one] == EQUAL
        for batch in batches:
            assert [verification.equal for verification in batch.result()] == EQUAL


def test_other_threads_run_meanwhile() -> None:
    ticks = 0
    started, done = threading.Event(), threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            started.set()
            time.sleep(0.0001)

    def others_run_during(call: Callable[[], object]) -> bool:
        for _ in range(20):
            before = ticks
            call()
            if ticks > before:
                return True
        return False

    verifier = rules("strict")
    golds, preds = [gold for gold, _ in PAIRS * 5], [pred for _, pred in PAIRS * 5]
    thread = threading.Thread(target=tick)
    interval = sys.getswitchinterval()
    thread.start()
    assert started.wait(10)
    # No thread is made to give the lock away: another runs only where a call releases it.
    sys.setswitchinterval(1000)
    try:
        assert others_run_during(lambda: verifier.verify_batch(golds, preds))
        assert not others_run_during(lambda: sum(range(1_000_000)))
    finally:
        sys.setswitchinterval(interval)
        done.set()
        thread.join()


def test_a_forked_process_may_call_too() -> None:
    verify_batch(PAIRS)
    child = os.fork()
    if child == 0:
        os._exit(0 if [verification.equal for verification in verify_batch(PAIRS)] == EQUAL else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
