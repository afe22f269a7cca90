"""Data types, split-aware phrase banks and the small template language."""
from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from .numbers import Clock, apply, exact, workable


Value = int | Fraction
"""A number or, as a `Clock`, a time of day."""


@dataclass(frozen=True)
class Step:
    """One step of the true plan: ``a op b = result``."""

    a: Value
    op: str
    b: Value
    result: Value


@dataclass(frozen=True)
class StudentStep:
    """One step as the student wrote or implied it.

    ``true`` is the value of ``a op b`` as written. ``error`` is None, 'calculation', 'operation', 'copied' or
    'carried' (an earlier wrong result is used, nothing new is wrong). ``shown`` is False inside a merged expression and
    for a step that was left out. ``bad`` names the miscopied operand.
    """

    a: Value
    op: str
    b: Value
    claimed: Value
    true: Value
    error: str | None
    shown: bool
    bad: str = ""


@dataclass(frozen=True)
class Example:
    """A labelled problem with a student's answer; ``inside`` says whether it belongs to the judge's domain."""

    question: str
    student_answer: str
    reference_answer: str
    kind: str
    process: bool
    outcome: bool
    perfect: bool
    plan: tuple[Step, ...]
    student_steps: tuple[StudentStep, ...]
    final: Value | None
    flags: frozenset[str]
    topic: str = ""
    inside: bool = True
    last: int | None = None
    """Which of the student's steps ends the derivation, where a check follows it; None for the last."""

    @property
    def reached(self) -> Value | None:
        """The value in which the derivation ends: that of its last step before a check, None without steps."""
        return self.student_steps[-1 if self.last is None else self.last].claimed if self.student_steps else None


@dataclass
class Node:
    """A step of a plan whose operands are quantities of the question or earlier results.

    A reference is ``('q', name)`` for a quantity, ``('p', name)`` for a percentage as a decimal, ``('c', value)`` for a
    constant (twice, a week, the rest of 100 %), ``('s', index)`` for the result of an earlier node and
    ``('r', index)`` for such a result in percent, as a decimal.
    """

    left: tuple
    op: str
    right: tuple
    label: str = ""


@dataclass
class Problem:
    """A question with its plan in symbolic and in numeric form."""

    question: str
    nodes: list[Node]
    values: dict[str, Value]
    unit: str
    labels: list[str]
    units: list[str]
    slots: dict[str, str]
    clauses: list[str] | None = None
    body: str = ""
    money: str = ""
    plan: tuple[Step, ...] = field(default=())
    topic: str = ""
    decimals: bool = False
    grouped: bool = False
    suffix: str = ""

    @property
    def answer(self) -> Value:
        return self.plan[-1].result


def is_heldout(text: str) -> bool:
    """Whether a phrase belongs to the held-out part: fixed by a stable hash of the phrase itself."""
    return zlib.crc32(text.encode()) % 9 < 2


class Bank:
    """Phrases, divided once and for all into those of training and those held out.

    Up to two phrases are shared by both parts (there is nothing to divide); otherwise each part gets at least one.
    ``trace`` collects what was picked when it is set to a set (used by the check).
    """

    trace: set | None = None
    all: list["Bank"] = []

    def __init__(self, items, key=str, shared: bool = False):
        items = list(items)
        assert items
        if shared or len(items) <= 2:
            self.train = self.held = items
        else:
            self.held = [i for i in items if is_heldout(key(i))]
            self.train = [i for i in items if not is_heldout(key(i))]
            if not self.held:
                self.held = [self.train.pop()]
            if not self.train:
                self.train = [self.held.pop()]
        Bank.all.append(self)

    def part(self, split: str) -> list:
        return self.held if split == "heldout" else self.train

    def pick(self, rng: random.Random, split: str):
        part = self.held if split == "heldout" else self.train
        item = part[int(rng.random() * len(part))]
        if Bank.trace is not None:
            Bank.trace.add((id(self), id(item)))
        return item


def lines(text: str) -> list[str]:
    """The non-empty lines of a block of phrases; ``\\n`` in a line stands for a line break."""
    return [l.strip().replace("\\n", "\n") for l in text.strip().splitlines() if l.strip() and not l.strip().startswith("//")]


_TOKEN = re.compile(r"[\[\]|]|[^\[\]|]+")


@lru_cache(maxsize=None)
def _parse(template: str):
    """``[a|b|c]`` alternatives, nestable, as a tree: a list of strings and of lists of alternatives."""
    stack = [[[]]]
    for token in _TOKEN.findall(template):
        if token == "[":
            stack.append([[]])
        elif token == "|" and len(stack) > 1:
            stack[-1].append([])
        elif token == "]" and len(stack) > 1:
            group = stack.pop()
            stack[-1][-1].append(group)
        else:
            stack[-1][-1].append(token)
    assert len(stack) == 1, template
    return stack[0][0]


