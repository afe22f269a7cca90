"""Small problems with what real solutions are refused for: signs, decimal points, long sums, percentages, fractions, money.

Each is a `Solution` as real ones are, so that `retell.tell` writes it in all its ways, sound or with faults.
"""
from __future__ import annotations

import random
import re
from fractions import Fraction

from . import words
from .core import Example, Step
from .marks import _NUMBER, Equation, Leaf, Line, Lost, Solution, Tree, fits, leaves, parse, steps, value
from .numbers import exact, same, writable
from .retell import TOPIC, Voice, Work, _student_steps, digits, near, tell, written

_OPENINGS = ("", "", "", "So ", "That is ", "This makes ", "The result is ", "We get ", "Now ", "It follows that this is ")
_THINGS = ("apples", "cards", "books", "marbles", "stamps", "pens", "tickets", "cookies", "stickers", "bottles", "flowers", "chairs", "shirts", "coins", "eggs", "letters", "pages", "tiles", "boxes", "cups")
_ACTS = ("picks", "counts", "packs", "finds", "sells", "delivers", "makes", "collects", "washes", "reads")
_FRACTIONS = ((1, 2), (1, 2), (1, 3), (1, 4), (3, 4), (2, 3), (1, 5), (2, 5), (3, 5), (4, 5), (1, 6), (5, 6), (1, 8), (3, 8), (5, 8), (7, 8), (1, 10), (3, 10), (7, 10))
_PERCENTS = (10, 20, 25, 50, 5, 15, 30, 40, 60, 75, 80, 12, 35, 45, 70, 90, 8, 55, 65, 18, 24, 2, 4, 6, 1, 3, 7, 100, 120, 150)


def _split(text: str, expression: str) -> tuple[object, tuple[str, ...], tuple[str, ...]]:
    """The tree of an expression, and its written form as numbers and the text between them."""
    tree = parse(expression)
    found = list(_NUMBER.finditer(text))
    if len(found) != len(leaves(tree)) or any(leaf.value < 0 for leaf in leaves(tree)):
        return tree, (), ()
    between, at = [], 0
    for m in found:
        between.append(text[at:m.start()])
        at = m.end()
    return tree, (*between, text[at:]), tuple(m[0] for m in found)


def _equation(expression: str, rng: random.Random, money: bool) -> Equation:
    """An equation whose left side is `expression` (digits, + - * /, parentheses, %), written in some way."""
    text = expression
    if rng.random() < 0.75:
        text = re.sub(r"(?<=[\d)%])\s*([-+*/])\s*(?=[\d.(])", r" \1 ", text)
        text = re.sub(r"(?<=\d) / (?=\d)", "/", text) if rng.random() < 0.4 else text
    if re.search(r"%\s*\*", text) and rng.random() < 0.6:
        text = re.sub(r"%\s*\*\s*", "% of ", text)
    elif re.match(r"\(?\d+\s*/\s*\d+\)?\s*\*\s*\d", text) and rng.random() < 0.3:
        text = re.sub(r"\s*\*\s*", " of ", text, count=1)
    if rng.random() < 0.2:
        text = re.sub(r"(?<![\d.])0\.(?=\d)", ".", text)
    sign = rng.choice(("*", "*", "x", "×"))
    text = text.replace("*", f" {sign} " if sign != "*" and " * " not in text else sign)
    tree, between, numbers = _split(text, expression)
    result = value(tree)
    if not writable(result) or not fits(tree, result):
        raise Lost(expression)
    if money and between and rng.random() < 0.5:
        if all(sign in "+-" for sign in re.findall(r"[-+*/%]", expression)):
            between = tuple(gap + "$" if i < len(between) - 1 else gap for i, gap in enumerate(between))
    percent = "%" if between and expression.endswith("*100") and rng.random() < 0.7 else ""
    if percent and rng.random() < 0.7:
        between = (*between[:-1], "% ")
    return Equation(tree, result, between or None, numbers, "$" if money and rng.random() < 0.7 else "", percent=percent)


def _solution(question: str, expressions: list[str], rng: random.Random, unit: str = "", money: bool = False) -> Solution:
    """A solution of one equation a line."""
    lines = []
    for expression in expressions:
        e = _equation(expression, rng, money)
        tail = f" {unit}" if unit and rng.random() < 0.6 else ""
        lines.append(Line(tuple(p for p in (rng.choice(_OPENINGS), e, tail + rng.choice(("", ".", "."))) if p)))
    return Solution(question, "", tuple(lines), value(parse(expressions[-1])))


