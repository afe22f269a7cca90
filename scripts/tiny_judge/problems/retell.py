"""Real solutions told in many ways, sound or with faults, each with the thinking that follows it."""
from __future__ import annotations

import random
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction

from .core import Example, Step, StudentStep
from .marks import Equation, Leaf, Line, Lost, Solution, Tree, fits, leaves, steps, value, with_leaves
from .numbers import apply, exact, followable, rounded, same, writable
from .reading import listed

TOPIC = "real"


# what the student works out ----------------------------------------------------------

@dataclass
class Work:
    """An equation as the student has it: perhaps with other numbers, another sign or value than in the sound solution."""

    tree: object
    claimed: object
    error: str | None = None
    bad: int | None = None
    """Which number of the expression is from nowhere."""


def equations_of(s: Solution) -> list[Equation]:
    return [part for line in s.lines for part in line.parts if isinstance(part, Equation)]


def _origin(trees: list[Equation], at: int, place: int, given: list) -> int | None:
    """The equation whose result a number of an expression is, None where it is from the question or from elsewhere."""
    wanted = leaves(trees[at].tree)[place].value
    for index in range(at - 1, -1, -1):
        if same(trees[index].claimed, wanted):
            return index if index == at - 1 or wanted not in given else None
    return None


def near(v, rng: random.Random, others=()):
    """A plausible wrong value."""
    if v < 0:  # the sign is lost, or the digits are wrong
        return -v if rng.random() < 0.35 else -near(-v, rng)
    for _ in range(60):
        u = rng.random()
        unit = 1 if isinstance(v, int) else Fraction(1, rng.choice((1, 10, 100)))
        if u < 0.3:
            w = v + rng.choice((-1, 1)) * unit
        elif u < 0.42:
            w = v + rng.choice((-2, 2, 3, -3, 4, -4, 5, -5)) * unit
        elif u < 0.57:
            w = v + rng.choice((-10, 10, 20, -20, 9, -9)) * unit
        elif u < 0.67 and v >= 100:
            w = v + rng.choice((-100, 100, 1000, -1000, 90))
        elif u < 0.75 and isinstance(v, int) and v >= 10:
            text = str(v)
            i = rng.randrange(len(text) - 1)
            w = int(text[:i] + text[i + 1] + text[i] + text[i + 2:])
        elif u < 0.83:
            w = exact(Fraction(v) * rng.choice((10, Fraction(1, 10), 2, Fraction(1, 2), 100)))
        elif u < 0.93 and isinstance(v, int):
            text = list(str(v))
            text[rng.randrange(len(text))] = str(rng.randint(0, 9))
            w = int("".join(text))
        elif others:
            w = rng.choice(others)
        else:
            continue
        w = exact(Fraction(w))
        if w > 0 and writable(w) and (w * 1000) == int(w * 1000) and not same(w, v):
            return w
    return v + 1


def works_of(s: Solution, faults: dict[int, str], rng: random.Random) -> list[Work]:
    """The student's equations with faults: 'value' (carried on), 'stay' (all else stays), 'number', 'sign'."""
    equations, given = equations_of(s), listed(s.question)
    works: list[Work] = []
    changed: dict[int, object] = {}
    for index, e in enumerate(equations):
        numbers = [leaf.value for leaf in leaves(e.tree)]
        error, bad = None, None
        for place in range(len(numbers)):
            origin = _origin(equations, index, place, given)
            if origin in changed:
                numbers[place], error = changed[origin], "carried"
        tree, kind = with_leaves(e.tree, list(numbers)), faults.get(index)
        if kind == "number":
            place = rng.randrange(len(numbers))
            new = near(numbers[place], rng, [n for n in given if isinstance(n, int) and type(n) is int])
            numbers[place], error, bad = new, "copied", place
            tree = with_leaves(e.tree, list(numbers))
        elif kind == "sign" and isinstance(tree, Tree):
            op = rng.choice([o for o in "+-*/" if o != tree.op])
            tree, error = Tree(op, tree.left, tree.right), "operation"
        right = e.claimed
        if error:
            right = value(tree)
            if not writable(right) or right < 0 <= e.claimed or right == e.claimed and kind:
                raise Lost("fault")
        claimed = right
        if kind in ("value", "stay"):
            claimed, error = near(right, rng, numbers), "calculation"
            if rng.random() < 0.1 and isinstance(tree, Tree):
                other = apply(value(tree.left), rng.choice("+-*/"), value(tree.right))
                if writable(other) and other > 0 and other != right:
                    claimed = other
        if kind == "back":  # ends where the sound solution does
            claimed, error = e.claimed, "calculation" if right != e.claimed else error
        if error == "calculation" and fits(tree, claimed):
            raise Lost("rounded, not wrong")
        if claimed != e.claimed and kind != "stay":
            changed[index] = claimed
        works.append(Work(tree, claimed, error, bad))
    return works


_DIGITS = re.compile(r"(?<![\d.,])\d[\d,]*(?:\.\d+)?(?![\d,]*\d)")


