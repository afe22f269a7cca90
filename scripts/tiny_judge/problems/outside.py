"""Problems outside the domain, so that the judge learns to say so."""
from __future__ import annotations

import random
import re

from . import render, retell as told, words
from .composed import composed
from .core import Bank, Example, expand, lines
from .phrases import college, outside as phrases, outside_more as more, trained

SORTS = (*dict.fromkeys((*phrases.SORTS, *more.SORTS, *college.SORTS)), "size", "composed")


def _parts(text: str) -> list[list[str]]:
    return [re.split(r"\s+##\s+", line) for line in lines(text)]


def _banks(sorts: dict[str, str]) -> dict[str, Bank]:
    return {sort: Bank(_parts(text), key=lambda parts: parts[0]) for sort, text in sorts.items()}


_PLAIN, _VARIED = _banks(phrases.SORTS), _banks(more.SORTS | college.SORTS)
_TRAINED = {sort: _parts(text) for sort, text in trained.SORTS.items()}
_STEPS = Bank(lines(more.STEPS))
_PREFIXES, _REMARKS = Bank(lines(phrases.PREFIXES)), Bank(lines(phrases.REMARKS))
_FINALS = Bank(["The answer is {F}.", "\\boxed{F}", "#### {F}", "Answer: {F}", "**{F}**", "So {F}.", "Therefore, the answer is $\\boxed{F}$.",
                "Final answer: {F}", "{F}", "Hence {F}.", "ans: {F}"])


def outside(rng: random.Random, split: str, sort: str | None = None) -> Example:
    """A problem that is none of the judge's business."""
    sort = sort or rng.choice(SORTS + ("size",) + ("composed",) * 6 + ("college",) * 7)
    if sort == "size":
        return _oversized(rng, split)
    if sort == "composed":
        from .questions import problem

        sort, *texts = composed(rng, split, problem(rng, split).question)
        return _example(rng, sort, *texts)
    if sort in _VARIED and (sort not in _PLAIN or rng.random() < 0.7):
        more_of_it = split != "heldout" and sort in _TRAINED and rng.random() < (0.35 if sort == "college" else 0.25)
        question, answer, reference = rng.choice(_TRAINED[sort]) if more_of_it else _VARIED[sort].pick(rng, split)
        question = expand(question, rng)
        if sort == "college":
            answer, reference = expand(answer, rng), expand(reference, rng)
    else:
        question, answer, reference = _PLAIN[sort].pick(rng, split)
    if answer == "*" or rng.random() < 0.1:
        answer = _arithmetic(rng, split)
    if (sort in _VARIED or sort in _PLAIN) and sort not in ("knowledge", "code", "logic") and rng.random() < (0.4 if sort == "college" else 0.12):
        answer = _long(rng, split, question, answer)
    name = words.name(rng, split)[0]
    letters = rng.sample("xyzntabkm", 2)
    top = rng.choice((12, 20, 99, 99, 200))
    numbers = {c: str(rng.randint(2, top)) for c in "abcdefvw"}
    large = str(rng.randint(201, 999)) if sort == "college" else ""

    def fill(text: str) -> str:
        text = re.sub(r"\{L\}", lambda _: large or str(rng.randint(201, 999)), text)
        return re.sub(r"\{([a-fv-yN])\}", lambda m: name if m[1] == "N" else letters["xy".index(m[1])] if m[1] in "xy" else numbers[m[1]], text)

    question, answer, reference = (fill(t) for t in (question, answer, reference))
    u = rng.random()
    if u < 0.08:
        question = fill(_PREFIXES.pick(rng, split)) + " " + question
    elif u < 0.12:
        question = question.lower()
    u = rng.random()
    if u < 0.15:
        answer = reference
    elif u < 0.25:
        answer = f"{_REMARKS.pick(rng, split)} {answer}"
    elif u < 0.33:
        answer = f"{answer}\n{_REMARKS.pick(rng, split)}"
    elif u < 0.37:
        answer = _REMARKS.pick(rng, split)
    elif u < 0.42:
        answer = f"$${answer}$$"
    elif u < 0.45:
        answer = render.CONTENT_FREE.pick(rng, split)
    if rng.random() < 0.6:
        value = reference if rng.random() < 0.7 else str(rng.randint(2, 99))
        frame = _FINALS.pick(rng, split).replace("\\boxed{F}", "\\boxed{{F}}")
        answer += rng.choice(("\n", " ", "\n\n")) + frame.replace("{F}", value)
    return _example(rng, sort, question, answer, reference)


