"""Percent, commas, arithmetic, decimals, products, units."""

from __future__ import annotations

from categories import Draw

from .core import around, meet, quirk


@quirk
def percent_signs(d: Draw) -> tuple[str, str]:
    def families(n: int) -> list[list[str]]:
        return [[f"{n}%", f"${n}\\%$", f"${n}$%", f"{n} percent", f"${n}$ percent", f"{n / 100}", f"${n / 100}$", f"{n}", f"${n}$", f"$\\frac{{{n}}}{{100}}$", f"\\boxed{{{n}\\%}}", f"\\boxed{{{n}}}%", f"${n}%$", f"{n}.0%", f"{n} pct", f"${n}\\text{{ percent}}$", f"{n}/100", f"${n}\\ \\%$", f"The answer is {n}%.", f"{n} Percentage"]]  # fmt: skip

    return meet(d, families, d.whole(2, 120))


@quirk
def thousands_and_commas(d: Draw) -> tuple[str, str]:
    def families(n: int) -> list[list[str]]:
        g = f"{n:,}"
        return [[g, f"${g}$", str(n), f"${n}$", g.replace(",", " "), g.replace(",", "{,}"), f"${g.replace(',', '{,}')}$", g.replace(",", "."), f"{g}.00", f"${g.replace(',', ', ')}$", f"{n / 10}", f"{n // 10},{n % 10}", f"${n // 10},{n % 10}$", f"0{n}", f"\\boxed{{{g}}}", f"The answer is {g}.", f"${g}.0$", f"+{n}", f"€{g}", f"\\${g}", f"$\\${g}$", f"{n}.", f".{n}", f"0,{n}"]]  # fmt: skip

    return meet(d, families, d.one(d.whole(1, 999), d.whole(1000, 99999), d.whole(10**5, 10**8)))


@quirk
def plain_arithmetic(d: Draw) -> tuple[str, str]:
    a, b = d.whole(2, 20), d.whole(2, 20)

    def families(n: int) -> list[list[str]]:
        return [
            [
                f"{a}+{n}",
                f"{n} + {a}",
                f"{a + n}",
                f"${a}+{n}$",
                f"({a}+{n})",
                f"{a + n}.",
                f"= {a + n}",
                f"x = {a + n}",
            ],
            [
                f"{a}*{n}",
                f"{a * n}",
                f"${a * n}$",
                f"${a}\\cdot {n}$",
                f"{a}×{n}",
                f"{a} * {n}",
                f"{a}({n})",
                f"({a})*({n})",
            ],
            [
                f"{a}/{n}",
                f"${a}/{n}$",
                f"$\\frac{{{a}}}{{{n}}}$",
                f"{a} / {n}",
                f"{2 * a}/{2 * n}",
                f"{a / n}",
                f"{a}÷{n}",
                f"({a})/{n}",
            ],
            [f"{n}^2", f"{n * n}", f"${n}^2$", f"{n}**2", f"{n} ^ 2", f"{n}*{n}"],
            [f"-{n}", f"- {n}", f"$-{n}$", f"{a}-{a + n}", f"−{n}", f"(-{n})", f"-{n}.0"],
            [
                f"{n}",
                f"**{n}**",
                f"{n}m2",
                f"{n}!",
                f"{n}e{b}",
                f"{n} {b}",
                f"{n}.{b}.{a}",
                f"{n}-{b}-{a}",
                f"{n}:{b}",
                f"{n})",
            ],
            [f"{b} = {n}", f"= {n}", f"x = {n}", f"{n}", f"${n}$", f"x={n}", f"{a} + {b} = {n}"],
        ]

    gold, pred = meet(d, families, b)
    return d.one(gold, around(d, gold)), d.one(pred, around(d, pred))


@quirk
def decimals_and_rounding(d: Draw) -> tuple[str, str]:
    a = d.whole(2, 13)

    def families(n: int) -> list[list[str]]:
        x = n / a
        return [[f"$\\frac{{{n}}}{{{a}}}$", f"{n}/{a}", f"${n}/{a}$", f"{x:.6f}", f"${x:.6f}$", f"{x:.2f}", f"${x:.3f}$", f"{x:.8f}", f"{x:.1f}", f"{x + 1e-6:.7f}", f"${x:.4f}\\ldots$", f"$\\approx {x:.3f}$", f"{n}.0", f"${n}$", f"$x={x:.6f}$", f"$x=\\frac{{{n}}}{{{a}}}$", f"${x:.5f}\\%$", f"$-{x:.5f}$", f"{x:e}", f"${x:.3f} \\times 10^{{{a}}}$", f"\\boxed{{{x:.6f}}}", f"$\\sqrt{{{n}}}$", f"${n**0.5:.6f}$", f"${n}\\pi$", f"${n * 3.14159265:.6f}$", "0.5", "$\\frac{1}{2}$", f"$.{n}$", f".{n}", f"{n / 100}"]]  # fmt: skip

    return meet(d, families, d.whole(1, 50))


