"""Equations, lines, systems, lists of solutions, plus-minus, inequalities, chains, congruences."""

from __future__ import annotations

from fractions import Fraction

from .core import Draw, Pair
from .dressing import formulas
from .notation import SQUAREFREE, fraction, number, total

_FLIP = {"<": ">", ">": "<", "\\le": "\\ge", "\\ge": "\\le", "\\leq": "\\geq", "\\geq": "\\leq"}
_UNICODE = {"\\le": "≤", "\\ge": "≥", "\\leq": "≤", "\\geq": "≥"}
_SLANTED = {"\\le": "\\leqslant", "\\ge": "\\geqslant", "\\leq": "\\leqslant", "\\geq": "\\geqslant"}
_STRICT = {"<": "\\le", ">": "\\ge", "\\le": "<", "\\ge": ">", "\\leq": "<", "\\geq": ">"}


def _shift(variable: str, by: int) -> str:
    return f"({total([(1, variable), (-by, '')])})^2" if by else f"{variable}^2"


@formulas("implicit equations")
def implicit_equations(d: Draw, same: bool) -> Pair:
    a, b, r = d.nonzero(6), d.nonzero(6), d.whole(2, 9)
    p, q = d.sample((4, 9, 16, 25, 36, 49), 2)
    circle = f"{_shift('x', a)}+{_shift('y', b)}={r * r}"
    flat = [(1, "x^2"), (1, "y^2"), (-2 * a, "x"), (-2 * b, "y"), (a * a + b * b - r * r, "")]
    ellipse = f"\\frac{{x^2}}{{{p}}}+\\frac{{y^2}}{{{q}}}=1"
    parabola = f"y^2={4 * r}x"
    if same:
        k = d.whole(2, 5)
        note, gold, pred = d.one(
            ("expanded", circle, total(flat) + "=0"),
            ("expanded", total(flat) + "=0", circle),
            ("scaled", total(flat) + "=0", total((k * c, t) for c, t in flat) + "=0"),
            ("sides swapped", circle, "=".join(reversed(circle.split("=")))),
            ("order", circle, f"{_shift('y', b)}+{_shift('x', a)}={r}^2"),
            ("denominators cleared", ellipse, f"{q}x^2+{p}y^2={p * q}"),
            ("all on one side", parabola, f"y^2-{4 * r}x=0"),
            ("solved for x", parabola, f"x=\\frac{{y^2}}{{{4 * r}}}"),
            ("negated", total(flat) + "=0", total((-c, t) for c, t in flat) + "=0"),
        )
    else:
        note, gold, pred = d.one(
            ("radius", circle, f"{_shift('x', a)}+{_shift('y', b)}={r}"),
            ("centre", circle, f"{_shift('x', -a)}+{_shift('y', b)}={r * r}"),
            ("hyperbola", ellipse, ellipse.replace("+", "-")),
            ("axes swapped", ellipse, f"\\frac{{x^2}}{{{q}}}+\\frac{{y^2}}{{{p}}}=1"),
            ("variables swapped", parabola, f"x^2={4 * r}y"),
            ("factor", parabola, f"y^2={2 * r}x"),
            ("constant", total(flat) + "=0", total(flat[:-1] + [(flat[-1][0] + 1, "")]) + "=0"),
            ("sign", parabola, f"y^2=-{4 * r}x"),
            ("right side", total(flat) + "=0", total(flat) + "=1"),
        )
    return Pair(gold, pred, note)


