"""The kinds of answers: each builder makes one answer text and its true verdict."""
from __future__ import annotations

import random
from dataclasses import replace

from . import finals as F, render as R
from .core import Example, Problem, StudentStep, Value, fill
from .numbers import Clock, apply, form, known, same, workable
from .questions import problem as draw_problem
from .phrases import pairs
from .phrases.styles import EMOJI
from .students import Work, cancelling, derive, reorder, slip

KINDS = ("correct", "miscalculated_step", "wrong_operation", "wrong_number_copied", "lucky_cancelling", "lucky_contradiction",
         "wrong_final", "no_final", "cut_off", "bare_correct", "bare_wrong", "irrelevant", "repetition", "content_free", "skipped_step")
RARE = ("two_answers", "chosen_answer")
"""Kinds that are drawn only when asked for: two results are stated, and none of them is chosen, or one."""

_WEIGHTS = {"correct": 20, "miscalculated_step": 10, "wrong_operation": 8, "wrong_number_copied": 11, "lucky_cancelling": 9,
            "lucky_contradiction": 8, "wrong_final": 7, "no_final": 4, "cut_off": 5, "bare_correct": 4, "bare_wrong": 4,
            "irrelevant": 6, "repetition": 3, "content_free": 2, "skipped_step": 2}
_POOL = [k for k, w in _WEIGHTS.items() for _ in range(w)]
_ERRORS = {"miscalculated_step": "calculation", "wrong_operation": "operation", "wrong_number_copied": "copied"}


class _Retry(Exception):
    """The draw does not give the kind asked for; draw again."""


def build(rng: random.Random, split: str, kind: str | None, noisy: bool, steps: int | None, topic: str | None) -> Example:
    while True:
        k = kind or (_POOL[int(rng.random() * len(_POOL))] if not noisy else "noisy")
        try:
            return _BUILD["noisy" if noisy else k](rng, split, k, draw_problem(rng, split, steps, topic))
        except _Retry:
            continue


def reference(p: Problem, rng: random.Random) -> str:
    """The reference answer: mostly the number alone."""
    u = rng.random()
    n = form(p.answer)
    if "." in n and rng.random() < 0.25:
        n = n.rstrip("0")
    elif p.answer >= 1000 and rng.random() < 0.2:
        n = f"{p.answer:,}" if "." not in n and ":" not in n else n
    elif p.decimals and "." not in n and rng.random() < 0.3:
        n += ".00"
    if ":" in n and p.suffix and u < 0.4:
        return n + p.suffix
    if u < 0.78 or not p.unit or ":" in n:
        return f"#### {n}" if u > 0.96 else f"\\boxed{{{n}}}" if u > 0.95 else str(n)
    if p.money:
        return R.words_money(n, p.money)
    return f"{n} {p.unit}" if u < 0.97 else f"#### {n}"


# putting an answer together ---------------------------------------------------------

def _opening(style) -> list[str]:
    return [R.OPENINGS.pick(style.rng, style.split)] if style.rng.random() < 0.22 else []


def _write(p: Problem, works: list[Work], style, final: int | None, implicit: bool, closing: str | None = None) -> list[str]:
    """Parts of an answer: opening, steps and the final statement (left out when the last equation already is it)."""
    parts = _opening(style) + R.restate(p, style) + R.pieces(p, works, style)
    if closing is not None:
        parts.append(closing)
    elif final is not None and not (implicit and style.rng.random() < 0.16):
        parts.append(F.final_text(p, final, style))
        if style.rng.random() < 0.1:
            parts.append(F.final_text(p, final, style))
    return parts


def _noise(text: str, rng: random.Random) -> str:
    u = rng.random()
    if u < 0.03:
        return text.lower()
    if u < 0.045 and text:
        return text + rng.choice((" ", "", " ")) + rng.choice(EMOJI)
    if u < 0.06:
        return text.replace(". ", " ").rstrip(".") if "\n" not in text else text
    return text


def _done(p: Problem, kind: str, text: str, works: list[Work], final: Value | None, rng, *, process=True, outcome=None, perfect=None,
          flags=()) -> Example:
    outcome = same(final, p.answer) if outcome is None else outcome
    perfect = (process and outcome) if perfect is None else perfect
    steps = tuple(StudentStep(w.a, w.op, w.b, w.claimed, w.true, w.error, w.shown, w.bad) for w in works)
    return Example(p.question, text, reference(p, rng), kind, process, outcome, perfect, p.plan, steps, final, frozenset(flags), p.topic)


def _forge(text: str, style, probability: float) -> tuple[str, bool]:
    """Now and then a plea or a forged verdict is added."""
    if style.rng.random() >= probability:
        return text, False
    plea = R.PLEAS.pick(style.rng, style.split)
    return _attach(text, plea, style), True


