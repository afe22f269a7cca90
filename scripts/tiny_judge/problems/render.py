"""From the student's work to the text of an answer."""
from __future__ import annotations

import random
import re

from . import words
from .core import Bank, Problem, capital, fill, lines
from .phrases import answers as A
from .students import Work


def _bank(text: str) -> Bank:
    return Bank(list(dict.fromkeys(lines(text))))


OPENINGS = _bank(A.OPENINGS)
STEP = _bank(A.STEP)
LABELLED = _bank(A.LABELLED)
STORY = _bank(A.STORY)
NARRATED = {k: _bank(v) for k, v in A.NARRATED.items()}
REASONED = {k: _bank(v) for k, v in A.REASONED.items()}
WORDS = {"+": _bank(A.WORDS_PLUS), "-": _bank(A.WORDS_MINUS), "*": _bank(A.WORDS_TIMES)}
CONNECT = {"first": _bank(A.CONNECT_FIRST), "middle": _bank(A.CONNECT), "last": _bank(A.CONNECT_LAST)}
HEADS = _bank(A.HEADS)
FINALS = _bank(A.FINALS)
CONCLUSIONS = {k: _bank(v) for k, v in A.CONCLUSIONS.items()}
CONTRADICT = _bank(A.CONTRADICT)
NO_FINAL = _bank(A.NO_FINAL)
NO_FINAL_SETUP = {k: _bank(v) for k, v in A.NO_FINAL_SETUP.items()}
CONTENT_FREE = Bank(list(dict.fromkeys(lines(A.CONTENT_FREE) + [""])))
IRRELEVANT = _bank(A.IRRELEVANT)
PLEAS = _bank(A.PLEAS)

_TIMES = ("x", "×", "*", "×", "·", "x", "*")
_MINUS = ("-", "-", "-", "-", "-", "−", "–")


def words_money(n: int, sign: str) -> str:
    """An amount of money as in the question."""
    return f"{n} {sign}" if sign[0].isalpha() else f"{sign}{n}"