def _money(rng: random.Random, top: int = 40) -> Fraction | int:
    cents = rng.choice((50, 50, 25, 75, 99, 95, 49, 20, 80, 40, 10, 90, 5, 0, rng.randint(1, 99)))
    return exact(Fraction(rng.randint(0, top) * 100 + (cents or 50), 100))


def _decimal(rng: random.Random) -> Fraction | int:
    """A number with one to three decimals, small ones often."""
    places = rng.choice((1, 1, 1, 2, 2, 3))
    top = rng.choice((1, 1, 10, 100)) * 10**places
    v = Fraction(rng.randint(1, top), 10**places)
    return exact(v if v.denominator > 1 else v + Fraction(1, 2))


def _whole(rng: random.Random) -> int:
    return rng.randint(2, 12) if rng.random() < 0.35 else rng.randint(10, 99) if rng.random() < 0.6 else rng.choice((rng.randint(100, 999), rng.randint(10, 99) * 10, rng.randint(10, 60) * 100))


def _text(v, rng: random.Random, dollars: bool = False) -> str:
    """A number in a question."""
    if isinstance(v, int):
        return f"{v:,}" if v >= 1000 and rng.random() < 0.4 else str(v)
    text = digits(v)
    if dollars and re.search(r"\.\d$", text):
        text += "0"
    return text[1:] if text.startswith("0.") and rng.random() < 0.3 else text


def _percent(p: int, of: str, rng: random.Random) -> str:
    """p percent of a number, as an expression."""
    share = digits(exact(Fraction(p, 100)))
    return rng.choice((f"{p}/100*{of}", f"{of}*{p}/100", f"{share}*{of}", f"{of}*{share}", f"{p}%*{of}", f"{of}*{p}%", f"({p}/100)*{of}", f"{of}*({p}/100)"))


def _fraction(over: int, under: int, of: str, rng: random.Random) -> str:
    """A fraction of a number, as an expression."""
    ways = [f"{over}/{under}*{of}", f"({over}/{under})*{of}", f"{of}*{over}/{under}", f"{of}*({over}/{under})"]
    if over == 1:
        ways += [f"{of}/{under}"] * 4
    else:
        ways.append(f"{of}/{under}*{over}")
    if under in (2, 4, 5, 8, 10):
        ways.append(f"{digits(exact(Fraction(over, under)))}*{of}")
    return rng.choice(ways)


