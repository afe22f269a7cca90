"""What the tiny judge reads and writes: prompt segments, thinking and verdict.

The prompt is the text of `prompts/prime.txt` in the chat template, token for token as the
`juror` binary builds it: trusted segments are tokenised with the added tokens, each text
under judgement alone and without them.

The thinking is a fixed little protocol:

    domain in                       or: domain out, and nothing but the verdict follows
    num 24,15,3,50                  the numbers of the question
    24q+15q=39,39 ok                per step: the operation as written, its value, the student's value
    39s*12k=390+78=468,468 ok       long multiplication by partial products
    468s/3q,156*3=450+18=468 ok     a quotient is checked by multiplication
    156s-40x=116,115 no             q from the question, s an earlier step, k known, x from nowhere
    last 115,50 no                  the value of the last step before a check, the reference
    end 50,50 ok                    the final answer, the reference
    flaw 4 copy                     none, or the first step that is wrong: calc, copy, fit
    flags none                      or: no_steps missing cut repeat extra contradiction

Every decision is a comparison of two neighbours, followed at once by its verdict. That the
derivation is sound follows from its steps, the origin of their numbers and where they end,
not from a plan of the judge's own: a phrase that it does not understand does no harm.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from problems import Example, StudentStep
from problems.numbers import Clock, apply, exact, form, partials, rounded, same
from problems.reading import listed

PROMPT = (Path(__file__).resolve().parents[2] / "prompts" / "prime.txt").read_text().rstrip("\n")
FIELDS = ("question", "student_answer", "reference_answer")
RESERVED = re.compile(
    r"<(?=\s*/?\s*(?:question|student_answer|reference_answer|few_shots|process|outcome|perfect"
    r"|reason|think|thinking|analysis|result|overall|verdict)\b)",
    re.IGNORECASE,
)
FLAGS = ("no_steps", "missing", "cut", "repeat", "extra", "contradiction")


class Piece(NamedTuple):
    """A part of the target. `role` names what it is for the statistics; '' means no loss."""

    text: str
    role: str


def neutralise(text: str) -> str:
    """A text under judgement, unable to look like one of the protocol's tags."""
    return RESERVED.sub("‹", text)


def segments(short: bool = False) -> list[str]:
    """The four trusted segments around the three texts under judgement.

    With `short`, only the frame of the fields is left: the cheap prompt of the first stage.
    """
    prompt = PROMPT.replace("{{ few_shots }}", "")
    if short:
        prompt = prompt[prompt.index("# Task") :]
    text = f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
    parts = []
    for field in FIELDS:
        before, text = text.split(f"{{{{ {field} }}}}")
        parts.append(before)
    return [*parts, text]