class Style:
    """The habits of one student, drawn once per answer."""

    def __init__(self, problem: Problem, rng: random.Random, split: str):
        self.rng, self.split, self.problem = rng, split, problem
        r = rng.random
        self.times = rng.choice(_TIMES)
        self.minus = rng.choice(_MINUS)
        self.space = " " if r() < 0.8 else ""
        self.latex = r() < 0.07
        self.annotated = not self.latex and r() < 0.06
        self.block = self.latex and r() < 0.3
        u = r()
        self.units = "no" if u < 0.6 or not problem.unit else "all" if u < 0.76 else "result"
        if self.latex:
            self.units = "no"
        elif self.annotated and self.units == "all":
            self.units = "result"
        self.reversed = r() < 0.02
        self.equals = "=" if self.latex or self.annotated or r() < 0.94 else rng.choice(("is", "gives", "makes", "→", "=>", "equals", ":"))
        if self.latex:
            self.times, self.minus = rng.choice(("\\times", "\\times", "\\cdot")), "-"
        u = r()
        self.body = ("equations" if u < 0.22 else "sentences" if u < 0.38 else "labelled" if u < 0.54 else "words" if u < 0.66
                     else "story" if u < 0.76 else "suffix" if u < 0.81 else "narrated" if u < 0.88 else "reasoned" if u < 0.94 else "mixed")
        if self.latex or self.annotated:
            self.body = rng.choice(("equations", "sentences", "labelled", "story"))
        if self.body in ("labelled", "mixed", "suffix") and not any(problem.labels):
            self.body = rng.choice(("equations", "sentences", "words"))
        if self.body == "story" and not problem.clauses:
            self.body = "sentences"
        if self.equals != "=":
            self.body = "equations"
        if self.body == "narrated":
            self.units = "result" if problem.unit and not self.latex else "no"
        elif self.body == "suffix":
            self.units = "no"
        self.spelled = self.body == "words" and r() < 0.05
        u = r()
        self.layout = "lines" if u < 0.38 else "prose" if u < 0.68 else "heads"
        self.connect = self.layout != "heads" and r() < 0.4 and self.body != "story"
        self.head = HEADS.pick(rng, split)
        self.frames = [STEP.pick(rng, split) for _ in range(2)]
        self.labels = [LABELLED.pick(rng, split) for _ in range(2)]
        self.story = [STORY.pick(rng, split) for _ in range(2)]

    # numbers -----------------------------------------------------------------
    def quantity(self, n: int, unit: str) -> str:
        """A number with its unit."""
        if not unit:
            return str(n)
        if self.problem.money and unit == self.problem.unit:
            return words_money(n, self.problem.money)
        return f"{n} {unit}"

    def operands(self, w: Work) -> tuple[str, str, str]:
        unit = w.unit
        if self.units == "no" or not unit:
            return str(w.a), str(w.b), str(w.claimed)
        result = self.quantity(w.claimed, unit)
        mixed = any(r is not None and self.problem.units[r] != unit for r in w.refs)
        if self.units == "result" or w.op == "*" or mixed:
            return str(w.a), str(w.b), result
        return self.quantity(w.a, unit), self.quantity(w.b, unit), result

    def sign(self, op: str) -> str:
        return {"+": "+", "-": self.minus, "*": self.times}[op]

    def side(self, a: str, op: str, b: str) -> str:
        sp = self.space
        if op == "*" and (self.times[0] == "\\" or self.times == "x" and (a[-1:].isalpha() or b[:1].isalpha())):
            sp = " "
        return f"{a}{sp}{self.sign(op)}{sp}{b}"

    def equation(self, w: Work) -> str:
        a, b, r = self.operands(w)
        left = self.side(a, w.op, b)
        if self.annotated:
            plain = f"<<{w.a}{w.op}{w.b}={w.claimed}>>{w.claimed}"
            return f"{left} = {r.replace(str(w.claimed), plain, 1)}"
        return self.join(left, r)

    def join(self, left: str, right: str) -> str:
        if self.equals == ":":
            text = f"{left}: {right}"
        elif self.equals != "=":
            text = f"{left} {self.equals} {right}"
        elif self.reversed:
            text = f"{right}{self.space}={self.space}{left}"
        else:
            text = f"{left}{self.space}={self.space}{right}"
        if self.block:
            return f"\\[{text}\\]"
        return f"${text}$" if self.latex else text

    def expression(self, works: dict[int, Work], top: Work, known: dict[int, int]) -> str:
        """The infix text of a step with the earlier steps written out, except those whose value is ``known``."""
        def show(value, ref, parent, right):
            if ref is None or ref in known or ref not in works:
                return str(known.get(ref, value))
            w = works[ref]
            text = self.side(show(w.a, w.refs[0], w.op, False), w.op, show(w.b, w.refs[1], w.op, True))
            if parent == "*" and (w.op != "*" or right) or right and parent == "-" and w.op != "*" or right and parent == "+" and w.op == "-":
                return f"({text})"
            return text

        return self.side(show(top.a, top.refs[0], top.op, False), top.op, show(top.b, top.refs[1], top.op, True))

    # sentences ---------------------------------------------------------------
    def sentence(self, w: Work, text: str) -> str:
        """One step in the student's words."""
        body = self.body
        if body == "mixed":
            body = self.rng.choice(("labelled", "words", "sentences", "narrated", "reasoned"))
        if body == "story":
            clause = self.problem.clauses[w.node + 1] if w.label else ""
            if clause:
                frame = self.rng.choice(self.story)
                return capital(fill(frame, {"C": clause, "E": text}))
            body = "sentences"
        if body == "labelled":
            if w.label:
                return capital(fill(self.rng.choice(self.labels), {"E": text, "L": w.label}))
            body = "sentences"
        if body == "suffix":
            if w.label and w.unit and w.label.startswith(w.unit):
                return f"{text} {w.label}"
            return f"{text} ({w.label})" if w.label else text
        if body == "reasoned":
            return fill(REASONED[w.op].pick(self.rng, self.split), {"E": text})
        if body == "narrated":
            frame = NARRATED[w.op].pick(self.rng, self.split)
            n = self.problem.slots.get("N", "")
            if "{N}" in frame and (n in ("", "me", "you") or n not in self.problem.question):
                frame = self.rng.choice([f for f in NARRATED[w.op].part(self.split) if "{N}" not in f] or ["{E}."])
            return fill(frame, {"E": text, "N": n})
        if body == "words" and not self.latex and not self.annotated:
            a, b, r = self.operands(w)
            if self.spelled and max(w.a, w.b, w.claimed) < 100:
                a, b, r = (t.replace(str(n), words.spelled(n), 1) if t[0].isdigit() else t for t, n in ((a, w.a), (b, w.b), (r, w.claimed)))
                return capital(fill(WORDS[w.op].pick(self.rng, self.split), {"A": a, "B": b, "R": r}))
            return fill(WORDS[w.op].pick(self.rng, self.split), {"A": a, "B": b, "R": r})
        if body == "equations":
            return text
        return fill(self.rng.choice(self.frames), {"E": text})


