"""Statements of the final answer."""
from __future__ import annotations

import re

from . import words
from .core import Problem, Value, capital
from .numbers import Clock
from .phrases import answers as A, styles as S
from .render import Style, bank, words_money

FINALS = bank(A.FINALS + S.FINALS)
CONCLUSIONS = {k: bank(v) for k, v in A.CONCLUSIONS.items()}
CONTRADICT = bank(A.CONTRADICT)


def _conclusion_kind(problem: Problem) -> str:
    q = " ".join(re.findall(r"[^.?!]*\?", problem.question.lower())) or problem.question.lower()
    if problem.money:
        if any(t in q for t in ("cost", "pay", "spend")):
            return "cost"
        return "money_left" if "left" in q else "plain"
    if any(t in q for t in ("left", "remain", "still")):
        return "left"
    if any(t in q for t in ("altogether", "in total", "in all", "together", "the total")):
        return "total"
    return "now" if " now" in q and problem.unit else "plain"


_ASKED = (
    (re.compile(r"[Hh]ow (?:many|much)(?: [a-z -]+?)? (?:does|do|did|must|can|will) ([A-Z]\w+(?:'s \w+)?|he|she|they|I|we|you) ([a-z]+)((?: [a-z]+){0,4})\?"), None),
    (re.compile(r"[Hh]ow many (?:[a-z -]+?) are ((?:still |there )?(?:left|there|needed|missing|free|sold|present)(?: [a-z]+){0,3})\?"), "{V} are {0}."),
    (re.compile(r"[Hh]ow many (?:[a-z -]+?) (remain|are left|is that)((?: [a-z]+){0,3})\?"), "{V} {0}{1}."),
    (re.compile(r"[Ww]hat is (the [a-z ]+|his [a-z ]+|her [a-z ]+)\?"), "{0} is {V}."),
)
_THIRD = {"have": "has", "do": "does", "go": "goes"}


def echoed(problem: Problem, quantity: str) -> str | None:
    """The question turned into a statement of the answer."""
    for pattern, frame in _ASKED:
        m = pattern.search(problem.question)
        if not m:
            continue
        if frame:
            return capital(frame.replace("{0}", m[1]).replace("{1}", m[2] if pattern.groups > 1 else "").replace("{V}", quantity))
        who, verb, rest = m.groups()
        verb = verb if who in ("they", "I", "we", "you") else _THIRD.get(verb, verb + ("es" if verb.endswith(("ch", "sh", "ss", "x")) else "s"))
        rest = rest if rest.strip() in ("left", "now", "altogether", "in total", "in all", "left over", "together", "in the end", "at the end") else ""
        return capital(f"{who} {verb} {quantity}{rest}.")
    return None


def final_text(problem: Problem, value: Value, style: Style, frame: str | None = None) -> str:
    """A statement of the final answer."""
    rng = style.rng
    if frame is None and rng.random() < 0.1:
        text = echoed(problem, style.quantity(value, problem.unit))
        if text:
            return rng.choice(("", "", "So ", "Therefore, ", "Answer: ")) + text
    if frame is None:
        kind = _conclusion_kind(problem) if problem.unit and rng.random() < 0.33 else "plain"
        frame = (CONCLUSIONS[kind] if kind in CONCLUSIONS else FINALS).pick(rng, style.split)
        if "{N}" in frame and (problem.slots.get("N", "?") not in problem.question or problem.slots["N"] in ("me", "you")):
            frame = FINALS.pick(rng, style.split)
    plain = style.show(value, bool(problem.money))
    bare = plain
    if problem.money and rng.random() < 0.5:
        plain = words_money(plain, problem.money)
    elif isinstance(value, int) and not isinstance(value, Clock) and value <= 20 and rng.random() < 0.01:
        plain = words.spelled(value)
    if "#### " in frame or frame.startswith("= ") or "boxed" in frame:
        plain = bare
        if "boxed" in frame and problem.unit and rng.random() < 0.12:
            plain = bare + (f"\\text{{ {problem.unit}}}" if rng.random() < 0.6 else f" \\text{{{problem.unit}}}") if not problem.money else \
                ("\\$" + bare if problem.money == "$" else bare)
    if frame == "{F}" and style.latex:
        plain = f"${bare}$"
    frame = frame.replace("boxed{F}", "boxed{%s}" % plain)
    return frame.replace("{F}", plain).replace("{V}", style.quantity(value, problem.unit)).replace("{U}", problem.unit).replace(
        "{N}", problem.slots.get("N", "he"))
