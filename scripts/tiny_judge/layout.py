"""What the tiny judge reads and writes: prompt segments, thinking and verdict.

The prompt is the text of `prompts/prime.txt` in the chat template, token for token as the
`juror` binary builds it: trusted segments are tokenised with the added tokens, each text
under judgement alone and without them.

The thinking is a fixed little protocol of pairs, each followed at once by its verdict:

    plan 12+5=17;17-4=13,13 ok      the judge's own way, its result, the reference
    12+5,12+5 ok=17,17 ok           per step: wanted, written, verdict; true value, claimed, verdict
    17-4,17+4 op=21,21 ok
    final 21,21 ok                  the last step's value, the final answer
    ref 21,13 no                    the final answer, the reference
    flags none                      or: no_steps missing cut repeat extra contradiction
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from problems import Example, Step, StudentStep

PROMPT = (Path(__file__).resolve().parents[2] / "prompts" / "prime.txt").read_text().rstrip("\n")
FIELDS = ("question", "student_answer", "reference_answer")
RESERVED = re.compile(
    r"<(?=\s*/?\s*(?:question|student_answer|reference_answer|few_shots|process|outcome|perfect"
    r"|reason|think|thinking|analysis|result|overall|verdict)\b)",
    re.IGNORECASE,
)
ERRORS = {"operation": "op", "copied": "copy"}
FLAGS = ("no_steps", "missing", "cut", "repeat", "extra", "contradiction")


class Piece(NamedTuple):
    """A part of the target. `role` names what it is for the statistics; '' means no loss."""

    text: str
    role: str


@dataclass(frozen=True)
class Expression:
    """An operation without its result."""

    a: int
    op: str
    b: int

    def __str__(self) -> str:
        return f"{self.a}{self.op}{self.b}"


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


def own_plan(example: Example) -> tuple[Step, ...]:
    """The plan the judge writes: the generator's, or the student's own where that is another
    valid way (steps regrouped, not merely commuted)."""
    steps = example.student_steps
    sound = all(step.error is None and step.claimed == step.true for step in steps)
    if not sound or len(steps) != len(example.plan) or steps[-1].true != example.plan[-1].result:
        return example.plan
    if sorted(map(_shape, steps)) == sorted(map(_shape, example.plan)):
        return example.plan
    return tuple(Step(step.a, step.op, step.b, step.true) for step in steps)


def _shape(step: Step | StudentStep) -> tuple:
    """A step regardless of the order of its operands where that does not matter."""
    pair = (step.a, step.b) if step.op == "-" else tuple(sorted((step.a, step.b)))
    return (step.op, *pair)


def wanted(example: Example) -> list[Expression | None]:
    """For every step of the student, the expression that was called for at that place.

    A sound step is what was wanted, in the student's own order.  For a flawed one, the
    plan's step is taken over with the student's earlier results in it.
    """
    plan, steps = example.plan, example.student_steps
    places = list(range(len(steps)))
    if len(steps) > 1 and len(plan) > 1:
        straight = _distance(steps[0], plan[0]) + _distance(steps[1], plan[1])
        crossed = _distance(steps[0], plan[1]) + _distance(steps[1], plan[0])
        if crossed < straight:
            places[:2] = 1, 0
    result = []
    for index, step in enumerate(steps):
        if step.error in (None, "calculation", "carried"):
            result.append(Expression(step.a, step.op, step.b))
        elif places[index] >= len(plan):
            result.append(None)
        else:
            pairs = zip(places[:index], steps[:index], strict=True)
            carried = [(plan[place].result, s.claimed) for place, s in pairs if place < len(plan)]
            result.append(_repaired(step, plan[places[index]], carried))
    return result


def _distance(written: StudentStep, planned: Step | Expression) -> int:
    """In how many of operation and operands two steps differ, whatever the operands' order."""
    straight = (written.a != planned.a) + (written.b != planned.b)
    crossed = (written.a != planned.b) + (written.b != planned.a)
    return (written.op != planned.op) + min(straight, crossed)


