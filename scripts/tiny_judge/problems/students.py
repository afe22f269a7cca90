"""What the student works out: right steps, slips, wrong operations, miscopied numbers and cancelling errors."""
from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from .core import Node, Problem, Value, resolve
from .numbers import LIMIT, Clock, apply, exact, known, same, workable


@dataclass
class Work:
    """One step of the student with what is needed to write it down."""

    a: Value
    op: str
    b: Value
    claimed: Value
    error: str | None
    node: int
    label: str = ""
    unit: str = ""
    refs: tuple = (None, None)  # nodes whose results stand left and right; None for a plain number
    percents: tuple = (None, None)  # the operands as numbers of percent, where they are percentages
    shown: bool = True
    bad: str = ""

    @property
    def true(self) -> Value:
        return apply(self.a, self.op, self.b)


def slip(value: Value, a: Value, op: str, b: Value, rng: random.Random) -> Value:
    """A plausible wrong result of ``a op b``, different from ``value``."""
    for _ in range(40):
        u = rng.random()
        if isinstance(value, Clock):
            w = Clock(value + rng.choice((-60, 60, -10, 10, -5, 5, 1, -1, 30, -30, 15, -15)))
        elif isinstance(value, Fraction) and u < 0.75:
            w = exact(value + Fraction(rng.choice((-1, 1, -10, 10, -100, 100, 50, -50, 5, -5, 1000, -1000, 9, -9, 90, -90)), 100))
        elif isinstance(value, Fraction):
            w = exact(value * rng.choice((10, Fraction(1, 10)))) if u < 0.9 else exact(Fraction(int(value)))
        elif u < 0.24:
            w = value + rng.choice((-1, 1))
        elif u < 0.32:
            w = value + rng.choice((-2, 2))
        elif u < 0.48:
            w = value + rng.choice((-10, 10))
        elif u < 0.56 and value >= 100:
            w = value + rng.choice((-100, 100, 100, -100, -1000, 1000))
        elif u < 0.66 and value >= 10:
            text = str(value)
            i = rng.randrange(len(text) - 1)
            w = int(text[:i] + text[i + 1] + text[i] + text[i + 2:])
        elif u < 0.76 and op == "*":
            w = exact(value + rng.choice((-a, a, -b, b)))
        elif u < 0.83:
            w = apply(a, rng.choice("+-*/"), b)
        elif u < 0.86 and value >= 10:
            w = value // 10 if value % 10 == 0 else value * 10
        elif u < 0.95:
            w = value + rng.choice((-5, 5, 3, -3, 4, -4, 9, -9, 11, -11, 20, -20))
        else:
            text = list(str(value))
            text[rng.randrange(len(text))] = str(rng.randint(0, 9))
            w = int("".join(text))
        if known(w) and not same(w, value):
            return w
    return Clock(value + 1) if isinstance(value, Clock) else value + 1


def miscopy(value: Value, others: list[Value], rng: random.Random) -> Value:
    """A number read wrongly: digits swapped, one digit off, or another number of the question."""
    others = [v for v in others if not isinstance(v, tuple) and isinstance(v, Clock) == isinstance(value, Clock)]
    for _ in range(40):
        u = rng.random()
        if isinstance(value, Clock):
            w = Clock(value + rng.choice((-60, 60, -10, 10, -5, 5, 1, -1)))
        elif isinstance(value, Fraction):
            w = exact(value + Fraction(rng.choice((-1, 1, -10, 10, -100, 100, 50, -50)), 100)) if u < 0.7 else exact(value * 10)
        elif u < 0.3 and value >= 10:
            text = str(value)
            i = rng.randrange(len(text) - 1)
            w = int(text[:i] + text[i + 1] + text[i] + text[i + 2:])
        elif u < 0.42 and others:
            w = rng.choice(others)
        elif u < 0.7:
            w = value + rng.choice((-1, 1, -2, 2, 3, -3, 5, -5))
        elif u < 0.85:
            w = value + rng.choice((-10, 10, 100, -100) if value > 99 else (-10, 10))
        elif u < 0.92 and value >= 100:
            w = int(str(value)[:-1]) if rng.random() < 0.5 else int(str(value)[0] + str(value)[2:])
        else:
            w = rng.randint(2, 60)
        if known(w) and not same(w, value) and w >= 1:
            return w
    return Clock(value + 1) if isinstance(value, Clock) else value + 1


