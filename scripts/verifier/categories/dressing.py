"""What stands around an answer: dollars and boxes on the gold side, whole responses on the other.

A dressed answer never changes its meaning: the reasoning is made of sentences that state no final answer.
"""

from __future__ import annotations

from collections.abc import Callable

from .core import Draw, Maker, Pair, category

_SENTENCES = (
    "We start by writing down what is given.",
    "Let me work through this step by step.",
    "First, note that $n = {a}$ satisfies the condition, while $n = {b}$ does not.",
    "Substituting $t = {a}$ gives ${a} + {b} = {c}$.",
    "Let $u = {a}v$, so that $du = {a}\\,dv$.",
    "By the triangle inequality, $|p - q| \\le {c}$.",
    "From the first equation we get $y = {a}x - {b}$.",
    "This step uses the fact that \\({a} + {b} = {c}\\).",
    "There are {a} cases to look at, and {b} of them are symmetric.",
    "Adding both sides, \\[ {a}k + {b}k = {c}k. \\]",
    "Recall that the sum of the first {a} terms was found above.",
    "Comparing coefficients on both sides settles the matter.",
    "Since {a} < {c}, the second case cannot occur.",
    "We can check this with a quick sketch.",
    "Simplifying the expression, the terms with $m^{{{a}}}$ cancel.",
    "Now multiply through by ${b}$ to clear the denominators.",
    "The discriminant is $\\Delta = {c}$, which is positive.",
    "- The first quantity is {a}.\n- The second quantity is {b}.",
    "1. Set up the relation.\n2. Solve for the unknown.",
    "Using $\\frac{{{a}}}{{{b}}}$ as the ratio, the rest follows.",
    "It's easy to see that this doesn't depend on the order.",
    "Therefore the remaining part has length ${a}$.",
    "So far we have used {a} of the {c} points.",
    "Let's denote the number of red ones by $r$ and the number of blue ones by $b$.",
    "$$\\begin{{aligned}} s &= {a} + {b} \\\\ &= {c} \\end{{aligned}}$$",
    "Wait, is the order important here? No, it is not.",
    "| step | amount |\n|---|---|\n| first | {a} |\n| second | {b} |",
    "As $\\gcd({a}, {a} + 1) = 1$, nothing cancels.",
)

_HEADINGS = (
    ("## Step 1: Understand the problem\n", "## Step 2: Work it out\n"),
    ("**Step 1:** ", "**Step 2:** "),
    ("### Setup\n", "### Calculation\n"),
    ("Step 1: ", "Step 2: "),
)


def reasoning(d: Draw, sentences: int | None = None) -> str:
    """A few sentences on the way to an answer, with numbers of their own."""

    def fill(text: str) -> str:
        a, b = d.whole(2, 40), d.whole(2, 40)
        return text.format(a=a, b=b, c=a + b)

    picked = [fill(s) for s in d.sample(_SENTENCES, sentences or d.whole(1, 4))]
    if len(picked) > 1 and d.chance(0.25):
        first, second = d.choice(_HEADINGS)
        return first + picked[0] + "\n\n" + second + "\n".join(picked[1:])
    text = ""
    for sentence in picked:
        if sentence[0] in "-1|":  # a list, a table stands on lines of its own
            text = f"{text.rstrip()}\n\n{sentence}\n\n"
        else:
            text += sentence + d.one(" ", " ", "\n\n")
    return text.strip()


