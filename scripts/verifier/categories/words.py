"""Answers in words: choices, texts, yes and no, numbers in prose and spelled out."""

from __future__ import annotations

from .core import Draw, Pair, category
from .dressing import plain_response, reasoning

_OPTIONS = (
    "photosynthesis",
    "12",
    "the mitochondrion",
    "$\\frac{3}{4}$",
    "Paris",
    "an increase in demand",
    "45",
    "all of the above",
    "increases",
    "$2\\sqrt{3}$",
    "decreases",
    "-7",
    "the second law of thermodynamics",
    "oxygen",
    "0.25",
)


def _statement(d: Draw, letter: str, option: str) -> str:
    """A response that chooses a letter."""
    forms = (
        letter,
        f"({letter})",
        f"{letter}.",
        f"{letter})",
        f"**{letter}**",
        f"\\boxed{{{letter}}}",
        f"$\\boxed{{{letter}}}$",
        f"\\boxed{{\\text{{{letter}}}}}",
        f"\\boxed{{\\textbf{{({letter})}}}}",
        f"$\\textbf{{({letter})}}$",
        f"$\\text{{{letter}}}$",
        f"$\\mathrm{{{letter}}}$",
        f"The answer is {letter}.",
        f"The answer is ({letter}).",
        f"The answer is **{letter}**.",
        f"The correct answer is **({letter})**.",
        f"Answer: {letter}",
        f"**Answer: {letter}**",
        f"Answer: **{letter}) {option}**",
        f"The correct option is {letter}.",
        f"Option {letter} is correct.",
        f"The correct choice is ({letter}) {option}.",
        f"{letter}. {option}",
        f"({letter}) {option}",
        f"{letter}) {option}",
        f"**{letter}. {option}**",
        f"Therefore, the correct answer is $\\boxed{{\\text{{({letter})}}}}$.",
        f"So the answer is \\boxed{{({letter})}}.",
        f"\\boxed{{{letter}. \\text{{{option if '$' not in option else 'this one'}}}}}",
        f"The final answer is ({letter}).",
        f"Final Answer: {letter}",
        f"The best answer is {letter}.",
        f"### Answer\n\n{letter}",
        f"the answer is ({letter.lower()})",
        f"\\[\\boxed{{\\textbf{{{letter}}}}}\\]",
    )
    text = d.choice(forms)
    if d.chance(0.45):
        wrong = d.choice([x for x in "ABCDE" if x != letter])
        aside = d.one(
            f"Option {wrong} can be ruled out at once.",
            f"({wrong}) is tempting, but it ignores the second condition.",
            f"A closer look shows that {wrong} contradicts what is given.",
            "Let's go through the options one by one.",
        )
        text = f"{aside} {reasoning(d, 1)}\n\n{text}"
    return text


@category("multiple choice")
def multiple_choice(d: Draw, same: bool) -> Pair:
    letter = d.choice("ABCDE")
    if d.chance(0.12):
        chosen = sorted(d.sample("ABCD", 2))
        answer = (
            chosen
            if same
            else d.one(chosen[:1], sorted({*"ABCD"} - {*chosen}), [*chosen, *sorted({*"ABCD"} - {*chosen})[:1]])
        )
        text = d.one(
            ", ".join(answer),
            " and ".join(answer),
            ", ".join(reversed(answer)),
            "".join(answer) if len(answer) > 1 else answer[0],
        )
        return Pair(
            d.one(", ".join(chosen), "".join(chosen)),
            d.one(
                f"\\boxed{{{', '.join(answer)}}}",
                f"The correct answers are {text}." if len(answer) > 1 else f"The correct answer is {text}.",
                f"Answer: {text}",
            ),
            "several letters",
        )
    gold = d.one(
        letter,
        letter,
        letter,
        f"({letter})",
        f"\\text{{({letter})}}",
        f"\\textbf{{({letter})}}",
        f"\\text{{{letter}}}",
        f"${letter}$",
        f"{letter}.",
    )
    said = letter if same else d.choice([x for x in "ABCDE" if x != letter])
    return Pair(gold, _statement(d, said, d.choice(_OPTIONS)), "one letter")


_POOLS = (
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ("January", "March", "April", "June", "July", "October", "December"),
    ("red", "blue", "green", "yellow", "purple", "orange"),
    ("Alice", "Bob", "Carol", "David", "Evelyn", "Briana", "Colleen"),
    ("circle", "ellipse", "parabola", "hyperbola", "line"),
    ("even", "odd"),
    ("converges", "diverges"),
    ("increasing", "decreasing", "constant"),
    ("north", "south", "east", "west"),
    ("isosceles triangle", "equilateral triangle", "right triangle", "scalene triangle"),
    ("the first player", "the second player"),
    ("Paris", "London", "Berlin", "Madrid", "Rome"),
    ("hydrogen", "oxygen", "nitrogen", "helium"),
    ("cone", "sphere", "cylinder", "cube", "plane"),
    ("addition", "subtraction", "multiplication", "division"),
    ("rhombus", "rectangle", "trapezoid", "square"),
    ("neither", "both"),
    ("clockwise", "counterclockwise"),
    ("Graph A", "Graph B", "Graph C"),
    ("ASIMOV", "TURING", "NOETHER", "EULER"),
)


