"""Problems: frames, chain stories and bare arithmetic, with numbers, names and wording drawn at random."""
from __future__ import annotations

import random
import re

from . import words
from .core import Bank, CENTS, Node, Problem, Value, capital, evaluate, exact, expand, fill, lines, parse_plan, sample_values, with_fractions
from .numbers import LIMIT, Clock, form, workable
from .phrases import bare, chains, frames, voices, wide
from fractions import Fraction


class Frame:
    """One whole-problem frame."""

    def __init__(self, line: str, topic: str = "whole"):
        self.topic = topic
        parts = [p.strip() for p in line.split("##")]
        assert len(parts) == 4, line
        self.body, self.question, plan, self.unit = parts
        self.text = self.body + " " + self.question
        self.money = "{$" in self.text
        self.nodes = parse_plan(plan)
        self.steps = len(self.nodes)


_FRAMES = [Frame(l) for l in lines(frames.FRAMES)]
_ALL_FRAMES = Bank(_FRAMES, key=lambda f: f.body)
_WIDE = {t: Bank([Frame(l, t) for l in lines(text)], key=lambda f: f.body) for t, text in (wide.TOPICS | {"voices": voices.VOICES}).items()}
_SHARES = {"division": 14, "percent": 17, "fraction": 13, "cents": 7, "measure": 5, "large": 7, "time": 13, "longer": 6, "voices": 12}
_POOL = [t for t, share in _SHARES.items() for _ in range(share)]
_HEADERS, _ENDERS = Bank(lines(wide.HEADERS)), Bank(lines(wide.ENDERS))
_THEMES = Bank(list(chains.THEMES), shared=True)
_CHAIN = {t: {k: Bank(lines(v)) for k, v in d.items() if k not in ("unit", "label")} for t, d in chains.THEMES.items()}
_CONNECT = Bank(lines(chains.CONNECTORS))
_BARE = {k: Bank(lines(v)) for k, v in bare.BANKS.items()}
_WORDED = {op: Bank(lines(v)) for op, v in bare.WORDED.items()}
def _table(rows: str):
    return [(re.compile(old.strip()), Bank([t.strip() for t in new.split("|")])) for old, new in (l.split("=>") for l in lines(rows))]


_ASK_WORDS, _BODY_WORDS = _table(bare.ASK_WORDS), _table(bare.BODY_WORDS)
_ASK = Bank(lines(bare.ASK))
_DISTRACT = Bank(lines(bare.DISTRACTORS))

_MONEY_WORDS = ("dollars", "euros", "coins", "pounds")


def money(amount: str, currency: str) -> str:
    """An amount with its currency; signs go where they belong."""
    if currency in _MONEY_WORDS:
        return f"{amount} {currency}"
    return f"{currency}{amount}" if currency != "€" or amount == "" else f"{amount} €" if len(amount) % 2 else f"€{amount}"


_FRACTION_WORDS = {(1, 2): "half", (1, 3): "a third", (1, 4): "a quarter", (2, 3): "two thirds", (3, 4): "three quarters", (1, 5): "a fifth",
                   (2, 5): "two fifths", (3, 5): "three fifths", (4, 5): "four fifths", (1, 8): "an eighth", (1, 10): "a tenth",
                   (1, 6): "one sixth", (3, 8): "three eighths", (3, 10): "three tenths", (5, 6): "five sixths"}


def written(n: Value, rng: random.Random, grouped: bool, cents: bool = False) -> str:
    """A number in digits: 1,250 or 1250; cents in full or, rarely, without a trailing zero."""
    text = form(n)
    if isinstance(n, Clock):
        return text
    if isinstance(n, Fraction) and not cents:
        text = text.rstrip("0")
    elif cents and isinstance(n, int) and rng.random() < 0.6:
        text += ".00"
    if grouped and n >= 1000:
        whole, dot, rest = text.partition(".")
        text = f"{int(whole):,}{dot}{rest}"
    return text


def _number(n: Value, rng: random.Random, wordy: float, grouped: bool) -> str:
    if isinstance(n, int) and not isinstance(n, Clock) and n <= 20 and rng.random() < wordy:
        return words.spelled(n)
    return written(n, rng, grouped)


