"""The same mathematics in other writing: bare LaTeX, plain text, Unicode, names of symbols, noise of formatting."""

from __future__ import annotations

from collections.abc import Callable

from .core import Draw, Pair, category
from .dressing import formulas, plain_response, reasoning, response
from .dressing import gold as dress_gold
from .notation import SQUAREFREE, fraction, number

#: Kinds of answers, each in LaTeX, plain text and Unicode; made from four different whole numbers and a radicand.
_Kind = Callable[[int, int, int, int, int], tuple[str, str, str]]
_KINDS: tuple[_Kind, ...] = (
    lambda a, b, c, k, r: (f"\\frac{{{a}}}{{{b}}}", f"{a}/{b}", f"{a}⁄{b}"),
    lambda a, b, c, k, r: (f"\\sqrt{{{r}}}", f"sqrt({r})", f"√{r}"),
    lambda a, b, c, k, r: (f"{a}\\sqrt{{{r}}}", f"{a}*sqrt({r})", f"{a}√{r}"),
    lambda a, b, c, k, r: (f"{a}+{b}\\sqrt{{{r}}}", f"{a} + {b}*sqrt({r})", f"{a} + {b}√{r}"),
    lambda a, b, c, k, r: (f"\\frac{{{a}+\\sqrt{{{r}}}}}{{{b}}}", f"({a} + sqrt({r}))/{b}", f"({a} + √{r})/{b}"),
    lambda a, b, c, k, r: (f"x^{{{a}}}-{b}x+{c}", f"x^{a} - {b}x + {c}", f"x{_superscript(a)} − {b}x + {c}"),
    lambda a, b, c, k, r: (f"{a}x^2+{b}xy-{c}y^2", f"{a}*x^2 + {b}*x*y - {c}*y^2", f"{a}x² + {b}xy − {c}y²"),
    lambda a, b, c, k, r: (f"(x-{a})(x+{b})", f"(x - {a})*(x + {b})", f"(x − {a})(x + {b})"),
    lambda a, b, c, k, r: (f"\\frac{{{a}\\pi}}{{{b}}}", f"{a}*pi/{b}", f"{a}π/{b}"),
    lambda a, b, c, k, r: (f"{a}\\pi", f"{a}pi", f"{a}π"),
    lambda a, b, c, k, r: (f"\\frac{{x+{a}}}{{x-{b}}}", f"(x+{a})/(x-{b})", f"(x + {a})/(x − {b})"),
    lambda a, b, c, k, r: (f"-{a}", f"-{a}", f"−{a}"),
    lambda a, b, c, k, r: (f"2^{{{a}}}\\cdot 3^{{{b}}}", f"2^{a} * 3^{b}", f"2{_superscript(a)} · 3{_superscript(b)}"),
    lambda a, b, c, k, r: (f"x \\le {a}", f"x <= {a}", f"x ≤ {a}"),
    lambda a, b, c, k, r: (f"x \\ge -{a}", f"x >= -{a}", f"x ≥ −{a}"),
    lambda a, b, c, k, r: (f"(-\\infty, {a}]", f"(-inf, {a}]", f"(−∞, {a}]"),
    lambda a, b, c, k, r: (
        f"(-\\infty,-{a})\\cup({b},\\infty)",
        f"(-infinity, -{a}) U ({b}, infinity)",
        f"(−∞, −{a}) ∪ ({b}, ∞)",
    ),
    lambda a, b, c, k, r: (f"({a},-{b})", f"({a}, -{b})", f"({a}, −{b})"),
    lambda a, b, c, k, r: (f"\\{{{a},-{b},{c}\\}}", f"{{{a}, -{b}, {c}}}", f"{{{a}, −{b}, {c}}}"),
    lambda a, b, c, k, r: (f"y={a}x-{b}", f"y = {a}x - {b}", f"y = {a}x − {b}"),
    lambda a, b, c, k, r: (f"x^2+y^2={a * a}", f"x^2 + y^2 = {a * a}", f"x² + y² = {a * a}"),
    lambda a, b, c, k, r: (f"{a}+{b}i", f"{a} + {b}i", f"{a} + {b}i"),
    lambda a, b, c, k, r: (f"e^{{-{a}x}}", f"e^(-{a}x)", f"e^(−{a}x)"),
    lambda a, b, c, k, r: (f"\\ln {a}", f"ln({a})", f"ln {a}"),
    lambda a, b, c, k, r: (f"{a}\\sin x", f"{a}*sin(x)", f"{a}·sin(x)"),
    lambda a, b, c, k, r: (f"\\frac{{{a}}}{{{b}}}x^2", f"({a}/{b})x^2", f"({a}/{b})x²"),
    lambda a, b, c, k, r: (f"\\sqrt[3]{{{a}}}", f"{a}^(1/3)", f"∛{a}"),
    lambda a, b, c, k, r: (f"{a}^\\circ", f"{a} degrees", f"{a}°"),
    lambda a, b, c, k, r: ("\\frac{1}{2}", "1/2", "½"),
    lambda a, b, c, k, r: (f"{a}\\times 10^{{-{b}}}", f"{a} * 10^-{b}", f"{a} × 10{_superscript(-b)}"),
    lambda a, b, c, k, r: (f"n \\equiv {a} \\pmod{{{a + b}}}", f"n ≡ {a} (mod {a + b})", f"n ≡ {a} (mod {a + b})"),
    lambda a, b, c, k, r: (f"\\theta+{a}\\alpha", f"theta + {a}*alpha", f"θ + {a}α"),
    lambda a, b, c, k, r: (f"x\\in[{a},{a + b}]", f"{a} <= x <= {a + b}", f"x ∈ [{a}, {a + b}]"),
    lambda a, b, c, k, r: (f"\\pm {a}", f"{a} or -{a}", f"±{a}"),
    lambda a, b, c, k, r: (f"x_1+{a}x_2", f"x_1 + {a}*x_2", f"x₁ + {a}x₂"),
    lambda a, b, c, k, r: (f"{a}\\cdot {b}!", f"{a}*{b}!", f"{a}·{b}!"),
)


