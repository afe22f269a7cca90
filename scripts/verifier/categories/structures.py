"""Sets, tuples, intervals, unions, matrices."""

from __future__ import annotations

from fractions import Fraction

from .core import Draw, Pair
from .dressing import formulas
from .notation import SQUAREFREE, fraction, number

_CLOSING = {"(": "[", "[": "(", ")": "]", "]": ")"}
_LE, _GE = "\\le", "\\ge"


def _element(d: Draw) -> str:
    match d.randrange(8):
        case 0:
            return number(fraction(d, 7))
        case 1:
            return d.one("", "-", "2") + f"\\sqrt{{{d.choice(SQUAREFREE)}}}"
        case 2 if d.chance(0.5):
            return d.one("\\pi", "\\frac{\\pi}{2}", "\\frac{\\pi}{6}", "e", "x", "a", "2\\pi")
    return str(d.whole(-15, 20))


def _elements(d: Draw, low: int = 2, high: int = 4) -> list[str]:
    """Elements of different values."""
    items: list[str] = []
    count = d.whole(low, high)
    while len(items) < count:
        item = _element(d)
        if item not in items:
            items.append(item)
    return items


def _changed(d: Draw, items: list[str]) -> list[str]:
    """The same with one element of another value."""
    items = list(items)
    items[d.randrange(len(items))] = str(d.whole(30, 60))
    return items


@formulas("sets")
def sets(d: Draw, same: bool) -> Pair:
    items = _elements(d)
    gold = f"\\{{{','.join(items)}\\}}"
    if same:
        other = d.shuffled(items)
        note, gold, pred = d.one(
            ("order", gold, f"\\{{{', '.join(other)}\\}}"),
            ("left right", gold, f"\\left\\{{{', '.join(items)}\\right\\}}"),
            ("lbrace", gold, f"\\lbrace {', '.join(other)} \\rbrace"),
            ("repeated element", gold, f"\\{{{', '.join([*items, items[0]])}\\}}"),
            ("without braces", gold, ", ".join(items)),
            ("named", gold, f"S = \\{{{', '.join(items)}\\}}"),
            ("empty", "\\emptyset", d.one("\\varnothing", "\\{\\}", "\\{ \\}", "∅")),
            (
                "one element in two forms",
                f"\\{{0.5, {30 + len(items)}\\}}",
                f"\\{{\\frac{{1}}{{2}}, {30 + len(items)}\\}}",
            ),
        )
        return Pair(gold, pred, note)
    note, pred = d.one(
        ("element", f"\\{{{', '.join(_changed(d, items))}\\}}"),
        ("missing", f"\\{{{', '.join(items[1:])}\\}}"),
        ("too many", f"\\{{{', '.join([*items, str(d.whole(30, 60))])}\\}}"),
        ("tuple", f"({', '.join(items)})"),
        ("empty", "\\emptyset"),
    )
    return Pair(gold, pred, note)


@formulas("tuples and points")
def tuples(d: Draw, same: bool) -> Pair:
    items = _elements(d, 2, 4)
    name = d.one("", "", "P", "A", "(x,y)=" if len(items) == 2 else "")
    gold = f"({','.join(items)})"
    p, q = Fraction(d.whole(1, 20), 4), d.whole(1, 9)
    if same:
        note, gold, pred = d.one(
            ("spaces", gold, f"( {', '.join(items)} )"),
            ("left right", gold, f"\\left({', '.join(items)}\\right)"),
            ("named", gold, f"{name}({', '.join(items)})" if name != "(x,y)=" else f"(x, y) = ({', '.join(items)})"),
            ("entry as a decimal", f"({number(p)},{q})", f"({float(p)}, {q})"),
            ("bigl", gold, f"\\bigl({', '.join(items)}\\bigr)"),
            ("thin spaces", gold, "(" + ",\\,".join(items) + ")"),
            (
                "angle brackets",
                f"\\langle {','.join(items)}\\rangle",
                f"\\left\\langle {', '.join(items)} \\right\\rangle",
            ),
            ("two points", f"({q},1),(2,{q + 9})", f"(2,{q + 9}) \\text{{ and }} ({q},1)"),
            ("entry computed", f"({q * q},{q})", f"({q}^2, {q})"),
        )
        return Pair(gold, pred, note)
    note, gold, pred = d.one(
        ("order", gold, f"({', '.join(d.shuffled(items))})"),
        ("entry", gold, f"({', '.join(_changed(d, items))})"),
        ("missing", f"({','.join(items)},{q})", f"({', '.join(items)})"),
        ("set", gold, f"\\{{{', '.join(items)}\\}}"),
        ("sign", f"({q},{q + 2})", f"({q},-{q + 2})"),
        ("one of two points", f"({q},1),(2,{q + 9})", f"({q},1)"),
        ("pairing", f"({q},1),(2,{q + 9})", f"({q},{q + 9}),(2,1)") if q != 2 else ("sign", "(2,3)", "(-2,3)"),
    )
    return Pair(gold, pred, note)