_NUM_SLOT = re.compile(r"\{(\$?)([a-h])([x%./:]?)\}")


class Writer:
    """How the numbers of one question are written."""

    def __init__(self, rng: random.Random, currency: str, decimals: bool):
        self.rng, self.currency, self.decimals = rng, currency, decimals
        self.wordy = rng.choice((0.0, 0.0, 0.0, 0.1, 0.9))
        self.grouped = rng.random() < 0.4
        self.fraction_words = rng.random() < 0.65
        self.percent = "%" if rng.random() < 0.85 else rng.choice((" %", " percent", " per cent"))
        self.suffix = rng.choice((" am", " am", " pm", " pm", " AM", " PM", "am", "pm")) if rng.random() < 0.5 else ""

    def number(self, n: Value) -> str:
        return _number(n, self.rng, self.wordy, self.grouped)

    def money(self, n: Value) -> str:
        return money(written(n, self.rng, self.grouped, self.decimals), self.currency)

    def clock(self, n: Clock) -> str:
        return form(n) + (self.suffix if n < 720 else "")

    def fill(self, text: str, values) -> str:
        """The text with its quantities in place."""
        def sub(m):
            sign, name, mark = m.groups()
            n = values[name]
            if mark == "x":
                return words.times_word(n, self.rng)
            if mark == "/":
                return _FRACTION_WORDS[n] if self.fraction_words and n in _FRACTION_WORDS else f"{n[0]}/{n[1]}"
            if mark == ":":
                return self.clock(n)
            if sign:
                return self.money(n)
            return written(n, self.rng, False) if mark == "%" else self.number(n)

        return _NUM_SLOT.sub(sub, text.replace("}%", "}" + self.percent) if self.percent != "%" else text)


_SENTENCE = re.compile(r"(?<=[.?!]) +")


def _reword(text: str, table, probability: float, rng: random.Random, split: str) -> str:
    """Some words replaced by others that say the same."""
    for pattern, bank in table:
        if rng.random() < probability and pattern.search(text):
            text = pattern.sub(bank.pick(rng, split), text, count=1)
    return text


def _upper(text: str) -> str:
    return " ".join(capital(s) for s in _SENTENCE.split(text))


def _unit(unit: str, slots: dict[str, str], currency: str) -> tuple[str, str]:
    if unit == "money":
        return (currency if currency in _MONEY_WORDS else {"$": "dollars", "€": "euros", "£": "pounds"}[currency]), currency
    return fill(unit, slots), ""


_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiouAEIOU])(?!one\b|once|uni|use|eu|is\b|in\b|and\b|are\b)")


def _step_units(nodes, word: str, slots, money: bool = False) -> list[str]:
    """The unit of every step's result: the thing its label begins with, else the unit of the answer."""
    units = []
    for n in nodes:
        label = n.label
        if label.startswith("@"):
            units.append(fill(label[1:].split(" ", 1)[0], slots).replace("_", " ").strip("-"))
        elif label.startswith(("{o}", "{p}", "{boxes}", "{bags}")):
            units.append(slots[label[1:label.index("}")]])
        else:
            units.append(word if money or not word or word in label or word not in ("weeks", "days", "hours", "liters", "m", "km", "g", "cm") and "money" not in label else "")
    units[-1] = word
    return units


