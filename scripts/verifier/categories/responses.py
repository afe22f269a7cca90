"""Whole responses: GSM8K, several boxes, corrections, thinking tags, and those without an answer."""

from __future__ import annotations

from .core import Draw, Pair, category
from .dressing import gold as dress_gold
from .dressing import reasoning, response
from .notation import SQUAREFREE, fraction, number, total


def _answer(d: Draw) -> tuple[str, str]:
    """An answer in LaTeX and another that differs."""
    n, f, r, a = d.whole(2, 400), fraction(d, 9), d.choice(SQUAREFREE), d.whole(2, 12)
    return d.one(
        (str(n), str(d.other(n, positive=True))),
        (str(n), str(n + 1)),
        (number(f), number(f + d.one(1, -1, 2))),
        (f"{a}\\sqrt{{{r}}}", f"{a + 1}\\sqrt{{{r}}}"),
        (f"x^2-{a}x+{n}", f"x^2+{a}x+{n}"),
        (f"({a},{n})", f"({a},{n + 2})"),
        (f"\\frac{{{a}\\pi}}{{5}}" if a % 5 else f"{a}\\pi", f"\\frac{{{a}\\pi}}{{7}}"),
        (f"-{n}", f"{n}"),
    )


@category("GSM8K style")
def gsm8k(d: Draw, same: bool) -> Pair:
    a, b = d.whole(2, 60), d.whole(2, 60)
    n = a * b
    said = n if same else d.other(n, positive=True)
    story = f"Each box holds {a} pencils.\nThere are {b} boxes, so there are {a} * {b} = <<{a}*{b}={n}>>{n} pencils."
    gold = d.one(str(n), str(n), f"{story}\n#### {n}", f"#### {n}", f"{n:,}")
    walk = d.one(
        f"Each box holds {a} pencils and there are {b} boxes.",
        f"We multiply the number of pencils in a box by the number of boxes: {a} × {b} = {said}.",
        f"Step 1: {a} pencils in a box.\nStep 2: {b} boxes.\nStep 3: {a} * {b} = {said}.",
        f"First, {a} * {b} = <<{a}*{b}={said}>>{said}.",
    )
    end = d.one(
        f"#### {said}",
        f"#### {said:,}",
        f"#### ${said}",
        f"The answer is {said}.",
        f"The answer is ${said}.",
        f"So there are {said} pencils in total.",
        f"**Answer: {said}**",
        f"The final answer is \\boxed{{{said}}}.",
        f"#### {said}.00",
        f"Therefore, there are **{said:,}** pencils.",
        f"A: {said}",
        f"The answer is {said} pencils.",
    )
    return Pair(gold, f"{walk}\n\n{end}", "word problem")


@category("several boxes")
def several_boxes(d: Draw, same: bool) -> Pair:
    answer, wrong = _answer(d)
    a, b = d.sample(range(2, 40), 2)
    c = d.whole(41, 60)
    if d.chance(0.35):  # all boxes together are the answer
        gold = dress_gold(d, d.one(f"{a},{b}", f"{a}, {b}", f"\\{{{a},{b}\\}}"))
        x, y = (a, b) if same else d.one((a, c), (c, b), (c, c + 1))
        return Pair(
            gold,
            d.one(
                f"The solutions are $\\boxed{{{x}}}$ and $\\boxed{{{y}}}$.",
                f"$x = \\boxed{{{x}}}$ or $x = \\boxed{{{y}}}$",
                f"{reasoning(d)}\n\nSo the answers are \\boxed{{{y}}} and \\boxed{{{x}}}.",
                f"$\\boxed{{{x}}}, \\boxed{{{y}}}$",
                f"{reasoning(d)}\n\n$$\\boxed{{{x}}} \\quad \\text{{and}} \\quad \\boxed{{{y}}}$$",
            ),
            "all boxes",
        )
    first, last = (wrong, answer) if same else (answer, wrong)
    if d.chance(0.25):
        last_twice = f"{reasoning(d)} So the result is $\\boxed{{{last}}}$.\n\n**Final Answer**\n\n$\\boxed{{{last}}}$"
        return Pair(dress_gold(d, answer), last_twice, "the same box twice")
    pred = d.one(
        f"The intermediate value is $\\boxed{{{first}}}$. {reasoning(d)} With this we get\n\n$$\\boxed{{{last}}}$$",
        f"Step 1 gives \\boxed{{{first}}}.\n\n{reasoning(d)}\n\nFinal answer: \\boxed{{{last}}}",
        f"**Part 1.** {reasoning(d, 2)} We find $\\boxed{{{first}}}$ for the auxiliary problem.\n\n**Part 2.** {reasoning(d, 2)}\n\nTherefore, the final answer is $\\boxed{{{last}}}$.",
    )
    return Pair(dress_gold(d, answer), pred, "last box")