def _expand(tree, rng, out, linked):
    for part in tree:
        if isinstance(part, str):
            out.append(part)
            continue
        first = part[0][0] if part[0] and isinstance(part[0][0], str) else ""
        if first.startswith("#"):  # linked groups make the same choice everywhere
            tag, text = first[:2], first[2:]
            k = linked.setdefault(tag, int(rng.random() * len(part)))
            _expand([text] if k == 0 else part[k], rng, out, linked)
        else:
            _expand(part[int(rng.random() * len(part))], rng, out, linked)


def expand(template: str, rng: random.Random, linked: dict | None = None) -> str:
    """One random choice of every ``[a|b]``; groups ``[#1a|b]`` with the same number choose alike (also across calls with one ``linked``)."""
    if "[" not in template:
        return template
    out: list[str] = []
    _expand(_parse(template), rng, out, {} if linked is None else linked)
    return "".join(out)


_SLOT = re.compile(r"\{([^{}]+)\}")


def fill(template: str, slots: dict[str, str]) -> str:
    """Replace ``{name}`` by its slot; unknown slots are an error."""
    return _SLOT.sub(lambda m: slots[m.group(1)], template)


def capital(text: str) -> str:
    """First letter upper case, the rest untouched."""
    for i, ch in enumerate(text):
        if ch.isalpha():
            return text[:i] + ch.upper() + text[i + 1:]
        if ch.isdigit() or ch == "$":
            return text
    return text


_REF = re.compile(r"^(?:(_)|s(\d)|([a-h])(%?)|(\d+))$")
_OP = re.compile(r"^\s*(\w+%?)\s*([-+*/~])\s*(\w+%?)\s*$")


@lru_cache(maxsize=None)
def parse_plan(text: str) -> tuple[Node, ...]:
    """``a*b: in the boxes; _-c: left`` as nodes.

    ``_`` is the previous result, ``s1`` the first, digits are constants, ``b%`` is b percent as a decimal; ``a~f`` is
    the fraction f of a, which `with_fractions` turns into a division and perhaps a multiplication.
    """
    nodes = []
    for i, part in enumerate(text.split(";")):
        expr, _, label = part.partition(":")
        m = _OP.match(expr)
        assert m, (text, part)
        refs = []
        for word in (m.group(1), m.group(3)):
            r = _REF.match(word)
            assert r, (text, word)
            if r.group(1):
                refs.append(("s", i - 1))
            elif r.group(2):
                refs.append(("s", int(r.group(2)) - 1))
            elif r.group(3):
                refs.append(("p" if r.group(4) else "q", r.group(3)))
            else:
                refs.append(("c", int(r.group(5))))
        assert all(r[0] != "s" or 0 <= r[1] < i for r in refs), text
        nodes.append(Node(refs[0], m.group(2), refs[1], label.strip()))
    return tuple(nodes)


def with_fractions(nodes, values) -> list[Node]:
    """The nodes with every ``x~f`` as a division by the denominator and a multiplication by the numerator."""
    result, moved = [], {}

    def shift(ref):
        return ("s", moved[ref[1]]) if ref[0] == "s" else ref

    for index, node in enumerate(nodes):
        left, right = shift(node.left), shift(node.right)
        if node.op == "~":
            over, under = values[node.right[1]]
            result.append(Node(left, "/", ("c", under), node.label if over == 1 else ""))
            if over != 1:
                result.append(Node(("s", len(result) - 1), "*", ("c", over), node.label))
        else:
            result.append(Node(left, node.op, right, node.label))
        moved[index] = len(result) - 1
    return result


def resolve(ref, values, results) -> Value:
    """What a reference stands for."""
    kind, name = ref
    if kind == "q":
        return values[name]
    if kind == "p":
        return exact(Fraction(values[name]) / 100)
    if kind == "c":
        return name
    return results[name] if kind == "s" else exact(Fraction(results[name]) / 100)


def evaluate(nodes, values) -> tuple[Step, ...] | None:
    """The plan in numbers; None where a step is not one the judge can check."""
    steps: list[Step] = []
    results: list[Value] = []
    for n in nodes:
        a, b = resolve(n.left, values, results), resolve(n.right, values, results)
        if not workable(a, n.op, b):
            return None
        results.append(apply(a, n.op, b))
        steps.append(Step(a, n.op, b, results[-1]))
    return tuple(steps)


_ROLE = re.compile(r"\{(\$?)([a-h])([x%./:!]?)\}")
FRACTIONS = ((1, 2), (1, 3), (1, 4), (1, 5), (2, 3), (3, 4), (2, 5), (3, 5), (1, 6), (1, 8), (4, 5), (1, 10), (5, 6), (3, 8), (3, 10))
PERCENTS = (10, 20, 25, 50, 5, 15, 30, 40, 60, 75, 80, 12, 35, 45, 70, 90, 8, 55, 65, 18, 24, 2, 4, 6)
CENTS = (50, 50, 50, 25, 75, 99, 95, 49, 20, 80, 40, 60, 10, 90)


