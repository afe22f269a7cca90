"""From the student's work to the text of an answer."""
from __future__ import annotations

import random
import re

from fractions import Fraction

from . import words
from .core import Bank, Problem, Value, capital, fill, lines
from .numbers import Clock, form, same
from .phrases import answers as A, styles as S
from .students import Work


def bank(text: str) -> Bank:
    return Bank(list(dict.fromkeys(lines(text))))


OPENINGS = bank(A.OPENINGS)
STEP = bank(A.STEP + S.STEP)
LABELLED = bank(A.LABELLED)
STORY = bank(A.STORY)
NARRATED = {k: bank(v) for k, v in (A.NARRATED | {"/": S.NARRATED}).items()}
REASONED = {k: bank(v) for k, v in (A.REASONED | {"/": S.REASONED}).items()}
WORDS = {"+": A.WORDS_PLUS, "-": A.WORDS_MINUS, "*": A.WORDS_TIMES, "/": S.WORDS}
WORDS = {op: bank(text + S.MORE_WORDS[op]) for op, text in WORDS.items()}
CONTINUED = {op: bank(text) for op, text in S.CONTINUED.items()}
ECHO, PERCENT, FRACTION, GIVEN, CHECKS = bank(S.ECHO), bank(S.PERCENT), bank(S.FRACTION), bank(S.GIVEN), bank(S.CHECKS)
CONVERSION, IMPLIED = bank(S.CONVERSION), {op: bank(text) for op, text in S.IMPLIED.items()}
IMPLIED_WITH = {op: bank(text) for op, text in S.IMPLIED_WITH.items()}
CONNECT = {"first": bank(A.CONNECT_FIRST), "middle": bank(A.CONNECT), "last": bank(A.CONNECT_LAST)}
HEADS = bank(A.HEADS)
NO_FINAL = bank(A.NO_FINAL)
NO_FINAL_SETUP = {k: bank(v) for k, v in (A.NO_FINAL_SETUP | {"/": S.SETUP}).items()}
CONTENT_FREE = Bank(list(dict.fromkeys(lines(A.CONTENT_FREE) + [""])))
IRRELEVANT = bank(A.IRRELEVANT)
PLEAS = bank(A.PLEAS)

_TIMES = ("x", "×", "*", "×", "·", "x", "*")
_MINUS = ("-", "-", "-", "-", "-", "−", "–")
_UNITS = {"km", "m", "cm", "kg", "g", "kg a day", "liters"}
_UNIT_FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 8: "an eighth", 10: "a tenth"}
_OVER = ("/", "/", "÷", "÷", "/", ":")