def _another(n: int, rng: random.Random) -> int:
    """Another number of about this size, and as round."""
    by = next(k for k in (1000, 100, 50, 10, 5, 1) if n % k == 0 and n > k)
    return rng.randint(max(1 if by > 1 else 2, n // by // 2), max(3, n * 2 // by)) * by


def renumbered(s: Solution, rng: random.Random) -> Solution:
    """The same solution with other numbers, in question, texts and equations; `Lost` where the results are not alike."""
    written_out = [m[0].replace(",", "") for m in _DIGITS.finditer(s.question)]
    given = listed(s.question)
    free = sorted({int(n) for n in written_out if n.isdigit() and 3 <= int(n) <= 9999 and int(n) != 100})
    if s.lost or not free or re.search(r"\d:\d|\d/\d|\d(?:st|nd|rd|th)\b", s.question):
        raise Lost("nothing to change")
    swap: dict = {n: _another(n, rng) for n in free if rng.random() < 0.7}
    moved = {str(n): str(new) for n, new in swap.items()}
    known = set(given) | {exact(Fraction(n, 100)) for n in given if type(n) is int}
    equations, fresh, claims = equations_of(s), [], []
    for index, e in enumerate(equations):
        numbers, texts = [], list(e.numbers)
        for place, leaf in enumerate(leaves(e.tree)):
            origin, old = _origin(equations, index, place, given), leaf.value
            new = claims[origin] if origin is not None else swap.get(old, old)
            if origin is None and new == old and 0 < old < 1:
                hundredfold = exact(Fraction(old) * 100)
                new = exact(Fraction(swap.get(hundredfold, hundredfold)) / 100)
            numbers.append(new)
            if new != old and texts:
                texts[place] = digits(exact(Fraction(new) * 100)) if leaf.percent else digits(new, None, "", "," in texts[place])
        tree = with_leaves(e.tree, list(numbers))
        right = value(tree)
        if value(e.tree) != e.claimed or right <= 0 or not writable(right) or isinstance(right, int) < isinstance(e.claimed, int) or not fits(tree, right):
            raise Lost("another result")
        if isinstance(right, Fraction) and (right * 100).denominator != 1:
            raise Lost("long decimals")
        old, new = digits(e.claimed), digits(right)
        if moved.setdefault(old, new) != new:
            raise Lost("two meanings")
        claims.append(right)
        known.add(e.claimed)
        fresh.append(replace(e, tree=tree, claimed=right, numbers=tuple(texts), inner=""))
    rest = iter(fresh)
    lines = []
    for line in s.lines:
        parts = []
        for part in line.parts:
            if isinstance(part, str):
                if any(exact(Fraction(m[0].replace(",", "").rstrip("."))) not in known for m in _DIGITS.finditer(part)):
                    raise Lost("a number of unknown origin")
                part = _swap(part, moved, rng)
            else:
                part = next(rest)
            parts.append(part)
        lines.append(Line(tuple(parts)))
    question = _swap(s.question, {str(n): str(new) for n, new in swap.items()}, rng)
    return Solution(question, "", tuple(lines), claims[-1])


# how it is written -------------------------------------------------------------------

def digits(v, rng: random.Random | None = None, money: str = "", grouped: bool = False) -> str:
    """A value in digits."""
    sign, v = "-" * (v < 0), abs(v)
    if isinstance(v, int):
        text = f"{v:,}" if grouped and v >= 1000 else str(v)
        if rng and money and rng.random() < 0.3:
            text += ".00"
    else:
        parts = Fraction(v) * 10_000
        whole, rest = divmod(int(parts), 10_000)
        tail = f"{rest:04d}".rstrip("0")
        if money and len(tail) == 1:
            tail += "0" if not rng or rng.random() < 0.8 else ""
        text = f"{whole:,}" if grouped else str(whole)
        text = ("" if rng and whole == 0 and rng.random() < 0.12 else text) + "." + tail
    return f"{sign}{money}{text}"


@dataclass
class Voice:
    """How a response is written."""

    rng: random.Random
    times: str = "*"
    over: str = "/"
    minus: str = "-"
    gaps: bool = True
    marks: bool = False
    latex: bool = False
    grouped: bool = False
    point: bool = False
    """Whether a zero before a decimal point is left out: .5."""
    cents: bool = False
    close: bool = False
    """Whether a product may be written without its sign: 6(2)."""
    notes: bool = False
    """Whether numbers of equations are explained behind them."""
    keep: bool = True
    """Whether left sides keep the words between their numbers."""
    chatty: float = 0.12
    """How often a remark or the result again follows a line."""
    chained: list = field(default_factory=list)
    """Expressions between the left side and the value of what was written last."""

    @classmethod
    def draw(cls, rng: random.Random) -> Voice:
        times = rng.choice(("*", "*", "×", "×", "x", "x", "·"))
        return cls(rng, times, rng.choice(("/", "/", "÷")), rng.choice(("-", "-", "-", "–", "−")), rng.random() < 0.8, False,
                   False, rng.random() < 0.5, rng.random() < 0.2, rng.random() < 0.15, rng.random() < 0.06, rng.random() < 0.1, rng.random() < 0.5)

    def sign(self, op: str) -> str:
        if self.latex:
            return {"+": "+", "-": "-", "*": "\\times", "/": "\\div"}[op]
        return {"+": "+", "-": self.minus, "*": self.times, "/": self.over}[op]

    def leaf(self, node: Leaf, money: str = "") -> str:
        if node.percent:
            return digits(exact(Fraction(node.value) * 100)) + ("\\%" if self.latex else "%")
        note = ""
        if self.notes and self.rng.random() < 0.7:
            note = " " + (f"\\text{{ {self.rng.choice(_NOTES)}}}" if self.latex else self.rng.choice(("({})", "({})", "{}", "[{}]")).format(self.rng.choice(_NOTES)))
        text = digits(node.value, None, money.replace("$", "\\$") if self.latex else money, self.grouped)
        if self.point and 0 < node.value < 1:
            text = text.replace("0.", ".", 1)
        elif isinstance(node.value, int) and money and self.cents:
            text += ".00"
        return (f"({text})" if node.value < 0 else text) + note

    def tree(self, node, money: str = "", top: bool = True) -> str:
        if isinstance(node, Leaf):
            return self.leaf(node, money)
        money_right = money if node.op in "+-" else ""
        if self.latex and node.op == "/" and self.rng.random() < 0.5:
            return f"\\frac{{{self.tree(node.left, money)}}}{{{self.tree(node.right)}}}"
        left, right = self.tree(node.left, money, False), self.tree(node.right, money_right, False)
        if isinstance(node.left, Tree) and node.op in "*/" and node.left.op in "+-":
            left = f"({left})"
        if isinstance(node.right, Tree) and (node.op in "*/" or node.op == "-" and node.right.op in "+-"):
            right = f"({right})"
        if node.op == "*" and isinstance(node.left, Leaf) and node.left.percent and isinstance(node.right, Leaf) and not self.latex and self.rng.random() < 0.4:
            return f"{left} of {right}"
        if node.op == "*" and self.close and re.fullmatch(r"[\d.,]+", right) and re.search(r"[\d)]$", left):
            return f"{left}({right})"
        gap = " " if self.gaps or self.latex else ""
        return f"{left}{gap}{self.sign(node.op)}{gap}{right}"


_PLAIN = {"*": "*", "/": "/", "+": "+", "-": "-"}


def _mark(tree, claimed, rng: random.Random, inner: str = "") -> str:
    """A calculator's mark, whose expression may be written otherwise than the equation: `inner`, 25*.01*16, 3*2 behind 2*3, 6=6."""
    if isinstance(tree, Tree) and tree.op in "+*" and isinstance(tree.left, Leaf) and isinstance(tree.right, Leaf) and rng.random() < 0.05:
        tree = Tree(tree.op, tree.right, tree.left)
    body = inner or Voice(rng, gaps=False).tree(tree)
    if not inner and rng.random() < 0.03:
        body = digits(claimed)
    elif not inner and rng.random() < 0.5:
        hundredths = r"(?<![\d./])0?\.(\d\d?)(?![\d%])" if "%" not in body and rng.random() < 0.3 else r"(?<![\d./])(\d+)%"
        body = re.sub(hundredths, lambda m: f"{int(m[1].ljust(2, '0') if '%' not in m[0] else m[1])}*.01", body).replace(" of ", "*")
    shown = digits(claimed)
    if isinstance(claimed, int) and rng.random() < 0.15:
        shown += rng.choice((".0", ".0", ".0", ".00", ".00000000000001"))
    elif rng.random() < 0.05 and claimed > 0:
        shown = repr(float(claimed) + rng.choice((-1, 1)) * 2e-15 * float(claimed))
    return f"<<{body}={shown}>>"


def _original(e: Equation, w: Work, voice: Voice) -> str:
    """The equation as people wrote it, with the work's numbers."""
    rng = voice.rng
    before = [leaf.value for leaf in leaves(e.tree)]
    after = [leaf.value for leaf in leaves(w.tree)]
    hundredfold = e.percent and any(leaf.percent for leaf in leaves(e.tree))
    result = digits(exact(Fraction(w.claimed) * 100) if hundredfold else w.claimed, None, "", "," in "".join(e.numbers) or voice.grouped and w.claimed >= 10_000) + e.percent
    mark = _mark(w.tree, w.claimed, rng, e.inner if w.tree == e.tree and rng.random() < 0.8 else "") if voice.marks and (e.mark or rng.random() < 0.3) else ""
    if e.between is None:
        return f"{mark}{result}"
    if w.error == "operation" and isinstance(e.tree, Tree):
        left = Voice(rng, keep=False, times=voice.times).tree(w.tree)
    else:
        left = e.between[0]
        for old, new, text, gap, leaf in zip(before, after, e.numbers, e.between[1:], leaves(e.tree), strict=True):
            if new != old:
                text = digits(exact(Fraction(new) * 100)) if leaf.percent else digits(new)
            left += text + gap
    if voice.times != "*" and not mark:
        left = re.sub(r"(?<=[\w)%] )[*xX](?= [\w($.])|(?<=\d)\*(?=\d)", voice.times, left)
    if voice.close:
        left = re.sub(r"(?<=\d)\s?[*x×]\s?(\d[\d,]*(?:\.\d+)?)(?=\s*$)", r"(\1)", left)
    money = e.money
    gap = "" if left.endswith(" ") or "=" not in f"{left}=" else rng.choice((" ", " ", " ", ""))
    return f"{left}{gap}={gap or ' ' * left.endswith(' ')}{money}{mark}{result}"


_NOTES = ("items", "total", "per day", "each", "people", "hours", "cost", "price", "given", "eggs", "boxes", "left over", "from before", "per item", "miles", "dollars", "already used", "first part", "second part", "the rest", "weeks", "students", "days in a week", "minutes per hour", "original amount", "bought", "sold")
_NAMES = ("Total", "Number of items", "Cost", "Total cost", "Price per item", "Amount", "Time", "Number left", "Remaining", "Earnings", "Distance", "First amount", "Second amount", "Number of people", "Rate", "Change", "Profit", "Original amount", "Weekly amount", "Total number")
_VERBS = {
    "+": ("adding {a} and {b} gives {r}", "{a} plus {b} is {r}", "the sum of {a} and {b} is {r}", "if we add {b} to {a} we get {r}", "{a} and {b} together make {r}", "{a} plus {b} equals {r}"),
    "-": ("subtracting {b} from {a} gives {r}", "{a} minus {b} is {r}", "{a} less {b} leaves {r}", "taking {b} away from {a} leaves {r}", "the difference between {a} and {b} is {r}", "{a} minus {b} equals {r}"),
    "*": ("multiplying {a} by {b} gives {r}", "{a} times {b} is {r}", "the product of {a} and {b} is {r}", "{a} times {b} equals {r}", "{a} multiplied by {b} is {r}"),
    "/": ("dividing {a} by {b} gives {r}", "{a} divided by {b} is {r}", "{a} over {b} is {r}", "{a} divided by {b} equals {r}", "splitting {a} into {b} gives {r}"),
}


def _said(w: Work, voice: Voice, money: str) -> str:
    """An equation in words, where it is a single operation; else in signs."""
    t = w.tree
    if isinstance(t, Tree) and isinstance(t.left, Leaf) and isinstance(t.right, Leaf):
        second = money if t.op in "+-" else ""
        frame = voice.rng.choice(_VERBS[t.op])
        return frame.format(a=voice.leaf(t.left, money), b=voice.leaf(t.right, second), r=digits(w.claimed, voice.rng, money, voice.grouped))
    return f"{voice.tree(t)} = {digits(w.claimed, voice.rng, money, voice.grouped)}"


def _simpler(tree):
    """The expression with its first inner operation carried out, None where there is none."""
    if isinstance(tree, Leaf):
        return Leaf(tree.value) if tree.percent else None
    for side in ("left", "right"):
        inner = getattr(tree, side)
        if isinstance(inner, Tree) and isinstance(inner.left, Leaf) and isinstance(inner.right, Leaf):
            found = value(inner)
            if not writable(found) or found < 0:
                return None
            return replace(tree, **{side: Leaf(found)})
        simpler = _simpler(inner)
        if simpler is not None:
            return replace(tree, **{side: simpler})
    return None


def _formula(w: Work, voice: Voice, money: str, unit: str = "") -> str:
    """An equation in signs, sometimes with a line between."""
    rng = voice.rng
    between = _simpler(w.tree) if rng.random() < 0.3 and not voice.marks else None
    if between is not None:
        foreign = None if w.bad is None else leaves(w.tree)[w.bad].value
        places = [place for place, leaf in enumerate(leaves(between)) if foreign is not None and leaf.value == foreign]
        voice.chained.append(Work(between, w.claimed, w.error, places[0] if places else None))
    left, result = voice.tree(w.tree, money if rng.random() < 0.5 else ""), digits(w.claimed, rng, money.replace("$", "\\$") if voice.latex else money, voice.grouped)
    if between is not None:
        left += f" = {voice.tree(between)}"
    if voice.latex:
        unit = f" \\text{{ {unit}}}" if unit and rng.random() < 0.5 else ""
        if rng.random() < 0.15:
            result = f"\\mathbf{{{result}}}" if rng.random() < 0.3 else result
        body = f"{left} = {result}{unit}"
        return rng.choice(("\\[ {} \\]", "\\[\n{}\n\\]", "\\( {} \\)", "$${}$$", "${}$")).format(body) if "\\$" not in body else f"\\[ {body} \\]"
    if unit:
        result += f" {unit}"
    if rng.random() < 0.14 and not voice.marks and isinstance(w.tree, Tree):
        sign = voice.sign(w.tree.op)
        name, first, second = rng.sample(_NAMES, 3)
        lead = rng.choice((f"{name} = ", f"{name} = {first} {sign} {second}\n{name} = ", f"{name} = {first} {sign} {second}\n= ", f"{name}: ", f"{first} {sign} {second} = {name}\n", f"{name} = {first} {sign} {second} = "))
        return lead + left + rng.choice((" = ", "\n= ", " = ")) + result
    equals = " = " if voice.gaps or rng.random() < 0.7 else "="
    mark = _mark(w.tree, w.claimed, rng) if voice.marks else ""
    if rng.random() < 0.1 and not mark:
        result = f"**{result}**"
    return f"{left}{equals}{mark}{result}"


_FIRST = ("First, ", "To begin, ", "Let's start with this: ", "We start here. ", "", "", "Start: ")
_NEXT = ("Next, ", "Then, ", "Now ", "After that, ", "So ", "From there, ", "", "", "Now we go on: ", "Next, let's go on. ")
_LAST = ("Finally, ", "Lastly, ", "Therefore, ", "So ", "In the end, ", "", "Thus ", "Now for the last part: ")
OPENERS = ("Let's think step by step.", "Let's solve this step by step.", "Let's break this down step by step.", "To solve this problem, we need to follow these steps:", "Here's how to solve it:", "Let's break it down.", "We can solve this step by step:",
            "Sure! Let's work through this problem.", "To find the answer, let's go through the information.", "Solution:", "**Solution**", "## Solution", "Here is a step-by-step solution.", "Okay, let me work this out.", "Great question! Let's tackle it together.",
            "Step-by-step solution:", "Let me solve this carefully.", "We are given several facts and need to combine them.", "Let me think about it.")
_FINALS = ("The answer is {f}.", "The answer is {f}", "A: {f}", "A: {f}", "#### {f}", "#### {f}", "#### {f}", "Answer: {f}", "**Answer: {f}**", "**Answer:** {f}", "\\boxed{{{f}}}", "The final answer is $\\boxed{{{f}}}$.", "Final answer: {f}", "**Final Answer:** {f}", "**{f}**", "So the answer is {f}.",
           "Therefore, the answer is {f}.", "Therefore, the final answer is {f}.", "The final answer is: $\\boxed{{{f}}}$", "\\[ \\boxed{{{f}}} \\]", "### Answer\n{f}", "So, the answer is **{f}**.", "Hence, the answer is {f}.", "Thus the result is {f}.", "ANSWER: {f}", "Final answer: **{f}**",
           "**Final answer:** $\\boxed{{{f}}}$", "I hope it is correct. The answer is {f}.", "# Answer\n\n{f}", "So the final answer is {f}.", "The correct answer is {f}.")
_SENTENCES = ("Therefore, there are {f}{u} in total.", "So, the result is {f}{u}.", "Therefore, {n} has {f}{u}.", "So {n} needs {f}{u}.", "In total that makes {f}{u}.", "Therefore, {n} will have **{f}{u}**.", "So, the total is **{f}{u}**.", "Thus, {n} gets {f}{u}.", "{f}{u}",
              "**{f}{u}**", "\\boxed{{{f}\\text{{{u}}}}}", "$\\boxed{{{f}}}${u}", "Therefore, it takes {f}{u}.", "So it comes to {f}{u} in the end.", "Hence {n} has {f}{u} left.", "This means that {f}{u} is the answer.", "Final answer: {f}{u}", "The answer is {f}{u}.", "Answer: {f}{u}", "A: {f}{u}")
STEPHEADS = ("Step {n}:", "**Step {n}:**", "### Step {n}", "{n}.", "{n}.", "{n})", "Step {n}.", "**Step {n}**", "({n})", "## Step {n}:", "-", "-", "*", "•")
_HEADS = {"+": ("Add them up", "Find the total", "Calculate the sum", "Add the amounts"), "-": ("Subtract", "Find the difference", "Calculate what remains", "Find what is left"),
          "*": ("Multiply", "Find the product", "Calculate the total amount", "Work out the amount"), "/": ("Divide", "Find the share", "Calculate the amount of each", "Work out each part")}
RESTATE = ("We know that:", "Given:", "**Given:**", "Here is what we know:", "The problem tells us:", "Facts:", "From the problem:", "Let's list what we know:", "**What we know**")
CHECKS = ("Check: {}", "Let's check: {}", "To verify: {}", "We can double-check: {}", "Verification: {}, which matches.", "Check: {} ✓", "**Check:** {} ✅", "As a check, {}.")
_AGAIN = ("Let's double-check each step:", "Let me verify the calculations:", "Verification:", "**Check:**", "Checking the arithmetic again:", "Once more, all calculations:")
FILLERS = ("This gives us what we need for the next part of the problem, so we can go on with it.", "It is important to read the problem again here, so that no detail is missed.", "We have now used this piece of information from the problem.", "This is an intermediate result and not yet the final answer.", "This is what we needed for the next step.", "That makes sense.", "Let's keep this number in mind.", "We will use this below.", "Now we can move on.", "So far so good.", "Remember this for later.", "This follows from what the problem says.",
            "Note that we have to read the problem carefully here.", "We need this value to go on.", "Let's carry this over to the next part.", "Good.", "Now let's look at the rest of the problem.")
_WRAP = ("I hope this helps!", "Let me know if you have any questions.", "That's it.", "And that's our answer.", "Hope that helps.")


def _topic(text: str) -> str:
    """What a text before an equation speaks of, without the link to it."""
    text = re.sub(r"(?:\s*[=:,(])+\s*$", "", text.strip())
    return re.sub(r"\s+(?:is|are|was|were|=|of|for|to|a|an|the|so|because|has|have|had|and|at|by|in|with|only|that|that's|it's|would|be|took|takes|takes|cost|costs|a total)$", "", text).strip(" ,.-:")


def _unit(after: str) -> str:
    m = re.match(r"\s+([a-z]+)\b", after)
    return m[1] if m and m[1] not in ("and", "so", "because", "in", "for", "of", "on", "at", "per", "total", "to", "from", "the", "a", "more", "less", "if", "when", "since", "is", "were", "are", "but", "as", "each", "with", "by") else ""


def _money(e: Equation, line: Line) -> str:
    return e.money or ("$" if any(isinstance(p, str) and re.search(r"[$]\s*$", p) for p in line.parts) else "")


@dataclass
class Told:
    """A text and the equations in it, in the order of reading."""

    text: str
    order: list[Work] = field(default_factory=list)


def _swap(text: str, moved: dict, rng: random.Random) -> str:
    """Prose in which results that have changed stand as they are now."""
    if not moved:
        return text
    return re.sub(r"(?<![\d.,])\d[\d,]*(?:\.\d+)?(?![\d,]*\d)", lambda m: moved.get(m[0].replace(",", ""), m[0]), text)


def as_written(s: Solution, works: list[Work], voice: Voice, moved: dict) -> Told:
    """As people wrote it."""
    lines, order, at = [], [], 0
    for line in s.lines:
        text = ""
        for part in line.parts:
            if isinstance(part, str):
                text += _swap(part, moved, voice.rng)
                continue
            w = works[at]
            at += 1
            if part.between is None and w.error in ("copied", "operation"):
                raise Lost("the text says it in its own words")
            text += _original(part, w, voice)
            if voice.marks and part.mark or part.between is not None:
                order.append(w)
        lines.append(text)
    join = "\n" if voice.rng.random() < 0.85 else voice.rng.choice((" ", "\n\n"))
    if join == " ":
        lines = [t if t.rstrip().endswith((".", "!", ":")) else t.rstrip() + "." for t in lines]
    return Told(join.join(lines), order)


def retold(s: Solution, works: list[Work], voice: Voice, moved: dict) -> Told:
    """In the manner of today's models."""
    rng = voice.rng
    voice.latex = rng.random() < 0.22
    voice.marks = not voice.latex and rng.random() < 0.08
    style = rng.choice(("steps", "steps", "steps", "headed", "headed", "prose", "prose", "bare", "mixed", "mixed"))
    head = rng.choice(STEPHEADS)
    blank = rng.random() < 0.5
    parts, order, at, count = [], [], 0, 0
    total = sum(any(isinstance(p, Equation) for p in line.parts) for line in s.lines)
    for line in s.lines:
        equations = [p for p in line.parts if isinstance(p, Equation)]
        if not equations:
            if style != "bare" and rng.random() < 0.7:
                parts.append("".join(line.parts))
            continue
        count += 1
        pieces = []
        for index, part in enumerate(line.parts):
            if isinstance(part, str):
                continue
            w = works[at]
            at += 1
            order += voice.chained
            voice.chained = []
            order.append(w)
            before = _swap(line.parts[index - 1], moved, rng) if index and isinstance(line.parts[index - 1], str) else ""
            after = _swap(line.parts[index + 1], moved, rng) if index + 1 < len(line.parts) and isinstance(line.parts[index + 1], str) else ""
            money, topic, unit = _money(part, line), _topic(before), _unit(after)
            last = index == len(line.parts) - 1 or not any(isinstance(p, Equation) for p in line.parts[index + 1:])
            kind = style if style != "mixed" else rng.choice(("steps", "headed", "prose", "bare"))
            if kind != "prose" and not voice.latex and part.between is not None and w.error != "operation" and rng.random() < 0.3 and len("".join(part.between)) > 8:
                kept = _original(part, w, voice)
                pieces.append((f"{topic}{rng.choice((': ', chr(10), ':' + chr(10)))}" if topic and kind != "bare" else "") + kept + (after if last else ","))
                continue
            if kind == "bare":
                pieces.append(_formula(w, voice, money, unit if rng.random() < 0.4 else ""))
                continue
            if kind == "headed" and topic:
                mark = rng.choice(("**{}:**", "**{}**", "{}:", "### {}", "- {}:", "*{}*", "- **{}:**"))
                pieces.append(f"{mark.format(topic[0].upper() + topic[1:])}{rng.choice((chr(10), ' ', chr(10)))}{_formula(w, voice, money, unit)}" + (after if last and rng.random() < 0.3 and not unit else ""))
            elif kind == "prose":
                said = _said(w, voice, money)
                lead = rng.choice((f"{topic}: {said}", f"{topic}, since {said}", f"{topic}. {said[0].upper() + said[1:]}", f"{said}. {topic}")) if topic and rng.random() < 0.75 else said
                pieces.append(lead[0].upper() + lead[1:] + (after if last else ","))
            else:
                link = rng.choice((": ", " is ", " = ", ": ")) if topic else ""
                tail = after if last else ","
                pieces.append(f"{topic}{link}{_formula(w, voice, money)}{tail}")
        order += voice.chained
        voice.chained = []
        text = " ".join(p.strip() for p in pieces)
        if style in ("steps", "headed", "mixed") and rng.random() < 0.85:
            number = head.replace("{n}", str(count))
            if "Step" in head or "#" in head:
                name = rng.choice(_HEADS[works[at - 1].tree.op]) if isinstance(works[at - 1].tree, Tree) and rng.random() < 0.6 else ""
                text = f"{number}{' ' if name else ''}{name}\n{text}"
            else:
                text = f"{number} {text}"
        elif style in ("prose", "mixed"):
            word = rng.choice(_FIRST if count == 1 else _LAST if count == total else _NEXT)
            if word and text[:1].isalpha() and word.endswith((", ", "Now ", "So ", "Thus ")):
                text = word + (text[0].lower() + text[1:] if not text.startswith("I ") and not text.split()[0].istitle() else text)
            else:
                text = word + text
        if not re.search(r"[.:!?\])$*]\s*$", text) and style in ("prose", "mixed", "steps") and rng.random() < 0.8:
            text += "."
        if rng.random() < voice.chatty:
            text += " " + rng.choice(FILLERS)
        if rng.random() < voice.chatty + 0.03 and style != "bare":
            result = digits(works[at - 1].claimed, rng, _money(equations[-1], line), voice.grouped)
            text += rng.choice(("\nSo we have {}.", " That is {}.", "\nThis gives us {}.", "\n→ {}", " So the result here is {}.")).format(result)
        parts.append(text)
    if style == "prose" and rng.random() < 0.6:
        body = " ".join(parts)
    else:
        body = ("\n\n" if blank else "\n").join(parts)
    return Told(body, order)


def _restated(s: Solution, rng: random.Random) -> str:
    sentences = [t for t in re.split(r"(?<=[.!?])\s+", s.question.strip()) if t]
    facts = [t for t in sentences if not t.endswith("?")] or sentences
    u = rng.random()
    if u < 0.5:
        bullet = rng.choice(("- ", "* ", "• ", "1. "))
        return rng.choice(RESTATE) + "\n" + "\n".join((f"{i}. " if bullet == "1. " else bullet) + t.rstrip("." if rng.random() < 0.3 else "") for i, t in enumerate(facts, 1))
    if u < 0.75:
        return s.question.strip()
    asked = sentences[-1]
    return rng.choice(("We need to find: {}", "The question asks: {}", "**Question:** {}", "We want to know: {}")).format(asked)


def _check(w: Work, voice: Voice) -> Work | None:
    """The inverse of an equation."""
    t = w.tree
    if not isinstance(t, Tree) or not isinstance(t.left, Leaf) or not isinstance(t.right, Leaf) or t.left.percent or t.right.percent:
        return None
    r, a, b = Leaf(w.claimed), t.left, t.right
    tree, claimed = {"+": (Tree("-", r, b), a), "-": (Tree("+", r, b), a), "*": (Tree("/", r, b), a), "/": (Tree("*", r, b), a)}[t.op]
    return Work(tree, claimed.value) if fits(tree, claimed.value) and claimed.value > 0 else None


def written(v, rng: random.Random, money: bool = False) -> str:
    """A stated value in one of the ways in which people write it: 1,200, 3.50, .5, -$18, −18, 12.0."""
    text = digits(abs(v), rng, "", rng.random() < 0.4)
    if isinstance(v, int):
        text += rng.choice((".0", ".00")) if rng.random() < 0.06 else ""
    elif rng.random() < 0.12:
        text += "0"
    sign = "" if v >= 0 else rng.choice(("-", "-", "-", "−"))
    if money and rng.random() < 0.5:
        if isinstance(v, int) and rng.random() < 0.3 and "." not in text:
            text += ".00"
        elif re.search(r"\.\d$", text) and rng.random() < 0.8:
            text += "0"
        return f"${sign}{text}" if sign and rng.random() < 0.2 else f"{sign}${text}"
    return sign + text


def _student_steps(order: list[Work]) -> tuple[StudentStep, ...]:
    found = []
    for w in order:
        if isinstance(w.tree, Leaf):
            continue
        bad = leaves(w.tree)[w.bad].value if w.bad is not None else None
        for a, op, b, result, shown in steps(w.tree, w.claimed):
            side = "" if bad is None else "a" if a == bad else "b" if b == bad else ""
            found.append(StudentStep(a, op, b, result, apply(a, op, b), w.error if shown else None, shown, side))
    return tuple(found)


KINDS = {"sound": 50, "stay": 14, "value": 7, "cancel": 6, "number": 6, "sign": 4, "final": 7, "contradiction": 9, "astray": 4, "shape": 5, "noisy": 9, "bare": 3, "no_final": 3, "twist": 3}
"""Kinds of tellings and how often each is drawn.

`sound`; a wrong value from which all else `stay`s as it was, or that is carried on (`value`); two that `cancel`; a wrong `number` or `sign`; many of
these (`noisy`); a `final` answer that differs from the derivation's sound end; a derivation that goes wrong while the final answer is the reference
(`contradiction`) or a third value (`astray`); an end with another sign or decimal point (`shape`), or a reference with one (`twist`); no derivation
(`bare`); its last line left out (`no_final`).
"""


def tell(s: Solution, rng: random.Random, kind: str | None = None, style: str | None = None) -> Example:
    """A response to the question of `s`, sound or with a fault."""
    if s.lost:
        raise Lost("cannot be followed")
    for _ in range(40):
        try:
            return _tell(s, rng, kind or rng.choices(list(KINDS), KINDS.values())[0], style)
        except (Lost, ZeroDivisionError, ValueError, IndexError):
            continue
    raise Lost("no telling")


def _faults(kind: str, trees: list[int], main: int, rng: random.Random) -> dict[int, str]:
    """Which equations get which fault."""
    if kind in ("value", "number", "sign", "stay"):
        return {rng.choice(trees): kind}
    if kind in ("contradiction", "astray"):
        return {rng.choice(trees): rng.choice(("value", "value", "number", "sign"))}
    if kind == "cancel":
        faults = {rng.choice(trees): "value"} | {main: "back"}
        if len(faults) < 2:
            raise Lost("one equation")
        return faults
    if kind == "noisy":
        return {i: rng.choice(("stay", "value", "value", "number")) for i in trees if rng.random() < 0.5}
    return {}


def _shorter(s: Solution, works: list[Work]) -> tuple[Solution, list[Work]]:
    """The solution without its last line that holds an equation, and what follows it."""
    places = [i for i, line in enumerate(s.lines) if any(isinstance(p, Equation) for p in line.parts)]
    if len(places) < 2:
        raise Lost("one line")
    short = replace(s, lines=s.lines[: places[-1]])
    kept = works[: len(equations_of(short))]
    if same(kept[-1].claimed, s.reference) or not isinstance(kept[-1].tree, Tree):
        raise Lost("ends as before")
    return short, kept


def _tell(s: Solution, rng: random.Random, kind: str, style: str | None) -> Example:
    equations = equations_of(s)
    main = len(equations) - 1
    trees = [i for i, e in enumerate(equations) if isinstance(e.tree, Tree)]
    if not trees or not same(equations[main].claimed, s.reference):
        raise Lost("no operation, or none that gives the end")
    faults = _faults(kind, trees, main, rng)
    works = works_of(s, faults, rng)
    moved = {digits(e.claimed): digits(w.claimed) for e, w in zip(equations, works, strict=True) if e.claimed != w.claimed and faults}
    moved = {} if kind == "stay" else moved
    if kind == "no_final":
        s, works = _shorter(s, works)
    reached = works[-1].claimed
    voice = Voice.draw(rng)
    style = style or rng.choice(("people", "people", "model", "model", "model"))
    long = style == "model" and rng.random() < 0.5
    if style == "people":
        voice.marks = rng.random() < 0.5
        told = as_written(s, works, voice, moved)
    else:
        voice.chatty = 0.4 if long else 0.12
        told = retold(s, works, voice, moved)
    money = any(isinstance(p, Equation) and _money(p, line) for line in s.lines for p in line.parts)
    final, flags, reference = reached, set(), s.reference
    process = not any(w.error not in (None, "carried") for w in told.order)
    if kind == "contradiction":
        final = s.reference
    elif kind == "final":
        final = near(reached, rng, [w.claimed for w in works])
    elif kind == "astray":
        final = near(rng.choice((reached, reference)), rng, [w.claimed for w in works])
    elif kind == "shape":
        final = rng.choice((-reached, -reached, *(exact(Fraction(reached) * by) for by in (10, Fraction(1, 10), 100, Fraction(1, 100)))))
    elif kind == "no_final":
        final = None
    elif kind == "bare":
        told, flags = Told("", []), {"no_steps"}
        final, process = (reached if rng.random() < 0.5 else near(reached, rng)), True
    elif kind == "twist":  # a reference of other sign or with another decimal point
        reference = exact(rng.choice((Fraction(-1), Fraction(-1), Fraction(10), Fraction(1, 10))) * reference)
    if kind in ("contradiction", "astray"):
        if same(reached, final) or same(reached, reference) or kind == "astray" and same(final, reference):
            raise Lost("no contradiction")
        flags.add("contradiction")
        process = False
    if final is not None and not writable(final) or not writable(reference) or kind in ("shape", "twist") and same(final, reference):
        raise Lost("shape")
    text, order = told.text, list(told.order)
    if kind != "bare" and not (order and same(order[-1].claimed, reached)):
        raise Lost("the end is not shown")
    ends = len(_student_steps(order))
    behind: list[str] = []
    if style == "model" and kind != "bare":
        front, tail = [], []
        if rng.random() < 0.55:
            front.append(rng.choice(OPENERS))
        if rng.random() < (0.6 if long else 0.12):
            front.append(_restated(s, rng))
        if rng.random() < (0.4 if long else 0.08):
            place = behind if rng.random() < 0.35 and final is not None else tail
            for w in rng.sample(works, min(len(works), rng.choice((1, 1, 2)))):
                checked = _check(w, voice) if w.error is None else None
                if checked:
                    place.append(rng.choice(CHECKS).format(_formula(checked, voice, "")))
                    order += [checked, *voice.chained]
                    voice.chained = []
        elif rng.random() < (0.15 if long else 0.02):
            lines = []
            for w in works:
                if isinstance(w.tree, Tree):
                    lines.append(rng.choice(("- {}", "* {}", "{}", "{} ✓")).format(_formula(w, voice, "")))
                    order += [w, *voice.chained]
                    voice.chained = []
            tail.append(rng.choice(_AGAIN) + "\n" + "\n".join(lines))
        if long and rng.random() < 0.35:
            rows = [f"- {rng.choice(('Result', 'Step', 'Amount', 'Value'))} {i}: {digits(w.claimed, rng, '', voice.grouped)}" for i, w in enumerate(told.order, 1)]
            tail.append(rng.choice(("Summary:", "**Summary**", "To sum up:", "Putting it all together:")) + "\n" + "\n".join(rows))
        text = rng.choice(("\n", "\n\n")).join([*front, text, *tail])
    if final is not None:
        shown = written(final, rng, money)
        frame = rng.choice(("#### {f}", "#### {f}", "#### {f}", "A: {f}", "A: {f}", rng.choice(_FINALS))) if style == "people" else rng.choice(_FINALS)
        if style == "people" or behind or rng.random() < 0.93 or kind != "sound" or not same(order[-1].claimed, final):
            if style == "model" and rng.random() < 0.3:
                after = next((line.parts[i + 1] for line in reversed(s.lines) for i, p in enumerate(line.parts[:-1]) if isinstance(p, Equation) and same(p.claimed, s.reference) and isinstance(line.parts[i + 1], str)), "")
                unit = _unit(after)
                name = re.search(r"\b(?<![.?!] )(?<!^)[A-Z][a-z]{2,}\b", s.question)
                frame = rng.choice(_SENTENCES).replace("{u}", f" {unit}" if unit else "").replace("{n}", name[0] if name else rng.choice(("he", "she", "everyone", "the group")))
            closing = frame.format(f=shown.replace("$", "\\$") if "boxed" in frame and "$" in shown else shown)
            if long and not behind and rng.random() < 0.12:  # the end is stated twice
                closing = rng.choice(_SENTENCES).replace("{u}", "").replace("{n}", "that").format(f=shown) + rng.choice(("\n", "\n\n", " ")) + closing if "boxed" not in closing else closing
            if style == "model" and rng.random() < 0.15:
                asked = re.split(r"(?<=[.!?])\s+", s.question.strip())[-1]
                closing = f"{asked} {closing}" if rng.random() < 0.5 else f"{closing}\n{rng.choice(_WRAP)}"
            text += ("\n" if style == "people" else rng.choice(("\n", "\n\n", " "))) + closing
    text = "\n".join([text, *behind]).strip()
    found = _student_steps(order)
    if kind != "bare" and not found or len(found) > 30:
        raise Lost("no steps")
    outcome = same(final, reference)
    shown = written(reference, rng) if rng.random() < 0.25 else digits(reference)
    u = rng.random()
    shown = f"#### {shown}" if u < 0.06 else f"A: {shown}" if u < 0.1 else f"${shown}" if u < 0.12 and reference > 0 else shown
    named = {"sound": "correct"}.get(kind, kind)
    plan = (Step(reference, "+", 0, reference),)
    perfect = process and outcome and kind != "bare"
    last = ends - 1 if 0 < ends < len(found) else None
    return Example(s.question, text, shown, named, process, outcome, perfect, plan, found, final, frozenset(flags), TOPIC, last=last)