def _superscript(n: int) -> str:
    return str(n).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))


def _two(d: Draw, same: bool) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """One answer in three writings, and again, with another number somewhere unless they shall be the same."""
    while True:
        kind = d.choice(_KINDS)
        a, b, c, k = d.sample((2, 3, 4, 5, 7, 8, 9, 11), 4)
        if b % a == 0 or a % b == 0:
            continue
        r = d.choice(SQUAREFREE[:8])
        one = kind(a, b, c, k, r)
        if same:
            return one, one
        change = d.randrange(4)
        two = kind(
            *(v + (1 if i == change else 0) if i < 3 else v for i, v in enumerate((a, b, c, k))),
            r + 100 if change == 3 else r,
        )
        if two[0] != one[0] and two[0] != kind(b, a, c, k, r)[0]:
            return one, two


@category("bare LaTeX golds")
def bare_latex(d: Draw, same: bool) -> Pair:
    one, two = _two(d, same)
    bare = (
        lambda: two[0],
        lambda: f"The answer is {two[0]}.",
        lambda: f"Answer: {two[0]}",
        lambda: f"{reasoning(d)}\n\nTherefore, the answer is {two[0]}",
        lambda: response(d, two[0]),
        lambda: response(d, two[0]),
    )
    return Pair(one[0], d.choice(bare)(), "bare gold")


@category("plain-text maths")
def plain_text(d: Draw, same: bool) -> Pair:
    one, two = _two(d, same)
    gold = d.one(dress_gold(d, one[0]), dress_gold(d, one[0]), one[1])
    pred = two[1].replace("^", "**") if d.chance(0.15) and "^" in two[1] else two[1]
    return Pair(gold, plain_response(d, pred), "plain response")


@category("Unicode maths")
def unicode_maths(d: Draw, same: bool) -> Pair:
    one, two = _two(d, same)
    if d.chance(0.1):
        n = d.whole(10, 9999)
        wide = str(n if same else n + 1).translate(str.maketrans("0123456789", "０１２３４５６７８９"))
        return Pair(str(n), plain_response(d, wide), "full-width digits")
    gold = d.one(dress_gold(d, one[0]), dress_gold(d, one[0]), one[2], one[1])
    return Pair(gold, plain_response(d, two[2]), "Unicode response")