@formulas("lines")
def lines(d: Draw, same: bool) -> Pair:
    a, b, c = d.nonzero(7), d.nonzero(7), d.nonzero(9)  # ax + by = c
    slope, start = Fraction(-a, b), Fraction(c, b)
    solved = f"y={total([(slope, 'x'), (start, '')])}"
    left = total([(a, "x"), (b, "y")])
    if same:
        k = d.whole(2, 4)
        forms = (
            f"{left}={c}",
            f"{total([(a, 'x'), (b, 'y'), (-c, '')])}=0",
            solved,
            f"{total([(k * a, 'x'), (k * b, 'y')])}={k * c}",
            f"{c}={left}",
            f"{total([(b, 'y')])}={total([(-a, 'x'), (c, '')])}",
            f"0={total([(-a, 'x'), (-b, 'y'), (c, '')])}",
        )
        return Pair(*d.sample(forms, 2), "other form")
    note, gold, pred = d.one(
        ("intercept", solved, f"y={total([(slope, 'x'), (start + 1, '')])}"),
        ("slope", solved, f"y={total([(slope + 1, 'x'), (start, '')])}"),
        ("sign of slope", solved, f"y={total([(-slope, 'x'), (start, '')])}"),
        ("perpendicular", solved, f"y={total([(-1 / slope, 'x'), (start, '')])}"),
        ("constant", f"{left}={c}", f"{left}={c + 1}"),
        ("sign", f"{left}={c}", f"{total([(a, 'x'), (-b, 'y')])}={c}"),
        (
            "sign of the constant",
            f"{total([(a, 'x'), (b, 'y'), (-c, '')])}=0",
            f"{total([(a, 'x'), (b, 'y'), (c, '')])}=0",
        ),
        ("x for y", solved, solved.replace("y=", "x=").replace("x", "Y", 1).replace("x", "y").replace("Y", "x"))
        if abs(slope) != 1
        else ("intercept", solved, f"y={total([(slope, 'x'), (start - 1, '')])}"),
    )
    return Pair(gold, pred, note)


def _value(d: Draw) -> Fraction:
    return fraction(d, 6) if d.chance(0.25) else Fraction(d.whole(-12, 15))


@formulas("systems")
def systems(d: Draw, same: bool) -> Pair:
    names = d.one(["x", "y"], ["x", "y"], ["x", "y", "z"], ["a", "b"], ["m", "n"], ["p", "q"], ["a", "b", "c"])
    values = [_value(d) for _ in names]
    while len(set(values)) < len(values):
        values = [_value(d) for _ in names]

    def listed(values, names=names, glue=", ") -> str:
        return glue.join(f"{n}={number(v)}" for n, v in zip(names, values, strict=True))

    def tupled(values) -> str:
        return f"({','.join(names)})=({','.join(number(v) for v in values)})"

    gold = d.one(listed(values), listed(values, glue=","), tupled(values))
    if same:
        together = d.shuffled(list(zip(names, values, strict=True)))
        note, pred = d.one(
            ("order", ", ".join(f"{n}={number(v)}" for n, v in together)),
            ("and", listed(values, glue=" \\text{ and } ")),
            ("tuple", tupled(values)),
            ("comma, space", listed(values, glue=",\\ ")),
            ("cases", "\\begin{cases}" + listed(values, glue=" \\\\ ") + "\\end{cases}"),
            ("quad", listed(values, glue=", \\quad ")),
        )
        return Pair(gold, pred, note)
    wrong = list(values)
    k = d.randrange(len(wrong))
    note = d.one("swapped", "one value", "sign", "missing")
    if note == "swapped":
        wrong[0], wrong[1] = wrong[1], wrong[0]
    elif note == "sign" and wrong[k]:
        wrong[k] = -wrong[k]
    else:
        wrong[k] += 1
    if note == "missing":
        return Pair(gold, listed(values[:-1], names[:-1]), note)
    return Pair(gold, d.one(listed(wrong), tupled(wrong)), note)


def _roots(d: Draw) -> list[str]:
    """Different numbers."""
    if d.chance(0.2):
        a, r, c = d.whole(-6, 6), d.choice(SQUAREFREE[:8]), d.one(1, 2, 3)
        return [total([(a, ""), (s * c, f"\\sqrt{{{r}}}")]) for s in (1, -1)]
    values: set[Fraction] = set()
    count = d.one(2, 2, 2, 3)
    while len(values) < count:
        values.add(_value(d))
    return [number(v) for v in d.sample(sorted(values), count)]