@category("self-corrections")
def self_corrections(d: Draw, same: bool) -> Pair:
    answer, wrong = _answer(d)
    first, last = (wrong, answer) if same else (answer, wrong)
    pred = d.one(
        f"The answer is ${first}$. Wait, I made a mistake in the second step. {reasoning(d, 2)}\n\nThe answer is ${last}$.",
        f"{reasoning(d, 2)} So we get $\\boxed{{{first}}}$.\n\nWait, let me double-check. {reasoning(d, 2)} I dropped a factor above. The corrected answer is $\\boxed{{{last}}}$.",
        f"So the answer is ${first}$.\n\nHmm, that does not satisfy the original equation. {reasoning(d, 1)}\n\nActually, the correct answer is ${last}$.",
        f"Answer: ${first}$\n\nCorrection: I misread the problem. {reasoning(d, 1)}\n\nAnswer: ${last}$",
        f"My first attempt gave ${first}$, but that is not correct. {reasoning(d, 2)}\n\nFinal answer: ${last}$",
        f"**Answer:** ${first}$\n\nLet me verify this. {reasoning(d, 2)} That contradicts the above, so the final answer is ${last}$.",
        f"One might think that the answer is ${first}$. However, {reasoning(d, 1)}\n\nThus the correct answer is $\\boxed{{{last}}}$.",
    )
    return Pair(dress_gold(d, answer), pred, "corrected")


@category("thinking tags")
def thinking_tags(d: Draw, same: bool) -> Pair:
    answer, wrong = _answer(d)
    inside, outside = (
        d.one((wrong, answer), (answer, answer)) if same else d.one((answer, wrong), (answer, wrong), (wrong, wrong))
    )
    thought = d.one(
        f"{reasoning(d)} So maybe it is ${inside}$?",
        f"{reasoning(d)} The answer is $\\boxed{{{inside}}}$. Let me write it up.",
        f"Okay, so {reasoning(d, 2)} I get ${inside}$. Final answer: ${inside}$",
        f"{reasoning(d)} Answer: {inside}",
    )
    opened = d.one("<think>\n", "<think>\n", "<think>", "", "<thinking>\n")
    close = "</thinking>" if "thinking" in opened else "</think>"
    end = d.one(
        f"The answer is ${outside}$.",
        f"$\\boxed{{{outside}}}$",
        f"{reasoning(d, 1)}\n\n\\[\\boxed{{{outside}}}\\]",
        f"**Final Answer**\n\n\\boxed{{{outside}}}",
        f"{reasoning(d, 1)}\n\nTherefore, the answer is $\\boxed{{{outside}}}$.",
    )
    return Pair(dress_gold(d, answer), f"{opened}{thought}\n{close}\n\n{end}", "after the thinking")