def words_money(n: str, sign: str) -> str:
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
        self.over = rng.choice(_OVER)
        self.grouped = problem.grouped if r() < 0.85 else r() < 0.3
        u = r()
        self.cents = "full" if u < 0.75 else "short" if u < 0.9 else "all"
        self.rate = rng.choice(("decimal", "decimal", "percent", "of", "of", "long"))
        self.parts = rng.choice(("divide", "divide", "of", "times"))
        self.merging = 0.0 if r() < 0.75 else 0.65
        self.tight = r() < 0.2
        self.split_products = r() < 0.04
        self.variables = r() < 0.05
        self.echo = 0.6 if r() < 0.1 else 0.0
        self.broken = not self.latex and r() < 0.03
        self.continuing = not self.latex and r() < 0.03
        self.terse = not self.latex and r() < 0.07
        self.timed = not self.latex and r() < 0.3
        self.converting = not self.latex and r() < 0.5
        self.implying = not self.latex and r() < 0.2
        u = r()
        self.units = "no" if u < 0.6 or not problem.unit else "all" if u < 0.76 else "result"
        if self.latex:
            self.units = "no"
        elif self.annotated and self.units == "all":
            self.units = "result"
        self.reversed = r() < 0.02
        self.equals = "=" if self.latex or self.annotated or r() < 0.94 else rng.choice(("is", "gives", "makes", "→", "=>", "equals", ":"))
        if self.latex:
            self.times, self.minus, self.over = rng.choice(("\\times", "\\times", "\\cdot")), "-", rng.choice(("\\div", "/", "\\frac"))
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
        self.layout = "terse" if self.terse else "lines" if u < 0.37 else "prose" if u < 0.66 else "heads" if u < 0.97 else "table"
        if self.layout == "table" or self.broken or self.continuing or self.terse and r() < 0.8 or not problem.labels:
            self.body = "equations" if self.body not in ("labelled", "equations") or self.continuing else self.body
            self.units = "no" if self.continuing else self.units
        self.connect = self.layout not in ("heads", "table", "terse") and not self.continuing and r() < 0.4 and self.body != "story"
        self.head = HEADS.pick(rng, split)
        self.frames = [STEP.pick(rng, split) for _ in range(2)]
        self.labels = [LABELLED.pick(rng, split) for _ in range(2)]
        self.story = [STORY.pick(rng, split) for _ in range(2)]

    # numbers -----------------------------------------------------------------
    def show(self, n: Value, money: bool = False) -> str:
        """A number without its unit."""
        text = form(n)
        if isinstance(n, Clock):
            return text + (self.problem.suffix if self.timed else "")
        if isinstance(n, Fraction) and (not money or self.cents == "short"):
            text = text.rstrip("0")
        if money and self.cents == "all" and isinstance(n, int) and self.problem.decimals:
            text += ".00"
        if self.grouped and n >= 1000:
            whole, dot, rest = text.partition(".")
            text = f"{int(whole):,}{dot}{rest}"
        return text.replace(",", "{,}") if self.latex and self.grouped and self.block else text

    def is_money(self, unit: str) -> bool:
        return bool(self.problem.money) and unit == self.problem.unit

    def quantity(self, n: Value, unit: str) -> str:
        """A number with its unit."""
        if not unit or isinstance(n, Clock):
            return self.show(n)
        if self.is_money(unit):
            return words_money(self.show(n, True), self.problem.money)
        return f"{self.show(n)} {unit}"

    def operands(self, w: Work) -> tuple[str, str, str]:
        unit, money = w.unit, bool(self.problem.money)
        bare = []
        for value, percent in zip((w.a, w.b), w.percents):
            if percent is None:
                bare.append(self.show(value, money and isinstance(value, Fraction)))
            elif self.rate == "decimal":
                bare.append(form(value) if self.cents == "full" and self.rng.random() < 0.4 else self.show(value))
            elif self.rate == "long":
                bare.append(f"{form(percent)}/100" if self.space else f"({form(percent)}/100)")
            else:
                bare.append(self.show(percent) + ("\\%" if self.latex else "%"))
        if self.units == "no" or not unit:
            return bare[0], bare[1], self.show(w.claimed, money)
        result = self.quantity(w.claimed, unit)
        mixed = any(r is not None and self.problem.units[r] != unit for r in w.refs)
        if self.units == "all" and w.op in "*/" and w.percents == (None, None) and not mixed and self.rng.random() < 0.5:
            if w.op == "/" or self.rng.random() < 0.5:
                return self.quantity(w.a, unit), bare[1], result
            return bare[0], self.quantity(w.b, unit), result
        if self.units == "result" or w.op in "*/" or mixed or w.percents != (None, None):
            return bare[0], bare[1], result
        return self.quantity(w.a, unit), self.quantity(w.b, unit), result

    def sign(self, op: str) -> str:
        return {"+": "+", "-": self.minus, "*": self.times, "/": self.over}[op]

    def side(self, a: str, op: str, b: str) -> str:
        sp = self.space
        if op == "/" and self.over == "\\frac":
            return f"\\frac{{{a}}}{{{b}}}"
        sign = self.sign(op)
        if op == "*" and self.rate == "of" and "%" in a:
            sign, sp = ("\\text{ of }", "") if self.latex else ("of", " ")
        elif sign[0] == "\\" or op == "*" and self.times == "x" and (a[-1:].isalpha() or b[:1].isalpha()):
            sp = " "
        elif ":" in a + b and sp == "":
            sp = " "
        return f"{a}{sp}{sign}{sp}{b}"

    def equation(self, w: Work) -> str:
        a, b, r = self.operands(w)
        part = self._part(w, a)
        left = part or self.side(a, w.op, b)
        if self.split_products and w.op == "*" and all(isinstance(v, int) for v in (w.a, w.b)) and self.equals == "=" and not self.reversed:
            large, small = (w.a, w.b) if w.a >= w.b else (w.b, w.a)
            if 10 < large < 1000 and small < 13 and large % 10 ** (len(str(large)) - 1) and same(w.claimed, w.true):
                top = large // 10 ** (len(str(large)) - 1) * 10 ** (len(str(large)) - 1)
                left += f" = {self.show(top * small)} + {self.show((large - top) * small)}"
        if self.annotated and not part and "/100" not in left and "%" not in left:
            sign = w.op
            plain = f"<<{form(w.a)}{sign}{form(w.b)}={form(w.claimed)}>>{self.show(w.claimed)}"
            shown = self.show(w.claimed)
            return f"{left} = {r.replace(shown, plain, 1)}" if shown in r else f"{left} = {r}"
        return self.join(left, r)

    def _part(self, w: Work, a: str) -> str | None:
        """A division by the denominator of a fraction, written as that fraction of the number."""
        if w.op != "/" or self.parts == "divide" or not isinstance(w.b, int) or w.b > 10 or self.problem.topic != "fraction":
            return None
        return self.fraction(1, w.b, a)

    def fraction(self, over: int, under: int, a: str) -> str:
        """``3/4 of 80``."""
        f = f"\\frac{{{over}}}{{{under}}}" if self.latex else f"{over}/{under}"
        if self.parts == "of":
            return f"{f} \\text{{ of }} {a}" if self.latex else f"{f} of {a}"
        return f"{f} {self.times} {a}" if self.rng.random() < 0.6 else f"{a} {self.times} {f}"

    def join(self, left: str, right: str) -> str:
        if self.equals == ":":
            text = f"{left}: {right}"
        elif self.equals != "=":
            text = f"{left} {self.equals} {right}"
        elif self.broken:
            text = f"{left}\n= {right}"
        elif self.reversed:
            text = f"{right}{self.space}={self.space}{left}"
        else:
            text = f"{left}{self.space}={self.space}{right}"
        if self.block:
            return f"\\[{text}\\]"
        return f"${text}$".replace("$$", "\\$") if self.latex else text

    def expression(self, works: dict[int, Work], top: Work, known: dict[int, Value]) -> str:
        """The infix text of a step with the earlier steps written out, except those whose value is ``known``."""
        def show(value, ref, parent, right):
            if ref is None or ref in known or ref not in works:
                return self.show(known.get(ref, value))
            w = works[ref]
            text = self.side(show(w.a, w.refs[0], w.op, False), w.op, show(w.b, w.refs[1], w.op, True))
            if parent in "*/" and w.op in "+-" or right and parent in "*/" or right and parent == "-" and w.op in "+-" or right and parent == "+" and w.op == "-":
                return text if text.startswith("\\frac") else f"({text})"
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
        if self.variables and w.label and not self.latex:
            return f"{'_'.join(w.label.lower().split())} = {text}"
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
        if body == "words" and not self.latex and not self.annotated and not self.broken:
            a, b, r = self.operands(w)
            if "%" in a and w.percents[0] is not None:
                return fill(PERCENT.pick(self.rng, self.split), {"P": self.show(w.percents[0]), "A": b, "R": r})
            if self._part(w, a):
                part = _UNIT_FRACTIONS.get(w.b, f"1/{w.b}") if self.rng.random() < 0.4 else f"1/{w.b}"
                return capital(fill(FRACTION.pick(self.rng, self.split), {"P": part, "A": a, "R": r}))
            if self.spelled and all(isinstance(n, int) and n < 100 and str(n) in t for t, n in ((a, w.a), (b, w.b), (r, w.claimed))):
                a, b, r = (t.replace(str(n), words.spelled(n), 1) if t[0].isdigit() else t for t, n in ((a, w.a), (b, w.b), (r, w.claimed)))
                return capital(fill(WORDS[w.op].pick(self.rng, self.split), {"A": a, "B": b, "R": r}))
            if not any("%" in t or "/" in t for t in (a, b)):
                return fill(WORDS[w.op].pick(self.rng, self.split), {"A": a, "B": b, "R": r})
            return text
        if body == "equations":
            return text
        return fill(self.rng.choice(self.frames), {"E": text})