@formulas("solution lists")
def solution_lists(d: Draw, same: bool) -> Pair:
    roots = _roots(d)
    v = d.one("x", "x", "x", "t", "n", "k")

    def state(items: list[str], form: str) -> str:
        match form:
            case "or":
                return " \\text{ or } ".join(f"{v}={i}" for i in items)
            case "and":
                return ", ".join(items[:-1]) + " \\text{ and } " + items[-1] if len(items) > 1 else items[0]
            case "assigned":
                return ", ".join(f"{v}={i}" for i in items)
            case "once":
                return f"{v}=" + ", ".join(items)
            case "member":
                return f"{v}\\in\\{{{', '.join(items)}\\}}"
            case "numbered":
                return ", ".join(f"{v}_{n}={i}" for n, i in enumerate(items, 1))
            case "set":
                return f"\\{{{','.join(items)}\\}}"
        return d.one(",", ", ").join(items)

    gold = state(roots, d.one("list", "list", "list", "assigned", "or", "once", "set"))
    form = d.one("list", "or", "and", "assigned", "once", "member", "numbered")
    if same:
        return Pair(gold, state(d.one(roots, d.shuffled(roots)), form), form)
    note = d.one("one missing", "one too many", "one wrong", "sign")
    items = list(roots)
    if note == "one missing":
        items = items[1:]
    elif note == "one too many":
        items.append(number(d.whole(20, 40)))
    else:
        at = d.randrange(len(items))
        items[at] = (
            number(d.whole(20, 40))
            if note == "one wrong"
            else "-(" + items[at] + ")"
            if "sqrt" in items[at] or items[at] == "0"
            else items[at][1:]
            if items[at][0] == "-"
            else "-" + items[at]
        )
        if sorted(items) == sorted(roots) or items[at] in roots or "(" in items[at] or len(set(items)) < len(items):
            items[at] = number(d.whole(41, 60))
    return Pair(gold, state(items, form), f"{note}, {form}")


@formulas("plus-minus")
def plus_minus(d: Draw, same: bool) -> Pair:
    a, b, r, c = d.nonzero(9), d.whole(1, 9), d.choice(SQUAREFREE), d.whole(2, 6)
    root = f"\\sqrt{{{r}}}"
    head = d.one("", "", "x=")
    pairs = {
        f"\\pm {b}": (f"{b}", f"-{b}"),
        f"{a}\\pm {root}": (f"{a}+{root}", f"{a}-{root}"),
        f"\\pm\\frac{{{root}}}{{{c}}}": (f"\\frac{{{root}}}{{{c}}}", f"-\\frac{{{root}}}{{{c}}}"),
        f"\\frac{{{a}\\pm {root}}}{{{c}}}": (f"\\frac{{{a}+{root}}}{{{c}}}", f"\\frac{{{a}-{root}}}{{{c}}}"),
        f"\\pm {c}i": (f"{c}i", f"-{c}i"),
        f"{a}\\pm {c}{root}": (f"{a}+{c}{root}", f"{a}-{c}{root}"),
    }
    short = d.choice(list(pairs))
    one, two = pairs[short]
    if same:
        note, gold, pred = d.one(
            ("written out", short, f"{head}{one}, {two}"),
            ("other order", short, f"{two}, {one}"),
            ("sign in response", f"{one},{two}", head + short),
            ("or", short, f"x={one} \\text{{ or }} x={two}"),
            ("set", f"\\{{{one}, {two}\\}}", short),
            ("as it is", short, head + short),
        )
        return Pair(gold, pred, note)
    note, pred = d.one(
        ("plus only", one),
        ("minus only", two),
        (
            "number",
            short.replace(root, f"\\sqrt{{{r + 1}}}")
            if root in short
            else short.replace(str(b if short == f"\\pm {b}" else c), str(b + c)),
        ),
        ("three", f"{one}, {two}, 0"),
        ("twice the same", f"{one}, {one}"),
    )
    return Pair(short, head + pred if "," not in pred else pred, note)