def signed(rng: random.Random) -> Solution:
    """Results below zero, or numbers with a sign."""
    n = words.name(rng, "train")[0]
    a, b, c = (_whole(rng) if rng.random() < 0.75 else _decimal(rng) for _ in range(3))
    u = rng.random()
    if u < 0.6 and a > b:
        a, b = b, a
    if a == b:
        raise Lost("equal")
    A, B, C = (digits(v) for v in (a, b, c))
    ta, tb, tc = (_text(v, rng) for v in (a, b, c))
    minus = rng.choice(("-", "-", "-", "−", "minus "))
    way = rng.randrange(16)
    if way < 4:
        frame = rng.choice(("What is {} - {}?", "Calculate {} - {}.", "{} - {} = ?", "Subtract {1} from {0}.", "Compute: {} − {}", "Work out {} minus {}.", "Evaluate {} - {}"))
        return _solution(frame.format(ta, tb), [f"{A}-{B}"], rng)
    if way == 4:
        frame = rng.choice(("What is {m}{a} + {b}?", "Calculate {m}{a} + {b}.", "({m}{a}) + {b} = ?", "Add {b} to {m}{a}."))
        return _solution(frame.format(m=minus, a=ta, b=tb), [f"(-{A})+{B}"], rng)
    if way == 5:
        return _solution(rng.choice(("What is {m}{a} - {b}?", "Calculate {m}{a} - {b}.")).format(m=minus, a=ta, b=tb), [f"(-{A})-{B}"], rng)
    if way == 6:
        frame = rng.choice(("The temperature was {a} degrees and fell by {b} degrees. What is it now?", "At noon it was {a} °C. By midnight it was {b} °C colder. What was the temperature at midnight?",
                            "It is {a} degrees in {n}'s town. The forecast says it will drop by {b} degrees overnight. What will the thermometer show?"))
        return _solution(frame.format(a=ta, b=tb, n=n), [f"{A}-{B}"], rng, "degrees")
    if way == 7:
        frame = rng.choice(("At dawn it was {m}{a} °C. By noon it had risen by {b} °C. What was the temperature at noon?", "The freezer is at {m}{a} degrees and warms up by {b} degrees. What temperature does it reach?"))
        return _solution(frame.format(m=minus, a=ta, b=tb), [f"(-{A})+{B}"], rng, "degrees")
    if way in (8, 9):
        frame = rng.choice(("{n} has ${a} in the bank and a payment of ${b} goes out. What is the balance, if the account may be overdrawn?", "{n}'s stall took in ${a} and cost ${b} to run. What was the profit (a loss is negative)?",
                            "{n} earns ${a} this week and spends ${b}. How much does {n} gain or lose (losses are negative)?"))
        return _solution(frame.format(n=n, a=_text(a, rng, True), b=_text(b, rng, True)), [f"{A}-{B}"], rng, money=True)
    if way == 10:
        frame = rng.choice(("In a game {n} has {a} points, loses {b} points and then wins {c} points. What is the score?", "A balance of {a} changes by minus {b} and then by plus {c}. What is it in the end?"))
        return _solution(frame.format(n=n, a=ta, b=tb, c=tc), rng.choice(([f"{A}-{B}", f"({digits(exact(a - b))})+{C}" if a < b else f"{digits(exact(a - b))}+{C}"], [f"{A}-{B}+{C}"])), rng, "points")
    if way == 11:
        frame = rng.choice(("A lift stands on floor {a} and goes down {b} floors; floors below the ground are negative. On which floor does it stop?", "A village lies {a} m above the sea. A mine there is {b} m deep. How high above the sea is its bottom?"))
        return _solution(frame.format(a=ta, b=tb), [f"{A}-{B}"], rng)
    if way == 12:
        frame = rng.choice(("A diver is at {m}{a} m and sinks {b} m more. At what height is the diver now?", "{n} owes ${a}, written as {m}{a}, and borrows ${b} more. What number stands for this?"))
        return _solution(frame.format(m=minus, a=ta, b=tb, n=n), [f"(-{A})-{B}"], rng)
    total = exact(b + c)
    frame = rng.choice(("{n} has ${a}. The rent is ${b} and the food is ${c}. What is left of the money (debts are negative)?", "{n} starts with {a} points and loses {b} and then {c}. What is the final score?", "Calculate {a} - {b} - {c}."))
    return _solution(frame.format(n=n, a=ta, b=tb, c=tc), rng.choice(([f"{B}+{C}", f"{A}-{digits(total)}"], [f"{A}-{B}-{C}"])), rng)


