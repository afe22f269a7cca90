"""Problems: frames, chain stories and bare arithmetic, with numbers, names and wording drawn at random."""
from __future__ import annotations

import random
import re

from . import words
from .core import Bank, Node, Problem, capital, evaluate, expand, fill, lines, parse_plan, sample_values
from .phrases import bare, chains, frames


class Frame:
    """One whole-problem frame."""

    def __init__(self, line: str):
        parts = [p.strip() for p in line.split("##")]
        assert len(parts) == 4, line
        self.body, self.question, plan, self.unit = parts
        self.nodes = parse_plan(plan)
        self.steps = len(self.nodes)


_FRAMES = [Frame(l) for l in lines(frames.FRAMES)]
_ALL_FRAMES = Bank(_FRAMES, key=lambda f: f.body)
_BY_STEPS = {n: Bank([f for f in _FRAMES if f.steps == n], key=lambda f: f.body) for n in {f.steps for f in _FRAMES}}
for _n, _b in _BY_STEPS.items():  # the same division, whatever the number of steps
    _b.train, _b.held = ([f for f in part if f.steps == _n] for part in (_ALL_FRAMES.train, _ALL_FRAMES.held))
_THEMES = Bank(list(chains.THEMES), shared=True)
_CHAIN = {t: {k: Bank(lines(v)) for k, v in d.items() if k not in ("unit", "label")} for t, d in chains.THEMES.items()}
_CONNECT = Bank(lines(chains.CONNECTORS))
_BARE = {k: Bank(lines(v)) for k, v in bare.BANKS.items()}
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


def _number(n: int, rng: random.Random, wordy: float) -> str:
    if n <= 20 and rng.random() < wordy:
        return words.spelled(n)
    return str(n)


_NUM_SLOT = re.compile(r"\{(\$?)([a-h])(x?)(?::([a-h]))?\}")


def _numbers(text: str, values: dict[str, int], rng: random.Random, currency: str, wordy: float) -> str:
    def sub(m):
        sign, name, times, other = m.groups()
        n = values[other or name]
        if times:
            return words.times_word(n, rng)
        if sign:
            return money(str(n), currency)
        return _number(n, rng, wordy)

    return _NUM_SLOT.sub(sub, text)


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


def _step_units(nodes, word: str, slots) -> list[str]:
    """The unit of every step's result: the thing its label begins with, else the unit of the answer."""
    units = []
    for n in nodes:
        label = n.label
        if label.startswith("@"):
            units.append(fill(label[1:].split(" ", 1)[0], slots).replace("_", " ").strip("-"))
        elif label.startswith(("{o}", "{p}", "{boxes}", "{bags}")):
            units.append(slots[label[1:label.index("}")]])
        else:
            units.append(word)
    units[-1] = word
    return units


def _finish(body: str, question: str, nodes, values, unit, slots, currency, rng, split, clauses=None) -> Problem:
    """Put body and question together, with an irrelevant sentence or a small flaw of writing now and then."""
    plan = evaluate(nodes, values)
    story = body
    if body and rng.random() < 0.05:
        extra = fill(_DISTRACT.pick(rng, split), {**slots, "n": str(rng.randint(2, 60))})
        body = body + " " + capital(extra) if rng.random() < 0.6 else capital(extra) + " " + body
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
    if rng.random() < 0.06 and question.startswith("How ") and text.endswith(question):
        prefix = _ASK.pick(rng, split)
        text = text[:-len(question)] + prefix + " " + (question if prefix[-1] in "?.!" else "h" + question[1:])
    text = _ARTICLE.sub(r"\1n ", text)
    person = slots.get("N") if slots.get("N") in ("I", "you") else None
    if person:
        text = words.conjugate(text, person)
        story = words.conjugate(story, person)
        clauses = clauses and [words.conjugate(c, person) for c in clauses]
        slots = {**slots, "N": "me" if person == "I" else "you"}
    word, sign = _unit(unit, slots, currency)
    labels = [fill(n.label.split(" ", 1)[1] if n.label.startswith("@") else n.label, slots) if n.label else "" for n in nodes]
    return Problem(text, list(nodes), values, word, labels, _step_units(nodes, word, slots), slots,
                   money=sign, plan=plan, body=_ARTICLE.sub(r"\1n ", story), clauses=clauses)