@formulas("symbols and subscripts")
def symbols(d: Draw, same: bool) -> Pair:
    k = d.whole(2, 9)
    a, b, c = d.sample("abcdmnpqrst", 3)
    g, h = d.sample(("\\alpha", "\\beta", "\\gamma", "\\theta", "\\lambda", "\\mu", "\\omega", "\\phi"), 2)
    i, j = d.sample(range(1, 6), 2)
    if same:
        note, gold, pred = d.one(
            ("order of factors", f"{k}{a}{b}", f"{k}{b}{a}"),
            ("order of terms", f"{a}+{k}{b}", f"{k}{b}+{a}"),
            ("braces of a subscript", f"{a}_{i}+{a}_{j}", f"{a}_{{{i}}}+{a}_{{{j}}}"),
            ("Greek", f"{k}{g}-{h}", f"-{h}+{k}{g}"),
            ("dot", f"{k}{a}", f"{k}\\cdot {a}"),
            ("fraction", f"\\frac{{{a}{b}}}{{{c}}}", f"\\frac{{{a}}}{{{c}}}{b}"),
            ("cancelled", f"{a}", f"\\frac{{{a}{b}}}{{{b}}}"),
            ("sum of equals", f"{k + 1}{a}", f"{k}{a}+{a}"),
            ("named", f"{k}{a}^2", f"E = {k}{a}^2"),
            ("letter subscript", f"v_0+{a}t", f"v_{{0}}+t{a}" if a != "t" else "v_{0}+t^2"),
            ("power", f"{a}^2{b}", f"{a}{b}{a}"),
            ("half", f"\\frac{{1}}{{2}}{a}{b}", f"\\frac{{{a}{b}}}{{2}}"),
            ("root", f"\\sqrt{{\\frac{{{k}{a}}}{{{b}}}}}", f"\\sqrt{{{k}{a}/{b}}}"),
            ("subscript word", f"P_{{\\text{{max}}}}+{k}", f"{k}+P_{{\\text{{max}}}}"),
        )
    else:
        capital, z = a.upper(), d.one("n", "p", "q", "r", "x", "y")  # none of them a unit
        note, gold, pred = d.one(
            ("capital", f"{k}{a}", f"{k}{capital}"),
            ("other letter", f"{k}{a}", f"{k}{b}"),
            ("other subscript", f"{a}_{i}", f"{a}_{j}"),
            ("capital Greek", f"{k}\\delta", f"{k}\\Delta"),
            ("other Greek", f"{k}{g}", f"{k}{h}"),
            ("letter dropped", f"{k}{z}", f"{k}"),
            ("letter dropped", f"x+{k}t", f"x+{k}"),
            ("last letter", f"3x+{k}m", f"3x+{k}s"),
            ("power", f"{a}^2{b}", f"{a}{b}^2"),
            ("subscript dropped", f"{a}_{i}", a),
            ("fraction turned", f"\\frac{{{a}}}{{{b}}}", f"\\frac{{{b}}}{{{a}}}"),
            ("factor", f"{k}{a}{b}", f"{k + 1}{a}{b}"),
            ("index", f"{a}_{i}+{a}_{j}", f"{a}_{i}-{a}_{j}"),
            ("capital radius", "\\pi R^2", "\\pi r^2"),
            ("prime", "f'(x)", "f(x)"),
            ("letter dropped", "4\\pi h", "4\\pi"),
            ("power", f"{k}{a}", f"{k}{a}^2"),
            ("root", f"\\sqrt{{{a}}}", f"{a}"),
        )
    return Pair(gold, pred, note)


