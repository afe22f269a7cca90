"""Sets, intervals, relations, matrices, letters, texts."""

from __future__ import annotations

from categories import Draw

from .core import meet, quirk


@quirk
def sets_tuples_intervals(d: Draw) -> tuple[str, str]:
    a = d.whole(-5, 6)
    left, right = d.one("(", "["), d.one(")", "]")

    def families(n: int) -> list[list[str]]:
        return [
            [
                f"({a},{n})",
                f"({n},{a})",
                f"\\{{{a},{n}\\}}",
                f"\\{{{n},{a}\\}}",
                f"{{{a},{n}}}",
                f"{a},{n}",
                f"{n}, {a}",
                f"{a};{n}",
                f"({a};{n})",
                f"\\left({a},{n}\\right)",
                f"[{a},{n}]",
            ],
            [
                f"{left}{a},{n}{right}",
                f"{left}{a}, {n}{right}",
                f"x\\in {left}{a},{n}{right}",
                f"{a}<x<{n}",
                f"\\left{left}{a},{n}\\right{right}",
                f"{a}\\le x<{n}",
            ],
            [
                f"({a},\\infty)",
                f"x>{a}",
                f"[{a},\\infty)",
                f"{a}<x",
                f"x\\ge {a}",
                f"x\\in({a},\\infty)",
                f"({a},+\\infty)",
                f"({n},\\infty)",
            ],
            [
                f"({a},{n},{n + 1})",
                f"\\{{{a},{n},{n + 1}\\}}",
                f"{a},{n},{n + 1}",
                f"({a}, {n}, {n + 1})",
                f"{n + 1},{n},{a}",
                f"\\langle {a},{n},{n + 1}\\rangle",
                f"[{a},{n},{n + 1}]",
            ],
            [
                f"x={a},{n}",
                f"x={a}\\text{{ or }}x={n}",
                f"\\{{{a},{n}\\}}",
                f"{a},{n}",
                f"x={a},x={n}",
                f"x={n},x={a}",
                f"x_1={a},x_2={n}",
                f"x\\in\\{{{a},{n}\\}}",
                f"{a}\\text{{ and }}{n}",
            ],
            [f"(x,y)=({a},{n})", f"x={a},y={n}", f"({a},{n})", f"y={n},x={a}", f"{a},{n}"],
            [
                f"({a},{n})\\cup({n},{n + 2})",
                f"({n},{n + 2})\\cup({a},{n})",
                f"({a},{n + 2})",
                f"\\left({a},{n}\\right)\\cup\\left({n},{n + 2}\\right)",
                f"({a},{n})∪({n},{n + 2})",
            ],
            [
                f"({a},{n}),({n},{a})",
                f"\\{{({a},{n}),({n},{a})\\}}",
                f"({n},{a}),({a},{n})",
                f"({a},{n})",
                f"({a},{n})\\text{{ and }}({n},{a})",
            ],
            [
                "\\emptyset",
                "\\{\\}",
                "\\varnothing",
                f"({n},{n}]",
                f"\\{{{a}\\}}",
                f"{a}",
                f"\\{{{a}\\}}\\cup\\{{{n}\\}}",
                f"\\{{{a},{n}\\}}",
            ],
        ]

    return meet(d, families, a + d.whole(1, 5), dress=True)


@quirk
def relations(d: Draw) -> tuple[str, str]:
    a, b = d.whole(1, 6), d.whole(2, 9)
    v = d.one("x", "x", "y", "n")

    def families(n: int) -> list[list[str]]:
        return [
            [
                f"{v}={n}",
                f"{n}={v}",
                f"{n}",
                f"{a}{v}={a * n}",
                f"{v}-{n}=0",
                f"{v}={n - 1}+1={n}",
                f"z={v}={n}",
                f"{v}\\approx {n}",
                f"{v}\\in\\{{{n}\\}}",
                f"f({v})={n}",
            ],
            [
                f"{v}>{n}",
                f"{n}<{v}",
                f"-{v}<-{n}",
                f"{a}{v}>{a * n}",
                f"{v}-{n}>0",
                f"({n},\\infty)",
                f"{v}\\ge {n}",
                f"{n}>{v}",
            ],
            [f"{v}\\ge {n}", f"{n}\\leq {v}", f"{v}\\geq{n}", f"[{n},\\infty)", f"{v}>={n}", f"{v}\\le {n}"],
            [f"{v}\\ne {n}", f"{v}!={n}", f"{v}\\neq{n}", f"{n}\\ne {v}", f"{v}={n}"],
            [
                f"y={a}x+{n}",
                f"{a}x-y+{n}=0",
                f"y-{a}x={n}",
                f"2y={2 * a}x+{2 * n}",
                f"{a}x+{n}",
                f"f(x)={a}x+{n}",
                f"-{a}x+y={n}",
                f"y={n}+{a}x",
            ],
            [f"{a}<{v}<{n + 9}", f"{n + 9}>{v}>{a}", f"{v}\\in({a},{n + 9})", f"({a},{n + 9})", f"{a}\\le {v}<{n + 9}"],
            [f"x+y={n}", f"y+x={n}", f"x+y-{n}=0", f"2x+2y={2 * n}", f"{n}=x+y", f"x={n}-y", f"{n}"],
            [f"{v}^2={n * n}", f"{v}=\\pm {n}", f"\\pm {n}", f"{n},-{n}", f"{v}={n}", f"{v}^2-{n * n}=0"],
            [f"{v}\\equiv {n}\\pmod{{{b}}}", f"{v}\\equiv {n}", f"{n}", f"{v}\\equiv {n + b}\\pmod{{{b}}}"],
            [f"x^2+y^2={n}", f"y^2+x^2={n}", f"\\frac{{x^2}}{{{n}}}+\\frac{{y^2}}{{{n}}}=1", f"{n}-x^2=y^2"],
        ]

    return meet(d, families, b, dress=True)