def decimals(rng: random.Random) -> Solution:
    """Numbers with a decimal point."""
    n, thing = words.name(rng, "train")[0], rng.choice(_THINGS)
    a, b = _decimal(rng), _decimal(rng)
    k = rng.randint(2, 12) if rng.random() < 0.7 else rng.randint(13, 60)
    a, b = (max(a, b), min(a, b)) if rng.random() < 0.9 else (a, b)
    if a <= b:
        raise Lost("order")
    ta, tb = _text(a, rng), _text(b, rng)
    A, B = digits(a), digits(b)
    p, q = _money(rng), _money(rng)
    tp, tq = _text(p, rng, True), _text(q, rng, True)
    P, Q = digits(p), digits(q)
    way = rng.randrange(9)
    if way == 0:
        op, frame = rng.choice((("+", "What is {} + {}?"), ("-", "What is {} - {}?"), ("+", "Add {} and {}."), ("-", "Calculate {} minus {}."), ("+", "{} + {} = ?")))
        return _solution(frame.format(ta, tb), [f"{A}{op}{B}"], rng)
    if way == 1:
        return _solution(rng.choice(("What is {} times {}?", "Calculate {} * {}.", "{} × {} = ?", "Multiply {} by {}.")).format(ta, k), [f"{A}*{k}"], rng)
    if way == 2:
        return _solution(rng.choice(("A rope is {a} m long. {n} cuts off {b} m. How many meters are left?", "A jug holds {a} liters of juice. {n} pours out {b} liters. How much is left?", "{n} weighs {a} kg of flour and uses {b} kg. How many kilograms remain?")).format(a=ta, b=tb, n=n), [f"{A}-{B}"], rng)
    if way in (3, 4):
        return _solution(rng.choice(("{n} buys {k} {t} at ${p} each. How much does {n} pay?", "One of the {t} costs ${p}. How much do {k} of them cost?", "{n} sells {k} {t} for ${p} each. How much money does {n} get?")).format(n=n, k=k, t=thing, p=tp), [rng.choice((f"{k}*{P}", f"{P}*{k}"))], rng, money=True)
    if way == 5:
        pay = rng.choice((10, 20, 50, 100))
        if p >= pay:
            raise Lost("too dear")
        return _solution(rng.choice(("{n} pays ${p} with a ${pay} bill. How much change does {n} get?", "{n} has ${pay} and spends ${p}. How much is left?")).format(n=n, p=tp, pay=pay), [f"{pay}-{P}"], rng, money=True)
    if way == 6:
        whole = exact(Fraction(p) * k)
        return _solution(rng.choice(("{k} {t} cost ${w} together. What does one cost?", "{n} and friends share a bill of ${w} equally among {k} people. How much does each pay?")).format(k=k, t=thing, w=_text(whole, rng, True), n=n), [f"{digits(whole)}/{k}"], rng, money=True)
    if way == 7:
        first = exact(Fraction(p) * k)
        return _solution(f"{n} buys {k} {thing} for ${tp} each and a bag for ${tq}. How much is that in all?", rng.choice(([f"{k}*{P}", f"{digits(first)}+{Q}"], [f"{k}*{P}+{Q}"])), rng, money=True)
    whole = exact(Fraction(b) * k)
    return _solution(rng.choice(("A board of {w} m is cut into {k} equal parts. How long is each part?", "{n} fills {w} liters of water into {k} equal bottles. How many liters are in each?")).format(w=_text(whole, rng), k=k, n=n), [f"{digits(whole)}/{k}"], rng)


def sums(rng: random.Random) -> Solution:
    """Long sums and differences, products in one line, averages."""
    n, thing = words.name(rng, "train")[0], rng.choice(_THINGS)
    money = rng.random() < 0.4
    count = rng.choice((3, 3, 4, 4, 5, 6, 7, 8))
    parts = [_money(rng, 60) if money else _whole(rng) for _ in range(count)]
    shown = [("$" if money else "") + _text(v, rng, money) for v in parts]
    listed = ", ".join(shown[:-1]) + " and " + shown[-1]
    plus = "+".join(map(digits, parts))
    total = exact(sum(map(Fraction, parts)))
    way = rng.randrange(8)
    if way < 2:
        frame = rng.choice(("{n} spends {l} in different shops. How much is that altogether?", "The items on {n}'s list cost {l}. What is the total?")) if money else \
            rng.choice(("{n} {act} {l} {t} on different days. How many is that altogether?", "There are boxes with {l} {t}. How many {t} are there in total?", "Add {l}.", "The groups have {l} members. How many members are there?"))
        return _solution(frame.format(n=n, l=listed, t=thing, act=rng.choice(_ACTS)), [plus], rng, "" if money else thing, money)
    if way == 2:
        start = exact(total + _whole(rng))
        frame = "{n} has ${s} and spends {l}. How much money is left?" if money else "{n} has {s} {t} and gives away {l} of them. How many {t} are left?"
        end = "-".join([digits(start), *map(digits, parts)])
        return _solution(frame.format(n=n, s=_text(start, rng, money), l=listed, t=thing), rng.choice(([end], [plus, f"{digits(start)}-{digits(total)}"], [f"{digits(start)}-({plus})"])), rng, "", money)
    if way == 3:
        mean = exact(total / len(parts)) if isinstance(total, Fraction) else exact(Fraction(total, len(parts)))
        if not writable(mean):
            raise Lost("mean")
        return _solution(rng.choice(("{n} counts {l} {t} on several days. What is the average?", "Find the mean of {l}.")).format(n=n, l=listed, t=thing), rng.choice(([f"({plus})/{count}"], [plus, f"{digits(total)}/{count}"])), rng, "", money)
    pairs = [(rng.randint(2, 12), _money(rng, 20) if money else rng.randint(2, 30)) for _ in range(rng.choice((2, 2, 3, 3, 4)))]
    items = rng.sample(_THINGS, len(pairs))
    told = ", ".join(f"{k} {t} at ${_text(v, rng, True)} each" if money or i % 2 == 0 else f"{k} {t} for ${v} each" for i, ((k, v), t) in enumerate(zip(pairs, items, strict=True)))
    products = [f"{k}*{digits(v)}" if rng.random() < 0.6 else f"{digits(v)}*{k}" for k, v in pairs]
    results = [exact(Fraction(k) * v) for k, v in pairs]
    joined = "+".join(map(digits, results))
    whole = exact(sum(map(Fraction, results)))
    if way < 7:
        lines = [*products, joined] if rng.random() < 0.7 else ["+".join(products)] if rng.random() < 0.5 else [products[0], digits(results[0]) + "".join(f"+{p}" for p in products[1:])]
        question = f"{n} buys {told}. " + rng.choice(("How much does it cost in all?", "What is the total?", "How much does {n} pay?")).format(n=n)
        if rng.random() < 0.3:
            pay = int(whole) + rng.choice((1, 5, 10, 20, 3))
            return _solution(question + f" {n} pays with ${pay}. How much change is due?", [*lines, f"{pay}-{digits(whole)}"], rng, "", True)
        return _solution(question, lines, rng, "", True)
    weekday, weekend = rng.randint(2, 20), rng.randint(2, 20)
    return _solution(f"{n} {rng.choice(_ACTS)} {weekday} {thing} every weekday and {weekend} on each day of the weekend. How many in a week?", rng.choice(([f"5*{weekday}", f"2*{weekend}", f"{5 * weekday}+{2 * weekend}"], [f"5*{weekday}+2*{weekend}"], [f"{weekday}*5+{weekend}*2"])), rng, thing)


