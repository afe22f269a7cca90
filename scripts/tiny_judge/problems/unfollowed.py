"""Responses that the judge cannot follow and is to abstain from: calculation with unknowns, values that are written as fractions or in another form that it does not read."""
from __future__ import annotations

import random
import re
from fractions import Fraction

from .core import Example
from .marks import Leaf, Lost, Solution, Tree, number, unknown
from .numbers import apply
from .retell import _FINALS, TOPIC, Voice, as_written, digits, equations_of, tell, works_of

_ALGEBRA = ("Let {x} be what we look for.", "Let {x} = the answer.", "Let's say the answer is {x}.", "Let {x} represent the unknown number.", "We call the unknown {x}.")


def unfollowed(s: Solution, rng: random.Random) -> Example:
    """A response that the judge cannot follow: people's with unknowns, or one told so."""
    if s.lost and not unknown(s):
        raise Lost("unclear")
    answer = s.answer if s.lost else ""
    if not answer:
        equations = [e for e in equations_of(s) if isinstance(e.tree, Tree) and isinstance(e.tree.left, Leaf) and isinstance(e.tree.right, Leaf)]
        if not equations:
            raise Lost("no algebra")
        e, x, voice = equations[-1], rng.choice("xynwzab"), Voice.draw(rng)
        a, b, r = voice.leaf(e.tree.left), voice.leaf(e.tree.right), digits(e.claimed)
        frame = {"-": "{x} + {b} = {a}", "/": "{b}{x} = {a}", "+": "{x} - {b} = {a}", "*": "{x}/{b} = {a}"}[e.tree.op].format(x=x, a=a, b=b)
        body = rng.choice(("{l}\nThen {f}.\nSolving for {x}: {x} = {e} = {r}", "{l} {f}\n{x} = {r}", "{l}\n{f}\n{x} = {e}\n{x} = {r}", "{l} So {f}, and therefore {x} = {r}.")).format(
            l=rng.choice(_ALGEBRA).format(x=x), f=frame, x=x, e=voice.tree(e.tree), r=r)
        told = as_written(s, works_of(s, {}, rng), Voice(rng), {}).text.split("\n")
        answer = "\n".join([*told[: rng.randint(0, max(0, len(told) - 1))], body, rng.choice(_FINALS).format(f=digits(s.reference))])
    else:
        body, _, final = answer.rpartition("####")
        if rng.random() < 0.6:
            body = re.sub(r"<<[^<>]*>>", "", body)
        final = final.strip() if rng.random() < 0.8 else str(rng.randint(2, 300))
        answer = body.rstrip() + "\n" + (f"#### {final}" if rng.random() < 0.5 else rng.choice(_FINALS).format(f=final))
    reference = s.answer.rpartition("####")[2].strip() if s.lost else digits(s.reference)
    return _outside(s.question, answer, reference)


_FRACTIONS = ((1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 6), (5, 6), (3, 8), (5, 8), (7, 8), (3, 10), (7, 12), (5, 12), (4, 9), (2, 7), (8, 15))
_FRAMES = ("{e}", "{e}", "This is {e} of the whole.", "The rest is {e}.", "That leaves {e} of the total.", "So {e} of them are left.", "Together they make {e}.", "The other part is {e} of it.",
           "First find what fraction is left: {e}", "Then find the total fraction: {e}", "He has {e} cups left.", "She uses {e} of it.", "Each one gets {e} of a pizza.", "This means that {e} remain.",
           "{r} of them are not counted because {e}", "The remaining fraction is {e}.", "It takes {e} of an hour.", "In all, {e} were used", "After that there are {e} miles to go.", "{e} of the money was spent.")


_PLAIN = re.compile(r"(?<![\d.,%/*x×+()-])(?<![-+*/x×)] )(\d[\d,]*(?:\.\d+)?|\.\d+) ?([-+*/x×]) ?\$?(\d[\d,]*(?:\.\d+)?|\.\d+) ?= ?\$?(\d[\d,]*(?:\.\d+)?|\.\d+)(?! ?[/\d%(*x])")