_NOISE: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("full stop in the formula", lambda a: f"${a}.$"),
    ("full stop behind", lambda a: f"The answer is ${a}$."),
    ("bold", lambda a: f"**${a}$**"),
    ("bold answer", lambda a: f"**Answer: ${a}$**"),
    ("italic", lambda a: f"*${a}$*"),
    ("displaystyle", lambda a: f"$\\displaystyle {a}$"),
    ("left and right", lambda a: f"$\\left({a}\\right)$"),
    ("thin space", lambda a: f"$\\,{a}\\,$"),
    ("quad", lambda a: f"$\\quad {a}$"),
    ("braces", lambda a: f"${{{a}}}$"),
    ("space in the box", lambda a: f"\\boxed{{ {a} }}"),
    ("space before the box", lambda a: f"$\\boxed {{{a}}}$"),
    ("box in a box", lambda a: f"$\\boxed{{\\boxed{{{a}}}}}$"),
    ("fbox", lambda a: f"$\\fbox{{${a}$}}$"),
    ("colour", lambda a: f"$\\textcolor{{blue}}{{{a}}}$"),
    ("colour", lambda a: f"$\\color{{red}}{{{a}}}$"),
    ("underlined", lambda a: f"$\\underline{{{a}}}$"),
    ("bold in the box", lambda a: f"$\\boxed{{\\mathbf{{{a}}}}}$"),
    ("lines", lambda a: f"\\[\n\n{a}\n\n\\]"),
    ("aligned", lambda a: f"\\begin{{align*}}\nx &= {a}\n\\end{{align*}}"),
    ("code", lambda a: f"`{a}`"),
    ("table", lambda a: f"| quantity | value |\n|---|---|\n| $x$ | ${a}$ |\n\nAnswer: ${a}$"),
    ("quote", lambda a: f"> **Answer:** ${a}$"),
    ("heading", lambda a: f"### Answer\n\n${a}$"),
    ("item", lambda a: f"- **Final answer:** ${a}$"),
    ("tags", lambda a: f"<answer>${a}$</answer>"),
    ("boxed in bold", lambda a: f"**\\boxed{{{a}}}**"),
    ("spaces", lambda a: f"   $ {a} $   "),
    ("CRLF", lambda a: f"Answer:\r\n\r\n$${a}$$\r\n"),
    ("emoji", lambda a: f"The answer is ${a}$ ✅"),
    ("exclamation", lambda a: f"So the answer is ${a}$!"),
    ("large", lambda a: f"$\\large {a}$"),
    ("box and remark", lambda a: f"$\\boxed{{{a}}}$\n\nLet me know if you'd like more detail!"),
    ("done", lambda a: f"The answer is $\\boxed{{{a}}}$. This completes the solution."),
    ("tilde", lambda a: f"$~{a}~$"),
    ("QED", lambda a: f"$\\boxed{{{a}}}$ $\\blacksquare$"),
    ("phantom space", lambda a: f"$\\!{a}\\!$"),
    ("parentheses behind the box", lambda a: f"Answer: \\(\\boxed{{{a}}}\\)."),
    ("final marker", lambda a: f"**Final Answer**: $\\boxed{{{a}}}$"),
    ("mixed delimiters", lambda a: f"\\[ \\boxed{{ {a} }} . \\]"),
)


@category("formatting noise")
def formatting_noise(d: Draw, same: bool) -> Pair:
    r, a, b = d.choice(SQUAREFREE), d.whole(2, 9), d.whole(2, 40)
    f = fraction(d, 9)
    kind = d.randrange(6)
    wrong = 0 if same else d.one(1, -1)
    gold, pred = (
        (str(b), str(b + wrong)),
        (number(f), number(f + wrong).replace("\\frac", "\\dfrac")),
        (f"{a}\\sqrt{{{r}}}", f"{a + wrong}\\sqrt{{{r}}}" if a + wrong > 1 else f"\\sqrt{{{r}}}"),
        (f"-{b}", f"-{b + wrong}"),
        (f"x^2+{a}x-{b}", f"x^2+{a}x-{b + wrong}"),
        (f"{a}\\pi", f"{a + wrong}\\pi"),
    )[kind]
    note, dress = d.choice(_NOISE)
    if note in ("code", "bold in the box") and kind not in (0, 3):
        note, dress = _NOISE[0]
    return Pair(dress_gold(d, gold), dress(pred), note)
