"""Check the generator: ``python -m problems.check [per_kind]`` from ``scripts/tiny_judge``.

Every invariant is recomputed here from the examples themselves. Prints three samples of every kind and the speed.
"""
from __future__ import annotations

import collections
import random
import re
import sys
import time

from . import KINDS, core, generate, words

_LABELS = {  # kind: (process, outcome, perfect); None where it depends on the example
    "correct": (True, True, True), "miscalculated_step": (False, False, False), "wrong_operation": (False, False, False),
    "wrong_number_copied": (False, False, False), "lucky_cancelling": (False, True, False), "lucky_contradiction": (False, True, False),
    "wrong_final": (True, False, False), "no_final": (True, False, False), "cut_off": (False, False, False),
    "bare_correct": (True, True, False), "bare_wrong": (True, False, False), "irrelevant": (True, True, False),
    "repetition": (False, False, False), "content_free": (True, False, False), "skipped_step": (True, True, False)}
_FLAGS = {"no_steps", "cut", "repeat", "extra", "contradiction"}
_VALUE = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
_SPELLED = {words.spelled(n): n for n in range(100)} | {"twice": 2, "dozen": 12, "both": 2, "week": 7, "half": 2}


def numbers(text: str) -> set[int]:
    """All numbers a text mentions, in digits or words."""
    found = {int(d) for d in re.findall(r"\d+", text)}
    return found | {n for w, n in _SPELLED.items() if re.search(rf"\b{w}\b", text.lower())}


def states(text: str, value: int) -> bool:
    return re.search(rf"(?<!\d){value}(?!\d)", text) is not None or value < 100 and words.spelled(value) in text.lower()


def check(e, split: str, noisy: bool = False) -> None:
    """All that must hold for one example."""
    def need(ok, what):
        if not ok:
            raise AssertionError(f"{what}\n{e}")

    need(e.plan, "a plan")
    for s in e.plan:
        need(s.result == _VALUE[s.op](s.a, s.b) and 0 <= s.result <= 199, "plan arithmetic")
    answer = e.plan[-1].result
    need(str(answer) in re.findall(r"\d+", e.reference_answer), "reference holds the answer")
    need(len(re.findall(r"\d+", e.reference_answer)) == 1, "one number in the reference")
    if e.kind not in ("cut_off", "repetition"):
        need(e.outcome == (e.final == answer), "outcome is final == reference")
    need(not e.perfect or e.process and e.outcome, "perfect implies both")
    if not noisy:
        need((e.process, e.outcome, e.perfect) == _LABELS[e.kind], "labels of the kind")
    need(e.flags <= _FLAGS, "known flags")
    need(e.reason.strip() and "\n" not in e.reason, "a reason")
    own = [s for s in e.student_steps if s.error not in (None, "carried")]
    for s in e.student_steps:
        need(s.true == _VALUE[s.op](s.a, s.b), "true value of a step")
        need((s.error == "calculation") <= (s.claimed != s.true), "a calculation error changes the value")
        need(s.error in ("calculation", "copied", "operation") or s.claimed == s.true, "no hidden calculation error")
        if s.shown:
            need(states(e.student_answer, s.claimed) or e.kind == "cut_off", "a shown result is in the text")
        need(s.shown or s.claimed == s.true, "hidden results are right")
    if e.kind not in ("cut_off", "repetition"):
        need(e.process == (not own), "process is False just when a step is wrong")
    if e.process:
        need(all(s.error is None for s in e.student_steps), "no errors in a right process")
    if e.final is not None:
        need(states(e.student_answer, e.final), "the final answer is stated")
    if e.kind in ("correct", "irrelevant"):
        need(e.student_steps[-1].claimed == answer and len(e.student_steps) == len(e.plan), "all steps there")
    if e.kind == "lucky_contradiction":
        need(e.student_steps[-1].claimed != answer, "the derivation ends elsewhere")
    if e.kind == "lucky_cancelling":
        need(e.student_steps[-1].claimed == answer, "the derivation ends right")
    if e.kind in _LABELS and e.kind.startswith(("miscalculated", "wrong_op", "wrong_number")):
        need(e.student_steps[-1].claimed == e.final != answer, "the error is carried to the end")
    if e.kind == "no_final":
        need(len(e.student_steps) < len(e.plan), "the last step is missing")
    if e.kind == "cut_off":
        need(e.student_answer[-1] not in ".!?" and e.flags == {"cut"}, "plainly cut")
    if e.kind.startswith("bare"):
        need("no_steps" in e.flags and not e.student_steps, "no steps")
    given = numbers(e.question)
    results = [s.result for s in e.plan]
    for s in e.plan:
        for v in (s.a, s.b):
            need(v in given or v in results or v in (2, 3, 4, 5, 7, 8, 10, 12), "the numbers of the plan are in the question")
    need(len(e.question.split()) <= 95, "question too long")
    need(len(e.student_answer.split()) <= (185 if e.kind == "repetition" else 135), "answer too long")
    for text in (e.question, e.student_answer, e.reference_answer):
        need(not re.search(r"\{[A-Za-z$]+x?\}|\[#|##[^#]", text.replace("boxed{", "")) or "####" in text or "###" in text, "an unfilled slot")
    need("<" not in e.question + e.reference_answer, "no tags outside the answer")


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
        for kind in KINDS:
            for _ in range(per_kind):
                e = generate(rng, split=split, kind=kind)
                assert e.kind == kind
                check(e, split)
                texts.setdefault(split, set()).add(e.question)
        for steps in (1, 2, 3, 4, 5):
            for _ in range(per_kind // 5):
                e = generate(rng, split=split, steps=steps)
                assert len(e.plan) == steps
                check(e, split)
        if split == "train":
            for _ in range(per_kind * 3):
                check(generate(rng, split=split, noisy=True), split, noisy=True)
        core.Bank.trace = None
        if split != "heldout":
            assert not trace & held, "a held-out phrase was used in training"
        else:
            divided = {id(b) for b in core.Bank.all if b.train is not b.held}
            assert all(t in held for t in trace if t[0] in divided), "a training phrase was used in the held-out part"
        print(f"{split}: ok")
    rng = random.Random(1)
    for kind in KINDS:
        for split in ("train", "train", "heldout"):
            e = generate(rng, split=split, kind=kind)
            print(f"\n--- {kind} ({split}) process {e.process} outcome {e.outcome} perfect {e.perfect} | {e.reason}")
            print(f"Q: {e.question}\nR: {e.reference_answer}\nA: {e.student_answer}")
    start = time.time()
    kinds = collections.Counter(generate(rng, split="train").kind for _ in range(5000))
    print(f"\n{5000 / (time.time() - start):.0f} examples/s; {dict(kinds)}")


if __name__ == "__main__":
    main()
