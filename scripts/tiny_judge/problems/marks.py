"""Real solutions with calculator marks (`48/2 = <<48/2=24>>24`), taken apart into lines of text and equations."""
from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from .numbers import apply, exact, followable, rounded, writable

KEPT_OUT = 3
"""One question in so many is kept out of training."""


class Lost(Exception):
    """What cannot be followed."""


@dataclass(frozen=True)
class Leaf:
    """A number in an expression."""

    value: object
    percent: bool = False


@dataclass(frozen=True)
class Tree:
    """An operation in an expression."""

    op: str
    left: object
    right: object


_TOKEN = re.compile(r"\s*(?:(\d+(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+)(\s*%)?|(.))")


def number(text: str):
    """The exact value of a written number."""
    return exact(Fraction(text.replace(",", "").rstrip(".")))


def parse(text: str):
    """The tree of an expression in digits, + - * / and parentheses."""
    tokens = []
    for m in _TOKEN.finditer(text.strip()):
        if m[1]:
            value = number(m[1])
            tokens.append(Leaf(exact(Fraction(value) / 100) if m[2] else value, bool(m[2])))
        elif m[3] in "+-*/()":
            tokens.append(m[3])
        else:
            raise Lost(text)
    tokens.append("")
    at = 0

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def atom():
        token = take()
        if isinstance(token, Leaf):
            return token
        if token == "(":
            inner = total()
            if take() != ")":
                raise Lost(text)
            return inner
        if token == "-" and isinstance(tokens[at], Leaf):
            return Leaf(-take().value)
        raise Lost(text)

    def product():
        left = atom()
        while tokens[at] in ("*", "/", "("):
            left = Tree("*" if tokens[at] == "(" else take(), left, atom())
        return left

    def total():
        left = product()
        while tokens[at] in ("+", "-"):
            left = Tree(take(), left, product())
        return left

    tree = total()
    if tokens[at] != "":
        raise Lost(text)
    return tree


def leaves(tree) -> list[Leaf]:
    """The numbers of an expression in their order."""
    return [tree] if isinstance(tree, Leaf) else leaves(tree.left) + leaves(tree.right)


def with_leaves(tree, values: list):
    """The same expression over other numbers; takes them off the list."""
    if isinstance(tree, Leaf):
        return replace(tree, value=values.pop(0))
    left = with_leaves(tree.left, values)
    return Tree(tree.op, left, with_leaves(tree.right, values))


def value(tree):
    """The exact value of an expression."""
    if isinstance(tree, Leaf):
        return tree.value
    result = apply(value(tree.left), tree.op, value(tree.right))
    if result is None:
        raise Lost("no value")
    return result


def _factors(node) -> tuple[object, list[tuple[str, object]]]:
    """A chain of products and quotients as its first factor and what follows: 9*(2/3) is 9, then *2 and /3, where 2/3 does not end."""
    if not isinstance(node, Tree) or node.op not in "*/":
        return node, []
    first, rest = _factors(node.left)
    right = node.right
    if isinstance(right, Tree) and right.op == "/" and not writable(value(right)):
        inner, others = _factors(right)
        pairs = [("*", inner), *others]
        return first, rest + (pairs if node.op == "*" else [("/" if op == "*" else "*", part) for op, part in pairs])
    return first, [*rest, (node.op, right)]


def steps(tree, claimed) -> list[tuple]:
    """(a, op, b, value, shown) for every operation, as the judge follows them; `claimed` is the student's value of all.

    In a chain of products what would not end as a decimal is divided by last: 2/3*9 and 9*(2/3) are 2*9, then /3.
    """
    found: list[tuple] = []

    def walk(node, top: bool):
        if isinstance(node, Leaf):
            return node.value
        if node.op in "*/":
            first, chain = _factors(node)
            acc, parts = walk(first, False), [(op, walk(right, False)) for op, right in chain]
            test = acc
            for index, (op, b) in enumerate(parts):
                test = apply(test, op, b)
                if test is None or not writable(test) and index < len(parts) - 1:
                    parts.sort(key=lambda part: part[0] == "/")
                    break
            for index, (op, b) in enumerate(parts):
                last = top and index == len(parts) - 1
                acc = step(acc, op, b, last)
            return acc
        a, b = walk(node.left, False), walk(node.right, False)
        return step(a, node.op, b, top)

    def step(a, op, b, last):
        result = claimed if last else apply(a, op, b)
        if result is None or not writable(result) or not followable(a, op, b, result):
            raise Lost("a step")
        found.append((a, op, b, result, last))
        return result

    walk(tree, True)
    return found


def fits(tree, claimed) -> bool:
    """Whether an equation is right, or rounded where it does not end."""
    try:
        done = steps(tree, claimed)
    except Lost:
        return False
    if not done:
        return value(tree) == claimed
    a, op, b, _, _ = done[-1]
    return apply(a, op, b) == claimed or op == "/" and rounded(a, b, claimed)