def roles(nodes, text: str) -> dict[str, str]:
    """What each quantity is: '*' factor, '/' divisor, '+' other; or the mark it has in the text ($ % . / :)."""
    found: dict[str, str] = {}
    for n in nodes:
        for side, ref in (("left", n.left), ("right", n.right)):
            if ref[0] in "qp":
                role = "*" if n.op == "*" else "/" if n.op == "/" and side == "right" else "+"
                if found.get(ref[1], "+") == "+":
                    found[ref[1]] = role
    for sign, name, mark in _ROLE.findall(text):
        if mark in ("%", ".", "/", ":"):
            found[name] = mark
        elif sign and found.get(name) != "/":
            found[name] = "$*" if found.get(name) == "*" else "$"
        else:
            found.setdefault(name, "+")
    return found


def _draw(role: str, top: int, decimals: bool, rng: random.Random) -> Value | tuple:
    u = rng.random()
    if role == "%":
        return PERCENTS[min(int(rng.expovariate(0.18)), len(PERCENTS) - 1)] if u < 0.93 else rng.randint(1, 99)
    if role == "/":
        return rng.randint(2, 12) if u < 0.85 else rng.choice((15, 16, 20, 24, 25, 30, 36, 40, 50, 60))
    if role == ".":
        n = rng.randint(1, 12 if u < 0.7 else 60)
        return exact(Fraction(n * 100 + rng.choice((50, 50, 25, 75, 20, 40, 5, 80, 30, 0, 0)), 100))
    if role == "*":
        return rng.randint(2, 9) if u < 0.5 else rng.randint(2, 12) if u < 0.72 else rng.randint(2, 25) if u < 0.9 else \
            rng.choice((15, 20, 25, 30, 40, 50, 60, 75, 100, 120, 125, 150, 200, 250, rng.randint(10, 99), rng.randint(10, max(99, top // 10))))
    if decimals and role in ("$", "$*"):
        whole = rng.randint(1, 9) if u < 0.35 else rng.randint(1, 40) if role == "$*" or u < 0.7 else rng.randint(10, max(11, min(top, 900)))
        cents = rng.choice(CENTS) if rng.random() < 0.65 else rng.randint(1, 99) if rng.random() < 0.6 else 0
        return exact(Fraction(whole * 100 + cents, 100))
    if role == "$*":
        return rng.randint(2, 12) if u < 0.45 else rng.randint(2, 60) if u < 0.85 else rng.randint(10, max(60, top // 6))
    n = rng.randint(2, 12) if u < 0.2 else rng.randint(2, min(60, top)) if u < 0.45 else rng.randint(2, top)
    if top > 200 and rng.random() < 0.35:
        n = max(10, n // 10 * 10) if rng.random() < 0.5 or top < 1000 else max(50, n // 50 * 50)
    return n


def sample_values(nodes, text: str, rng: random.Random, decimals: bool) -> tuple[list[Node], dict[str, Value]] | None:
    """Numbers for the plan, with its fractions written out; None if unlucky."""
    found = roles(nodes, text)
    u = rng.random()
    top = 99 if u < 0.45 else 300 if u < 0.6 else 999 if u < 0.82 else 4999
    limit = max(199, 2 * top)
    lowest = 0 if rng.random() < 0.03 else 1
    clock = rng.random() < 0.6
    for _ in range(80):
        values: dict[str, Value] = {}
        for name, role in found.items():
            if role == ":":
                values[name] = Clock(rng.randint(60, 660) if clock else rng.randint(780, 1320))
                if rng.random() < 0.7:
                    values[name] = Clock(values[name] // 5 * 5)
            else:
                values[name] = FRACTIONS[min(int(rng.expovariate(0.3)), len(FRACTIONS) - 1)] if role == "~" else _draw(role, top, decimals, rng)
        for n in nodes:  # what is divided must be divisible
            if n.op == "~":
                values[n.right[1]] = f = FRACTIONS[min(int(rng.expovariate(0.3)), len(FRACTIONS) - 1)]
                if n.left[0] == "q" and isinstance(values[n.left[1]], int):
                    values[n.left[1]] = max(1, values[n.left[1]] // f[1]) * f[1]
            elif n.op == "/" and n.left[0] == "q" and found[n.left[1]] != ".":
                b = resolve(n.right, values, ()) if n.right[0] in "qpc" else None
                if isinstance(b, int) and isinstance(values[n.left[1]], int):
                    values[n.left[1]] = max(1, values[n.left[1]] // b) * b
            elif n.op == "*" and n.right[0] == "p" and n.left[0] == "q" and isinstance(values[n.left[1]], int) and values[n.left[1]] > 20:
                values[n.left[1]] = values[n.left[1]] // 20 * 20 if rng.random() < 0.8 else values[n.left[1]]
        full = with_fractions(nodes, values)
        steps = evaluate(full, values)
        if steps is None:
            continue
        if all(isinstance(s.result, Clock) or lowest <= s.result <= limit for s in steps) and _noon(values, steps):
            return full, values
    return None


def _noon(values, steps) -> bool:
    """Whether all times of day lie before noon, or all after, without 12 o'clock itself."""
    times = [v for v in (*values.values(), *(s.result for s in steps)) if isinstance(v, Clock)]
    return all(60 <= t < 720 for t in times) or all(780 <= t < 1440 for t in times)
