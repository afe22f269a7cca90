"""Check the generator: ``python -m problems.check [per_kind]`` from ``scripts/tiny_judge``.

Every invariant is recomputed here from the examples themselves. Prints three samples of every kind and the speed.
"""
from __future__ import annotations

import collections
import random
import re
import sys
import time
from fractions import Fraction

from . import KINDS, core, generate, outside, words
from .numbers import Clock, form, same
from .kinds import RARE
from .outside import SORTS

_LABELS = {  # kind: (process, outcome, perfect); None where it depends on the example
    "correct": (True, True, True), "miscalculated_step": (False, False, False), "wrong_operation": (False, False, False),
    "wrong_number_copied": (False, False, False), "lucky_cancelling": (False, True, False), "lucky_contradiction": (False, True, False),
    "wrong_final": (True, False, False), "no_final": (True, False, False), "cut_off": (False, False, False),
    "bare_correct": (True, True, False), "bare_wrong": (True, False, False), "irrelevant": (True, True, False),
    "repetition": (False, False, False), "content_free": (True, False, False), "skipped_step": (True, True, False),
    "two_answers": (True, False, False), "chosen_answer": (True, None, False)}
_FLAGS = {"no_steps", "cut", "repeat", "extra", "contradiction", "missing"}


def value(a, op: str, b):
    """``a op b``, computed anew."""
    exact = {"+": lambda: Fraction(a) + Fraction(b), "-": lambda: Fraction(a) - Fraction(b), "*": lambda: Fraction(a) * Fraction(b), "/": lambda: Fraction(a) / Fraction(b)}[op]()
    return Clock(exact) if op in "+-" and isinstance(a, Clock) and not isinstance(b, Clock) else exact


def states(text: str, n) -> bool:
    """Whether a text mentions a number, in digits or in words."""
    plain = text.replace("{,}", "").replace(",", "")
    shapes = {form(n)} | ({form(n).rstrip("0"), form(n).rstrip("0").rstrip(".")} if "." in form(n) else {form(n) + ".00"})
    found = any(re.search(rf"(?<![\d.]){re.escape(shape)}(?!\d)", plain) for shape in shapes)
    percent = not isinstance(n, Clock) and re.search(rf"(?<![\d.]){re.escape(form(core.exact(Fraction(n) * 100)))}(\\?%| percent|/100|\}})", plain)
    return bool(found or percent or isinstance(n, int) and n < 100 and words.spelled(n) in text.lower())