def _finish(body: str, question: str, nodes, values, unit, slots, currency, rng, split, clauses=None) -> Problem:
    """Put body and question together, with an irrelevant sentence or a small flaw of writing now and then."""
    plan = evaluate(nodes, values)
    story = body
    if body and rng.random() < 0.05:
        extra = fill(_DISTRACT.pick(rng, split), {**slots, "n": str(rng.randint(2, 60))})
        body = body + " " + capital(extra) if rng.random() < 0.6 else capital(extra) + " " + body
    if body and rng.random() < 0.05:  # a longer story, with more numbers that do not matter
        other = _ALL_FRAMES.pick(rng, split)
        more = {name: rng.randint(2, 300) for name in "abcdefgh"}
        told = fill(Writer(rng, currency, False).fill(expand(other.body, rng), more), words.cast(rng, split))
        body = f"{_upper(told)} {body}" if told.endswith(".") else body
    u = rng.random()
    if not body:
        text = question
    elif u < 0.94:
        text = body + " " + question
    elif u < 0.97:
        text = body + "\n" + question
    else:
        text = question + " " + body
    u = rng.random()
    if u < 0.03:
        question = ""
        text = text.lower()
    elif u < 0.05 and text[-1] in ".?":
        text = text[:-1]
    elif u < 0.065:
        text = _typo(text, rng)
    elif u < 0.085:
        text = _typed(text, rng)
    if rng.random() < 0.06 and question.startswith("How ") and text.endswith(question):
        prefix = _ASK.pick(rng, split)
        text = text[:-len(question)] + prefix + " " + (question if prefix[-1] in "?.!" else "h" + question[1:])
    u = rng.random()
    if u < 0.07:
        text = _HEADERS.pick(rng, split).replace("{k}", str(rng.randint(1, 40))) + rng.choice((" ", " ", "\n")) + text
    elif u < 0.15:
        text = text + rng.choice((" ", " ", "\n")) + _ENDERS.pick(rng, split).replace("{k}", str(rng.randint(1, 40)))
    text = _ARTICLE.sub(r"\1n ", text)
    person = slots.get("N") if slots.get("N") in ("I", "you") else None
    if person:
        text = words.conjugate(text, person)
        story = words.conjugate(story, person)
        clauses = clauses and [words.conjugate(c, person) for c in clauses]
        slots = {**slots, "N": "me" if person == "I" else "you"}
    word, sign = _unit(unit, slots, currency)
    labels = [fill(n.label.split(" ", 1)[1] if n.label.startswith("@") else n.label, slots) if n.label else "" for n in nodes]
    return Problem(text, list(nodes), values, word, labels, _step_units(nodes, word, slots, bool(sign)), slots,
                   money=sign, plan=plan, body=_ARTICLE.sub(r"\1n ", story), clauses=clauses)


_KEPT = re.compile("(?:" + "|".join(w for w in words.NUMBER_WORDS if len(w) > 2) + "|twice|dozen|times|fewer|double|triple)")


_SHORT = [(re.compile(rf"\b{a}\b"), b) for a, b in (l.split("=") for l in """and=n|and=&|with=w/|you=u|are=r|because=bc|how many=hw many|How many=how many
each=ea|without=w/o|are left=r left|to=2|people=ppl|for=4|does=duz|what=wat|What=whats|is the=s the|She=she|He=he|There=there|then=thn|of them=of em""".replace("|", "\n").splitlines())
          if b not in ("2", "4")]


def _typed(text: str, rng: random.Random) -> str:
    """As typed in a hurry: lower case, abbreviations, a slip or two."""
    if rng.random() < 0.7:
        text = text.lower()
    for pattern, short in _SHORT:
        if rng.random() < 0.3:
            text = pattern.sub(short, text)
    for _ in range(rng.randint(0, 2)):
        text = _typo(text, rng)
    return text.rstrip(".?") + rng.choice(("", "?", "??", " ?", "...", " pls"))


def _typo(text: str, rng: random.Random) -> str:
    """One small slip in a longer word, never in a number."""
    spots = [m for m in re.finditer(r"\b[a-z]{5,}\b", text) if not _KEPT.match(m.group())]
    if not spots:
        return text
    m = rng.choice(spots)
    i = rng.randrange(m.start() + 1, m.end() - 1)
    u = rng.random()
    if u < 0.4:
        return text[:i] + text[i + 1:]
    if u < 0.7:
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    return text[:i] + text[i] + text[i:]