def _bounds(d: Draw) -> tuple[str, str]:
    low = fraction(d, 6) if d.chance(0.2) else Fraction(d.whole(-12, 8))
    high = low + (Fraction(d.whole(1, 9)) if d.chance(0.8) else fraction(d, 4, negative=False))
    return number(low), number(high)


def _as_inequality(variable: str, left: str, low: str, high: str, right: str) -> str:
    lower = "" if "infty" in low else f"{low} {'<' if left == '(' else _LE} {variable}"
    upper = "" if "infty" in high else f"{'<' if right == ')' else _LE} {high}"
    if lower and upper:
        return f"{lower} {upper}"
    return f"{variable} {upper}" if upper else f"{variable} {'>' if left == '(' else _GE} {low}"


@formulas("intervals")
def intervals(d: Draw, same: bool) -> Pair:
    low, high = _bounds(d)
    left, right = d.one("(", "["), d.one(")", "]")
    kind = d.randrange(6)
    if kind == 0:
        low, left = "-\\infty", "("
    elif kind == 1:
        high, right = "\\infty", ")"
    elif left == "(" and right == ")":  # could be a point
        left = "["
    gold = f"{left}{low},{high}{right}"
    v = d.one("x", "x", "t", "a", "k")
    if same:
        note, gold, pred = d.one(
            ("spaces", gold, f"{left}{low}, {high}{right}"),
            ("left right", gold, f"\\left{left}{low}, {high}\\right{right}"),
            ("membership", gold, f"{v} \\in {left}{low},{high}{right}"),
            ("inequality in response", gold, _as_inequality(v, left, low, high, right)),
            ("inequality in gold", _as_inequality(v, left, low, high, right), gold),
            ("plus infinity", f"{left}{low},\\infty)", f"{left}{low}, +\\infty)")
            if "infty" not in low
            else ("spaces", gold, gold.replace(",", ", ")),
            ("open, from an inequality", f"1<{v}<{d.whole(2, 9)}", None),
        )
        if pred is None:
            pred = f"{v}\\in(1,{gold[-1]})"
        return Pair(gold, pred, note)
    wrong = []
    if "infty" not in low:
        wrong += [
            ("left bracket", f"{_CLOSING[left]}{low}, {high}{right}"),
            ("lower bound", f"{left}{number(_read(low) - 1)}, {high}{right}"),
        ]
    if "infty" not in high:
        wrong += [
            ("right bracket", f"{left}{low}, {high}{_CLOSING[right]}"),
            ("upper bound", f"{left}{low}, {number(_read(high) + 1)}{right}"),
        ]
    wrong += (
        [("set of the ends", f"\\{{{low}, {high}\\}}")]
        if "infty" not in gold
        else [("complement", f"(-\\infty, {low}]" if "infty" in high else f"[{high}, \\infty)")]
    )
    wrong += [("inequality turned", f"{v} < {low}" if "infty" not in low else f"{v} > {high}")]
    note, pred = d.choice(wrong)
    return Pair(gold, pred, note)


def _read(tex: str) -> Fraction:
    """The number that :func:`number` wrote."""
    return Fraction(tex.replace("\\frac{", "").replace("}{", "/").replace("}", ""))