def _errs(text: str) -> bool:
    """Whether a plain equation of a text is wrong: a fault, which is refused and not abstained from."""
    for a, op, b, c in _PLAIN.findall(text):
        found = apply(number(a), {"x": "*", "×": "*"}.get(op, op), number(b))
        if found is not None and abs(found - number(c)) * 100 >= max(1, abs(found)):
            return True
    return False


def _mixed(v: Fraction) -> str:
    """1 1/2 for 3/2."""
    whole, rest = divmod(v.numerator, v.denominator)
    return f"{whole} {rest}/{v.denominator}" if whole and rest else str(v)


def _in_fractions(rng: random.Random) -> str:
    """A line that calculates with fractions and writes its result as one."""
    (a, b), (c, d) = rng.sample(_FRACTIONS, 2)
    p, q, n = Fraction(a, b), Fraction(c, d), rng.randint(2, 12)
    times = rng.choice(("*", "*", "x", "×"))
    way = rng.randrange(10)
    if way == 9:  # thousands with a space
        u, v = rng.randint(2, 40) * 100, rng.randint(2, 60)
        spaced = f"{u * v:,}".replace(",", " ")
        return rng.choice(("{u} {t} {v} = {s}", "That makes {v} {t} ${u} = ${s}.", "The total is {u} {t} {v} = {s} grams.")).format(u=u, v=v, t=times, s=spaced)
    if way < 3:
        left, result = rng.choice((f"1 - {p}", f"1-{p}", f"1 - ({p})", f"{b}/{b} - {p}")), 1 - p
    elif way == 3:
        left, result = f"{p} + {q}" + rng.choice(("", f" = {a * d}/{b * d} + {c * b}/{b * d}")), p + q
    elif way == 4:
        left, result = f"{max(p, q)} - {min(p, q)}", abs(p - q)
    elif way == 5:
        left, result = f"{p} {times} {q}", p * q
    elif way == 6:
        left, result = f"{a * n}/{b * n}", p
    elif way == 7:
        left, result = rng.choice(((f"{n} - {p}", n - p), (f"{n} {p} + {q}", n + p + q), (f"{n} {times} {p}", n * p)))
    else:
        left, result = f"{p}", Fraction(a * n, b * n)
    shown = _mixed(result) if way in (3, 7) and rng.random() < 0.6 else f"{a * n}/{b * n}" if way == 8 else str(result)
    if "/" not in shown:
        raise Lost("whole")
    if rng.random() < 0.12:
        shown = f"<<{left.replace(times, '*').replace(' ', '')}={shown}>>{shown}"
    e = left + rng.choice((" = ", " = ", "=")) + shown
    line = rng.choice(_FRAMES).format(e=e, r=shown)
    if rng.random() < 0.4 and 0 < result < 1:
        whole = result.denominator * rng.randint(2, 40)
        line += rng.choice(("\n", " ", "\n")) + rng.choice(("{r} {t} {w} = {v}", "So {w} {t} {r} = {v}", "{r} of {w} is {v}.", "{w} {t} ({r}) = {v}", "{v} / ({r}) = {w}")).format(r=result, t=times, w=whole, v=result * whole)
    return line


def unread(s: Solution, rng: random.Random) -> Example:
    """A response with equations that the judge has no form for: people's own, or one with lines of fractions put into it."""
    if s.lost:
        if s.lines or unknown(s) or _errs(re.sub(r"<<[^<>]*>>", "", s.answer)):
            raise Lost("unclear")
        body, _, final = s.answer.rpartition("####")
        if rng.random() < 0.5:
            body = re.sub(r"<<[^<>]*>>", "", body)
        answer = body.rstrip() + "\n" + (rng.choice(("#### {f}", "A: {f}")) if rng.random() < 0.6 else rng.choice(_FINALS)).format(f=final.strip())
        return _outside(s.question, answer, final.strip())
    e = tell(s, rng, "sound", rng.choice(("people", "people", "model")))
    lines = e.student_answer.split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        lines.insert(rng.randrange(len(lines)), _in_fractions(rng))
    return _outside(s.question, "\n".join(lines), e.reference_answer)


def _outside(question: str, answer: str, reference: str) -> Example:
    return Example(question, answer, reference, "unfollowed", False, False, False, (), (), None, frozenset(), TOPIC, inside=False)