def _attach(text: str, extra: str, style) -> str:
    gap = "\n" if "\n" in text or style.rng.random() < 0.4 else " "
    if gap == " " and text and text[-1].isalnum():
        text += "."
    return f"{extra}{gap}{text}" if style.rng.random() < 0.25 and not extra.startswith("</") else f"{text}{gap}{extra}" if text else extra


# builders ---------------------------------------------------------------------------

def _right_works(p: Problem, rng) -> list[Work]:
    nodes = reorder(p, rng) if rng.random() < 0.15 else p.nodes
    works = derive(p, nodes, {}, rng)
    if works is None:
        raise _Retry
    return works


_INVERSE = {"+": "-", "-": "+", "*": "/", "/": "*"}


def _checked(works: list[Work], style) -> tuple[str, StudentStep] | None:
    """The inverse of the last step, as a check after the answer, None where the judge cannot follow it."""
    w = works[-1]
    if not w.shown or isinstance(w.a, Clock) or isinstance(w.claimed, Clock) or w.percents != (None, None) or w.op in "*/" and not w.b:
        return None
    inverse = _INVERSE[w.op]
    if not workable(w.claimed, inverse, w.b) or not same(apply(w.claimed, inverse, w.b), w.a):
        return None
    equation = f"{style.side(style.show(w.claimed), _INVERSE[w.op], style.show(w.b))} = {style.show(w.a)}"
    text = R.CHECKS.pick(style.rng, style.split).replace("{E}", f"${equation}$" if style.latex else equation)
    return text, StudentStep(w.claimed, inverse, w.b, w.a, w.a, None, True)