_FORMULA: tuple[Callable[[Draw, str], str], ...] = (
    # the answer alone
    lambda d, a: f"${a}$",
    lambda d, a: f"\\boxed{{{a}}}",
    lambda d, a: f"$\\boxed{{{a}}}$",
    lambda d, a: f"$${a}$$",
    lambda d, a: f"Answer: ${a}$",
    lambda d, a: f"Answer:\n\n$$\n{a}\n$$",
    lambda d, a: f"The correct answer is ${a}$.",
    # a box at the end of a solution
    lambda d, a: f"{reasoning(d)}\n\nTherefore, the answer is $\\boxed{{{a}}}$.",
    lambda d, a: f"{reasoning(d)}\n\n\\[\n\\boxed{{{a}}}\n\\]",
    lambda d, a: f"{reasoning(d)}\n\n**Final Answer**\n\n\\boxed{{{a}}}",
    lambda d, a: f"{reasoning(d)} Hence the answer is $$\\boxed{{{a}}}$$",
    lambda d, a: f"{reasoning(d)}\n\nThe final answer is: $\\boxed{{{a}}}$",
    lambda d, a: f"{reasoning(d)}\n\n### Final Answer\n$$\n\\boxed{{{a}}}\n$$",
    lambda d, a: f"{reasoning(d)}\n\n---\n\n### **Final Answer:**\n\n\\[\n\\boxed{{{a}}}\n\\]",
    lambda d, a: f"{reasoning(d)} Thus, our answer is $\\boxed{{{a}}}.$",
    lambda d, a: f"{reasoning(d)}\n\nTherefore, the final answer is \\[ \\boxed{{{a}}}. \\]",
    lambda d, a: f"{reasoning(d)} This gives us $\\boxed{{{a}}}$ as the final result.",
    lambda d, a: f"{reasoning(d)}\n\n$$\\boxed{{{a}}}$$\n\nThis agrees with what one would expect.",
    lambda d, a: f"{reasoning(d, 9)}\n\n{reasoning(d, 9)}\n\n{reasoning(d, 9)}\n\n\\boxed{{{a}}}",
    # words that announce it
    lambda d, a: f"{reasoning(d)}\n\nThe final answer is ${a}$. I hope it is correct.",
    lambda d, a: f"{reasoning(d)}\n\nFinal Answer: The final answer is ${a}$. I hope it is correct.",
    lambda d, a: f"{reasoning(d)}\n\n**Answer:** ${a}$",
    lambda d, a: f"{reasoning(d)}\n\n**Final Answer:** \\({a}\\)",
    lambda d, a: f"{reasoning(d)}\n\nSo the answer is \\({a}\\).",
    lambda d, a: f"{reasoning(d)}\n\nThus, the result is\n\\[\n{a}\n\\]",
    lambda d, a: f"{reasoning(d)}\n\nThe final answer is:\n\n$${a}$$",
    lambda d, a: f"{reasoning(d)}\n\n$\\therefore$ the answer is ${a}$",
    lambda d, a: f"{reasoning(d)}\n\n# Answer\n\n{a}",
    # tags
    lambda d, a: f"<think>\n{reasoning(d)}\n</think>\n\n{reasoning(d, 1)}\n\n$$\\boxed{{{a}}}$$",
    lambda d, a: f"<think>{reasoning(d)}</think>\n<answer>${a}$</answer>",
    lambda d, a: f"<think>\n{reasoning(d)}\n</think>\n<answer> \\boxed{{{a}}} </answer>",
)

_PLAIN: tuple[Callable[[Draw, str], str], ...] = (
    lambda d, a: a,
    lambda d, a: f"The answer is {a}.",
    lambda d, a: f"Answer: {a}",
    lambda d, a: f"**Answer:** {a}",
    lambda d, a: f"{reasoning(d)}\n\nTherefore, the answer is {a}.",
    lambda d, a: f"{reasoning(d)}\n\nSo the answer is **{a}**.",
    lambda d, a: f"{reasoning(d)}\n\nFinal answer: {a}",
    lambda d, a: f"{reasoning(d)}\n\nThe final answer is {a}. I hope it is correct.",
    lambda d, a: f"{reasoning(d)}\n\n**Final Answer: {a}**",
    lambda d, a: f"{reasoning(d)}\n\nThe correct answer is: {a}",
    lambda d, a: f"{reasoning(d)}\n\n### Answer\n{a}",
    lambda d, a: f"{reasoning(d)}\n\nAnswer:\n{a}",
    lambda d, a: f"{reasoning(d)} Hence, the answer is {a}",
    lambda d, a: f"<think>\n{reasoning(d)}\n</think>\n\nThe answer is {a}.",
    lambda d, a: f"<think>{reasoning(d)}</think>\n<answer>{a}</answer>",
)


def gold(d: Draw, tex: str) -> str:
    """A formula as data sets keep it: bare or between dollars."""
    return d.choices((tex, f"${tex}$", f"$${tex}$$", f"\\({tex}\\)"), (10, 8, 1, 1))[0]


def response(d: Draw, tex: str) -> str:
    """A formula as models state it."""
    return d.choice(_FORMULA)(d, tex)


def plain_response(d: Draw, text: str) -> str:
    """Words or plain maths as models state them, without LaTeX around."""
    return d.choice(_PLAIN)(d, text)


def formulas(name: str) -> Callable[[Maker], Maker]:
    """Registers a maker of two formulas; gold and response are dressed here."""

    def register(make: Maker) -> Maker:
        def dressed(d: Draw, same: bool) -> Pair:
            pair = make(d, same)
            return Pair(gold(d, pair.gold), response(d, pair.pred), pair.note)

        category(name)(dressed)
        return make

    return register