def _mergeable(works: list[Work], k: int) -> bool:
    """Whether the first ``k`` steps can stand in one expression: their inner results are used once, inside, as they are."""
    inner = {w.node for w in works[:k - 1]}
    inside = [r for w in works[:k] for r in w.refs if r is not None]
    outside = [r for w in works[k:] for r in w.refs if r is not None]
    return k > 1 and sorted(inside) == sorted(inner) and not inner & set(outside)


def _one_expression(problem: Problem, works: list[Work], style: Style) -> str | None:
    """All steps in one expression, at once or reduced step by step (``3 x 4 + 5 = 12 + 5 = 17``)."""
    rng = style.rng
    table = {w.node: w for w in works}
    last = works[-1]
    result = style.quantity(last.claimed, last.unit) if style.units != "no" and not style.latex else str(last.claimed)
    honest = all(w.claimed == w.true for w in works[:-1])
    whole = style.expression(table, last, {})
    if rng.random() < 0.45 and style.equals == "=" and not style.reversed and not style.annotated:
        known: dict[int, int] = {}
        sides = [whole]
        for w in works[:-1]:
            known[w.node] = w.claimed
            sides.append(style.expression(table, last, known))
        if len(sides) > 2 and honest and rng.random() < 0.4:
            sides = [sides[0], sides[-1]]
            for w in works[:-2]:
                w.shown = False
        text = f"{style.space}={style.space}".join(sides)
        return style.join(text, result)
    if not honest:
        return None
    for w in works[:-1]:
        w.shown = False
    return style.join(whole, result)


_START = re.compile(r"^[A-Z][a-z]+\b")
_BUSY = {"First", "Then", "Next", "Now", "So", "Therefore", "Here", "Finally", "Thus", "Hence", "Calculate", "Let", "I'll", "After"}


def _linked(out: list[str], style: Style) -> list[str]:
    """Connecting words before some of the steps."""
    linked = []
    names = {style.problem.slots.get(k, "").split(" ")[0] for k in "NMK"}
    for i, t in enumerate(out):
        head = re.split(r"[ ,:]", t, maxsplit=1)[0]
        if style.rng.random() < 0.75 and head not in _BUSY and not t.startswith(("*", "\\[")):
            place = "first" if i == 0 else "last" if i == len(out) - 1 and style.rng.random() < 0.4 else "middle"
            m = _START.match(t)
            if m and m.group() not in names:
                t = t[0].lower() + t[1:]
            t = f"{CONNECT[place].pick(style.rng, style.split)} {t}"
        linked.append(t)
    return linked