_KEPT = re.compile("(?:" + "|".join(w for w in words.NUMBER_WORDS if len(w) > 2) + "|twice|dozen|times|fewer|double|triple)")


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


def from_frame(rng: random.Random, split: str, steps: int | None) -> Problem | None:
    frame = (_BY_STEPS[steps] if steps else _ALL_FRAMES).pick(rng, split)
    values = sample_values(frame.nodes, rng)
    if values is None:
        return None
    for m in _NUM_SLOT.finditer(frame.body):  # quantities that do not matter
        values.setdefault(m.group(2), rng.randint(2, 40))
    slots = words.cast(rng, split)
    currency = words.CURRENCIES.pick(rng, split)
    wordy = rng.choice((0.0, 0.0, 0.0, 0.1, 0.9))
    linked: dict = {}
    body = fill(_numbers(expand(frame.body, rng, linked), values, rng, currency, wordy), slots)
    question = fill(_numbers(expand(frame.question, rng, linked), values, rng, currency, wordy), slots)
    body, question = _reword(body, _BODY_WORDS, 0.12, rng, split), _reword(question, _ASK_WORDS, 0.35, rng, split)
    nodes = [Node(n.left, n.op, n.right, expand(n.label, rng, linked)) for n in frame.nodes]
    body = _upper(body)
    if body.endswith(","):  # one sentence: "If ..., how many ...?"
        body, question = "", f"{body} {question}"
    return _finish(body, capital(question), nodes, values, expand(frame.unit, rng, linked), slots, currency, rng, split)


def _clause(template: str, n: int, subject: str, slots, rng, currency: str, wordy: float) -> str:
    text = expand(template, rng).replace("{nx}", words.times_word(n, rng)).replace("{$n}", money(str(n), currency))
    return fill(text.replace("{n}", _number(n, rng, wordy)), {**slots, "S": subject})