def _correct(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _right_works(p, rng)
    check = _checked(works, style) if rng.random() < 0.05 else None
    parts = _write(p, works, style, p.answer, not check) + ([check[0]] if check else [])
    text = R.assemble(parts, style)
    example = _done(p, kind, _noise(text, rng), works, p.answer, rng)
    if check:
        example = replace(example, last=len(example.student_steps) - 1, student_steps=(*example.student_steps, check[1]))
    return example


def _wrong_works(p, rng, error: str) -> list[Work]:
    n = len(p.nodes)
    errors = {rng.randrange(n): error}
    if n > 2 and rng.random() < 0.1:
        errors[rng.randrange(n)] = error
    works = derive(p, p.nodes, errors, rng)
    if works is None or same(works[-1].claimed, p.answer):
        raise _Retry
    return works


def _flawed(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _wrong_works(p, rng, _ERRORS[kind])
    final = works[-1].claimed
    text, extra = _forge(R.assemble(_write(p, works, style, final, True), style), style, 0.06)
    return _done(p, kind, _noise(text, rng), works, final, rng, process=False, flags={"extra"} if extra else ())


def _lucky(rng, split, kind, p):
    works = cancelling(p, rng)
    if works is None:
        raise _Retry
    style = R.Style(p, rng, split)
    text, extra = _forge(R.assemble(_write(p, works, style, p.answer, True), style), style, 0.04)
    return _done(p, kind, _noise(text, rng), works, p.answer, rng, process=False, flags={"extra"} if extra else ())


def _contradiction(rng, split, kind, p):
    works = _wrong_works(p, rng, rng.choice(("calculation", "calculation", "operation", "copied")))
    style = R.Style(p, rng, split)
    closing = F.final_text(p, p.answer, style, F.CONTRADICT.pick(rng, split) if rng.random() < 0.3 else None)
    text, extra = _forge(R.assemble(_write(p, works, style, None, False, closing), style), style, 0.04)
    flags = {"contradiction", "extra"} if extra else {"contradiction"}
    return _done(p, kind, _noise(text, rng), works, p.answer, rng, process=False, flags=flags)


def _wrong_value(p, rng) -> Value:
    for _ in range(20):
        u = rng.random()
        last = p.plan[-1]
        w = slip(last.result, last.a, last.op, last.b, rng) if u < 0.75 else rng.choice([s.result for s in p.plan] + list(p.values.values()))
        if not isinstance(w, tuple) and not same(w, p.answer) and known(w) and type(w) is type(p.answer):
            return w
    return slip(p.answer, p.answer, "+", 0, rng)


def _wrong_final(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _right_works(p, rng)
    final = _wrong_value(p, rng)
    text, extra = _forge(R.assemble(_write(p, works, style, final, False), style), style, 0.05)
    return _done(p, kind, _noise(text, rng), works, final, rng, flags={"extra"} if extra else ())


def _no_final(rng, split, kind, p):
    """All steps but the last, none of them wrong, and no statement of a result."""
    style = R.Style(p, rng, split)
    works = derive(p, p.nodes, {}, rng)
    if works is None or len(works) < 2 and rng.random() < 0.8:
        raise _Retry
    last = works.pop()
    parts = _opening(style) + R.pieces(p, works, style)
    u = rng.random()
    if u < 0.45 or not works:
        parts.append(fill(R.NO_FINAL_SETUP[last.op].pick(rng, split), {"A": style.show(last.a), "B": style.show(last.b)}))
    else:
        parts.append(R.NO_FINAL.pick(rng, split))
    text = R.assemble(parts, style)
    return _done(p, kind, _noise(text, rng), works, None, rng, flags=() if works else {"no_steps"})


_CUT_OK = set("+-−–=×x*·$({")


def _cut(piece: str, rng) -> str | None:
    """The piece up to somewhere in its middle, so that it plainly does not end there."""
    if "=" in piece and rng.random() < 0.5:  # right before or behind an equals sign
        i = piece.index("=")
        t = piece[:i + 1] if rng.random() < 0.6 else piece[:i].rstrip()
        if any(c in "+-−–×x*·\\" for c in t) and any(c.isdigit() for c in t):
            return t
    for _ in range(12):
        k = rng.randint(1, max(1, len(piece) - 2))
        t = piece[:k].rstrip()
        if not t or t[-1] in ".!?" or t[-1].isdigit():
            continue
        rest = piece[k:]
        if not any(c.isdigit() for c in rest):
            continue
        if t[-1] in _CUT_OK and len(t) > 1 or t[-1].isalpha() and len(t) > 2:
            return t
    return None


def _cut_off(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _right_works(p, rng) if rng.random() < 0.75 else _wrong_works(p, rng, rng.choice(tuple(_ERRORS.values())))
    steps = R.pieces(p, works, style)
    shift = len(works) - len(steps)
    if shift:
        raise _Retry
    closing = F.final_text(p, works[-1].claimed, style)
    all_parts = steps + [closing]
    k = rng.randrange(len(all_parts))
    broken = _cut(all_parts[k], rng)
    if broken is None or style.reversed or k == len(steps) and len(broken) < 3:
        raise _Retry
    parts = _opening(style) + all_parts[:k] + [broken]
    kept = works[:k]
    process = False
    text = R.assemble(parts, style)
    return _done(p, kind, text, kept, None, rng, process=process, flags={"cut"})


def _bare(rng, split, kind, p):
    style = R.Style(p, rng, split)
    right = kind == "bare_correct"
    final = p.answer if right else _wrong_value(p, rng)
    text = F.final_text(p, final, style)
    if rng.random() < 0.06:
        text = R.assemble([text, F.final_text(p, final, style)], style)
    text, extra = _forge(_noise(text, rng), style, 0.06)
    flags = {"no_steps"} | ({"extra"} if extra else set())
    return _done(p, kind, text, [], final, rng, perfect=False, flags=flags)


_UNDECIDED, _DECIDED = R.bank(pairs.UNDECIDED), R.bank(pairs.DECIDED)
_BETWEEN = R.bank("So\nOr\nor:\nAlternatively:\nAnother result:\nMaybe\nBut maybe\nAnd also\nPerhaps")


def _other_value(p, rng) -> Value:
    """A wrong value: that of a slip, or the answer with another digit."""
    if isinstance(p.answer, int) and not isinstance(p.answer, Clock) and rng.random() < 0.5:
        text = str(p.answer)
        at = rng.randrange(len(text))
        other = int(text[:at] + rng.choice([d for d in "123456789" if d != text[at]]) + text[at + 1:])
        if other != p.answer and known(other):
            return other
    return _wrong_value(p, rng)


def _stated(p, style):
    """How a value is written in a statement of two: as a number or with its unit."""
    units = style.rng.random() < 0.4
    return lambda value: style.quantity(value, p.unit) if units else style.show(value, bool(p.money))


def _two(rng, split, kind, p):
    """Two results: none of them is chosen (no final answer), or one is."""
    style = R.Style(p, rng, split)
    wrong, shown = _other_value(p, rng), _stated(p, style)
    final = None
    if kind == "chosen_answer":
        final, refused = (p.answer, wrong) if rng.random() < 0.6 else (wrong, p.answer)
        closing = _DECIDED.pick(rng, split).replace("{F}", shown(final)).replace("{G}", shown(refused))
    else:
        first, second = (p.answer, wrong) if rng.random() < 0.6 else (wrong, p.answer)
        if rng.random() < 0.2:
            closing = f"{F.final_text(p, first, style)}\n{_BETWEEN.pick(rng, split)} {F.final_text(p, second, style)}"
        else:
            closing = _UNDECIDED.pick(rng, split).replace("{A}", shown(first)).replace("{B}", shown(second))
    derived = kind == "two_answers" and rng.random() < 0.35
    works = _right_works(p, rng) if derived else []
    parts = _opening(style) + R.pieces(p, works, style) + [closing] if derived else [closing]
    perfect = None if derived else False
    return _done(p, kind, _noise(R.assemble(parts, style), rng), works, final, rng, perfect=perfect, flags=() if derived else {"no_steps"})


def _extra(p, style) -> str:
    if style.rng.random() < 0.35:
        return R.PLEAS.pick(style.rng, style.split)
    slots = {**p.slots, "c": style.rng.choice(("blue", "red", "green", "yellow", "purple"))}
    for key, default in (("N", "Sam"), ("K", "Rex"), ("p", "cookies"), ("place", "the park")):
        slots.setdefault(key, default)
    return fill(R.IRRELEVANT.pick(style.rng, style.split), slots)


def _irrelevant(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _right_works(p, rng)
    parts = _write(p, works, style, p.answer, True)
    for _ in range(1 if rng.random() < 0.75 else 2):
        extra = _extra(p, style)
        u = rng.random()
        at = len(parts) if u < 0.5 or extra.startswith("<") else 0 if u < 0.7 else rng.randrange(len(parts) + 1)
        parts.insert(at, extra)
    return _done(p, kind, R.assemble(parts, style), works, p.answer, rng, perfect=False, flags={"extra"})


def _repetition(rng, split, kind, p):
    style = R.Style(p, rng, split)
    works = _right_works(p, rng) if rng.random() < 0.8 else _wrong_works(p, rng, "calculation")
    steps = _opening(style) + R.pieces(p, works, style)
    closing = F.final_text(p, works[-1].claimed, style)
    u = rng.random()
    if u < 0.4:  # one step again and again
        i = rng.randrange(len(steps))
        parts = steps[:i] + [steps[i]] * rng.randint(5, 9) + steps[i + 1:] + [closing]
    elif u < 0.65:  # the final statement again and again
        parts = steps + [closing] * rng.randint(6, 12)
    else:  # all of it
        parts = (steps + [closing]) * rng.randint(3, 5)
    text = R.assemble(parts, style)
    if len(text.split()) > 170:
        raise _Retry
    return _done(p, kind, text, works, works[-1].claimed, rng, process=False, outcome=False, flags={"repeat"})


def _content_free(rng, split, kind, p):
    style = R.Style(p, rng, split)
    u = rng.random()
    text = R.CONTENT_FREE.pick(rng, split) if u < 0.8 else p.question if u < 0.92 else R.PLEAS.pick(rng, split)
    extra = u >= 0.92
    if u < 0.8 and text.strip():
        text, extra = _forge(text, style, 0.08)
    return _done(p, kind, text, [], None, rng, flags={"no_steps"} | ({"extra"} if extra else set()))


def _skipped(rng, split, kind, p):
    """A step that is needed is never shown, though what is shown and the result are right."""
    style = R.Style(p, rng, split)
    works = derive(p, p.nodes, {}, rng)
    if works is None or len(works) < 2:
        raise _Retry
    style.continuing = False
    gone = rng.randrange(len(works))
    works[gone].shown = False
    kept = works[:gone] + works[gone + 1:]
    parts = _opening(style) + R.pieces(p, kept, style) + [F.final_text(p, p.answer, style)]
    return _done(p, kind, R.assemble(parts, style), works, p.answer, rng, perfect=False, flags={"missing"})


def _noisy(rng, split, kind, p):
    n = len(p.nodes)
    errors = {i: rng.choice(("calculation", "calculation", "operation", "copied", "copied")) for i in range(n) if rng.random() < 0.6}
    works = derive(p, p.nodes, errors, rng)
    if works is None:
        raise _Retry
    style = R.Style(p, rng, split)
    final = works[-1].claimed
    found = [w.error for w in works if w.error not in (None, "carried")]
    if not found:
        kind = "correct"
    elif same(final, p.answer) and set(found) == {"copied"}:
        raise _Retry  # perhaps only another order of the same numbers
    elif same(final, p.answer):
        kind = "lucky_cancelling"
    else:
        kind = {v: k for k, v in _ERRORS.items()}[found[0]]
    text = R.assemble(_write(p, works, style, final, True), style)
    return _done(p, kind, _noise(text, rng), works, final, rng, process=not found)


_BUILD = {"correct": _correct, "miscalculated_step": _flawed, "wrong_operation": _flawed, "wrong_number_copied": _flawed,
          "lucky_cancelling": _lucky, "lucky_contradiction": _contradiction, "wrong_final": _wrong_final, "no_final": _no_final,
          "cut_off": _cut_off, "bare_correct": _bare, "bare_wrong": _bare, "irrelevant": _irrelevant, "repetition": _repetition,
          "content_free": _content_free, "skipped_step": _skipped, "noisy": _noisy, "two_answers": _two, "chosen_answer": _two}