@category("truncated answers")
def truncated(d: Draw, same: bool) -> Pair:
    answer, _ = _answer(d)
    if same:  # long, but complete
        return Pair(dress_gold(d, answer), f"{reasoning(d, 4)}\n\n{response(d, answer)}", "complete")
    n = d.whole(12, 400)
    f = fraction(d, 9, negative=False)
    p = f.numerator
    a, k = d.whole(2, 9), d.whole(2, 9)
    start = reasoning(d, 3)
    note, gold, end = d.one(
        ("open box", number(f), f"Therefore, the answer is $\\boxed{{\\frac{{{p}}}{{"),
        ("open box", f"{n}", f"The final answer is $\\boxed{{{str(n)[:1]}"),
        ("open fraction", number(f), f"So we get $\\frac{{{p}}}"),
        ("open fraction", str(p), f"Hence the value is $\\frac{{{p}}}{{"),
        ("open root", f"{a}\\sqrt{{{n}}}", f"Thus the length is ${a}\\sqrt{{{str(n)[:1]}"),
        ("before the answer", f"{n}", "Therefore, the answer is"),
        ("before the answer", f"{n}", "The final answer is $\\boxed{"),
        (
            "inside a step",
            str(a),
            f"so that ${k}x + {k} = {a * k + k}$, and hence ${k}x = {a * k}$. Dividing both sides by ${k}$, we",
        ),
        ("inside a product", f"{a * k}", f"The total is then ${a} \\cdot {k} ="),
        ("inside a polynomial", f"x^2-{a}x+{n}", f"Expanding, we get $x^2-{a}x+"),
        ("inside a sentence", f"{n}", "Now we only have to add the two amounts, which"),
        ("inside the thinking", f"{n}", None),
        ("inside a tuple", f"({a},{n})", f"So the point is $\\left({a}, "),
        ("inside a list", f"{a},{n}", f"The solutions are $x = {a}$ and $x ="),
        ("open display", f"{n}", "Therefore, \\["),
        (
            "inside a matrix",
            f"\\begin{{pmatrix}}{a} & {k} \\\\ {n} & 1\\end{{pmatrix}}",
            f"$$\\boxed{{\\begin{{pmatrix}}{a} & {k} \\\\ {n}",
        ),
    )
    if end is None:
        return Pair(
            dress_gold(d, gold),
            f"<think>\n{start} So it might be {gold}, but let me check the second case again. {reasoning(d, 2)} Hmm, wait, if the",
            note,
        )
    return Pair(dress_gold(d, gold), f"{start} {end}", note)


_REFUSALS = (
    "I'm sorry, but I can't solve this problem without the figure.",
    "I cannot determine the answer from the given information.",
    "I don't know.",
    "I do not know the answer to problem {n}.",
    "The problem does not provide enough information to find the value.",
    "Unfortunately, I am unable to complete this calculation.",
    "",
    " ",
    "\\boxed{{}}",
    "$\\boxed{{}}$",
    "N/A",
    "As an AI language model, I cannot see the diagram, so I can't answer this question.",
    "I apologize, but I could not find a solution to exercise {n}.",
    "Could you please provide the missing data from question {n}?",
    "\\boxed{{?}}",
    "Answer:",
    "The answer is",
    "**Final Answer**",
    "...",
    "I'm not sure how to proceed from here.",
    "It's not possible for me to answer without more context.",
    "There seems to be an error in the problem statement. Please check it again.",
    "I give up.",
    "Sorry, I can't help with that.",
    "\\boxed{{\\text{{I don't know}}}}",
    "The answer is unknown to me.",
    "This problem is too complex to be solved here.",
    "I need more information about the {n} points in the figure to answer.",
    "No answer.",
    "The final answer is $\\boxed{{}}$.",
    "<think>\nSo maybe {n}?\n</think>\n\nI'm sorry, I could not solve this problem.",
    "TBD",
    "\\boxed{{\\text{{None}}}}",
    "Let me think about this.",
    "I refuse to answer this question.",
)


@category("no answer")
def no_answer(d: Draw, same: bool) -> Pair:
    n = d.whole(2, 60)
    if same:  # doubts, but an answer
        pred = d.one(
            f"I'm not completely sure, but I believe the answer is {n}.",
            f"I don't have the figure, but assuming it is to scale, the answer is $\\boxed{{{n}}}$.",
            f"I could not verify the last step. Still, the answer is ${n}$.",
            f"Sorry for the long computation! {reasoning(d, 2)}\n\nAnswer: {n}",
            f"I cannot find a shorter proof, but the result is clear: the answer is **{n}**.",
            f"The problem does not say so, but if all are distinct then the answer is {n}.",
        )
        return Pair(dress_gold(d, str(n)), pred, "doubtful answer")
    refusal = d.choice(_REFUSALS).format(n=n)
    if refusal.strip() and d.chance(0.6):
        refusal = f"{reasoning(d, d.whole(1, 3))}\n\n{refusal}"
    gold = (
        str(n)
        if str(n) in refusal or d.chance(0.5)
        else d.one(number(fraction(d)), f"{n}\\sqrt{{2}}", f"x^2-{n}", total([(n, "\\pi")]))
    )
    return Pair(dress_gold(d, gold), refusal, "no answer")