def from_chain(rng: random.Random, split: str, steps: int) -> Problem | None:
    theme = _THEMES.pick(rng, split)
    bank, spec = _CHAIN[theme], chains.THEMES[theme]
    slots = words.cast(rng, split)
    currency = words.CURRENCIES.pick(rng, split)
    wordy = rng.choice((0.0, 0.0, 0.0, 0.1, 0.9))
    limit = 199 if rng.random() < 0.05 else 99
    value = rng.randint(2, 20) if rng.random() < 0.3 else rng.randint(2, 90)
    values, nodes, events = {"a": value}, [], []
    names = "abcdefgh"
    for i in range(steps):
        op = rng.choice("++++-----*" if "*" not in "".join(n.op for n in nodes) else "+-")
        if op == "*" and value * 2 > limit or op == "+" and value + 2 > limit:
            op = "-"
        if op == "-" and value < 3:
            op = "+"
        if op == "*":
            n = rng.randint(2, max(2, min(6, limit // max(1, value))))
        elif op == "+":
            n = rng.randint(2, max(2, min(limit - value, rng.choice((12, 30, 60)))))
        else:
            n = rng.randint(2, max(2, min(value, rng.choice((12, 30, 90)))))
        value = value + n if op == "+" else value - n if op == "-" else value * n
        if not 0 <= value <= limit:
            return None
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
    start = _clause(opening, values["a"], slots["N"], slots, rng, currency, wordy)
    layout = rng.random()
    parts, known = [], "{S}" in opening or "{N}" in opening
    for op, n in events:
        template = pick(kinds[op])
        subject = slots["he"] if known and rng.random() < 0.8 else slots["N"]
        parts.append(_clause(template, n, subject, slots, rng, currency, wordy))
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
    return _finish(body, question, nodes, values, spec["unit"], slots, currency, rng, split, clauses=[start] + parts)


def _chain_label(op: str, label: str, last: bool) -> str:
    return {"+": f"{label} after adding", "-": f"{label} left", "*": f"{label} after multiplying"}[op] if not last else \
        {"+": f"{label} now", "-": f"{label} left", "*": f"{label} now"}[op]


_BARE_PLANS = {1: ["a+b", "a-b", "a*b"],
               2: ["a+b;_-c", "a-b;_+c", "a*b;_+c", "a*b;_-c", "b*c;a+_", "b*c;a-_", "a+b;_+c", "a-b;_-c", "a+b;_*c", "a-b;_*c"],
               3: ["a*b;c*d;s1+s2", "a*b;c*d;s1-s2", "a+b;_-c;_+d", "a*b;_+c;_-d", "a+b;_*c;_-d", "b*c;a+_;_-d", "a-b;_*c;_+d"],
               4: ["a*b;c*d;s1+s2;_-e", "a+b;_-c;_+d;_-e", "a*b;_+c;_-d;_+e", "a*b;c*d;s1-s2;_+e"],
               5: ["a*b;c*d;s1+s2;_-e;_+f", "a+b;_-c;_+d;_-e;_+f"]}


def _infix(nodes, values) -> str:
    """The plan as one expression with the parentheses it needs."""
    def show(ref, parent, right):
        if ref[0] != "s":
            return str(values[ref[1]]) if ref[0] == "q" else str(ref[1])
        n = nodes[ref[1]]
        text = f"{show(n.left, n.op, False)} {n.op} {show(n.right, n.op, True)}"
        if parent == "*" and n.op != "*" or right and parent == "-" and n.op != "*" or right and parent == "+" and n.op == "-":
            return f"({text})"
        return text
    last = nodes[-1]
    return f"{show(last.left, last.op, False)} {last.op} {show(last.right, last.op, True)}"


def from_bare(rng: random.Random, split: str, steps: int) -> Problem | None:
    nodes = parse_plan(rng.choice(_BARE_PLANS[steps]))
    values = sample_values(nodes, rng)
    if values is None:
        return None
    if rng.random() < 0.55:
        sign = rng.choice(("x", "×", "*", "×"))
        expr = _infix(nodes, values).replace("*", sign)
        text = expand(_BARE["expression"].pick(rng, split), rng).replace("{E}", expr)
    else:
        if any(n.right[0] == "s" or n.left[0] != "s" and i for i, n in enumerate(nodes)):
            return None
        parts = []
        for i, n in enumerate(nodes):
            t = _BARE[{"+": "plus", "-": "minus", "*": "times"}[n.op]].pick(rng, split)
            parts.append(expand(t, rng).replace("{n}", str(values[n.right[1]])))
        start = expand(_BARE["start"].pick(rng, split), rng).replace("{n}", str(values["a"]))
        if rng.random() < 0.5:
            body = start + ", " + ", ".join(parts[:-1] + [("and then " if rng.random() < 0.5 else "then ") + parts[-1]]) + "."
        else:
            body = start + ". " + " ".join(capital(("then " if i and rng.random() < 0.5 else "") + p) + "." for i, p in enumerate(parts))
        text = capital(body) + " " + expand(_BARE["ask"].pick(rng, split), rng)
    return _finish("", text.strip(), nodes, values, "", {}, "$", rng, split)


_STEPS = (1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5)


def problem(rng: random.Random, split: str, steps: int | None = None) -> Problem:
    """A random problem with the given number of steps (or a random one)."""
    while True:
        u = rng.random()
        n = steps or rng.choice(_STEPS)
        if u < 0.55:
            p = from_frame(rng, split, steps if steps in _BY_STEPS or not steps else None) if not steps or steps in _BY_STEPS else None
        elif u < 0.92:
            p = from_chain(rng, split, n)
        else:
            p = from_bare(rng, split, n)
        if p is not None:
            return p