def _long(rng: random.Random, split: str, question: str, answer: str) -> str:
    """The answer in a model's manner, in steps with headings and remarks: length and form tell nothing about the domain."""
    parts = [rng.choice(told.OPENERS)] if rng.random() < 0.6 else []
    if rng.random() < 0.4:
        parts.append(rng.choice((question, f"We are asked: {question}", f"{rng.choice(told.RESTATE)}\n- {question}")))
    steps, head = answer.split("\n"), rng.choice(told.STEPHEADS)
    for _ in range(rng.choice((0, 0, 1, 2, 3))):
        steps.insert(rng.randrange(len(steps) + 1), _STEPS.pick(rng, split))
    for n, step in enumerate(steps, 1):
        mark = head.replace("{n}", str(n))
        parts.append(f"{mark}{rng.choice((' ', chr(10)))}{step}" + (" " + rng.choice(told.FILLERS) if rng.random() < 0.4 else ""))
    if rng.random() < 0.2:
        parts.append(rng.choice(told.CHECKS).format(_STEPS.pick(rng, split)))
    return rng.choice(("\n", "\n\n")).join(parts)


def _arithmetic(rng: random.Random, split: str) -> str:
    """Plain steps of arithmetic, as they stand in answers inside the domain too."""
    return rng.choice(("\n", "\n", " ", ", ")).join(_STEPS.pick(rng, split) for _ in range(rng.choice((1, 1, 2, 3))))


_EQUATION = re.compile(r"(?<![\w.^])(\d{1,4})(\s*)([-+*/×·÷x])(\s*)(\d{1,4})(\s*=\s*)(\d+)(?![\w.^])")


def _true(rng: random.Random, answer: str, reference: str) -> tuple[str, str]:
    """The answer with true values in its plain equations, and the reference changed alike: wrong arithmetic must not tell that a problem is outside."""
    changed: dict[str, str] = {}

    def compute(m: re.Match) -> str:
        a, b = (int(changed.get(n, n)) for n in (m[1], m[5]))
        value = {"+": a + b, "-": a - b}.get(m[3])
        if value is None:
            value = a * b if m[3] in "*×·x" else a // b if b and a % b == 0 else None
        if value is None or value < 0:
            return m[0]
        changed[m[7]] = str(value)
        return f"{a}{m[2]}{m[3]}{m[4]}{b}{m[6]}{value}"

    answer = _EQUATION.sub(compute, answer)
    if not changed or rng.random() < 0.2:
        return answer, reference
    last = list(changed)[-1]
    return re.sub(rf"(?<=[\n ]){last}(?=[.\n]?$)", changed[last], answer), re.sub(rf"(?<!\d){last}(?!\d)", changed[last], reference)


def _example(rng: random.Random, sort: str, question: str, answer: str, reference: str) -> Example:
    if sort != "size" and rng.random() < 0.75:
        answer, reference = _true(rng, answer, reference)
    return Example(question, answer, reference, f"outside_{sort}", False, False, False, (), (), None, frozenset(), sort, inside=False)


def _oversized(rng: random.Random, split: str) -> Example:
    """A problem of the domain with numbers beyond it: more digits or more decimals."""
    from .kinds import build

    e = build(rng, split, None, False, None, None)
    tail = rng.choice(("{}{}{}{}{}{}", "{}{}0000{}", "0000000", "{}000000", ".{}{}{}{}{}", ".{}{}{}{}{}{}"))
    share = 1.0 if tail == "0000000" else 0.8

    def grow(found: re.Match) -> str:
        text = found[0].replace(",", "")
        if text.startswith("0") or "." in text or len(text) < 2 or rng.random() > share:
            return found[0]
        while len(text) < 3 and "." not in tail:
            text += str(rng.randint(0, 9))
        text += re.sub(r"\{\}", lambda _: str(rng.randint(1, 9)), tail)
        text = text if "." in text or len(text) > 7 else text + "000000"
        return f"{int(text):,}" if "." not in text and rng.random() < 0.4 else text

    number = re.compile(r"(?<![\d:.])\d[\d,]*\d(?![\d:.%]*[:%])")
    question, answer, ref = (number.sub(grow, t) for t in (e.question, e.student_answer, e.reference_answer))
    big = re.search(r"\d{8}|\d\d,\d{3},\d|\.\d{5}", question)
    if not big:
        return _oversized(rng, split)
    return _example(rng, "size", question, answer, ref)