def sources(example: Example) -> list[tuple[str, str]]:
    """Where the operands of every step come from: q, s, k or x."""
    given = listed(example.question)
    given += [int(n) // 60 for n in given if isinstance(n, Clock) and n % 60 == 0]  # 5:00 is 5 too
    results, found = [], []
    for step in example.student_steps:
        pair = []
        for side, value in (("a", step.a), ("b", step.b)):
            if results and same(results[-1], value):
                mark = "s"
            elif any(same(value, n) for n in given) or not isinstance(value, Clock) and (exact(value * 100) in given and 0 <= value < 1 or -value in given):
                mark = "q"
            elif any(same(value, r) for r in results):
                mark = "s"
            else:
                mark = "x" if step.bad == side else "k"
            pair.append(mark)
        results.append(step.claimed)
        found.append(tuple(pair))
    return found


def agrees(step: StudentStep) -> bool:
    """Whether a step's value is right; a quotient that does not end may be rounded."""
    return same(step.claimed, step.true) or step.op == "/" and not isinstance(step.claimed, Clock) and rounded(step.a, step.b, step.claimed)


def flaw(example: Example) -> tuple[int, str] | None:
    """The first step with a definite error (calc: its value, copy: a number from nowhere), else one that does not fit."""
    marks = sources(example)
    for index, (step, pair) in enumerate(zip(example.student_steps, marks, strict=True)):
        if not agrees(step):
            return index, "calc"
        if "x" in pair:
            return index, "copy"
    for index, step in enumerate(example.student_steps):
        if step.error in ("operation", "copied"):
            return index, "fit"
    return None


def product_pieces(a, b) -> list[Piece]:
    """``=P1+P2=S+P3=S``: the partial products and their running sum; the value alone where one is enough."""
    parts = partials(a, b) or partials(a, b, 3)
    pieces, total = [Piece("=", "form"), Piece(form(parts[0]), "part")], parts[0]
    for part in parts[1:]:
        total = exact(total + part)
        pieces += [Piece("+", "form"), Piece(form(part), "part"), Piece("=", "form"), Piece(form(total), "sum")]
    assert total == apply(a, "*", b)
    return pieces


def step_pieces(step: StudentStep, marks: tuple[str, str]) -> list[Piece]:
    """One step of the student, redone."""
    right = agrees(step)
    claimed = form(step.claimed) if step.shown else "-"
    verdict = Piece(" ok\n" if right else " no\n", "same" if right else "differs")
    pieces = []
    for value, mark, after in ((step.a, marks[0], step.op), (step.b, marks[1], "")):
        pieces += [Piece(form(value), "read"), Piece(mark, "nowhere" if mark == "x" else "source"), Piece(after, "read")]
    if step.op == "/":
        pieces += [Piece(",", "form"), Piece(form(step.claimed), "read" if step.shown else "quotient"), Piece(f"*{form(step.b)}", "form")]
        return [p for p in pieces if p.text] + product_pieces(step.claimed, step.b) + [verdict]
    if step.op == "*":
        pieces += product_pieces(step.a, step.b)
    else:
        pieces += [Piece("=", "form"), Piece(form(step.true), "redo" if right else "redo_wrong")]
    return [p for p in pieces if p.text] + [Piece(f",{claimed}", "read"), verdict]


def end_pieces(example: Example, reference) -> list[Piece]:
    """Derivation and final answer against the reference; the first flaw; the flags."""
    steps, final = example.student_steps, example.final
    reached = example.reached
    last = form(reached) if steps else "-"
    stated = "?" if final is None else form(final)
    reaches = "ok" if steps and same(reached, reference) else "no"
    matches = "ok" if final is not None and same(final, reference) else "no"
    found = flaw(example)
    flags = " ".join(flag for flag in FLAGS if flag in example.flags) or "none"
    return [
        Piece(f"last {last},{form(reference)}", "final"),
        Piece(f" {reaches}\n", "reaches"),
        Piece(f"end {stated},{form(reference)}", "final"),
        Piece(f" {matches}\n", "matches"),
        Piece(f"flaw {found[0] + 1} {found[1]}\n" if found else "flaw none\n", "flaw"),
        Piece(f"flags {flags}\n", "flags"),
    ]


_SIGN = {"+": "+", "-": "-", "*": "x", "/": "/"}


def reason(example: Example) -> str:
    """The deciding flaw in one or two short sentences, each true of the text."""
    if not example.inside:
        return "The problem is outside what this judge knows."
    if "cut" in example.flags:
        return "The answer is cut off before its end."
    if "repeat" in example.flags:
        return "The answer repeats the same content many times."
    steps, final, answer = example.student_steps, example.final, example.plan[-1].result
    found = flaw(example)
    if found:
        index, what = found
        s, marks = steps[index], sources(example)[index]
        expression = f"{form(s.a)} {_SIGN[s.op]} {form(s.b)}"
        if what == "calc" and s.op == "/":
            text = f"{expression} is not {form(s.claimed)}, for {form(s.claimed)} x {form(s.b)} is {form(apply(s.claimed, '*', s.b))}."
        elif what == "calc":
            text = f"{expression} is {form(s.true)}, not {form(s.claimed)}."
        elif what == "copy":
            value = s.a if marks[0] == "x" else s.b
            text = f"{form(value)} in {expression} is neither given nor found before."
        else:
            text = f"{expression} does not fit the problem."
        return text + (" The final answer matches only by luck." if example.outcome else "")
    if final is None:
        return "Two answers are given and none is chosen." if example.kind == "two_answers" else "There is no final answer."
    if not example.outcome:
        lead = "Every step holds, but the" if steps else "The"
        return f"{lead} final answer {form(final)} does not match {form(answer)}."
    if not steps:
        return "Only the answer is given and it matches."
    if "missing" in example.flags:
        return "What is shown holds and the result matches, but a necessary step is missing."
    if "extra" in example.flags:
        return "Every step holds and the result matches, but there is irrelevant content."
    return "Every step holds and the result matches."


def target(example: Example, with_reason: bool) -> list[Piece]:
    """All that the judge writes for `example`; without the reason it ends at </perfect>."""
    pieces = [Piece("<think>", "form"), Piece("domain in\n" if example.inside else "domain out\n", "domain_in" if example.inside else "domain_out")]
    if example.inside:
        given = list(dict.fromkeys(form(n) for n in listed(example.question)))
        pieces.append(Piece(f"num {','.join(given) or 'none'}\n", "numbers"))
        for step, marks in zip(example.student_steps, sources(example), strict=True):
            pieces += step_pieces(step, marks)
        pieces += end_pieces(example, example.plan[-1].result)
    pieces.append(Piece("</think>\n", "form"))
    for field in ("process", "outcome", "perfect"):
        pieces.append(Piece(f"<{field}>", "form"))
        pieces.append(Piece(f" {getattr(example, field)}", field))
        pieces.append(Piece(f" </{field}>" + "\n" * (field != "perfect"), "form"))
    if with_reason:
        pieces.append(Piece(f"\n<reason> {reason(example)} </reason><|im_end|>", "reason"))
    return pieces
