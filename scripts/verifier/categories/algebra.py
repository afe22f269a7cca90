"""Fractions, polynomials, rational functions, functions, and answers that carry a name."""

from __future__ import annotations

from fractions import Fraction

from .core import Draw, Pair
from .dressing import formulas
from .notation import expand, fraction, number, polynomial, total

_VARIABLES = ("x", "x", "x", "y", "t", "n", "a", "z")


@formulas("fractions")
def fractions(d: Draw, same: bool) -> Pair:
    value = fraction(d)
    p, q = value.numerator, value.denominator
    k = d.whole(2, 6)
    part = Fraction(d.whole(1, 5), d.whole(2, 9))
    rest = value - part
    if same:
        note, pred = d.one(
            ("other command", f"\\dfrac{{{p}}}{{{q}}}"),
            ("slash", f"{p}/{q}"),
            ("not reduced", f"\\frac{{{k * p}}}{{{k * q}}}"),
            ("sum", total([(part, ""), (rest, "")]) if rest else f"\\frac{{{p}}}{{{q}}}"),
            ("negative below", f"\\frac{{{-p}}}{{{-q}}}"),
            ("product", f"{p}\\cdot\\frac{{1}}{{{q}}}" if p > 0 else f"-\\left({-p}\\cdot\\frac{{1}}{{{q}}}\\right)"),
            ("without braces", f"\\frac{p}{q}" if 0 < p < 10 and q < 10 else f"\\tfrac{{{p}}}{{{q}}}"),
            ("nested", f"\\frac{{1}}{{\\frac{{{q}}}{{{p}}}}}"),
            ("assigned", f"x = \\frac{{{p}}}{{{q}}}"),
        )
    else:
        wrong = {
            "upside down": Fraction(q, p),
            "sign": -value,
            "numerator": Fraction(d.whole(p - 2, p + 2, (p,)), q),
            "denominator": Fraction(p, q + 1),
            "off by one": value + 1,
            "doubled": 2 * value,
        }
        note = d.choice([n for n, w in wrong.items() if w != value])
        pred = number(wrong[note])
    return Pair(number(value), pred, note)


def _coefficients(d: Draw, degree: int, size: int = 9) -> list:
    """At least two terms, the highest and a lower one."""
    c = [d.whole(-size, size) for _ in range(degree)] + [d.nonzero(size)]
    c[d.randrange(degree)] = d.nonzero(size)
    return c


@formulas("polynomials")
def polynomials(d: Draw, same: bool) -> Pair:
    v = d.choice(_VARIABLES)
    c = _coefficients(d, d.whole(1, 4))
    if d.chance(0.3):
        c[0] += Fraction(1, d.whole(2, 5))
    gold = polynomial(c, v)
    if d.chance(0.25):
        return _two_variables(d, same)
    if same:
        order = d.shuffled([k for k, a in enumerate(c) if a])
        a, b, h = d.nonzero(4), d.nonzero(9), d.nonzero(6)
        square = expand([a], [h, 1], [h, 1])
        square[0] += b
        shifted = (
            polynomial(square, v),
            f"{total([(a, '')]) if abs(a) > 1 else '-' if a < 0 else ''}({total([(1, v), (h, '')])})^2{total([(b, '')]) if b < 0 else '+' + str(b)}",
        )
        horner = number(c[-1])
        for a in reversed(c[:-1]):
            horner = f"({horner}){v}" + (f"{number(a)}" if a < 0 else f"+{number(a)}")
        note, pair = d.one(
            ("order", (gold, polynomial(c, v, order))),
            ("completed square", shifted),
            ("completed square", shifted[::-1]),
            ("Horner", (gold, horner)),
            ("negated twice", (gold, f"-({polynomial([-a for a in c], v)})")),
        )
        return Pair(*pair, note)
    wrong = list(c)
    k = d.choice([k for k, a in enumerate(c) if a])
    note = d.one("sign", "coefficient", "exponent", "variable")
    if note == "variable":
        return Pair(gold, polynomial(c, d.choice([w for w in "xyztn" if w != v])), note)
    if note == "exponent":
        wrong = [0] + wrong
    else:
        wrong[k] = -c[k] if note == "sign" else c[k] + d.one(-1, 1, 2)
    return Pair(gold, polynomial(wrong, v), note)