@formulas("inequalities")
def inequalities(d: Draw, same: bool) -> Pair:
    v = d.one("x", "x", "y", "a", "k", "n", "m")
    bound, c = _value(d), d.nonzero(6)
    sign = d.one("<", ">", "\\le", "\\ge", "\\leq", "\\geq")
    gold = f"{v} {sign} {number(bound)}"
    if same:
        k = d.whole(2, 5)
        note, pred = d.one(
            ("turned round", f"{number(bound)} {_FLIP[sign]} {v}"),
            ("scaled", f"{k}{v} {sign} {number(k * bound)}"),
            ("negated", f"-{v} {_FLIP[sign]} {number(-bound)}"),
            ("moved over", f"{total([(1, v), (-bound, '')])} {sign} 0"),
            ("Unicode sign", f"{v} {_UNICODE.get(sign, sign)} {number(bound)}"),
            ("slanted sign", f"{v} {_SLANTED.get(sign, sign)} {number(bound)}"),
            ("shifted", f"{total([(1, v), (c, '')])} {sign} {number(bound + c)}"),
        )
        return Pair(gold, pred, note)
    note, pred = d.one(
        ("strictness", f"{v} {_STRICT[sign]} {number(bound)}"),
        ("direction", f"{v} {_FLIP[sign]} {number(bound)}"),
        ("bound", f"{v} {sign} {number(bound + d.one(-1, 1))}"),
        ("sign kept after negation", f"-{v} {sign} {number(-bound)}"),
        ("equation", f"{v} = {number(bound)}"),
        ("bound negated", f"{v} {sign} {number(-bound if bound else Fraction(1))}"),
    )
    return Pair(gold, pred, note)


@formulas("chains")
def chains(d: Draw, same: bool) -> Pair:
    v = d.one("x", "x", "y", "a", "k", "t", "f(x)")
    low, high = sorted((_value(d), _value(d)))
    if low == high:
        high += 3
    left, right = d.one("<", "\\le", "\\leq"), d.one("<", "\\le", "\\leq")
    ln, hn = number(low), number(high)
    gold = f"{ln} {left} {v} {right} {hn}"
    k = d.whole(2, 4)
    if same:
        note, pred = d.one(
            ("turned round", f"{hn} {_FLIP[right]} {v} {_FLIP[left]} {ln}"),
            ("two inequalities", f"{v} {_FLIP[left]} {ln} \\text{{ and }} {v} {right} {hn}"),
            ("scaled", f"{number(k * low)} {left} {k}{v} {right} {number(k * high)}"),
            ("shifted", f"{number(low + k)} {left} {v}+{k} {right} {number(high + k)}"),
            ("other command", gold.replace("\\leq", "\\le").replace("\\le", "\\leqslant")),
        )
        return Pair(gold, pred, note)
    note, pred = d.one(
        ("left end", f"{ln} {_STRICT[left]} {v} {right} {hn}"),
        ("right end", f"{ln} {left} {v} {_STRICT[right]} {hn}"),
        ("lower bound", f"{number(low - 1)} {left} {v} {right} {hn}"),
        ("upper bound", f"{ln} {left} {v} {right} {number(high + 1)}"),
        ("one side missing", f"{v} {right} {hn}"),
        ("outside", f"{v} < {ln} \\text{{ or }} {v} > {hn}"),
    )
    return Pair(gold, pred, note)


@formulas("congruences")
def congruences(d: Draw, same: bool) -> Pair:
    m = d.whole(3, 30)
    r = d.whole(0, m - 1)
    v = d.one("x", "n", "a", "k")
    gold = f"{v}\\equiv {r}\\pmod{{{m}}}"
    if same:
        note, pred = d.one(
            ("larger residue", f"{v} \\equiv {r + m} \\pmod{{{m}}}"),
            ("negative residue", f"{v} \\equiv {r - m} \\pmod {{{m}}}"),
            ("parentheses", f"{v} \\equiv {r} (\\bmod {m})"),
            ("text", f"{v} \\equiv {r} \\ (\\text{{mod }} {m})"),
            ("mod", f"{v} \\equiv {r} \\mod {m}"),
            ("as it is", f"{v} \\equiv {r}\\pmod {m}" if m < 10 else f"{v} \\equiv {r} \\pmod{{{m}}}"),
        )
    else:
        note, pred = d.one(
            ("residue", f"{v} \\equiv {r + 1} \\pmod{{{m}}}"),
            ("modulus", f"{v} \\equiv {r} \\pmod{{{m + 1}}}"),
            ("negated", f"{v} \\equiv {-r} \\pmod{{{m}}}")
            if 2 * r % m
            else ("residue", f"{v} \\equiv {r + 2} \\pmod{{{m}}}"),
            ("swapped", f"{v} \\equiv {m} \\pmod{{{r}}}")
            if r > 1
            else ("modulus", f"{v} \\equiv {r} \\pmod{{{2 * m}}}"),
        )
    return Pair(gold, pred, note)