def shares(rng: random.Random) -> Solution:
    """Percentages and fractions."""
    n, thing = words.name(rng, "train")[0], rng.choice(_THINGS)
    money = rng.random() < 0.45
    unit = "" if money else thing
    a = rng.choice((rng.randint(2, 60) * 20, rng.randint(1, 20) * 100, rng.randint(2, 40) * 5, rng.randint(2, 99)))
    if money and rng.random() < 0.3:
        a = _money(rng, 90)
    A, ta, p = digits(a), _text(a, rng, money), rng.choice(_PERCENTS)
    sign = "percent" if rng.random() < 0.15 else "%"
    pc = f"{p} percent" if sign == "percent" else f"{p}%"
    part = exact(Fraction(a) * p / 100)
    way = rng.randrange(13)
    if way == 12:  # what percentage
        whole = rng.choice((10, 20, 25, 40, 50, 60, 80, 100, 120, 200, 250, 400, 500))
        a = whole * rng.randrange(1, 20) // 20
        if a * 100 % whole:
            raise Lost("percentage")
        first = rng.choice(([f"{a}+{whole - a}"], [f"{a}+{whole - a}"], []))
        facts = f"{a} red {thing} and {whole - a} blue {thing}" if first else f"{whole} {thing}, of which {a} are red"
        question = f"{n} has {facts}. " + rng.choice(("What percentage of them is red?", "What percent are red?", f"What is the percentage chance that one of the {thing} is red?"))
        return _solution(question, [*first, rng.choice((f"{a}/{whole}*100", f"{a}/{whole}*100", f"({a}/{whole})*100"))], rng)
    if not writable(part):
        raise Lost("percent")
    if way < 2:
        return _solution(rng.choice(("What is {p} of {a}?", "Calculate {p} of {a}.", "{p} of {n}'s {a} {t} are new. How many are new?", "Find {p} of {a}.")).format(p=pc, a=ta, n=n, t=thing), [_percent(p, A, rng)], rng)
    if way < 4 and p < 100:
        left = exact(Fraction(a) - part)
        frame = "A coat costs ${a}. It is sold at {p} off. What is the new price?" if money else rng.choice(("{n} has {a} {t} and gives away {p} of them. How many are left?", "A shop gets {a} {t}; {p} are broken. How many are whole?"))
        rest = digits(exact(Fraction(100 - p, 100)))
        ways = ([_percent(p, A, rng), f"{A}-{digits(part)}"], [f"100-{p}", _percent(100 - p, A, rng)], [f"{A}*{rest}"], [f"1-{digits(exact(Fraction(p, 100)))}", f"{A}*{rest}"], [f"100%-{p}%", f"{A}*{rest}"], [f"{A}-{_percent(p, A, rng)}"])
        return _solution(frame.format(n=n, a=ta, p=pc, t=thing), list(rng.choice(ways)), rng, unit, money) if writable(left) else signed(rng)
    if way < 6:
        more = exact(Fraction(100 + p, 100))
        frame = rng.choice(("A meal costs ${a} and {n} adds a tip of {p}. How much is that in total?", "The price of ${a} rises by {p}. What is it then?", "With {p} tax, what is paid for a lamp at ${a}?")) if money else rng.choice(("{n} had {a} {t} last year and has {p} more now. How many are there now?", "A club of {a} members grows by {p}. How large is it then?"))
        ways = ([_percent(p, A, rng), f"{A}+{digits(part)}"], [f"{A}*{digits(more)}"], [f"1+{digits(exact(Fraction(p, 100)))}", f"{A}*{digits(more)}"], [f"{A}+{_percent(p, A, rng)}"], [f"100+{p}", f"{A}*{100 + p}/100"])
        return _solution(frame.format(n=n, a=ta, p=pc, t=thing), list(rng.choice(ways)), rng, unit, money)
    over, under = rng.choice(_FRACTIONS)
    b = under * rng.choice((rng.randint(2, 12), rng.randint(2, 60), rng.randint(2, 25) * 10))
    B, tb, f = digits(b), _text(b, rng), f"{over}/{under}"
    got = b // under * over
    if way < 8:
        return _solution(rng.choice(("What is {f} of {b}?", "{f} of the {b} {t} are red. How many are red?", "{n} reads {f} of {b} pages. How many pages is that?", "Calculate {f} of {b}.")).format(f=f, b=tb, t=thing, n=n), [_fraction(over, under, B, rng)], rng)
    if way < 10:
        frame = rng.choice(("{n} has {b} {t} and sells {f} of them. How many are left?", "Of {b} pupils {f} walk to school and the rest take the bus. How many take the bus?", "{n} spends {f} of ${b}. How much money is left?"))
        ways = ([_fraction(over, under, B, rng), f"{B}-{got}"], [f"{B}-{_fraction(over, under, B, rng)}"])
        return _solution(frame.format(n=n, b=tb, t=thing, f=f), list(rng.choice(ways)), rng)
    rest, (o2, u2) = b - got, rng.choice(_FRACTIONS)
    if not rest or rest % u2:
        raise Lost("rest")
    second = rest // u2 * o2
    question = f"{n} has {tb} {thing}, gives {f} of them to a friend and {o2}/{u2} of the rest to a neighbor. How many are left?"
    return _solution(question, [_fraction(over, under, B, rng), f"{B}-{got}", _fraction(o2, u2, str(rest), rng), f"{rest}-{second}"], rng, thing)