def from_frame(rng: random.Random, split: str, topic: str) -> Problem | None:
    """A problem from a frame of the topic."""
    frame = (_WIDE[topic] if topic in _WIDE else _ALL_FRAMES).pick(rng, split)
    decimals = frame.money and rng.random() < (0.9 if topic == "cents" else 0.25)
    drawn = sample_values(frame.nodes, frame.text, rng, decimals)
    if drawn is None:
        return None
    nodes, values = drawn
    if not frame.money and "." not in "".join(m[2] for m in _NUM_SLOT.findall(frame.text)):
        if any(isinstance(s.result, Fraction) for s in evaluate(nodes, values)):
            return None  # three and a half children
    for m in _NUM_SLOT.finditer(frame.text):  # quantities that do not matter
        values.setdefault(m.group(2), rng.randint(2, 40))
    slots = words.cast(rng, split)
    currency = words.CURRENCIES.pick(rng, split)
    writer = Writer(rng, currency, decimals)
    linked: dict = {}
    body = fill(writer.fill(expand(frame.body, rng, linked), values), slots)
    question = fill(writer.fill(expand(frame.question, rng, linked), values), slots)
    body, question = _reword(body, _BODY_WORDS, 0.12, rng, split), _reword(question, _ASK_WORDS, 0.35, rng, split)
    nodes = [Node(n.left, n.op, n.right, writer.fill(expand(n.label, rng, linked), values)) for n in nodes]
    body = _upper(body)
    if body.endswith(","):  # one sentence: "If ..., how many ...?"
        body, question = "", f"{body} {question}"
    p = _finish(body, capital(question), nodes, values, expand(frame.unit, rng, linked), slots, currency, rng, split)
    p.topic, p.decimals, p.grouped = "cents" if decimals else topic, decimals, writer.grouped
    p.suffix = writer.suffix if any(isinstance(v, Clock) and v < 720 for v in values.values()) else ""
    return p


def _clause(template: str, n: Value, subject: str, slots, writer: Writer) -> str:
    text = expand(template, writer.rng).replace("{nx}", words.times_word(n, writer.rng) if "{nx}" in template else "")
    text = text.replace("{$n}", writer.money(n)).replace("{n}", writer.number(n))
    return fill(text, {**slots, "S": subject})