def pieces(problem: Problem, works: list[Work], style: Style) -> list[str]:
    """The steps as a list of texts; ``shown`` of steps hidden in a merged expression becomes False."""
    rng = style.rng
    out: list[str] = []
    rest = works
    k = len(works) if len(works) < 3 or rng.random() < 0.6 else rng.randint(2, len(works))
    if rng.random() < 0.18 and not style.annotated and len(works) == len(problem.nodes) and _mergeable(works, k):
        text = _one_expression(problem, works[:k], style)
        if text:
            rest = works[k:]
            label = works[k - 1].label
            if style.body == "labelled" and label:
                text = capital(fill(rng.choice(style.labels), {"E": text, "L": label}))
            elif style.body in ("sentences", "words", "mixed") and style.equals == "=":
                text = fill(rng.choice(style.frames), {"E": text})
            out.append(text)
    elif style.equals == "=" and not style.latex and not style.annotated and len(works) > 1 and style.units == "no" and rng.random() < 0.015:
        if all(w.refs[0] == v.node and w.a == v.claimed for v, w in zip(works, works[1:])):
            text = str(works[0].a)  # the sloppy chain of pupils: 12 + 5 = 17 - 4 = 13
            for w in works:
                text = style.side(text, w.op, str(w.b)) + f"{style.space}={style.space}{w.claimed}"
            out.append(text)
            rest = []
    out += [style.sentence(w, style.equation(w)) for w in rest]
    if style.connect:
        out = _linked(out, style)
    if style.layout == "heads" and (len(out) > 1 or rng.random() < 0.3):
        out = [style.head.replace("{i}", str(i + 1)) + ("" if style.head.endswith("\n") else " ") + t for i, t in enumerate(out)]
    return out


def restate(problem: Problem, style: Style) -> list[str]:
    """Sentences of the story repeated before the work, as many students do."""
    rng = style.rng
    if problem.clauses and style.body == "story":
        return [capital(problem.clauses[0]) + "."]
    if not problem.body or rng.random() > 0.1:
        return []
    sentences = re.split(r"(?<!Mr\.)(?<!Mrs\.)(?<!Ms\.)(?<=\.) ", problem.body)
    text = " ".join(sentences[:1 if rng.random() < 0.6 else len(sentences)])
    return [text] if len(text) < 160 else []


def assemble(parts: list[str], style: Style) -> str:
    """Put opening, steps and final together: lines, a paragraph, or lines with gaps."""
    if not parts:
        return ""
    if style.layout == "prose":
        stop = "." if style.rng.random() < 0.85 else ";" if style.rng.random() < 0.5 and style.body == "equations" else "."
        done = []
        for p in parts[:-1]:
            p = p.rstrip()
            if p.startswith(("#", "**Solution")) and "\n" not in p:
                done.append(p + "\n")
                continue
            if "\n" not in p and p[-1] not in ".:!?*,#":
                p += stop
            done.append(p + " ")
        return "".join(done + [parts[-1]])
    return ("\n\n" if style.rng.random() < 0.2 else "\n").join(parts)


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


def final_text(problem: Problem, value: int, style: Style, frame: str | None = None) -> str:
    """A statement of the final answer."""
    rng = style.rng
    if frame is None:
        kind = _conclusion_kind(problem) if problem.unit and rng.random() < 0.33 else "plain"
        frame = (CONCLUSIONS[kind] if kind in CONCLUSIONS else FINALS).pick(rng, style.split)
        if "{N}" in frame and (problem.slots.get("N", "?") not in problem.question or problem.slots["N"] in ("me", "you")):
            frame = FINALS.pick(rng, style.split)
    plain = str(value)
    if problem.money and rng.random() < 0.5:
        plain = words_money(value, problem.money)
    elif value <= 20 and rng.random() < 0.01:
        plain = words.spelled(value)
    if "#### " in frame or frame.startswith("= ") or "boxed" in frame:
        plain = str(value)
    if frame == "{F}" and style.latex:
        plain = f"${value}$"
    frame = frame.replace("boxed{F}", "boxed{%s}" % plain)
    return frame.replace("{F}", plain).replace("{V}", style.quantity(value, problem.unit)).replace("{U}", problem.unit).replace(
        "{N}", problem.slots.get("N", "he"))