SORTS = {signed: 3, decimals: 3, sums: 4, shares: 4}
"""What is made, and how often."""


def made(rng: random.Random, kind: str | None = None) -> Example:
    """A response to a problem of this kind."""
    while True:
        try:
            s = rng.choices(list(SORTS), SORTS.values())[0](rng)
            wanted = kind
            if wanted is None and s.reference < 0 and rng.random() < 0.12 and len(s.lines) == 1:
                s, wanted = _turned(s, rng), "twist"
            elif wanted is None and rng.random() < 0.12:
                wanted = "shape"
            return tell(s, rng, wanted)
        except Lost:
            continue


def _turned(s: Solution, rng: random.Random) -> Solution:
    """30 - 12 = 18 where 12 - 30 was asked."""
    e = s.lines[0].parts
    tree = next(p for p in e if isinstance(p, Equation)).tree
    if not isinstance(tree.left, Leaf) or not isinstance(tree.right, Leaf) or tree.op != "-" or tree.left.value < 0:
        raise Lost("not turned")
    return _solution(s.question, [f"{digits(tree.right.value)}-{digits(tree.left.value)}"], rng)


_SAY = ("The answer is {f}.", "#### {f}", "A: {f}", "Answer: {f}", "\\boxed{{{f}}}", "So {f}", "Final answer: {f}", "It is {f}.", "**{f}**", "Result {f}")


