"""Surds, exponentials and logarithms, π and e, trigonometry, complex numbers, and what is counted or summed."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from .core import Draw, Pair
from .dressing import formulas
from .notation import SQUAREFREE, binomial, fraction, number, polynomial, surd, total


@formulas("surds")
def surds(d: Draw, same: bool) -> Pair:
    r, s = d.sample(SQUAREFREE[:11], 2)
    a, b, c = d.whole(2, 9), d.nonzero(9), d.whole(2, 6)
    plain = total([surd(a, r)])
    mixed = f"\\frac{{{total([(b, ''), surd(a, r)])}}}{{{c}}}"
    two = total([surd(a, r), surd(b, s)])
    if same:
        note, gold, pred = d.one(
            ("under one root", plain, f"\\sqrt{{{a * a * r}}}"),
            ("taken out", f"\\sqrt{{{a * a * r}}}", plain),
            ("rationalised", f"\\frac{{{total([surd(a, r)])}}}{{{r}}}", f"\\frac{{{a}}}{{\\sqrt{{{r}}}}}"),
            ("order", two, total([surd(b, s), surd(a, r)])),
            ("split", mixed, total([(Fraction(b, c), ""), surd(Fraction(a, c), r)])),
            ("product of roots", plain, f"{a}\\sqrt{{{r * s}}}/\\sqrt{{{s}}}"),
            ("half power", plain, f"{a}\\cdot {r}^{{1/2}}"),
            ("conjugate", total([surd(1, r), (-b, "")]), f"\\frac{{{r - b * b}}}{{{total([surd(1, r), (b, '')])}}}"),
            ("sum of roots", total([surd(a + c, r)]), f"{total([surd(a, r)])}+{total([surd(c, r)])}"),
        )
    else:
        t = d.choice([n for n in SQUAREFREE if n not in (r, s)])
        note, gold, pred = d.one(
            ("radicand", plain, total([surd(a, t)])),
            ("coefficient", plain, total([surd(a + 1, r)])),
            ("sign", two, total([surd(a, r), surd(-b, s)])),
            ("swapped", two, total([surd(a, s), surd(b, r)])) if a != b else ("sign", plain, "-" + plain),
            ("square forgotten", plain, f"\\sqrt{{{a * r}}}"),
            ("sign inside", mixed, f"\\frac{{{total([(b, ''), surd(-a, r)])}}}{{{c}}}"),
            ("roots added", f"\\sqrt{{{r}}}+\\sqrt{{{s}}}", f"\\sqrt{{{r + s}}}"),
            ("denominator", mixed, f"\\frac{{{total([(b, ''), surd(a, r)])}}}{{{c + 1}}}"),
        )
    return Pair(gold, pred, note)


@formulas("nested radicals")
def nested_radicals(d: Draw, same: bool) -> Pair:
    a, b = sorted(d.sample((2, 3, 5, 6, 7, 10, 11, 13), 2), reverse=True)
    p, q, r = d.whole(1, 4), d.whole(1, 3), d.one(2, 3, 5, 6, 7)
    product = 2 * a * b
    inner = f"2\\sqrt{{{a * b}}}"
    cube = (p**3 + 3 * p * q * q * r, 3 * p * p * q + q**3 * r)
    cubic = f"\\sqrt[3]{{{total([(cube[0], ''), surd(cube[1], r)])}}}"
    square = f"\\sqrt{{{total([(p * p + q * q * r, ''), surd(2 * p * q, r)])}}}"
    plus, minus = f"\\sqrt{{{a}}}+\\sqrt{{{b}}}", f"\\sqrt{{{a}}}-\\sqrt{{{b}}}"
    root = total([(p, ""), surd(q, r)])
    if same:
        note, gold, pred = d.one(
            ("sum", f"\\sqrt{{{a + b}+{inner}}}", plus),
            ("difference", minus, f"\\sqrt{{{a + b}-{inner}}}"),
            ("square", root, square),
            ("cube", cubic, root),
            ("root of a root", f"\\sqrt{{\\sqrt{{{r}}}}}", f"\\sqrt[4]{{{r}}}"),
            ("product", f"\\sqrt{{{product}}}", f"\\sqrt{{{a}}}\\sqrt{{{2 * b}}}"),
            ("index", f"\\sqrt[3]{{{8 * r}}}", f"2\\sqrt[3]{{{r}}}"),
            ("real cube root", f"\\sqrt[3]{{-{r}}}", f"-\\sqrt[3]{{{r}}}"),
        )
    else:
        note, gold, pred = d.one(
            ("sign inside", plus, f"\\sqrt{{{a + b}-{inner}}}"),
            ("wrong way round", f"\\sqrt{{{a + b}-{inner}}}", f"\\sqrt{{{b}}}-\\sqrt{{{a}}}"),
            ("cube for square", cubic, total([(p, ""), surd(q + 1, r)])),
            ("index", f"\\sqrt[3]{{{8 * r}}}", f"2\\sqrt{{{r}}}"),
            ("flattened", f"\\sqrt{{{a + b}+{inner}}}", f"\\sqrt{{{a + b}}}+\\sqrt{{{inner}}}"),
            ("inner number", square, f"\\sqrt{{{total([(p * p + q * q * r + 1, ''), surd(2 * p * q, r)])}}}"),
            ("sign", f"\\sqrt[3]{{-{r}}}", f"\\sqrt[3]{{{r}}}"),
        )
    return Pair(gold, pred, note)


@formulas("exponentials and logarithms")
def exponentials(d: Draw, same: bool) -> Pair:
    a, b = d.sample((2, 3, 5, 6, 7, 10), 2)
    k, m = d.sample(range(2, 8), 2)
    v = d.one("x", "n", "t", "k")
    if same:
        note, gold, pred = d.one(
            ("power of argument", f"{k}\\ln {a}", f"\\ln {a**k}"),
            ("product", f"\\ln {a * b}", f"\\ln {a}+\\ln {b}"),
            ("quotient", f"\\ln\\frac{{{a}}}{{{b}}}", f"\\ln({a})-\\ln({b})"),
            ("change of base", f"\\log_{{{a}}} {b}", f"\\frac{{\\ln {b}}}{{\\ln {a}}}"),
            (
                "change of base",
                f"\\frac{{\\log {b}}}{{\\log {a}}}",
                f"\\log_{a}{b}" if a < 10 else f"\\log_{{{a}}}{{{b}}}",
            ),
            ("value", f"{k}", f"\\log_{{{a}}}{{{a**k}}}"),
            ("power rule", f"{a}^{{{v}+1}}", f"{a}\\cdot {a}^{{{v}}}"),
            ("base changed", f"{a * a}^{{{v}}}", f"{a}^{{2{v}}}"),
            ("sum of exponents", f"e^{{{k}+{m}}}", f"e^{k}\\cdot e^{m}"),
            ("exponential of a logarithm", f"{a**k}", f"e^{{{k}\\ln {a}}}"),
            ("negative exponent", f"e^{{-{k}{v}}}", f"\\frac{{1}}{{e^{{{k}{v}}}}}"),
            ("exp", f"{k}e^{{{m}{v}}}", f"{k}\\exp({m}{v})"),
            ("half", f"\\frac{{1}}{{2}}\\ln {a}", f"\\ln\\sqrt{{{a}}}"),
            ("factored", f"{v}e^{{{v}}}-e^{{{v}}}", f"({v}-1)e^{{{v}}}"),
        )
    else:
        note, gold, pred = d.one(
            ("exponent", f"e^{{{k}{v}}}", f"e^{{{m}{v}}}"),
            ("sum for product", f"\\ln {a + b}", f"\\ln {a}+\\ln {b}")
            if a * b != a + b
            else ("sign", "\\ln 2", "-\\ln 2"),
            ("base and argument swapped", f"\\log_{{{a}}} {b}", f"\\log_{{{b}}} {a}"),
            ("factor", f"{k}\\ln {a}", f"{m}\\ln {a}"),
            ("argument", f"\\ln {a}", f"\\ln {b}"),
            ("sign of exponent", f"{a}^{{{v}}}", f"{a}^{{-{v}}}"),
            ("shift", f"{a}^{{{v}+1}}", f"{a}^{{{v}}}+1"),
            ("square of a logarithm", f"(\\ln {a})^2", f"2\\ln {a}"),
            ("power for product", f"{a}^{{{v}}}", f"{a}{v}"),
            ("value", f"{k}", f"\\log_{{{a}}}{{{a**m}}}"),
            ("quotient", f"\\ln\\frac{{{a}}}{{{b}}}", f"\\frac{{\\ln {a}}}{{\\ln {b}}}"),
        )
    return Pair(gold, pred, note)


@formulas("pi and e")
def pi_and_e(d: Draw, same: bool) -> Pair:
    f = fraction(d, 9, negative=False)
    p, q = f.numerator, f.denominator
    k, m = d.sample(range(2, 30), 2)
    e, pi = "2.718281828459045", "3.141592653589793"
    gold = total([(f, "\\pi")])
    if same:
        note, gold, pred = d.one(
            ("numerator", gold, f"\\frac{{{p}\\pi}}{{{q}}}" if p > 1 else f"\\frac{{\\pi}}{{{q}}}"),
            ("slash", gold, f"{p}\\pi/{q}"),
            ("dot", f"{k}\\pi", f"{k}\\cdot\\pi"),
            ("decimal", f"{k}\\pi", f"{k * float(pi):.{d.whole(6, 9)}f}"),
            ("decimal", f"{k}e", f"{k * float(e):.{d.whole(6, 8)}f}"),
            ("joined", "1-\\frac{1}{e}", "\\frac{e-1}{e}"),
            ("upright e", f"{k}-\\frac{{{m}}}{{e}}", f"{k}-\\frac{{{m}}}{{\\mathrm{{e}}}}"),
            ("factored", f"{k}\\pi+{k * m}", f"{k}(\\pi+{m})"),
            ("negative power", f"\\frac{{{k}}}{{e}}", f"{k}e^{{-1}}"),
            ("powers", f"{k}\\pi^2", f"{k}\\pi\\cdot\\pi"),
            ("order", f"{k}+{m}\\pi", f"{m}\\pi+{k}"),
            ("order", f"\\frac{{\\pi^2}}{{{k}}}-{m}", f"-{m}+\\frac{{1}}{{{k}}}\\pi^2"),
        )
    else:
        note, gold, pred = d.one(
            ("factor", f"{k}\\pi", f"{m}\\pi"),
            ("upside down", gold, f"\\frac{{{q}\\pi}}{{{p}}}"),
            ("two decimals", f"{k}\\pi", f"{k * 3.14:.2f}"),
            ("22/7", f"{k * 7}\\pi", f"{k * 22}"),
            ("pi missing", f"{k}\\pi", f"{k}"),
            ("sign", "1-\\frac{1}{e}", "1+\\frac{1}{e}"),
            ("power", f"{k}\\pi", f"{k}\\pi^2"),
            ("e for pi", f"{k}\\pi", f"{k}e"),
            ("wrong digits", f"{k}\\pi", f"{k * 3.14151:.6f}"),
            ("added", f"{k}\\pi", f"{k}+\\pi"),
            ("one decimal", f"{k}e", f"{k * 2.7:.1f}"),
        )
    return Pair(gold, pred, note)


# Values in the first quadrant: degrees, radians, sine, cosine, tangent.
_ANGLES = (
    (15, "\\frac{\\pi}{12}", "\\frac{\\sqrt{6}-\\sqrt{2}}{4}", "\\frac{\\sqrt{6}+\\sqrt{2}}{4}", "2-\\sqrt{3}"),
    (
        18,
        "\\frac{\\pi}{10}",
        "\\frac{\\sqrt{5}-1}{4}",
        "\\frac{\\sqrt{10+2\\sqrt{5}}}{4}",
        "\\frac{\\sqrt{25-10\\sqrt{5}}}{5}",
    ),
    (30, "\\frac{\\pi}{6}", "\\frac{1}{2}", "\\frac{\\sqrt{3}}{2}", "\\frac{\\sqrt{3}}{3}"),
    (36, "\\frac{\\pi}{5}", "\\frac{\\sqrt{10-2\\sqrt{5}}}{4}", "\\frac{1+\\sqrt{5}}{4}", "\\sqrt{5-2\\sqrt{5}}"),
    (45, "\\frac{\\pi}{4}", "\\frac{\\sqrt{2}}{2}", "\\frac{\\sqrt{2}}{2}", "1"),
    (60, "\\frac{\\pi}{3}", "\\frac{\\sqrt{3}}{2}", "\\frac{1}{2}", "\\sqrt{3}"),
    (75, "\\frac{5\\pi}{12}", "\\frac{\\sqrt{6}+\\sqrt{2}}{4}", "\\frac{\\sqrt{6}-\\sqrt{2}}{4}", "2+\\sqrt{3}"),
)


@formulas("trigonometric values")
def trigonometric_values(d: Draw, same: bool) -> Pair:
    degrees, radians, *values = d.choice(_ANGLES)
    which = d.randrange(3)
    name = ("\\sin", "\\cos", "\\tan")[which]
    value = values[which]
    inside = d.one(
        f"{degrees}^\\circ", f"{degrees}^{{\\circ}}", radians, f"\\left({radians}\\right)", f"({degrees}^\\circ)"
    )
    if same:
        co = ("\\cos", "\\sin", "\\cot")[which]
        note, gold, pred = d.one(
            ("value in gold", value, f"{name} {inside}"),
            ("value in response", f"{name} {inside}", value),
            ("cofunction", f"{name} {degrees}^\\circ", f"{co} {90 - degrees}^\\circ"),
            (
                "scaled",
                f"{degrees}{name} {inside}",
                f"{degrees}\\cdot {value}"
                if "-" not in value[:3] and which < 2
                else f"{degrees}\\left({value}\\right)",
            ),
            ("supplement", value, f"{'-' if which else ''}{name} {180 - degrees}^\\circ"),
        )
    else:
        wrong = [v for row in _ANGLES for v in row[2:4] if v != value] if which < 2 else ["\\frac{1}{2}", "\\sqrt{2}"]
        co = ("\\cos", "\\sin", "\\cot")[which]
        note, gold, pred = d.one(
            ("other value", f"{name} {inside}", d.choice(wrong)),
            ("sign", value, f"-{name} {inside}"),
            ("other angle", value, f"{name} {degrees + 1}^\\circ"),
            ("other function", f"{name} {degrees}^\\circ", f"{co} {degrees}^\\circ")
            if degrees != 45
            else ("sign", value, f"-{name} {degrees}^\\circ"),
        )
    return Pair(gold, pred, note)


@formulas("trigonometric identities")
def trigonometric_identities(d: Draw, same: bool) -> Pair:
    x = d.one("x", "x", "\\theta", "\\alpha", "t")
    k = d.whole(2, 9)
    true = (
        ("Pythagoras", f"{k}", f"{k}\\sin^2 {x}+{k}\\cos^2 {x}"),
        ("double angle", f"\\sin 2{x}", f"2\\sin {x}\\cos {x}"),
        ("double angle", f"\\cos 2{x}", f"1-2\\sin^2 {x}"),
        ("double angle", f"{k}\\cos(2{x})", f"{k}(\\cos^2 {x}-\\sin^2 {x})"),
        ("secant", f"1+\\tan^2 {x}", f"\\sec^2 {x}"),
        ("cosecant", f"{k}\\csc {x}", f"\\frac{{{k}}}{{\\sin {x}}}"),
        ("shift", f"\\sin({x}+\\pi)", f"-\\sin {x}"),
        ("shift", f"\\cos\\left(\\frac{{\\pi}}{{2}}-{x}\\right)", f"\\sin({x})"),
        ("quotient", f"\\tan {x}", f"\\frac{{\\sin {x}}}{{\\cos {x}}}"),
        ("half angle", f"\\sin^2 {x}", f"\\frac{{1-\\cos 2{x}}}{{2}}"),
        ("triple angle", f"\\sin 3{x}", f"3\\sin {x}-4\\sin^3 {x}"),
        ("odd", f"-{k}\\sin {x}", f"{k}\\sin(-{x})"),
        ("parentheses", f"{k}\\cos^2 {x}", f"{k}(\\cos {x})^2"),
        ("product", f"2\\cos 3{x}\\cos {x}", f"\\cos 4{x}+\\cos 2{x}"),
        ("order", f"\\sin {x}-{k}\\cos {x}", f"-{k}\\cos {x}+\\sin {x}"),
    )
    false = (
        ("sign", f"\\cos 2{x}", f"1+2\\sin^2 {x}"),
        ("factor", f"\\sin 2{x}", f"\\sin {x}\\cos {x}"),
        ("function", f"{k}\\sin {x}", f"{k}\\cos {x}"),
        ("shift", f"\\cos({x}+\\pi)", f"\\cos {x}"),
        ("argument", f"\\sin {k}{x}", f"{k}\\sin {x}"),
        ("power", f"\\sin^2 {x}", f"\\sin({x}^2)"),
        ("Pythagoras", f"{k}", f"{k}\\sin^2 {x}-{k}\\cos^2 {x}"),
        ("reciprocal", f"\\sec {x}", f"\\frac{{1}}{{\\sin {x}}}"),
        ("secant", f"\\tan^2 {x}-1", f"\\sec^2 {x}"),
        ("coefficient", f"\\sin 3{x}", f"3\\sin {x}-3\\sin^3 {x}"),
        ("sign", f"\\sin {x}-{k}\\cos {x}", f"\\sin {x}+{k}\\cos {x}"),
        ("variable", f"{k}\\tan {x}", f"{k}\\tan y"),
    )
    note, gold, pred = d.choice(true if same else false)
    if same and d.chance(0.3):
        gold, pred = pred, gold
    return Pair(gold, pred, note)


@formulas("inverse trigonometry")
def inverse_trigonometry(d: Draw, same: bool) -> Pair:
    a, b = d.sample(range(2, 9), 2)
    p, q = sorted((a, b))
    s = Fraction(1, a) + Fraction(1, b)
    together = s / (1 - Fraction(1, a * b))
    arcsin, arccos, arctan = d.one(("\\arcsin", "\\arccos", "\\arctan"), ("\\sin^{-1}", "\\cos^{-1}", "\\tan^{-1}"))
    values = (
        ("\\frac{\\pi}{4}", f"{arctan}(1)"),
        ("\\frac{\\pi}{6}", f"{arcsin}\\frac{{1}}{{2}}"),
        ("\\frac{\\pi}{3}", f"{arccos}\\left(\\frac{{1}}{{2}}\\right)"),
        ("\\frac{2\\pi}{3}", f"{arccos}\\left(-\\frac{{1}}{{2}}\\right)"),
        ("-\\frac{\\pi}{3}", f"{arctan}(-\\sqrt{{3}})"),
        ("\\frac{\\pi}{4}", f"{arcsin}\\left(\\frac{{\\sqrt{{2}}}}{{2}}\\right)"),
    )
    value, function = d.choice(values)
    ratio = number(Fraction(p, q))
    if same:
        note, gold, pred = d.one(
            ("value", value, function),
            ("value", function, value),
            ("other writing", f"\\arctan {ratio}", f"\\tan^{{-1}}\\left({ratio}\\right)"),
            (
                "sum of two",
                f"\\arctan\\frac{{1}}{{{a}}}+\\arctan\\frac{{1}}{{{b}}}",
                f"\\arctan{number(together)}" if together.denominator > 1 else f"\\arctan({together})",
            ),
            ("complement", f"\\frac{{\\pi}}{{2}}-{arcsin}\\left({ratio}\\right)", f"{arccos}\\left({ratio}\\right)"),
            ("odd", f"-\\arctan({a})", f"{arctan}(-{a})"),
            ("doubled", "2\\arctan\\frac{1}{2}", "\\arctan\\frac{4}{3}"),
            ("reciprocal", f"\\arctan({a})", f"\\frac{{\\pi}}{{2}}-\\arctan\\left(\\frac{{1}}{{{a}}}\\right)"),
            ("function of it", ratio, f"\\sin(\\arcsin({ratio}))"),
        )
    else:
        note, gold, pred = d.one(
            ("reciprocal", f"\\arctan\\left({ratio}\\right)", f"\\arctan\\left({number(Fraction(q, p))}\\right)"),
            ("power -1 as a reciprocal", f"\\tan^{{-1}}({a})", f"\\frac{{1}}{{\\tan({a})}}"),
            ("value", "\\frac{\\pi}{3}", f"{arcsin}\\left(\\frac{{1}}{{2}}\\right)"),
            ("other function", f"{arcsin}\\left({ratio}\\right)", f"{arccos}\\left({ratio}\\right)"),
            ("sign", value, "-" + function),
            ("argument", f"\\arctan({a})", f"\\arctan({b})"),
            ("shift by pi", f"\\arctan({a})", f"\\pi-\\arctan({a})"),
            ("sum", f"\\arctan\\frac{{1}}{{{a}}}+\\arctan\\frac{{1}}{{{b}}}", f"\\arctan\\left({number(s)}\\right)"),
        )
    return Pair(gold, pred, note)


def _complex(re, im) -> str:
    return total([(re, ""), (im, "i")])


@formulas("complex numbers")
def complex_numbers(d: Draw, same: bool) -> Pair:
    a, b, p, q = (d.nonzero(7) for _ in range(4))
    r, s = a * p - b * q, a * q + b * p
    gold = _complex(a, b)
    n = p * p + q * q
    if same:
        half = d.whole(2, 9)
        note, gold, pred = d.one(
            ("order", gold, total([(b, "i"), (a, "")])),
            ("product", _complex(r, s), f"({gold})({_complex(p, q)})"),
            (
                "quotient",
                _complex(Fraction(a * p + b * q, n), Fraction(b * p - a * q, n)),
                f"\\frac{{{gold}}}{{{_complex(p, q)}}}",
            ),
            ("root of a negative", f"{half}i", f"\\sqrt{{-{half * half}}}"),
            ("assigned", gold, f"z = {gold}"),
            ("powers of i", gold, total([(b, "i"), (-a, "i^2")])),
            ("polar", "\\frac{1}{2}+\\frac{\\sqrt{3}}{2}i", "e^{i\\pi/3}"),
            ("polar", f"{half}i", f"{half}e^{{\\frac{{\\pi i}}{{2}}}}"),
            (
                "polar",
                f"{half}\\left(\\cos\\frac{{\\pi}}{{4}}+i\\sin\\frac{{\\pi}}{{4}}\\right)",
                f"\\frac{{{half}\\sqrt{{2}}}}{{2}}+\\frac{{{half}\\sqrt{{2}}}}{{2}}i",
            ),
            ("zero part", f"{half}", f"{half}+0i"),
            ("i before the root", f"{half}+i\\sqrt{{3}}", f"{half}+\\sqrt{{3}}i"),
            ("dot", gold, f"{total([(a, '')])}{'+' if b > 0 else '-'}{abs(b)}\\cdot i"),
            ("square", "2i", "(1+i)^2"),
        )
    else:
        note, gold, pred = d.one(
            ("conjugate", gold, _complex(a, -b)),
            ("parts swapped", gold, _complex(b, a)) if a != b else ("sign", gold, _complex(-a, -b)),
            ("real part", gold, _complex(a + 1, b)),
            ("i missing", gold, f"{a}{'+' if b > 0 else '-'}{abs(b)}"),
            ("product", _complex(r, s), _complex(a * p + b * q, s)),
            ("negated", gold, _complex(-a, -b)),
            ("i for 1", "i", "-i"),
            ("polar", "e^{i\\pi/3}", "\\frac{\\sqrt{3}}{2}+\\frac{1}{2}i"),
            ("square", "2i", "(1-i)^2"),
            ("sum for i", f"{abs(a)}i", f"{abs(a)}"),
        )
    return Pair(gold, pred, note)


@formulas("binomials and factorials")
def binomials_and_factorials(d: Draw, same: bool) -> Pair:
    n = d.whole(5, 14)
    k = d.whole(2, n - 2)
    value = binomial(n, k)
    ratio = factorial(n) // factorial(n - k)
    if same:
        note, gold, pred = d.one(
            ("value", str(value), f"\\binom{{{n}}}{{{k}}}"),
            ("value", f"\\binom{{{n}}}{{{k}}}", str(value)),
            ("mirrored", f"\\binom{{{n}}}{{{k}}}", f"\\binom{{{n}}}{{{n - k}}}"),
            ("other command", f"\\binom{{{n}}}{{{k}}}", f"\\dbinom{{{n}}}{{{k}}}"),
            ("choose", f"\\binom{{{n}}}{{{k}}}", f"{{{n} \\choose {k}}}"),
            ("C(n,k)", str(value), f"C({n},{k})"),
            ("factorials", f"\\binom{{{n}}}{{{k}}}", f"\\frac{{{n}!}}{{{k}!{n - k}!}}"),
            ("value", f"{n}!", str(factorial(n))),
            ("quotient", str(ratio), f"\\frac{{{n}!}}{{{n - k}!}}"),
            ("step", f"{n}!", f"{n}\\cdot {n - 1}!"),
            ("symbolic", "(n+1)!", "(n+1)\\cdot n!"),
            ("symbolic", "\\binom{n}{2}", "\\frac{n(n-1)}{2}"),
            ("Pascal", f"\\binom{{{n}}}{{{k}}}", f"\\binom{{{n - 1}}}{{{k}}}+\\binom{{{n - 1}}}{{{k - 1}}}"),
            ("multinomial", f"\\frac{{{n}!}}{{2!\\,{k}!}}", f"\\frac{{{n}!}}{{2\\cdot {k}!}}"),
            ("power", f"\\frac{{\\binom{{{n}}}{{{k}}}}}{{2^{{{n}}}}}", number(Fraction(value, 2**n))),
        )
    else:
        note, gold, pred = d.one(
            ("value", f"\\binom{{{n}}}{{{k}}}", str(value + 1)),
            ("lower", f"\\binom{{{n}}}{{{k}}}", f"\\binom{{{n}}}{{{k - 1}}}")
            if 2 * k != n + 1
            else ("upper", f"\\binom{{{n}}}{{{k}}}", f"\\binom{{{n + 1}}}{{{k}}}"),
            ("arrangements", f"\\binom{{{n}}}{{{k}}}", str(ratio)),
            ("factorial missing", f"{n}!", str(n)),
            ("factorial", f"{n}!", f"{n + 1}!"),
            ("double step", f"{n}!", f"{n}\\cdot {n - 2}!"),
            ("fraction", f"\\binom{{{n}}}{{{k}}}", f"\\frac{{{n}}}{{{k}}}"),
            ("symbolic", "(n+1)!", "n!+1"),
            ("quotient", str(ratio), f"\\frac{{{n}!}}{{{k}!}}")
            if 2 * k != n
            else ("value", f"{n}!", str(factorial(n) - 1)),
            ("symbolic", "\\binom{n}{2}", "\\frac{n(n+1)}{2}"),
        )
    return Pair(gold, pred, note)


@formulas("sums, products and integrals")
def sums(d: Draw, same: bool) -> Pair:
    n, a, k = d.whole(4, 30), d.whole(2, 6), d.whole(2, 5)
    triangle, squares = n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6
    geometric = Fraction(a, a - 1)
    integral = Fraction(a ** (k + 1), k + 1)
    anti = [0, d.nonzero(6), d.one(Fraction(1, 2), Fraction(3, 2), 2), Fraction(d.whole(1, 5), 3)]
    rows = [
        ("sum", triangle, f"\\sum_{{k=1}}^{{{n}}} k"),
        ("sum of squares", squares, f"\\sum_{{i=1}}^{{{n}}} i^2"),
        ("linear sum", 2 * triangle + n * a, f"\\sum_{{j=1}}^{{{n}}} (2j+{a})"),
        ("product", factorial(a), f"\\prod_{{k=1}}^{{{a}}} k"),
        ("geometric series", geometric, f"\\sum_{{k=0}}^{{\\infty}} \\frac{{1}}{{{a}^k}}"),
        ("telescoping product", n, f"\\prod_{{k=2}}^{{{n}}} \\frac{{k}}{{k-1}}"),
        ("integral", integral, f"\\int_0^{{{a}}} x^{k}\\,dx"),
        ("integral", Fraction(1, k + 1), f"\\int_{{0}}^{{1}} t^{{{k}}} dt"),
        ("finite geometric", 2**n - 1, f"\\sum_{{i=0}}^{{{n - 1}}} 2^i"),
    ]
    note, value, formula = d.choice(rows)
    if d.chance(0.25):  # an antiderivative
        gold = f"{polynomial(anti)}+C"
        if same:
            return Pair(
                gold, d.one(f"{polynomial(anti, order=[1, 2, 3])}+C", f"C+{polynomial(anti)}"), "antiderivative"
            )
        anti[1] *= d.one(-1, 2)
        return Pair(gold, f"{polynomial(anti)}+C", "antiderivative")
    if same:
        gold, pred = d.one(
            (number(value), formula),
            (formula, number(value)),
            (
                formula,
                formula.replace("k=", "j=").replace(" k", " j")
                if note == "sum"
                else formula.replace("\\sum_", "\\sum\\limits_"),
            ),
        )
        return Pair(gold, pred, note)
    wrong = (
        number(value + d.one(-1, 1, n))
        if value.denominator == 1
        else number(1 / Fraction(value))
        if value * value != 1
        else number(value + 1)
    )
    return Pair(*d.one((formula, wrong), (wrong, formula)), note)
