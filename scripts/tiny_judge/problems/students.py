"""What the student works out: right steps, slips, wrong operations, miscopied numbers and cancelling errors."""
from __future__ import annotations

import random
from dataclasses import dataclass

from .core import Node, Problem, apply


@dataclass
class Work:
    """One step of the student with what is needed to write it down."""

    a: int
    op: str
    b: int
    claimed: int
    error: str | None
    node: int
    wanted_op: str
    wanted: tuple[int, int]
    label: str = ""
    unit: str = ""
    refs: tuple = (None, None)  # nodes whose results stand left and right; None for a plain number
    shown: bool = True

    @property
    def true(self) -> int:
        return apply(self.a, self.op, self.b)


TOP = 199


def slip(value: int, a: int, op: str, b: int, rng: random.Random) -> int:
    """A plausible wrong result of ``a op b``, different from ``value``."""
    for _ in range(30):
        u = rng.random()
        if u < 0.3:
            w = value + rng.choice((-1, 1))
        elif u < 0.42:
            w = value + rng.choice((-2, 2))
        elif u < 0.57:
            w = value + rng.choice((-10, 10))
        elif u < 0.65 and 10 <= value <= 99:
            w = value % 10 * 10 + value // 10
        elif u < 0.78 and op == "*":
            w = value + rng.choice((-a, a, -b, b))
        elif u < 0.85:
            w = apply(a, rng.choice("+-*"), b)
        elif u < 0.93:
            w = value + rng.choice((-5, 5, 3, -3, 4, -4, 9, -9, 11, -11, 20, -20))
        else:
            w = rng.randint(0, 99)
        if w != value and 0 <= w <= max(99, value + 20) and w <= TOP:
            return w
    return value + 1


def miscopy(value: int, others: list[int], rng: random.Random) -> int:
    """A number read wrongly: digits swapped, one digit off, or another number of the question."""
    for _ in range(30):
        u = rng.random()
        if u < 0.25 and 10 <= value <= 99:
            w = value % 10 * 10 + value // 10
        elif u < 0.5 and others:
            w = rng.choice(others)
        elif u < 0.75:
            w = value + rng.choice((-1, 1, -2, 2, 3, -3, 5, -5))
        elif u < 0.9:
            w = value + rng.choice((-10, 10))
        else:
            w = rng.randint(2, 60)
        if w != value and 1 <= w <= 99:
            return w
    return value + 1


def reorder(problem: Problem, rng: random.Random) -> list[Node]:
    """Another valid way through the same plan: swapped additions and subtractions, or two of them taken together."""
    nodes = list(problem.nodes)
    spots = [i for i in range(len(nodes) - 1)
             if nodes[i + 1].left == ("s", i) and nodes[i].op in "+-" and nodes[i + 1].op in "+-"
             and nodes[i + 1].right[0] != "s" and nodes[i].right[0] != "s"
             and sum(r == ("s", i) for n in nodes for r in (n.left, n.right)) == 1]
    if not spots:
        return nodes
    i = rng.choice(spots)
    first, second = nodes[i], nodes[i + 1]
    if first.op == second.op and rng.random() < 0.5:
        nodes[i] = Node(first.right, "+", second.right, "")
        nodes[i + 1] = Node(first.left, first.op, ("s", i), second.label)
    else:
        nodes[i] = Node(first.left, second.op, second.right, "")
        nodes[i + 1] = Node(("s", i), first.op, first.right, second.label)
    return nodes


