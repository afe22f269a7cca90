"""Data types, split-aware phrase banks and the small template language."""
from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass, field
from functools import lru_cache


@dataclass(frozen=True)
class Step:
    """One step of the true plan: ``a op b = result``."""

    a: int
    op: str
    b: int
    result: int


@dataclass(frozen=True)
class StudentStep:
    """One step as the student wrote or implied it.

    ``true`` is the value of ``a op b`` as written. ``error`` is None, 'calculation', 'operation', 'copied' or
    'carried' (an earlier wrong result is used, nothing new is wrong). ``shown`` is False inside a merged expression.
    """

    a: int
    op: str
    b: int
    claimed: int
    true: int
    error: str | None
    shown: bool


@dataclass(frozen=True)
class Example:
    """A labelled problem with a student's answer."""

    question: str
    student_answer: str
    reference_answer: str
    kind: str
    process: bool
    outcome: bool
    perfect: bool
    plan: tuple[Step, ...]
    student_steps: tuple[StudentStep, ...]
    final: int | None
    flags: frozenset[str]
    reason: str


@dataclass
class Node:
    """A step of a plan whose operands are quantities of the question or earlier results.

    A reference is ``('q', name)`` for a quantity, ``('c', value)`` for a constant (twice, a week) or ``('s', index)``
    for the result of an earlier node.
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
    values: dict[str, int]
    unit: str
    labels: list[str]
    units: list[str]
    slots: dict[str, str]
    clauses: list[str] | None = None
    body: str = ""
    money: str = ""
    plan: tuple[Step, ...] = field(default=())

    @property
    def answer(self) -> int:
        return self.plan[-1].result


def apply(a: int, op: str, b: int) -> int:
    """The value of ``a op b``."""
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    return a * b


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


_REF = re.compile(r"^(?:(_)|s(\d)|([a-h])|(\d+))$")
_OP = re.compile(r"^\s*(\w+)\s*([-+*])\s*(\w+)\s*$")


@lru_cache(maxsize=None)
def parse_plan(text: str) -> tuple[Node, ...]:
    """``a*b: in the boxes; _-c: left`` as nodes. ``_`` is the previous result, ``s1`` the first, digits are constants."""
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
                refs.append(("q", r.group(3)))
            else:
                refs.append(("c", int(r.group(4))))
        assert all(r[0] != "s" or 0 <= r[1] < i for r in refs), text
        nodes.append(Node(refs[0], m.group(2), refs[1], label.strip()))
    return tuple(nodes)


def evaluate(nodes, values: dict[str, int]) -> tuple[Step, ...]:
    """The plan in numbers."""
    steps: list[Step] = []

    def val(ref):
        return values[ref[1]] if ref[0] == "q" else ref[1] if ref[0] == "c" else steps[ref[1]].result

    for n in nodes:
        a, b = val(n.left), val(n.right)
        steps.append(Step(a, n.op, b, apply(a, n.op, b)))
    return tuple(steps)


def sample_values(nodes, rng: random.Random) -> dict[str, int] | None:
    """Numbers for the plan: 2..99, every intermediate result 0..99 (or up to 199 for a small share); None if unlucky."""
    limit = 199 if rng.random() < 0.05 else 99
    names: dict[str, str] = {}
    for n in nodes:
        for ref in (n.left, n.right):
            if ref[0] == "q":
                small = n.op == "*"
                names[ref[1]] = "*" if small or names.get(ref[1]) == "*" else "+"
    lowest = 0 if rng.random() < 0.06 else 1
    for _ in range(60):
        values = {}
        for name, role in names.items():
            u = rng.random()
            if role == "*":
                values[name] = rng.randint(2, 9) if u < 0.6 else rng.randint(2, 12) if u < 0.85 else rng.randint(2, 25)
            else:
                values[name] = rng.randint(2, 12) if u < 0.35 else rng.randint(2, 40) if u < 0.75 else rng.randint(2, 90)
        if all(lowest <= s.result <= limit for s in evaluate(nodes, values)):
            return values
    return None