def _two_variables(d: Draw, same: bool) -> Pair:
    a, b, c = d.nonzero(5), d.nonzero(5), d.nonzero(9)
    x, y = d.one(("x", "y"), ("a", "b"), ("m", "n"), ("p", "q"))
    gold = total([(a * a, f"{x}^2"), (2 * a * b, x + y), (b * b, f"{y}^2"), (c, "")])
    if same:
        inner = total([(a, x), (b, y)])
        return Pair(
            gold,
            d.one(
                f"({inner})^2{'+' if c > 0 else ''}{c}",
                total([(c, ""), (b * b, f"{y}^2"), (2 * a * b, y + x), (a * a, f"{x}^{{2}}")]),
            ),
            "two variables",
        )
    return Pair(
        gold,
        total([(a * a, f"{x}^2"), (2 * a * b * d.one(-1, 2), x + y), (b * b, f"{y}^2"), (c, "")]),
        "two variables, cross term",
    )


def _linear(d: Draw, v: str, root: int, negated: bool = False) -> str:
    """A factor with this root."""
    if root == 0:
        return f"({'-' if negated else ''}{v})"
    return f"({root}-{v})" if negated else f"({total([(1, v), (-root, '')])})"


@formulas("factored forms")
def factored_forms(d: Draw, same: bool) -> Pair:
    v = d.choice(_VARIABLES)
    roots = [d.nonzero(9) for _ in range(d.whole(2, 3))]
    lead = d.one(1, 1, 2, 3, 5)
    head = "" if lead == 1 else str(lead)
    gold = head + "".join(_linear(d, v, r) for r in roots)
    flat = polynomial(expand([lead], *([-r, 1] for r in roots)), v)
    if same:
        note, pred = d.one(
            ("expanded", flat),
            ("order of factors", head + "".join(_linear(d, v, r) for r in reversed(roots))),
            ("two factors negated", head + "".join(_linear(d, v, r, i < 2) for i, r in enumerate(roots))),
            ("dots", head + "\\cdot ".join(_linear(d, v, r) for r in roots)),
        )
        return Pair(*d.one((gold, pred), (gold, pred), (pred, gold)), note)
    wrong = list(roots)
    note = d.one("root", "one factor negated", "constant factor", "factor missing")
    if note == "root":
        wrong[0] = d.whole(-10, 10, (roots[0],))
        pred = head + "".join(_linear(d, v, r) for r in wrong)
    elif note == "one factor negated":
        pred = head + "".join(_linear(d, v, r, i == 0) for i, r in enumerate(roots))
    elif note == "constant factor":
        pred = str(lead + 1) + "".join(_linear(d, v, r) for r in roots)
    else:
        pred = head + "".join(_linear(d, v, r) for r in roots[1:])
    return Pair(gold, pred, note)


@formulas("rational functions")
def rational_functions(d: Draw, same: bool) -> Pair:
    v = d.choice(_VARIABLES)
    p, q = d.sample([n for n in range(-6, 7) if n], 2)
    a, b = d.nonzero(5), d.nonzero(5)
    below = polynomial(expand([-p, 1], [-q, 1]), v)
    # a/(v-p) + b/(v-q) on one denominator
    above = [-a * q - b * p, a + b]

    def lin(root: int) -> str:
        return total([(1, v), (-root, "")])

    apart = f"\\frac{{{a}}}{{{lin(p)}}}" + ("+" if b > 0 else "-") + f"\\frac{{{abs(b)}}}{{{lin(q)}}}"
    joined = f"\\frac{{{polynomial(above, v)}}}{{{below}}}"
    k = d.nonzero(4)
    if same:
        note, gold, pred = d.one(
            ("partial fractions", joined, apart),
            ("partial fractions", apart, joined),
            ("factored below", joined, f"\\frac{{{polynomial(above, v)}}}{{({lin(p)})({lin(q)})}}"),
            (
                "scaled",
                joined,
                f"\\frac{{{polynomial([3 * c for c in above], v)}}}{{{polynomial(expand([3], [-p, 1], [-q, 1]), v)}}}",
            ),
            ("slash", joined, f"({polynomial(above, v)})/({below})"),
            ("negated", f"\\frac{{{k}}}{{{lin(p)}}}", f"\\frac{{{-k}}}{{{p}-{v}}}"),
            ("negative power", f"\\frac{{{a}}}{{({lin(p)})^2}}", f"{a}({lin(p)})^{{-2}}"),
        )
        return Pair(gold, pred, note)
    note, gold, pred = d.one(
        (
            "sign between",
            joined,
            f"\\frac{{{a}}}{{{lin(p)}}}" + ("-" if b > 0 else "+") + f"\\frac{{{abs(b)}}}{{{lin(q)}}}",
        ),
        ("numerator", joined, f"\\frac{{{polynomial([above[0] + 1, above[1]], v)}}}{{{below}}}"),
        (
            "denominator",
            apart,
            f"\\frac{{{a}}}{{{lin(p)}}}"
            + ("+" if b > 0 else "-")
            + f"\\frac{{{abs(b)}}}{{{lin(q + (1 if q + 1 not in (p, 0) else 20))}}}",
        ),
        ("upside down", f"\\frac{{{v}}}{{{lin(p)}}}", f"\\frac{{{lin(p)}}}{{{v}}}"),
        ("negated once", f"\\frac{{{k}}}{{{lin(p)}}}", f"\\frac{{{k}}}{{{p}-{v}}}"),
    )
    return Pair(gold, pred, note)