def reorder(problem: Problem, rng: random.Random) -> list[Node]:
    """Another valid way through the same plan."""
    nodes = list(problem.nodes)
    way = rng.choice((_percent_way, _percent_way, _hundredths, _hundredths, _decimal, lambda *_: None))
    other = way(nodes, problem, rng)
    if other:
        return other
    spots = [i for i in range(len(nodes) - 1)
             if nodes[i + 1].left == ("s", i) and nodes[i + 1].right[0] != "s" and nodes[i].right[0] != "s"
             and {nodes[i].op, nodes[i + 1].op} <= ({"+", "-"} if nodes[i].op in "+-" else {"*", "/"})
             and sum(r == ("s", i) for n in nodes for r in (n.left, n.right)) == 1]
    if not spots:
        return nodes
    i = rng.choice(spots)
    first, second = nodes[i], nodes[i + 1]
    if first.op == second.op and rng.random() < 0.5:
        nodes[i] = Node(first.right, {"+": "+", "-": "+", "*": "*", "/": "*"}[first.op], second.right, "")
        nodes[i + 1] = Node(first.left, first.op, ("s", i), second.label)
    else:
        nodes[i] = Node(first.left, second.op, second.right, "")
        nodes[i + 1] = Node(("s", i), first.op, first.right, second.label)
    return nodes


def _percent_way(nodes: list[Node], problem: Problem, rng: random.Random) -> list[Node] | None:
    """80 % of the price instead of the price less 20 % of it."""
    for i in range(len(nodes) - 1):
        first, second = nodes[i], nodes[i + 1]
        if not (first.op == "*" and first.right[0] == "p" and second.op in "+-" and ("s", i) in (second.left, second.right) and first.left in (second.left, second.right)):
            continue
        if sum(("s", i) in (n.left, n.right) for n in nodes) != 1 or second.op == "-" and second.right != ("s", i):
            continue
        rate = problem.values[first.right[1]]
        result = nodes[:]
        if rng.random() < 0.5 and isinstance(rate, int):
            result[i] = Node(("c", 100), second.op, ("q", first.right[1]), "")
            result[i + 1] = Node(first.left, "*", ("r", i), second.label)
            return result
        factor = exact(Fraction(100 - rate if second.op == "-" else 100 + rate, 100))
        moved = [None if k == i else Node(*(("s", r[1] - (r[1] > i)) if r[0] in "s" else r for r in (n.left,)), n.op,
                                          *(("s", r[1] - (r[1] > i)) if r[0] in "s" else r for r in (n.right,)), n.label)
                 for k, n in enumerate(nodes)]
        moved[i + 1] = Node(("s", first.left[1]) if first.left[0] == "s" else first.left, "*", ("c", factor), second.label)
        return [n for n in moved if n]
    return None


def _replaced(nodes: list[Node], start: int, end: int, new: list[Node]) -> list[Node]:
    """The nodes with ``nodes[start:end]`` replaced by ``new``, whose last result stands for that of ``nodes[end - 1]``."""
    by = len(new) - (end - start)

    def shift(ref: tuple) -> tuple:
        return (ref[0], ref[1] + by) if ref[0] in "sr" and ref[1] >= end - 1 else ref

    return nodes[:start] + new + [Node(shift(n.left), n.op, shift(n.right), n.label) for n in nodes[end:]]


def _hundredths(nodes: list[Node], problem: Problem, rng: random.Random) -> list[Node] | None:
    """15 % of 80 as 80 * 15 / 100."""
    spots = [i for i, n in enumerate(nodes) if n.op == "*" and n.right[0] == "p"]
    if not spots:
        return None
    i = rng.choice(spots)
    rate = ("q", nodes[i].right[1])
    first = Node(rate, "*", nodes[i].left) if rng.random() < 0.4 else Node(nodes[i].left, "*", rate)
    return _replaced(nodes, i, i + 1, [first, Node(("s", i), "/", ("c", 100))])


def _decimal(nodes: list[Node], problem: Problem, rng: random.Random) -> list[Node] | None:
    """3/4 of 24 as 24 * 0.75."""
    if problem.topic != "fraction":
        return None
    spots = [i for i, n in enumerate(nodes) if n.op == "/" and n.right[0] == "c" and n.right[1] in (2, 4, 5, 10)]
    if not spots:
        return None
    i = rng.choice(spots)
    over, end = 1, i + 1
    if end < len(nodes) and nodes[end].op == "*" and nodes[end].left == ("s", i) and nodes[end].right[0] == "c":
        over, end = nodes[end].right[1], end + 1
    if any(("s", i) in (n.left, n.right) for n in nodes[end:]) and end == i + 2:
        return None
    return _replaced(nodes, i, end, [Node(nodes[i].left, "*", ("c", Fraction(over, nodes[i].right[1])))])