def check(e, noisy: bool = False) -> None:
    """All that must hold for one example."""
    from layout import flaw, reason, target

    def need(ok, what):
        if not ok:
            raise AssertionError(f"{what}\n{e}")

    need(e.plan, "a plan")
    for s in e.plan:
        need(same(s.result, value(s.a, s.op, s.b)), "plan arithmetic")
    answer = e.plan[-1].result
    need(states(e.reference_answer, answer), "reference holds the answer")
    if e.kind not in ("cut_off", "repetition"):
        need(e.outcome == (e.final is not None and same(e.final, answer)), "outcome is final == reference")
    need(not e.perfect or e.process and e.outcome, "perfect implies both")
    if not noisy:
        labels = zip((e.process, e.outcome, e.perfect), _LABELS[e.kind])
        need(all(wanted in (None, found) for found, wanted in labels), "labels of the kind")
    need(e.flags <= _FLAGS, "known flags")
    own = [s for s in e.student_steps if s.error not in (None, "carried")]
    for s in e.student_steps:
        need(same(s.true, value(s.a, s.op, s.b)), "true value of a step")
        need((s.error == "calculation") <= (not same(s.claimed, s.true)), "a calculation error changes the value")
        need(s.error in ("calculation", "copied", "operation") or same(s.claimed, s.true), "no hidden calculation error")
        need(s.shown or same(s.claimed, s.true), "hidden results are right")
        if s.shown:
            need(states(e.student_answer, s.claimed) or e.kind == "cut_off", "a shown result is in the text")
    if e.kind not in ("cut_off", "repetition"):
        need(e.process == (not own), "process is False just when a step is wrong")
        need((flaw(e) is None) == e.process, "the trace names a flaw just when the process is False")
    if e.final is not None:
        need(states(e.student_answer, e.final), "the final answer is stated")
    if e.kind in ("correct", "irrelevant", "lucky_cancelling"):
        need(same(e.reached, answer), "the derivation ends right")
    if e.kind == "lucky_contradiction" or e.kind.startswith(("miscalculated", "wrong_op", "wrong_number")):
        need(not same(e.reached, answer), "the derivation ends elsewhere")
    if e.kind == "cut_off":
        need(e.student_answer[-1] not in ".!?" and e.flags == {"cut"}, "plainly cut")
    if e.kind.startswith("bare"):
        need("no_steps" in e.flags and not e.student_steps, "no steps")
    need(len(e.question.split()) <= 210, "question too long")
    need(len(e.student_answer.split()) <= 260, "answer too long")
    for text in (e.question, e.student_answer, e.reference_answer):
        need(not re.search(r"\{[A-Zo-p$]x?\}|\{(he|his|him|boxes|box|bags?|who|place|day)\}|\[#| ## (?!Question)", text.replace("boxed{", "")), "an unfilled slot")
    text = reason(e)
    for a, op, b, c in re.findall(r"(?<![\d.:x])([\d.:]+) ([-+x/]) ([\d.:]+) is (?!not|neither)([\d.:]+?)(?=[,.]? )", text):
        if ":" not in a + b + c:
            need(value(Fraction(a), op.replace("x", "*"), Fraction(b)) == Fraction(c.rstrip(".")), "the reason computes right")
    target(e, True)


def main() -> None:
    per_kind = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for bank in core.Bank.all:
        if bank.train is not bank.held:
            shared = {id(i) for i in bank.train} & {id(i) for i in bank.held}
            assert not shared and not {str(i) for i in bank.train} & {str(i) for i in bank.held}, "a phrase in both parts"
    held = {(id(b), id(i)) for b in core.Bank.all if b.train is not b.held for i in b.held}
    texts: dict[str, set] = {}
    for split in ("train", "domain", "heldout"):
        rng = random.Random(split)
        core.Bank.trace = trace = set()
        for kind in (*KINDS, *RARE):
            for _ in range(per_kind):
                e = generate(rng, split=split, kind=kind)
                assert e.kind == kind
                check(e)
                texts.setdefault(split, set()).add(e.question)
        for steps in (1, 2, 3, 4, 5, 6):
            for _ in range(per_kind // 5):
                e = generate(rng, split=split, steps=steps)
                assert len(e.plan) == steps
                check(e)
        if split == "train":
            for _ in range(per_kind * 3):
                check(generate(rng, split=split, noisy=True), noisy=True)
        for sort in SORTS:
            for _ in range(per_kind // 10):
                outside(rng, split, sort)
        core.Bank.trace = None
        if split != "heldout":
            assert not trace & held, "a held-out phrase was used in training"
        else:
            divided = {id(b) for b in core.Bank.all if b.train is not b.held}
            assert all(t in held for t in trace if t[0] in divided), "a training phrase was used in the held-out part"
        print(f"{split}: ok")
    rng = random.Random(1)
    for kind in (*KINDS, *RARE):
        for split in ("train", "train", "heldout"):
            e = generate(rng, split=split, kind=kind)
            print(f"\n--- {kind} ({split}) process {e.process} outcome {e.outcome} perfect {e.perfect}")
            print(f"Q: {e.question}\nR: {e.reference_answer}\nA: {e.student_answer}")
    start = time.time()
    kinds = collections.Counter(generate(rng, split="train").kind for _ in range(5000))
    print(f"\n{5000 / (time.time() - start):.0f} examples/s; {dict(kinds)}")


if __name__ == "__main__":
    main()