def _repaired(step: StudentStep, target: Step, carried: list[tuple[int, int]]) -> Expression:
    """The step `target` of the plan in the student's numbers, as near to `step` as can be."""
    options = [
        Expression(a, target.op, b)
        for a in {target.a, *(claimed for result, claimed in carried if result == target.a)}
        for b in {target.b, *(claimed for result, claimed in carried if result == target.b)}
    ]
    options += [Expression(e.b, e.op, e.a) for e in options if e.op != "-"]

    def distance(e: Expression) -> tuple:
        off = (e.a != step.a) + (e.b != step.b) + (e.op != step.op)
        return (off or 4, e.a, e.b)

    return min(options, key=distance)


def plan_pieces(plan, reference: int) -> list[Piece]:
    """One attempt at the plan: its steps, its result beside the reference, the verdict."""
    pieces = [Piece("plan ", "form")]
    for index, step in enumerate(plan):
        pieces.append(Piece(f"{step.a}{step.op}{step.b}=", "plan"))
        pieces.append(Piece(str(step.result), "result"))
        pieces.append(Piece(";" if index + 1 < len(plan) else ",", "plan"))
    verdict = " ok\n" if plan[-1].result == reference else " no\n"
    return [*pieces, Piece(str(reference), "copy"), Piece(verdict, "plan")]


def step_pieces(step: StudentStep, want: Expression | None) -> list[Piece]:
    """One step of the student, redone."""
    fit = ERRORS.get(step.error, "ok")
    flawed = fit != "ok"
    right = step.claimed == step.true
    claimed = str(step.claimed) if step.shown else "-"
    value = "ok" if right or not step.shown else "calc"
    return [
        Piece(f"{want or '?'},", "want"),
        Piece(str(Expression(step.a, step.op, step.b)), "read"),
        Piece(f" {fit}", "misfit" if flawed else "fit"),
        Piece("=", "form"),
        Piece(str(step.true), "redo" if right else "redo_wrong"),
        Piece(f",{claimed}", "read"),
        Piece(f" {value}\n", "same" if right else "differs"),
    ]


def end_pieces(example: Example, reference: int) -> list[Piece]:
    """The final answer against the derivation and against the reference; the flags."""
    steps, final = example.student_steps, example.final
    last = str(steps[-1].claimed) if steps else "-"
    stated = "?" if final is None else str(final)
    agrees = "ok" if final is not None and (not steps or final == steps[-1].claimed) else "no"
    matches = "ok" if final == reference else "no"
    present = example.flags | ({"missing"} if example.kind == "skipped_step" else set())
    flags = " ".join(flag for flag in FLAGS if flag in present) or "none"
    return [
        Piece(f"final {last},{stated}", "final"),
        Piece(f" {agrees}\n", "agrees"),
        Piece(f"ref {stated},{reference}", "final"),
        Piece(f" {matches}\n", "matches"),
        Piece(f"flags {flags}\n", "flags"),
    ]


def target(example: Example, reason: bool, attempts=(), give_up: bool = False) -> list[Piece]:
    """All that the judge writes for `example`.

    `attempts` are wrong plans before the right one, with loss only on where they end and on
    their check against the reference; with `give_up` the right one does not follow and the
    steps are judged without a plan.
    Without `reason` the target ends at </perfect>.
    """
    reference = example.plan[-1].result
    own = own_plan(example)
    pieces = [Piece("<think>", "form")]
    for plan in attempts:
        *steps, stated, verdict = plan_pieces(plan, reference)
        # Where a plan ends must not depend on whether it has met the reference.
        ends = "plan" if len(plan) == len(own) else ""
        pieces += [Piece(p.text, ends if p.text in ";," else "") for p in steps]
        pieces += [stated, verdict]
    if give_up:
        pieces.append(Piece("plan ?\n", "plan"))
    else:
        pieces += plan_pieces(own, reference)
    for step, want in zip(example.student_steps, wanted(example), strict=True):
        pieces += step_pieces(step, None if give_up else want)
    pieces += end_pieces(example, reference)
    pieces.append(Piece("</think>\n", "form"))
    for field in ("process", "outcome", "perfect"):
        pieces.append(Piece(f"<{field}>", "form"))
        pieces.append(Piece(f" {getattr(example, field)}", field))
        pieces.append(Piece(f" </{field}>" + "\n" * (field != "perfect"), "form"))
    if reason:
        pieces.append(Piece(f"\n<reason> {example.reason} </reason><|im_end|>", "reason"))
    return pieces