def _mergeable(works: list[Work], start: int, end: int) -> bool:
    """Whether ``works[start:end]`` can stand in one expression: inner results are used once, inside, as they are."""
    run = works[start:end]
    inner = {w.node for w in run[:-1]}
    inside = [r for w in run for r in w.refs if r in inner]
    outside = [r for w in works[end:] for r in w.refs if r is not None]
    plain = all(w.percents == (None, None) and not isinstance(w.claimed, Clock) and not isinstance(w.a, Clock) for w in run)
    return plain and sorted(inside) == sorted(inner) and not inner & set(outside) and all(_uses(w, run) for w in run)


def _uses(w: Work, run: list[Work]) -> bool:
    """Whether the operands that are results of the run have the values claimed there."""
    claimed = {v.node: v.claimed for v in run}
    return all(r not in claimed or same(value, claimed[r]) for r, value in zip(w.refs, (w.a, w.b)))


def _one_expression(run: list[Work], style: Style) -> str | None:
    """Steps in one expression, at once or reduced step by step (``3 x 4 + 5 = 12 + 5 = 17``)."""
    rng = style.rng
    table = {w.node: w for w in run}
    last = run[-1]
    result = style.quantity(last.claimed, last.unit) if style.units != "no" and not style.latex else style.show(last.claimed, bool(style.problem.money))
    honest = all(same(w.claimed, w.true) for w in run[:-1])
    whole = style.expression(table, last, {})
    if rng.random() < 0.35 and style.equals == "=" and not style.reversed and not style.annotated and not style.broken:
        known: dict[int, Value] = {}
        sides = [whole]
        for w in run[:-1]:
            known[w.node] = w.claimed
            sides.append(style.expression(table, last, known))
        if len(sides) > 2 and honest and rng.random() < 0.4:
            sides = [sides[0], sides[-1]]
            for w in run[:-2]:
                w.shown = False
        text = f"{style.space}={style.space}".join(sides)
        return style.join(text, result)
    if not honest:
        return None
    for w in run[:-1]:
        w.shown = False
    return style.join(whole, result)