@quirk
def matrices(d: Draw) -> tuple[str, str]:
    a, b, c = d.whole(-9, 9), d.whole(0, 9), d.whole(1, 5)

    def families(n: int) -> list[list[str]]:
        kind = d.one("pmatrix", "pmatrix", "bmatrix", "matrix", "vmatrix", "Bmatrix")
        two = f"\\begin{{{kind}}}{a} & {b} \\\\ {c} & {n}\\end{{{kind}}}"
        column = f"\\begin{{{kind}}}{a} \\\\ {n}\\end{{{kind}}}"
        line, tall = f"{a} & {b} \\\\ {c} & {n}", f"{a} \\\\ {n}"
        doubled = f"{2 * a} & {2 * b} \\\\ {2 * c} & {2 * n}"
        return [
            [
                two,
                two,
                f"\\begin{{{kind}}}{a}&{b}\\\\{c}&{n}\\\\\\end{{{kind}}}",
                f"\\frac{{1}}{{2}}\\begin{{{kind}}}{doubled}\\end{{{kind}}}",
                f"\\left[\\begin{{array}}{{cc}}{line}\\end{{array}}\\right]",
                f"A = {two}",
                f"\\left(\\begin{{matrix}}{line}\\end{{matrix}}\\right)",
                f"\\begin{{pmatrix}}\n{line}\n\\end{{pmatrix}}",
            ],
            [
                column,
                column,
                f"\\begin{{{kind}}}{a} & {n}\\end{{{kind}}}",
                f"({a},{n})",
                f"{column}^T",
                f"\\mathbf{{v}}={column}",
                f"\\langle {a},{n}\\rangle",
                f"\\left(\\begin{{array}}{{c}}{tall}\\end{{array}}\\right)",
            ],
            [
                f"\\begin{{{kind}}}{a} & {b} \\\\ {c} & \\frac{{{n}}}{{2}}\\end{{{kind}}}",
                f"\\begin{{{kind}}}{a} & {b} \\\\ {c} & {n / 2}\\end{{{kind}}}",
                f"\\begin{{{kind}}}{a} & {b} \\\\ {c} & {n}/2\\end{{{kind}}}",
            ],
        ]

    return meet(d, families, d.whole(-6, 12), dress=True)


@quirk
def letters_and_case(d: Draw) -> tuple[str, str]:
    v = d.one(
        "x",
        "A",
        "a",
        "R",
        "\\Delta",
        "\\delta",
        "i",
        "e",
        "E",
        "I",
        "\\pi",
        "x_1",
        "x_{12}",
        "\\gamma",
        "ab",
        "\\vec{v}",
        "x'",
        "d",
        "n",
        "\\text{x}",
        "\\mathrm{e}",
    )
    w = d.one(v, v, v, v.lower(), v.upper() if len(v) == 1 else v, "x", "y")

    def families(n: int) -> list[list[str]]:
        u = d.one(v, v, w)
        return [
            [
                f"{n}{u}",
                f"{u}\\cdot {n}",
                f"{n}\\cdot {u}",
                f"{n} {u}",
                f"{n - 1}{u}+{u}",
                f"\\frac{{{2 * n}{u}}}{{2}}",
            ],
            [u, f"{u}+0", f"\\frac{{{n}{u}}}{{{n}}}", f"1\\cdot {u}", f"({u})", f"\\sqrt{{{u}^2}}", f"|{u}|", f"{u}^1"],
            [f"{n}{u}+1", f"1+{n}{u}", f"{u}\\cdot {n}+1", f"{n}{u} + 1"],
            [f"{u}^2", f"{u}{u}", f"{u}\\cdot {u}", f"{u}^{{2}}", f"({u})^2"],
            [f"{u}+{n}i", f"{n}i+{u}", f"{u}+i{n}", f"{u}+{n}\\cdot i"],
            [f"{u}={n}", f"{n}", f"{n}={u}", f"{u} = {n}"],
            [f"\\sin {u}", f"\\sin({u})", f"\\sin{{{u}}}", f"\\sin\\left({u}\\right)", f"sin({u})"],
            [f"\\cos^2({u})+\\sin^2({u})", "1", f"\\sin^2 {u}+\\cos^2 {u}"],
            [f"f({u})", f"f'({u})", f"f\\left({u}\\right)", f"g({u})"],
            [f"e^{{{u}}}", f"\\exp({u})", f"e^{u}", f"\\exp{{{u}}}"],
            [f"\\frac{{{u}}}{{{n}}}", f"{u}/{n}", f"\\frac{{1}}{{{n}}}{u}", f"\\frac1{n}{u}"],
        ]

    return meet(d, families, d.whole(2, 5), dress=True)


@quirk
def text_and_strings(d: Draw) -> tuple[str, str]:
    def families(n: int) -> list[list[str]]:
        word = ("even", "odd", "Yes", "No", "Alice", "no solution", "A", "circle", "true")[n % 9]
        return [[f"$\\text{{{word}}}$", f"\\text{{{word}}}", word, f"$\\textbf{{{word}}}$", f"$\\mathrm{{{word}}}$", f"${word}$", f"\\boxed{{\\text{{{word}}}}}", f"\\boxed{{{word}}}", f"$\\text{{ {word} }}$", f"$\\text{{{word.upper()}}}$", f"$\\text{{{word}.}}$", f"$\\text{{({word})}}$", f"$\\textit{{{word}}}$", f"$\\emph{{{word}}}$", f"$\\foo{{{word}}}$", f"The answer is $\\text{{{word}}}$", f"$\\frac{{{word}$"]]  # fmt: skip

    n = d.whole(0, 8)
    return meet(d, families, n)