@formulas("functions")
def functions(d: Draw, same: bool) -> Pair:
    v = d.one("x", "x", "x", "t", "n")
    name = d.one("f", "f", "g", "h", "P", "p", "T") if v != "n" else d.one("f", "a", "S")
    c = _coefficients(d, d.whole(1, 3), 7)
    body = polynomial(c, v)
    head = d.one(
        f"{name}({v})", f"{name}({v})", f"{name}^{{-1}}({v})", f"{name}'({v})", "y" if v == "x" else f"{name}({v})"
    )
    if head == f"{name}({v})" and v == "n":
        head = d.one(head, f"{name}_n", f"{name}_{{n}}")
    equation = f"{head}={body}"
    if same:
        order = d.shuffled([k for k, a in enumerate(c) if a])
        note, gold, pred = d.one(
            ("name only in gold", equation, body),
            ("name only in response", body, f"{head} = {body}"),
            ("order", equation, f"{head} = {polynomial(c, v, order)}"),
            ("order, name dropped", equation, polynomial(c, v, order)),
        )
        return Pair(gold, pred, note)
    wrong = list(c)
    k = d.choice([k for k, a in enumerate(c) if a])
    wrong[k] = d.one(-c[k], c[k] + 1, 2 * c[k])
    if wrong[k] == 0:
        wrong[k] = 2 * c[k]
    return Pair(
        d.one(equation, equation, body), d.one(f"{head} = {polynomial(wrong, v)}", polynomial(wrong, v)), "coefficient"
    )


@formulas("absolute values, floors and remainders")
def absolute_values_and_remainders(d: Draw, same: bool) -> Pair:
    v = d.one("x", "x", "y", "t")
    a, b = d.whole(2, 12), d.whole(2, 9)
    n, m = d.whole(20, 300), d.whole(3, 19)
    while n % m in (0, m - 1):
        n += 1
    g, p, q = d.whole(2, 9), *d.one((2, 3), (3, 4), (4, 5), (2, 5), (3, 5), (5, 7))
    if same:
        note, gold, pred = d.one(
            ("inside negated", f"|{v}-{a}|", f"|{a}-{v}|"),
            ("other bars", f"|{v}-{a}|", f"\\left|{v}-{a}\\right|"),
            ("factor taken out", f"{b}|{v}|", f"|{b}{v}|"),
            ("vert", f"|{v}+{a}|+{b}", f"{b}+\\lvert {v}+{a}\\rvert"),
            ("of a number", str(a), f"|-{a}|"),
            ("floor", str(n // m), f"\\lfloor \\frac{{{n}}}{{{m}}} \\rfloor"),
            ("floor", f"\\left\\lfloor\\frac{{{n}}}{{{m}}}\\right\\rfloor", str(n // m)),
            ("ceiling", str(n // m + 1), f"\\left\\lceil \\frac{{{n}}}{{{m}}} \\right\\rceil"),
            ("remainder", str(n % m), f"{n} \\bmod {m}"),
            ("gcd", str(g), f"\\gcd({g * p},{g * q})"),
            ("maximum", str(max(a, b)), f"\\max({a},{b})"),
        )
    else:
        note, gold, pred = d.one(
            ("sign inside", f"|{v}-{a}|", f"|{v}+{a}|"),
            ("bars dropped", f"|{v}-{a}|", f"{v}-{a}"),
            ("factor", f"{b}|{v}|", f"{b + 1}|{v}|"),
            ("sign of a number", f"-{a}", f"|-{a}|"),
            ("ceiling for floor", str(n // m), f"\\left\\lceil \\frac{{{n}}}{{{m}}} \\right\\rceil"),
            ("floor dropped", f"\\left\\lfloor\\frac{{{n}}}{{{m}}}\\right\\rfloor", f"\\frac{{{n}}}{{{m}}}"),
            ("remainder", str(n % m + 1), f"{n} \\bmod {m}"),
            ("gcd", str(g + 1), f"\\gcd({g * p},{g * q})"),
            ("maximum", str(a + b), f"\\max({a},{b})"),
        )
    return Pair(gold, pred, note)