@formulas("unions")
def unions(d: Draw, same: bool) -> Pair:
    a = d.whole(-12, 4)
    b = a + d.whole(1, 6)
    c = b + d.whole(1, 5)
    left, right = d.one(")", "]"), d.one("(", "[")
    first, second = f"(-\\infty,{a}{left}", f"{right}{b},\\infty)"
    gold = f"{first}\\cup {second}"
    v = d.one("x", "x", "k", "m", "a")
    apart = f"{v} {'<' if left == ')' else _LE} {a} \\text{{ or }} {v} {'>' if right == '(' else _GE} {b}"
    bounded = f"({a},{b})\\cup({b},{c})"
    if same:
        note, gold, pred = d.one(
            ("order", gold, f"{second} \\cup {first}"),
            ("left right", gold, f"\\left(-\\infty, {a}\\right{left} \\cup \\left{right}{b}, \\infty\\right)"),
            ("inequalities in response", gold, apart),
            ("inequalities in gold", apart, gold),
            ("membership", gold, f"{v} \\in {gold}"),
            ("Unicode", gold, gold.replace("\\cup ", "∪ ")),
            ("order", bounded, f"({b},{c}) \\cup ({a},{b})"),
            ("merged", f"[{a},{c}]", f"[{a},{b}] \\cup [{b},{c}]"),
            ("plus infinity", gold, gold.replace("\\infty)", "+\\infty)")),
            ("with a point", f"\\{{{a}\\}}\\cup[{b},{c}]", f"[{b}, {c}] \\cup \\{{{a}\\}}"),
        )
        return Pair(gold, pred, note)
    note, gold, pred = d.one(
        ("bracket", gold, f"(-\\infty,{a}{_CLOSING[left]} \\cup {second}"),
        ("bound", gold, f"{first} \\cup {right}{b + 1},\\infty)"),
        ("one part", gold, first),
        ("other part", gold, second),
        ("the gap", gold, f"({a},{b})"),
        ("point filled", bounded, f"({a},{c})"),
        ("intersection", gold, gold.replace("\\cup", "\\cap")),
        ("inequality", gold, f"{v} > {b}"),
        ("bounds", bounded, f"({a},{b})\\cup({b},{c + 1})"),
        ("point missing", f"\\{{{a}\\}}\\cup[{b},{c}]", f"[{b},{c}]"),
    )
    return Pair(gold, pred, note)


def _matrix(rows: list[list], kind: str = "pmatrix", sep: str = " & ", end: str = " \\\\ ") -> str:
    body = end.join(sep.join(x if isinstance(x, str) else number(x) for x in row) for row in rows)
    return f"\\begin{{{kind}}}{body}\\end{{{kind}}}"


@formulas("matrices and vectors")
def matrices(d: Draw, same: bool) -> Pair:
    height, width = d.one((2, 2), (2, 2), (3, 3), (2, 3), (3, 1), (2, 1), (3, 1))
    rows = [[Fraction(d.whole(-9, 9)) for _ in range(width)] for _ in range(height)]
    rows[0][0] = Fraction(d.nonzero(9))
    if d.chance(0.3):
        rows[-1][-1] = fraction(d, 5)
    gold = _matrix(rows, d.one("pmatrix", "pmatrix", "bmatrix"))
    k = d.whole(2, 5)
    if same:
        scaled = [[k * x for x in row] for row in rows]
        note, pred = d.one(
            ("brackets", _matrix(rows, "bmatrix")),
            ("parentheses", _matrix(rows, "pmatrix", "&", "\\\\")),
            ("left right", f"\\left[{_matrix(rows, 'matrix')}\\right]"),
            ("array", f"\\left(\\begin{{array}}{{{'c' * width}}}{_matrix(rows, 'x')[9:-7]}\\end{{array}}\\right)"),
            ("lines", _matrix(rows, "pmatrix", " & ", " \\\\\n")),
            ("factor in front", f"\\frac{{1}}{{{k}}}{_matrix(scaled, 'pmatrix')}"),
            ("dfrac", gold.replace("\\frac", "\\dfrac")),
            ("named", f"\\mathbf{{M}} = {gold}" if width > 1 else f"\\mathbf{{v}} = {gold}"),
            ("last line ended", gold.replace("\\end{", "\\\\ \\end{")),
        )
        return Pair(gold, pred, note)
    wrong = [list(row) for row in rows]
    note = d.one("entry", "sign", "transposed", "rows swapped", "last row missing", "scaled")
    turned = [list(column) for column in zip(*rows, strict=True)]
    if note == "transposed" and turned != rows and width > 1:
        wrong = turned
    elif note == "rows swapped" and rows[0] != rows[1]:
        wrong[0], wrong[1] = rows[1], rows[0]
    elif note == "last row missing":
        wrong = wrong[:-1]
    elif note == "scaled":
        wrong = [[k * x for x in row] for row in rows]
    elif note == "sign":
        wrong[0][0] = -wrong[0][0]
    else:
        note, wrong[-1][0] = "entry", wrong[-1][0] + d.one(1, -1)
    return Pair(gold, _matrix(wrong, d.one("pmatrix", "bmatrix")), note)