@dataclass(frozen=True)
class Equation:
    """An equation in a line: how its left side is written (text between its numbers), its tree, the value found.

    `between` is None where the left side is not written, or is written otherwise than in the mark.
    """

    tree: object
    claimed: object
    between: tuple[str, ...] | None
    numbers: tuple[str, ...] = ()
    money: str = ""
    mark: bool = True
    linked: bool = True
    """Whether the line has `=` before the mark."""
    percent: str = ""
    """The sign behind a result in percent."""
    inner: str = ""
    """The expression in the mark, which may be written otherwise: <<25*.01*16=4>> behind .25*16."""


@dataclass(frozen=True)
class Line:
    """A line of a solution: texts and equations in turn."""

    parts: tuple


@dataclass(frozen=True)
class Solution:
    """A question with a sound solution that can be followed; `lost` where it cannot: without `lines` where an equation cannot be read."""

    question: str
    answer: str
    lines: tuple[Line, ...]
    reference: object
    lost: bool = False


_MARK = re.compile(r"<<([^<>]*)>>")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")


_LABEL = re.compile(r"(?:^|[.,;:!?]\s)[^\d=.,;:!?]*=")
"""`=` behind a name."""
_SIGNS = str.maketrans({"x": "*", "X": "*", "×": "*", "÷": "/", "–": "-", "−": "-", "—": "-", "·": "*"})


def _open(text: str) -> bool:
    """Whether a text has an `=` that is not at its end and not behind a name."""
    return "=" in re.sub(r"\s*=\s*[$€£]?\s*$", "", _LABEL.sub(lambda m: " " * len(m[0]), text))


def _visible(text: str, claimed):
    """What stands before `=`, as a tree, where it gives the value found: from the longest tail that can be read."""
    text = text[text.rfind("=") + 1:]
    found = list(_NUMBER.finditer(text))
    for m in found[-9:-1]:
        tail = text[m.start():]
        if re.search(r"[.;:!?]\s", tail):
            continue
        start = m.start()
        while start and text[start - 1] in "$€£( ":
            start -= 1
        plain = re.sub(r"[A-Za-z’'\"\[\]&,]{2,}|[$€£]|(?<=[a-z])/(?=[a-z])", " ", re.sub(r"(?<=[A-Za-z)])\s*/\s*(?=[A-Za-z])|\b[xX]\b(?=[a-z])|(?<=[A-Za-z\d])-(?=[A-Za-z])", " ", text[start:].replace(" per ", " "))).translate(_SIGNS)
        try:
            tree = parse(re.sub(r"(?<=[\d%)])\s*[a-zA-Z]\b", " ", plain))
        except (Lost, ValueError, IndexError):
            continue
        if isinstance(tree, Tree) and fits(tree, claimed):
            return tree
    return None


def _left(text: str, tree) -> tuple[str, tuple, tuple] | None:
    """Splits the text before `=` into what precedes the left side and the left side's numbers and the text between them."""
    wanted = [leaf.value for leaf in leaves(tree)]
    found = list(_NUMBER.finditer(text))[-len(wanted):]
    if len(found) < len(wanted):
        return None
    for m, w in zip(found, wanted, strict=True):
        if number(m[0]) not in (w, exact(Fraction(w) * 100)):
            return None
    if any(w < 0 for w in wanted):
        return None
    start = found[0].start()
    while start and text[start - 1] in "$€£(":
        start -= 1
    between, at = [], start
    for m in found:
        between.append(text[at:m.start()])
        at = m.end()
    between.append(text[at:])
    if "." in "".join(between).replace(". ", "") or any(re.search(r"[.;!?]\s", gap) for gap in between[1:]) or "=" in "".join(between):
        return None
    signs = len(re.findall(r"[-+*/xX×÷–−·]", "".join(between))) + sum(gap.startswith("(") for gap in between[1:])
    if signs < len(wanted) - 1:
        return None
    return text[:start], tuple(between), tuple(m[0] for m in found)