def _fraction_pair(works: list[Work], i: int, style: Style) -> str | None:
    """``3/4 of 80 = 60`` for a division and a multiplication."""
    if i + 1 >= len(works) or style.parts == "divide" or style.problem.topic != "fraction":
        return None
    first, second = works[i], works[i + 1]
    fits = first.op == "/" and second.op == "*" and second.refs == (first.node, None) and _mergeable(works, i, i + 2)
    if not fits or not same(first.claimed, first.true) or not isinstance(second.b, int) or not isinstance(first.b, int) or max(first.b, second.b) > 10:
        return None
    first.shown = False
    left = style.fraction(second.b, first.b, style.show(first.a))
    return style.join(left, style.operands(second)[2])


_CONVERSIONS = ((60, "hours", "minutes"), (60, "minutes", "seconds"), (7, "weeks", "days"), (100, "m", "cm"), (1000, "kg", "g"), (24, "days", "hours"))
_SHORT_UNITS = {"hours": "h", "minutes": "min"}


def _conversion(w: Work, style: Style) -> str | None:
    """``2 hours = 120 minutes`` for a step that only changes the unit."""
    if not style.converting or w.op not in "*/" or w.refs[1] is not None or w.error == "copied" or not isinstance(w.a, int):
        return None
    for factor, large, small in _CONVERSIONS:
        before, after = (large, small) if w.op == "*" else (small, large)
        if w.b == factor and w.label.startswith(after) and re.search(rf"\b{before.rstrip('s')}s?\b", style.problem.question):
            if style.rng.random() < 0.2:
                before, after = _SHORT_UNITS.get(before, before), _SHORT_UNITS.get(after, after)
            unit = before[:-1] if w.a == 1 and len(before) > 3 else before
            return CONVERSION.pick(style.rng, style.split).replace("{A}", f"{style.show(w.a)} {unit}").replace("{R}", f"{style.show(w.claimed)} {after}")
    return None


def _implied(works: list[Work], i: int, style: Style) -> str | None:
    """``That leaves 48 ducks.`` or ``3 are gone, so 48.`` for a step that takes up the result before it."""
    w = works[i]
    if not style.implying or not i or works[i - 1].node not in w.refs or w.error not in (None, "calculation", "carried"):
        return None
    if w.refs == (works[i - 1].node, None) and w.percents == (None, None) and style.rng.random() < 0.5:
        return fill(IMPLIED_WITH[w.op].pick(style.rng, style.split), {"B": style.show(w.b), "R": style.show(w.claimed)})
    if w.op not in IMPLIED or not w.label:
        return None
    unit = w.unit if style.units != "no" and style.rng.random() < 0.6 else ""
    return IMPLIED[w.op].pick(style.rng, style.split).replace("{V}", style.quantity(w.claimed, unit)).replace("{L}", w.label)


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