def derive(problem: Problem, nodes: list[Node], errors: dict[int, str], rng: random.Random, commute: float = 0.12) -> list[Work] | None:
    """Walk the plan with the given errors (node index to kind); None where they cannot be made."""
    works: list[Work] = []
    true: list[int] = []
    order = list(range(len(nodes)))
    if len(nodes) > 1 and nodes[1].left[0] != "s" and nodes[1].right[0] != "s" and nodes[0].left[0] != "s" and rng.random() < 0.15:
        order[0], order[1] = 1, 0
    done: dict[int, int] = {}
    truth: dict[int, int] = {}

    def value(ref, table):
        return problem.values[ref[1]] if ref[0] == "q" else ref[1] if ref[0] == "c" else table[ref[1]]

    for i in order:
        node = nodes[i]
        wa, wb = value(node.left, truth), value(node.right, truth)
        a, b = value(node.left, done), value(node.right, done)
        truth[i] = apply(wa, node.op, wb)
        op, error = node.op, None
        refs = tuple(r[1] if r[0] == "s" else None for r in (node.left, node.right))
        if (a, b) != (wa, wb):
            error = "carried"
        kind = errors.get(i)
        if kind == "operation":
            choices = [o for o in "+-*" if o != op and 0 <= apply(a, o, b) <= TOP and apply(a, o, b) != apply(a, op, b)]
            if "*" in choices and len(choices) > 1 and rng.random() < 0.5:
                choices.remove("*")
            if not choices:
                return None
            op, error = rng.choice(choices), "operation"
        elif kind == "copied":
            others = [v for v in problem.values.values()]
            before = apply(a, op, b)
            if rng.random() < 0.5:
                a, refs = miscopy(a, others, rng), (None, refs[1])
            else:
                b, refs = miscopy(b, others, rng), (refs[0], None)
            if apply(a, op, b) == before:
                return None
            error = "copied"
        claimed = apply(a, op, b)
        if kind == "calculation":
            claimed, error = slip(claimed, a, op, b, rng), "calculation"
        if not 0 <= apply(a, op, b) <= TOP or not 0 <= claimed <= TOP:
            return None
        done[i] = claimed
        if op != "-" and rng.random() < commute:
            a, b, refs = b, a, refs[::-1]
        own = node is problem.nodes[i]
        works.append(Work(a, op, b, claimed, error, i, node.op, (wa, wb), problem.labels[i] if own else "", problem.units[i], refs))
    return works


def cancelling(problem: Problem, rng: random.Random) -> list[Work] | None:
    """Flawed steps whose last result is right nevertheless."""
    n = len(problem.nodes)
    target = problem.answer
    u = rng.random()
    if n >= 2 and u < 0.55:  # an early error, repaired by a second slip at the end
        first = rng.randrange(n - 1)
        works = derive(problem, problem.nodes, {first: rng.choice(("calculation", "calculation", "operation", "copied"))}, rng)
        if works is None or works[-1].node != n - 1 or works[-1].true == target:
            return None
        last = works[-1]
        last.claimed, last.error = target, "calculation"
        return works
    if u < 0.75 or n == 1:  # wrong operands or operation in the last step, yet the right result
        works = derive(problem, problem.nodes, {n - 1: rng.choice(("copied", "operation"))}, rng)
        if works is None or works[-1].true == target:
            return None
        works[-1].claimed = target
        return works
    # two miscopied numbers that cancel: d more here, d less there
    ops = [(i, node.op) for i, node in enumerate(problem.nodes)]
    if any(op == "*" for i, op in ops[1:]) or any(nd.right[0] == "s" for nd in problem.nodes):
        return None
    errors = {i: "copied" for i in rng.sample(range(n), 2)}
    works = derive(problem, problem.nodes, {}, rng, commute=0.0)
    i, j = sorted(errors)
    if works is None or [w.node for w in works] != list(range(n)) or works[i].op == "*" or works[j].op == "*":
        return None
    d = rng.choice((-10, -5, -3, -2, -1, 1, 2, 3, 5, 10))
    same = works[i].op == works[j].op
    works[i].b += d
    works[j].b += -d if same else d
    if not (0 < works[i].b <= 99 and 0 < works[j].b <= 99):
        return None
    value = works[i].a
    for k in range(i, n):
        w = works[k]
        w.a = value
        value = w.claimed = w.true
        w.error = "copied" if k in (i, j) else "carried" if k > i and k < j else None
        if not 0 <= value <= TOP:
            return None
    if sorted(works[k].b for k in (i, j)) == sorted(problem.values[problem.nodes[k].right[1]] for k in (i, j) if problem.nodes[k].right[0] == "q"):
        return None  # merely another order of the same numbers
    return works if value == target else None