@category("text answers")
def text_answers(d: Draw, same: bool) -> Pair:
    pool = d.choice(_POOLS)
    word, wrong = d.sample(pool, 2)
    said = word if same else wrong
    if said[:1].islower() and d.chance(0.3):
        said = said.capitalize()
    gold = d.one(word, word, f"\\text{{{word}}}", f"$\\text{{{word}}}$", f"\\textbf{{{word}}}")
    pred = d.one(
        plain_response(d, said),
        plain_response(d, said),
        f"{reasoning(d)}\n\n\\boxed{{\\text{{{said}}}}}",
        f"$\\boxed{{\\text{{{said}}}}}$",
        f"The answer is $\\text{{{said}}}$.",
        f"\\[\\boxed{{\\textbf{{{said}}}}}\\]",
        f"$\\boxed{{\\mathrm{{{said.replace(' ', '~')}}}}}$",
        f"\\boxed{{{said}}}",
        f'The answer is "{said}".',
    )
    return Pair(gold, pred, "words")


@category("yes or no")
def yes_or_no(d: Draw, same: bool) -> Pair:
    one, two = d.one(("Yes", "No"), ("No", "Yes"), ("True", "False"), ("False", "True"))
    said = one if same else two
    gold = d.one(one, one, one.lower(), f"\\text{{{one}}}", f"$\\text{{{one}}}$", one.upper())
    verdict = said in ("Yes", "True")
    because = (
        d.one(
            "because both sides agree for every $n$.",
            "since the second case is symmetric to the first.",
            "as the computation above shows.",
        )
        if verdict
        else d.one(
            "because the two sides differ for $n = 2$.",
            "since the second condition fails.",
            "as the computation above shows.",
        )
    )
    pred = d.one(
        plain_response(d, said),
        plain_response(d, said.lower()),
        f"{said}, {because}",
        f"**{said}**, {because}",
        f"{said}.",
        f"\\boxed{{\\text{{{said}}}}}",
        f"{reasoning(d)}\n\n$\\boxed{{\\text{{{said}}}}}$",
        f"The answer is **{said}**, {because}",
        f"{reasoning(d)}\n\nSo the answer is {said.lower()}.",
        f"Answer: {said.upper()}",
    )
    return Pair(gold, pred, "truth")


_PROSE = (
    "There are {n} ways to do this.",
    "Therefore, she needs {n} apples in total.",
    "So the train travels {n} miles.",
    "Thus, he has {n} dollars left.",
    "So Maria baked {n} cookies.",
    "Hence there are exactly {n} such integers.",
    "Therefore, the total cost is ${n}.",
    "In total, they collected {n} stickers.",
    "So there are **{n}** different arrangements.",
    "Thus the smallest possible value is {n}.",
    "It will take them {n} days to finish the work.",
    "So the area of the garden is {n} square feet.",
    "The value of the expression is {n}.",
    "Hence $n = {n}$.",
    "Therefore, Tom is {n} years old.",
    "We conclude that the sum equals {n}.",
    "This gives us a total of {n} points.",
    "So, {n} students passed the test.",
    "The remainder is therefore {n}.",
    "Thus, the perimeter is {n} cm.",
)


@category("numbers in prose")
def numbers_in_prose(d: Draw, same: bool) -> Pair:
    n = d.whole(3, 480)
    said = n if same else d.other(n, positive=True)
    before = d.one(
        "",
        "",
        reasoning(d) + "\n\n",
        reasoning(d) + " ",
        f"First we have {d.whole(2, 60)} of them, and then {d.whole(2, 60)} more. ",
    )
    if not same and d.chance(0.3):
        before += f"At first sight one might count {n} of them, but some are counted twice. "
    return Pair(d.one(str(n), str(n), f"${n}$"), before + d.choice(_PROSE).format(n=said), "last sentence")


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def spelled(n: int) -> str:
    """A number below a million in words."""
    if n < 20:
        return _SMALL[n]
    if n < 100:
        return _TENS[n // 10] + (f"-{_SMALL[n % 10]}" if n % 10 else "")
    size, word = (1000, "thousand") if n >= 1000 else (100, "hundred")
    head, rest = divmod(n, size)
    return f"{spelled(head)} {word}" + (f" {spelled(rest)}" if rest else "")


_PARTS = (
    ("1/2", "one half"),
    ("1/3", "one third"),
    ("2/3", "two thirds"),
    ("1/4", "one quarter"),
    ("3/4", "three quarters"),
    ("2/5", "two fifths"),
    ("5/6", "five sixths"),
    ("7/8", "seven eighths"),
    ("3/10", "three tenths"),
)


@category("number words")
def number_words(d: Draw, same: bool) -> Pair:
    if d.chance(0.15):
        (value, word), (other, wrong) = d.sample(_PARTS, 2)
        p, q = value.split("/")
        return Pair(
            d.one(value, f"\\frac{{{p}}}{{{q}}}", f"$\\frac{{{p}}}{{{q}}}$"),
            plain_response(d, word if same else wrong),
            "fraction in words",
        )
    n = d.whole(0, 20) if d.chance(0.5) else d.whole(21, 999) if d.chance(0.8) else 100 * d.whole(10, 90)
    said = n if same else d.whole(max(0, n - 2), n + 2, (n,))
    word = spelled(said)
    if d.chance(0.25) and n:
        return Pair(spelled(n), plain_response(d, str(said)), "word in gold")
    text = d.one(
        plain_response(d, word),
        plain_response(d, word.capitalize()),
        f"\\boxed{{\\text{{{word}}}}}",
        f"{reasoning(d)}\n\nSo the answer is {word} ({said}).",
        f"The answer is {said} ({word}).",
    )
    return Pair(str(n), text, "word in response")