def _texts(works: list[Work], style: Style) -> list[str]:
    """A text for every step or group of steps."""
    rng, out, i = style.rng, [], 0
    linear = all(w.refs[0] == v.node and same(w.a, v.claimed) for v, w in zip(works, works[1:]))
    plain = style.equals == "=" and not style.latex and not style.annotated and not style.reversed and all(w.percents == (None, None) for w in works)
    if linear and plain and len(works) > 1 and style.units == "no" and not style.broken and rng.random() < 0.03:
        text = style.show(works[0].a)  # the sloppy chain of pupils: 12 + 5 = 17 - 4 = 13
        for w in works:
            text = style.side(text, w.op, style.show(w.b)) + f"{style.space}={style.space}{style.show(w.claimed)}"
        return [text]
    if linear and plain and style.continuing and len(works) > 1:
        first = style.equation(works[0])
        if rng.random() < 0.4:
            return [first] + [fill(CONTINUED[w.op].pick(rng, style.split), {"B": style.show(w.b), "R": style.show(w.claimed)}) for w in works[1:]]
        return [first] + [f"{style.sign(w.op)}{style.space}{style.show(w.b)}{style.space}={style.space}{style.show(w.claimed)}" for w in works[1:]]
    while i < len(works):
        text = _fraction_pair(works, i, style)
        end = i + 2
        if text is None and rng.random() < style.merging and not style.annotated:
            ends = [e for e in range(i + 2, len(works) + 1) if _mergeable(works, i, e)]
            if ends:
                end = ends[-1] if rng.random() < 0.5 else rng.choice(ends)
                text = _one_expression(works[i:end], style)
        if text is None:
            w = works[i]
            out.append(_conversion(w, style) or _implied(works, i, style) or style.sentence(w, style.equation(w)))
            end = i + 1
        else:
            label = works[end - 1].label
            if style.body == "labelled" and label:
                text = capital(fill(rng.choice(style.labels), {"E": text, "L": label}))
            elif style.body in ("sentences", "words", "mixed") and style.equals == "=":
                text = fill(rng.choice(style.frames), {"E": text})
            out.append(text)
        if style.echo and rng.random() < style.echo and end < len(works):
            w = works[end - 1]
            unit = w.unit if w.unit and w.label else ""
            echo = ECHO.pick(rng, style.split)
            out[-1] += ("\n" if style.layout != "prose" else "" if out[-1][-1:] in ".!?\n" else ".") + (" " if style.layout == "prose" else "") + fill(
                echo, {"R": style.show(w.claimed), "V": style.quantity(w.claimed, unit)})
        i = end
    return out


def pieces(problem: Problem, works: list[Work], style: Style) -> list[str]:
    """The steps as a list of texts; ``shown`` of steps hidden in a merged expression becomes False."""
    if style.rate == "of":  # "20% of 150": the percentage stands first
        for w in works:
            if w.op == "*" and w.percents[1] is not None and w.percents[0] is None:
                w.a, w.b, w.refs, w.percents, w.bad = w.b, w.a, w.refs[::-1], w.percents[::-1], {"a": "b", "b": "a", "": ""}[w.bad]
    out = _texts(works, style)
    if style.connect:
        out = _linked(out, style)
    if style.layout == "heads" and (len(out) > 1 or style.rng.random() < 0.3):
        out = [style.head.replace("{i}", str(i + 1)) + ("" if style.head.endswith("\n") else " ") + t for i, t in enumerate(out)]
    elif style.layout == "table" and not any("\n" in t or "|" in t for t in out):
        head = style.rng.choice(("| Step | Calculation |\n|---|---|", "| # | work |\n|:--|:--|", "Step | Work\n--- | ---"))
        edge = "| " if head.startswith("|") else ""
        out = ["\n".join([head] + [f"{edge}{i + 1} | {t}{' |' if edge else ''}" for i, t in enumerate(out)])]
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
    if rng.random() < 0.4:
        text = GIVEN.pick(rng, style.split).replace("{T}", text).replace("..", ".")
    return [text] if len(text) < 160 else []


def assemble(parts: list[str], style: Style) -> str:
    """Put opening, steps and final together: lines, a paragraph, or lines with gaps."""
    if not parts:
        return ""
    if style.layout == "terse" and not any("\n" in p for p in parts):
        between = style.rng.choice((" ", ", ", ", ", "; ", "; ", " => ", " -> ", " | ", ", so ", ", then ", "  ", ". ", " & ", ";"))
        return between.join(p.rstrip(".") for p in parts)
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
            elif "|---" in p or "--- |" in p:
                p += "\n"
            done.append(p + " ")
        return "".join(done + [parts[-1]])
    return ("\n\n" if style.rng.random() < 0.2 else "\n").join(parts)