def from_chain(rng: random.Random, split: str, steps: int) -> Problem | None:
    theme = _THEMES.pick(rng, split)
    bank, spec = _CHAIN[theme], chains.THEMES[theme]
    slots = words.cast(rng, split)
    currency = words.CURRENCIES.pick(rng, split)
    decimals = theme == "money" and rng.random() < 0.35
    writer = Writer(rng, currency, decimals)
    limit = rng.choice((99, 99, 199, 999, 999, LIMIT))

    def cents(n):
        return exact(Fraction(n * 100 + rng.choice(CENTS), 100)) if decimals and rng.random() < 0.7 else n

    value = cents(rng.randint(2, 20) if rng.random() < 0.3 else rng.randint(2, max(9, limit * 9 // 10)))
    values, nodes, events = {"a": value}, [], []
    names = "abcdefgh"
    for i in range(steps):
        op = rng.choice("++++-----*" if "*" not in "".join(n.op for n in nodes) else "+-")
        if op == "*" and value * 2 > limit or op == "+" and value + 4 > limit:
            op = "-"
        if op == "-" and value < 4:
            op = "+"
        if op == "*":
            n = rng.randint(2, max(2, min(6, int(limit // max(1, value)))))
        elif op == "+":
            n = cents(rng.randint(2, max(2, min(int(limit - value) - 1, rng.choice((12, 30, 60, limit // 2))))))
        else:
            n = cents(rng.randint(2, max(2, min(int(value) - 1, rng.choice((12, 30, 90, limit // 2))))))
        if not workable(value, op, n):
            return None
        value = exact(value + n if op == "+" else value - n if op == "-" else value * n)
        values[names[i + 1]] = n
        left = ("q", "a") if i == 0 else ("s", i - 1)
        nodes.append(Node(left, op, ("q", names[i + 1]), _chain_label(op, spec["label"], i == steps - 1)))
        events.append((op, n))
    used = set()

    def pick(what):
        for _ in range(8):
            t = bank[what].pick(rng, split)
            if t not in used:
                break
        used.add(t)
        return t

    kinds = {"+": "plus", "-": "minus", "*": "times"}
    opening = pick("start")
    start = _clause(opening, values["a"], slots["N"], slots, writer)
    layout = rng.random()
    parts, known = [], "{S}" in opening or "{N}" in opening
    for op, n in events:
        template = pick(kinds[op])
        subject = slots["he"] if known and rng.random() < 0.8 else slots["N"]
        parts.append(_clause(template, n, subject, slots, writer))
        known = known or "{S}" in template or "{N}" in template
    if layout < 0.25:  # one sentence
        body = start + "".join((", then " if rng.random() < 0.5 else ", ") + p for p in parts[:-1])
        body += rng.choice((", and then ", " and then ", ", and ", " and ")) + parts[-1] + "."
        body = capital(body)
    else:
        sentences = [capital(start) + "."]
        for p in parts:
            if rng.random() < 0.5:
                sentences.append(capital(fill(_CONNECT.pick(rng, split), slots)) + " " + p + ".")
            else:
                sentences.append(capital(p) + ".")
        body = " ".join(sentences)
        if layout > 0.9 and len(parts) > 1:
            body = body.replace(". Then ", ", then ", 1)
    question = _reword(fill(pick("ask"), slots), _ASK_WORDS, 0.25, rng, split)
    if "left" in question and not any(op == "-" for op, _ in events) or "left" in question and events[-1][0] != "-" and rng.random() < 0.7:
        return None
    p = _finish(body, question, nodes, values, spec["unit"], slots, currency, rng, split, clauses=[start] + parts)
    p.topic, p.decimals, p.grouped = "cents" if decimals else "large" if limit > 999 else "whole", decimals, writer.grouped
    return p


def _chain_label(op: str, label: str, last: bool) -> str:
    return {"+": f"{label} after adding", "-": f"{label} left", "*": f"{label} after multiplying"}[op] if not last else \
        {"+": f"{label} now", "-": f"{label} left", "*": f"{label} now"}[op]


_BARE_PLANS = {1: ["a+b", "a-b", "a*b", "a/b"],
               2: ["a+b;_-c", "a-b;_+c", "a*b;_+c", "a*b;_-c", "b*c;a+_", "b*c;a-_", "a+b;_+c", "a-b;_-c", "a+b;_*c", "a-b;_*c", "a/b;_+c", "a/b;_*c",
                   "a+b;_/c", "b/c;a+_", "b/c;a-_", "a*b;_/c"],
               3: ["a*b;c*d;s1+s2", "a*b;c*d;s1-s2", "a+b;_-c;_+d", "a*b;_+c;_-d", "a+b;_*c;_-d", "b*c;a+_;_-d", "a-b;_*c;_+d", "a/b;_+c;_-d", "a+b;_+c;_+d",
                   "a*b;c/d;s1+s2", "a-b;_/c;_+d"],
               4: ["a*b;c*d;s1+s2;_-e", "a+b;_-c;_+d;_-e", "a*b;_+c;_-d;_+e", "a*b;c*d;s1-s2;_+e", "a/b;_+c;_*d;_-e"],
               5: ["a*b;c*d;s1+s2;_-e;_+f", "a+b;_-c;_+d;_-e;_+f"], 6: ["a+b;_-c;_+d;_-e;_+f;_-g", "a*b;c*d;s1+s2;_-e;_+f;_-g"]}
_BARE_PERCENT = (("What is {a}% of {b}?", "b*a%"), ("{a}% of {b} = ?", "b*a%"), ("Find {a}% of {b}.", "b*a%"), ("Calculate {a} percent of {b}.", "b*a%"),
                 ("Increase {b} by {a}%.", "b*a%;b+_"), ("Decrease {b} by {a}%.", "b*a%;b-_"), ("{b} minus {a}% of it", "b*a%;b-_"),
                 ("What is {f} of {b}?", "b~f"), ("Find {f} of {b}", "b~f"), ("{f} of {b} = ?", "b~f"), ("How much is {f} of {b}?", "b~f"))
_PERCENT_BANK = Bank(_BARE_PERCENT, key=lambda p: p[0])


def _infix(nodes, values) -> str:
    """The plan as one expression with the parentheses it needs."""
    def show(ref, parent, right):
        if ref[0] != "s":
            return form(values[ref[1]] if ref[0] == "q" else ref[1])
        n = nodes[ref[1]]
        text = f"{show(n.left, n.op, False)} {n.op} {show(n.right, n.op, True)}"
        if parent in "*/" and n.op in "+-" or right and parent == "/" or right and parent == "*" and n.op == "/" or right and parent == "-" and n.op in "+-" \
                or right and parent == "+" and n.op == "-":
            return f"({text})"
        return text
    last = nodes[-1]
    return f"{show(last.left, last.op, False)} {last.op} {show(last.right, last.op, True)}"


def _wide(op: str, rng: random.Random) -> tuple[int, int] | None:
    """Two numbers for an operation, of any size that the judge knows."""
    a, b = rng.randint(2, rng.choice((99, 999, LIMIT))), rng.randint(2, rng.choice((12, 99, 999)))
    if op == "*" and rng.random() < 0.5:
        a, b = b, a
    elif op == "/":
        a = a // b * b
    return (a, b) if workable(a, op, b) and a and b else None


def from_bare(rng: random.Random, split: str, steps: int) -> Problem | None:
    """Bare arithmetic, as an expression or in words."""
    template = None
    if steps <= 2 and rng.random() < 0.3:
        template, plan = _PERCENT_BANK.pick(rng, split)
        nodes = parse_plan(plan)
    else:
        nodes = parse_plan(rng.choice(_BARE_PLANS[steps]))
    drawn = sample_values(nodes, "{a%}" if template and "%" in plan else "", rng, False)
    if drawn is None:
        return None
    nodes, values = drawn
    if steps == 1 and not template and rng.random() < 0.6:  # the whole range of the domain
        wide = _wide(nodes[0].op, rng)
        values = dict(zip("ab", wide)) if wide else values
    if steps == 1 and not template and rng.random() < 0.3:
        text = expand(_WORDED[nodes[0].op].pick(rng, split), rng).replace("{a}", form(values["a"])).replace("{b}", form(values["b"]))
    elif template:
        text = template.replace("{f}", "{f/}")
        text = Writer(rng, "$", False).fill(text, values)
    elif rng.random() < 0.6:
        sign = rng.choice(("x", "×", "*", "×"))
        expr = _infix(nodes, values).replace("*", sign).replace("/", rng.choice(("/", "÷", "÷", ":" if sign == "×" else "/")))
        text = expand(_BARE["expression"].pick(rng, split), rng).replace("{E}", expr if rng.random() < 0.8 else expr.replace(" ", ""))
    else:
        if any(n.right[0] == "s" or n.left[0] != "s" and i for i, n in enumerate(nodes)):
            return None
        parts = []
        for i, n in enumerate(nodes):
            t = _BARE[{"+": "plus", "-": "minus", "*": "times", "/": "over"}[n.op]].pick(rng, split)
            parts.append(expand(t, rng).replace("{n}", form(values[n.right[1]])))
        start = expand(_BARE["start"].pick(rng, split), rng).replace("{n}", form(values["a"]))
        if rng.random() < 0.5:
            body = start + ", " + ", ".join(parts[:-1] + [("and then " if rng.random() < 0.5 else "then ") + parts[-1]]) + "."
        else:
            body = start + ". " + " ".join(capital(("then " if i and rng.random() < 0.5 else "") + p) + "." for i, p in enumerate(parts))
        text = capital(body) + " " + expand(_BARE["ask"].pick(rng, split), rng)
    p = _finish("", text.strip(), nodes, values, "", {}, "$", rng, split)
    p.topic = "bare"
    return p


_STEPS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6)


def problem(rng: random.Random, split: str, steps: int | None = None, topic: str | None = None) -> Problem:
    """A random problem, with the given number of steps or topic where one is given."""
    while True:
        u = rng.random()
        n = steps or rng.choice(_STEPS)
        if topic == "bare":
            p = from_bare(rng, split, n)
        elif topic:
            p = from_frame(rng, split, topic)
        elif u < 0.27:
            p = from_frame(rng, split, "whole")
        elif u < 0.72:
            p = from_frame(rng, split, rng.choice(_POOL))
        elif u < 0.85:
            p = from_chain(rng, split, n)
        else:
            p = from_bare(rng, split, n)
        if p is not None and (not steps or len(p.plan) == steps):
            return p