def stated(rng: random.Random) -> Example:
    """Unrelated equations whose values and end are mostly wrong and written in many ways: they teach to read what stands there."""
    while True:
        try:
            return _stated(rng)
        except Lost:
            continue


def _operand(rng: random.Random):
    u = rng.random()
    return _whole(rng) if u < 0.5 else rng.randint(0, 9) if u < 0.6 else _decimal(rng) if u < 0.8 else _money(rng) if u < 0.95 else rng.randint(1000, 99_999)


def _off(v, others: list, rng: random.Random):
    """A wrong value, most often one that is easily taken for the right one."""
    u = rng.random()
    if u < 0.2:
        w = exact(Fraction(v) * rng.choice((10, 100, Fraction(1, 10), Fraction(1, 100))))
    elif u < 0.3:
        w = -v
    elif u < 0.4 and others:
        w = rng.choice(others)
    elif u < 0.5:
        w = _operand(rng)
    else:
        w = near(v, rng)
    if not writable(w) or w == v:
        raise Lost("value")
    return w


def _stated(rng: random.Random) -> Example:
    given = list(dict.fromkeys(_operand(rng) for _ in range(rng.randint(2, 7))))
    dollars = rng.random() < 0.3
    shown = [("$" if dollars else "") + _text(v, rng, dollars) for v in given]
    name = words.name(rng, "train")[0]
    question = rng.choice(("Numbers: {}.", "{n} writes down {}.", "Given are {}. What is the result?", "The values are {}. Find the result.", "{n} has {} and wants to know the total.", "{}?")).format(", ".join(shown), n=name)
    wrong, voice = rng.choice((0.0, 0.5, 0.8, 0.8, 1.0)), Voice.draw(rng)
    voice.notes = False
    works: list[Work] = []
    lines = []
    for _ in range(rng.randint(1, 6)):
        while True:
            a, b = (w.claimed if works and rng.random() < 0.45 and (w := works[-1 if rng.random() < 0.7 else rng.randrange(len(works))]) else rng.choice(given) for _ in range(2))
            tree = Tree(rng.choice("++---**/"), Leaf(a), Leaf(b))
            if rng.random() < 0.2 and tree.op in "+-":
                tree = Tree(rng.choice("+-"), tree, Leaf(rng.choice(given)))
            try:
                right = value(tree)
                claimed = _off(right, [w.claimed for w in works] + given, rng) if rng.random() < wrong else right
                if not writable(right) or abs(right) > 1_000_000 or tree.op == "/" and not fits(tree, right):
                    raise Lost("value")
                steps(tree, claimed)
                break
            except (Lost, ZeroDivisionError):
                given.append(rng.randint(2, 30))
                given.pop()
                if rng.random() < 0.05:
                    raise Lost("no step") from None
        works.append(Work(tree, claimed, None if fits(tree, claimed) else "calculation"))
        gap = " " if rng.random() < 0.8 else ""
        lines.append(f"{voice.tree(tree, '$' if dollars and rng.random() < 0.4 else '')}{gap}={gap}{written(claimed, rng, dollars)}")
    found = _student_steps(works)
    last, sound = works[-1].claimed, all(w.error is None for w in works)
    u = rng.random()
    final = last if u < 0.4 else _off(last, [w.claimed for w in works], rng)
    if sound:
        reference = last
    else:
        u = rng.random()
        reference = last if u < 0.35 else final if u < 0.6 else _off(rng.choice((last, final)), given, rng)
    text = rng.choice(("\n", "\n", ", ", "; ", ". ", "\n\n")).join(lines) + rng.choice(("\n", "\n", " ", ". ", ". ")) + rng.choice(_SAY).format(f=written(final, rng, dollars).replace("$", "\\$" if rng.random() < 0.1 else "$"))
    contradicted = not same(final, last) and not same(last, reference)
    outcome = same(final, reference)
    process = sound
    flags = frozenset({"contradiction"} if contradicted else ())
    return Example(question, text, written(reference, rng), "sound_stated" if sound else "stated", process, outcome, process and outcome,
                   (Step(reference, "+", 0, reference),), found, final, flags, TOPIC)