def derive(problem: Problem, nodes: list[Node], errors: dict[int, str], rng: random.Random, commute: float = 0.15) -> list[Work] | None:
    """Walk the plan with the given errors (node index to kind); None where they cannot be made."""
    works: list[Work] = []
    order = list(range(len(nodes)))
    if len(nodes) > 1 and not any(r[0] in "sr" for r in (nodes[0].left, nodes[1].left, nodes[1].right)) and rng.random() < 0.15:
        order[0], order[1] = 1, 0
    done: dict[int, Value] = {}
    truth: dict[int, Value] = {}
    for i in order:
        node = nodes[i]
        wa, wb = (resolve(ref, problem.values, truth) for ref in (node.left, node.right))
        a, b = (resolve(ref, problem.values, done) for ref in (node.left, node.right))
        truth[i] = apply(wa, node.op, wb)
        op, error, bad = node.op, None, ""
        refs = tuple(r[1] if r[0] == "s" else None for r in (node.left, node.right))
        if not (same(a, wa) and same(b, wb)):
            error = "carried"
        kind = errors.get(i)
        if kind == "operation":
            choices = [o for o in "+-*/" if o != op and workable(a, o, b) and not same(apply(a, o, b), apply(a, op, b))]
            if "*" in choices and len(choices) > 1 and rng.random() < 0.5:
                choices.remove("*")
            if node.left[0] in "pr" or node.right[0] in "pr":
                choices = [o for o in choices if o in "*/"]
            if not choices:
                return None
            op, error = rng.choice(choices), "operation"
        elif kind == "copied":
            others = list(problem.values.values())
            before = apply(a, op, b)
            if rng.random() < 0.5:
                a, refs, bad = miscopy(a, others, rng), (None, refs[1]), "a"
            else:
                b, refs, bad = miscopy(b, others, rng), (refs[0], None), "b"
            if not workable(a, op, b) or same(apply(a, op, b), before):
                return None
            error = "copied"
        if not workable(a, op, b):
            return None
        claimed = apply(a, op, b)
        if kind == "calculation":
            claimed, error = slip(claimed, a, op, b, rng), "calculation"
            if op == "/" and not workable(claimed, "*", b):
                return None
        if not known(claimed):
            return None
        done[i] = claimed
        percents = tuple(exact(v * 100) if r[0] in "pr" else None for v, r in ((a, node.left), (b, node.right)))
        if op in "+*" and not isinstance(a, Clock) and rng.random() < commute:
            a, b, refs, percents, bad = b, a, refs[::-1], percents[::-1], {"a": "b", "b": "a", "": ""}[bad]
        own = len(nodes) == len(problem.nodes) and node is problem.nodes[i]
        unit = problem.units[i] if own else problem.unit if i == len(nodes) - 1 else ""
        works.append(Work(a, op, b, claimed, error, i, problem.labels[i] if own else "", unit, refs, percents, bad=bad))
    return works


def cancelling(problem: Problem, rng: random.Random) -> list[Work] | None:
    """Flawed steps whose last result is right nevertheless."""
    n = len(problem.nodes)
    target = problem.answer
    u = rng.random()
    if n >= 2 and u < 0.55:  # an early error, repaired by a second slip at the end
        first = rng.randrange(n - 1)
        works = derive(problem, problem.nodes, {first: rng.choice(("calculation", "calculation", "operation", "copied"))}, rng)
        if works is None or works[-1].node != n - 1 or same(works[-1].true, target):
            return None
        last = works[-1]
        last.claimed, last.error = target, "calculation"
        return works if last.op != "/" or workable(target, "*", last.b) else None
    if u < 0.8 or n == 1:  # wrong operands or operation in the last step, yet the right result
        works = derive(problem, problem.nodes, {n - 1: rng.choice(("copied", "operation"))}, rng)
        if works is None or works[-1].node != n - 1 or same(works[-1].true, target):
            return None
        works[-1].claimed = target
        return works if works[-1].op != "/" or workable(target, "*", works[-1].b) else None
    # two miscopied numbers that cancel: d more here, d less there
    if any(node.op in "*/" for node in problem.nodes[1:]) or any(nd.right[0] == "s" for nd in problem.nodes):
        return None
    works = derive(problem, problem.nodes, {}, rng, commute=0.0)
    i, j = sorted(rng.sample(range(n), 2)) if n > 1 else (0, 0)
    if works is None or i == j or [w.node for w in works] != list(range(n)) or works[i].op in "*/" or isinstance(works[i].a, Clock):
        return None
    d = rng.choice((-10, -5, -3, -2, -1, 1, 2, 3, 5, 10))
    alike = works[i].op == works[j].op
    works[i].b = exact(works[i].b + d)
    works[j].b = exact(works[j].b - (d if alike else -d))
    if works[i].b <= 0 or works[j].b <= 0:
        return None
    given = [v for v in problem.values.values() if not isinstance(v, tuple)]
    if works[i].b in given or works[j].b in given:
        return None  # perhaps merely another order of the same numbers
    value = works[i].a
    for k in range(i, n):
        w = works[k]
        w.a = value
        if not workable(w.a, w.op, w.b):
            return None
        value = w.claimed = w.true
        w.error = "copied" if k in (i, j) else "carried" if i < k < j else None
        w.bad = "b" if k in (i, j) else ""
    return works if same(value, target) else None
