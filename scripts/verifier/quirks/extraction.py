"""What is found in a response: boxes, delimiters, anchors, noise, letters."""

from __future__ import annotations

from categories import Draw
from categories.dressing import reasoning

from .core import around, meet, quirk


@quirk
def boxes(d: Draw) -> tuple[str, str]:
    a, b, c = d.whole(1, 30), d.whole(31, 60), d.whole(61, 90)
    filler = d.one(
        " and ",
        ", ",
        " ",
        "",
        " or ",
        " then by the previous step we get the next value, which is ",
        "; ",
        " no no no no no ",
        ".\n\n" + reasoning(d, 3) + "\n\n",
    )

    def families(n: int) -> list[list[str]]:
        return [[f"\\boxed{{{a}}}{filler}\\boxed{{{n}}}", f"$\\boxed{{{a}}}${filler}$\\boxed{{{n}}}$", f"\\boxed{{{a}, {n}}}", f"${a},{n}$", f"${n}$", f"\\boxed{{{n}}}", f"\\boxed{{\\boxed{{{n}}}}}", f"$\\boxed{{{n}", f"\\boxed{{{n}", f"\\boxed {n}", f"$\\boxed {n}$", f"\\fbox{{{n}}}", f"$\\fbox{{{n}}}$", f"$\\boxed{{{a}}} + \\boxed{{{n}}}$", f"\\boxed{{{n}}}{filler}{c}", f"{c}{filler}\\boxed{{{n}}}", f"${c}$ \\boxed{{{n}}}", f"\\boxed{{{n}}} ${c}$", f"final answer is ${n}$, \\boxed{{{c}}}", f"\\boxed{{x={n}}}", f"\\boxed{{\\text{{{n}}}}}", f"\\boxed{{{a}}}{filler}\\boxed{{{a}}}{filler}\\boxed{{{n}}}", f"\\[\\boxed{{{n}}}\\] is it. \\boxed{{}}"]]  # fmt: skip

    return meet(d, families, b)


@quirk
def environments(d: Draw) -> tuple[str, str]:
    a, b, c = d.whole(1, 30), d.whole(31, 60), d.whole(61, 90)

    def families(n: int) -> list[list[str]]:
        return [[f"${a}$ and ${n}$", f"${a}$, ${n}$", f"${a}$ or ${n}$", f"${a},{n}$", f"${n}$ {a}", f"{n} ${a}$", f"${a}$,${b}$,and ${n}$", f"$ \n {n} \n $", f"$$ \n {n} \n $$", f"\\[ \n {n} \n \\]", f"\\( {n} \n \\)", f"\\({n}\\)", f"[ {n} ]", f" [ {n} ] ", f"$\\frac{{1$ and ${a}$ and $\\foo{{$ ${n}", f"${n}", f"{n}$", f"\\${n}", f"$\\${n}$", f"${n}$.", f"answer: ${n}$ and then {c}", f"The answer is not {c} but {n}", f"answer {c} then answer {n}", f"the Answer is ${n}$, hope so {c}", f"final answer is {n}. I hope", f"Final answer of this problem is ${n}$ {c}", f"\\frac{{{n}}}{{{a}}}", f"-\\frac{{{n}}}{{{a}}}", f"$\\frac{{{n}}}{{{a}}}$", f"{n}/{a}", f"${a}$,${a + 1}$,${a + 2}$,${a + 3}$,${a + 4}$,${a + 5}$,${n}$", f"answer: x = {c} = {n}", f"answer = {n}", f"${n}$ ${a}$", f"$1$, $2$ and ${n},{a}$"]]  # fmt: skip

    return meet(d, families, b)


@quirk
def anchors(d: Draw) -> tuple[str, str]:
    def families(n: int) -> list[list[str]]:
        return [
            [f"${n}$", f"{n}", f"{n}.0"],
            [f"$\\frac{{{n}}}{{2}}$", f"{n}/2", f"${n / 2}$", f"{n / 2}"],
            [f"-{n}", f"$-{n}$"],
            [f"${n},{n + 1}$", f"${n + 1},{n}$"],
            [f"${n}x$", f"$x\\cdot {n}$"],
        ]

    gold, pred = meet(d, families, d.whole(2, 99))
    return gold, around(d, pred)


@quirk
def noise(d: Draw) -> tuple[str, str]:
    def families(n: int) -> list[list[str]]:
        return [[f"${n}.$", f"${n}$.", f"**{n}**", f"**${n}$**", f"$\\displaystyle {n}$", f"$\\left({n}\\right)$", f"$\\,{n}$", f"${{{n}}}$", f"$\\mathbf{{{n}}}$", f"$\\textbf{{{n}}}$", f"$\\text{{{n}}}$", f"$\\textcolor{{red}}{{{n}}}$", f"$\\underline{{{n}}}$", f"`{n}`", f"\"{n}\"", f"({n})", f"<answer>{n}</answer>", f"*{n}*", f"≈{n}", f"−{n}", f"-{n}", f"$-{n}$", f"$−{n}$", f"{n}\n", f"\t{n}", f"${n}\\quad$", f"$\\quad{n}$", f"$~{n}$", f"{n},", f"{n};", f"{n}:", f"{n})", f"${n}\\\\$", f"$\\! {n}$", f"$+{n}$", f"${n}\\;$", f"#### {n}", f"$x = {n}$.", f"${n} \\text{{ is the answer}}$", f"\\boxed{{{n}.}}", f"\\boxed{{ {n} }}", f"\\boxed{{${n}$}}", f"US${n}", f"-${n}", f"$-{n}", f"\\text{{{n}}}", f"\\[ {n}. \\]"]]  # fmt: skip

    gold, pred = meet(d, families, d.whole(2, 99))
    return gold, d.one(pred, pred, around(d, pred))


@quirk
def choice_letters(d: Draw) -> tuple[str, str]:
    letter = d.choice("ABCD")
    said = letter if d.chance(0.6) else d.choice("ABCDE")
    n = d.whole(2, 9)

    def render(x: str) -> str:
        return d.one(x, f"{x}.", f"({x})", f"{x})", f"**{x}**", f"The answer is {x}", f"The answer is {x}.", f"Answer: {x}", f"answer: ({x})", f"\\boxed{{{x}}}", f"$\\text{{{x}}}$", f"Final answer is {x}. I hope", f"The final answer is {x}", f"A quick check shows that the correct option is {x}", f"{x} is right because {n} > 1", f"Option {x}, not D", f"{x.lower()}", f"{x}B", f"A or {x}", f"Answer: **{x}**", f"the final answer of part {n} is {x}: done", f"I think {x}, hence answer {x}", f"${x}$", f"{x}: {n}", f"Yes, {x}", "No")  # fmt: skip

    return d.one(letter, letter, render(letter)), render(said)