def _line(text: str) -> Line:
    parts: list = []
    at = 0
    for m in _MARK.finditer(text):
        before = text[at:m.start()]
        left, _, right = m[1].rpartition("=")
        tree, claimed = parse(left), number(right)
        if not writable(claimed) or isinstance(tree, Tree) and not fits(tree, claimed):
            raise Lost(m[1])
        linked = re.search(r"\s*=\s*([$€£]*)\s*$", before)
        if isinstance(tree, Leaf):  # 14 x 5 = <<70=70>>70
            seen = _visible(before[: linked.start()], claimed) if linked else None
            if seen is None:
                if linked and re.search(r"[\d%)]\s*[-+*/xX×÷–−·]\s*[$(]*[\d.]", before[before.rfind("=", 0, linked.start()) + 1 : linked.start()]):
                    raise Lost(m[1])
                parts.append(before)
                at = m.end()
                continue
            tree = seen
        money = re.search(r"[$€£]?\s*$", before)[0].strip()
        shown = re.match(r"\s*" + _NUMBER.pattern, text[m.end():])
        if linked:
            tree = _visible(before[: linked.start()], claimed) or tree
        split = _left(before[: linked.start()], tree) if linked else None
        if split:
            parts += [split[0], Equation(tree, claimed, split[1], split[2], money, inner=left)]
        else:
            parts += [before, Equation(tree, claimed, None, (), "", True, bool(linked), inner=left)]
        at = m.end()
        if shown:
            if number(shown[0].strip()) != claimed:
                raise Lost(text)
            at += shown.end()
    parts.append(text[at:])
    whole = []
    for part in parts:
        if isinstance(part, str) and _open(part):
            whole += _unmarked(part)
        else:
            whole.append(part)
    return Line(tuple(p for p in whole if p != ""))


_RESULT = re.compile(r"\s*([$€£]?)\s*(" + _NUMBER.pattern + r")(\s*%)?(?!\s*[-+*/×÷–−(]\s*[$€£(]*[\d.])(?!\s*[xX]\s*\d)")


def _plain(tree):
    """Percentages as plain numbers: 100% - 70% is 100 - 70."""
    if isinstance(tree, Leaf):
        return Leaf(exact(Fraction(tree.value) * 100)) if tree.percent else tree
    return Tree(tree.op, _plain(tree.left), _plain(tree.right))


def _unmarked(text: str) -> list:
    """Equations that carry no mark."""
    found, at = [], 0
    for m in re.finditer("=", text):
        if m.start() < at or not _open(text[at:m.start()] + "=1"):
            continue  # the `=` of a name
        right = _RESULT.match(text, m.end())
        left = text[at:m.start()]
        if re.search(r"(?:^|[\s($])(?:" + _NUMBER.pattern + r")\s+[A-Za-z][A-Za-z\s]*$", left) and not re.search(r"[-+*/×÷]\s*[$(]?[\d.,]+[^-+*/×÷.;:!?]*$", left) and right:
            continue  # 20 gallons = 160 pints
        if not right:
            if text[m.end():].strip(" $€£") == "":
                continue  # that of the mark behind
            raise Lost(text)
        claimed = number(right[2])
        tree = _visible(re.sub(r"100\s*%(?=\s*$)", "100", left) if right[3] else left, claimed)
        if right[3] and not tree:
            tree = _visible(left, exact(Fraction(claimed) / 100))
            if not tree:  # 100% - 70% = 30%
                tree = _visible(left.replace("%", ""), claimed)
            else:
                claimed = exact(Fraction(claimed) / 100)
        if not tree:
            raise Lost(text)
        split = _left(left, tree)
        if not split:
            raise Lost(text)
        suffix = right[3] or ""
        found += [split[0], Equation(tree, claimed, split[1], split[2], right[1], False, True, suffix)]
        at = right.end()
    return [*found, text[at:]]


_UNKNOWN = re.compile(r"\b[xXyYnN]\b\s*[-+*/=]|[-+*/=]\s*\b[xyXYnN]\b(?!\s*[$\d])|\d[xyn]\b(?!\s*\d)|\b[Ll]et\b.{0,30}\b(be|=)|\b[B-HJ-WYZ]\b\s*[-+*/=]|[-+*/=]\s*\b[B-HJ-WYZ]\b(?![\w'’])")


def solution(question: str, answer: str) -> Solution:
    """A row of the data set, taken apart."""
    body, _, final = answer.rpartition("####")
    try:
        reference = number(final.strip())
        lines = tuple(_line(text) for text in body.rstrip("\n").split("\n") if text.strip())
        equations = [p for line in lines for p in line.parts if isinstance(p, Equation)]
        if not equations or _UNKNOWN.search(_MARK.sub("", body)) or not writable(reference):
            raise Lost(answer)
        if not any(e.claimed == reference for e in equations):
            return Solution(question, answer, lines, None, True)
    except (Lost, ValueError, ZeroDivisionError):
        return Solution(question, answer, (), None, True)
    return Solution(question, answer, lines, reference)


def unknown(s: Solution) -> bool:
    """Whether a solution calculates with unknowns."""
    return bool(_UNKNOWN.search(_MARK.sub("", s.answer)))


def kept_out(question: str) -> bool:
    """Whether a question belongs to the third that is never trained on."""
    return int(hashlib.sha256(question.strip().encode()).hexdigest(), 16) % KEPT_OUT == 0


def rows(path: Path) -> list[dict]:
    """JSON lines, compressed or not."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def solutions(path: Path, held: bool = False) -> list[Solution]:
    """The training questions of GSM8K (question, answer with marks), or the third that is kept out."""
    return [solution(row["question"], row["answer"]) for row in rows(path) if kept_out(row["question"]) == held]