@quirk
def products_and_mixed_numbers(d: Draw) -> tuple[str, str]:
    a, b = d.whole(2, 5), d.whole(3, 9)

    def families(n: int) -> list[list[str]]:
        return [
            [
                f"{n}\\frac{{{a}}}{{{b}}}",
                f"\\frac{{{n * b + a}}}{{{b}}}",
                f"{n}\\frac{a}{b}",
                f"{n}+\\frac{{{a}}}{{{b}}}",
                f"\\frac{{{n * a}}}{{{b}}}",
                f"{n} \\frac{{{a}}}{{{b}}}",
                f"{n}\\cdot\\frac{{{a}}}{{{b}}}",
            ],
            [
                f"-{n}\\frac{a}{b}",
                f"-\\frac{{{n * b + a}}}{{{b}}}",
                f"-{n}\\frac{{{a}}}{{{b}}}",
                f"-({n}+\\frac{{{a}}}{{{b}}})",
                f"-{n}-\\frac{{{a}}}{{{b}}}",
            ],
            [
                f"{n}({a})",
                f"{n + a}",
                f"{n * a}",
                f"({n})({a})",
                f"{n}\\cdot {a}",
                f"{n} {a}",
                f"{n}\\left({a}\\right)",
                f"{n}\\times {a}",
            ],
            [
                f"\\frac{a}{b}",
                f"\\frac{a}{{{b}}}",
                f"\\dfrac{{{a}}}{{{b}}}",
                f"{a}/{b}",
                f"\\frac{{{2 * a}}}{{{2 * b}}}",
                f"\\frac{{{a}}}{b}",
                f"{a}\\div {b}",
                f"\\cfrac{{{a}}}{{{b}}}",
            ],
            [
                f"{n}\\sqrt{{{a}}}",
                f"{n}\\sqrt{a}",
                f"\\sqrt{{{n * n * a}}}",
                f"{n}*\\sqrt{{{a}}}",
                f"\\sqrt{{{a}}}\\cdot {n}",
                f"\\sqrt{a}{n}",
                f"{n}sqrt({a})",
                f"{n} sqrt{{{a}}}",
                f"{n}\\sqrt[2]{{{a}}}",
            ],
            [
                f"{n}\\frac{{x}}{{{b}}}",
                f"\\frac{{{n}x}}{{{b}}}",
                f"\\frac{{{n}}}{{{b}}}x",
                f"{n}x/{b}",
                f"x\\frac{{{n}}}{{{b}}}",
            ],
            [f"{n}!", f"({n})!", f"{n}\\cdot {n - 1}!", f"({n + a})_{{{a}}}", f"\\frac{{{n + 1}!}}{{{n + 1}}}"],
            [
                f"\\binom{{{n + 3}}}{{{a}}}",
                f"\\dbinom{{{n + 3}}}{{{a}}}",
                f"\\frac{{{n + 3}!}}{{{a}!({n + 3}-{a})!}}",
                f"{{{n + 3} \\choose {a}}}",
                f"\\binom{n + 3}{a}",
            ],
            [f"{n}^{a}", f"{n}^{{{a}}}", f"{n}^({a})", f"{n**a}", f"{n}**{a}", f"({n})^{a}"],
            [
                f"\\log_{a}{n}",
                f"\\log_{{{a}}}({n})",
                f"\\log_{{{a}}}{{{n}}}",
                f"\\frac{{\\ln {n}}}{{\\ln {a}}}",
                f"\\log_{a} {n}",
            ],
            [f"x({n})", f"{n}x", f"x\\cdot {n}", f"xn({n})", f"x*{n}"],
            [f"x(y+{n})", f"xy+{n}x", f"x\\cdot(y+{n})", f"(y+{n})x"],
            [
                f"{n}.5\\frac{{1}}{{2}}",
                f"{n / 2 + 0.25}",
                f"{n}.5",
                f"{n}\\frac12",
                f"{n}.50",
                f"\\frac{{{2 * n + 1}}}{{2}}",
            ],
        ]

    return meet(d, families, d.whole(2, 9), dress=True)


@quirk
def units_and_letters(d: Draw) -> tuple[str, str]:
    unit = d.one(
        "cm",
        "m",
        "km",
        "hours",
        "degrees",
        "dollars",
        "inches",
        "mph",
        "kg",
        "apples",
        "s",
        "g",
        "ways",
        "cm^2",
        "years",
    )

    def families(n: int) -> list[list[str]]:
        return [[f"${n}$", f"{n}", f"${n} \\text{{ {unit}}}$", f"${n}\\text{{{unit}}}$", f"${n}\\ \\mathrm{{{unit}}}$", f"{n} {unit}", f"{n}{unit}", f"${n}$ {unit}", f"${n} {unit}$", f"${n}\\mbox{{ {unit}}}$", f"\\boxed{{{n}\\text{{ {unit}}}}}", f"${n}^\\circ$", f"${n}t$", f"${n}h$", f"${n}x$", f"$x+{n}t$", f"$x+{n}$", f"$\\${n}$", f"${n}\\text{{ hours and }}3\\text{{ minutes}}$", f"${n}\\,{unit}$", f"$\\frac{{{n}}}{{2}} \\text{{ {unit}}}$", f"${n}~\\text{{{unit}}}$", f"${n}\\pi {unit}$", f"${n}{unit}$", f"${n}\\ {unit}$", f"${n}\\text{{th}}$", f"${n}^\\text{{th}}$"]]  # fmt: skip

    return meet(d, families, d.whole(2, 60))
