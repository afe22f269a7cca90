"""Problems outside the domain put together from parts: formulas, equations, code, other languages, facts, choices."""
from __future__ import annotations

import random

from .core import Bank, lines

_NOUNS = """photosynthesis gravity democracy inflation evolution osmosis erosion friction magnetism electricity jazz sonnet metaphor volcano glacier
desert monsoon enzyme neuron molecule isotope electron galaxy comet eclipse telescope printing_press steam_engine telephone penicillin vaccine
parliament constitution treaty revolution empire pyramid cathedral symphony opera ballet sculpture algorithm compiler database protocol router
recursion inheritance capitalism feudalism renaissance enlightenment philosophy ethics logic grammar adverb pronoun verb noun hurricane tsunami
earthquake plate_tectonics mitosis meiosis chromosome protein carbohydrate vitamin calcium oxygen nitrogen helium uranium diamond granite
marble limestone monarchy republic federation senate supreme_court olympic_games world_cup chess tennis rugby cricket marathon novel tragedy comedy
haiku epic myth fable proverb dialect alphabet hieroglyph manuscript compass sextant lighthouse submarine zeppelin bicycle locomotive semiconductor
transistor laser radar sonar x-ray hormone insulin adrenaline cortex retina cochlea artery kidney liver spleen""".split()
_PLACES = """Peru Kenya Norway Vietnam Portugal Mongolia Chile Egypt Iceland Nepal Cuba Ghana Latvia Oman Fiji Poland Greece Turkey Brazil India
Toronto Sydney Nairobi Lima Oslo Hanoi Lisbon Cairo Athens Warsaw""".split()
_PEOPLE = """Darwin Newton Curie Mozart Austen Homer Plato Confucius Gandhi Lincoln Napoleon Cleopatra Kepler Galileo Turing Lovelace Picasso Frida
Tolstoy Cervantes Goethe Dante Tesla Edison Pasteur Mendel Hypatia Euclid Gauss Euler Noether Ramanujan""".split()
_NUMBERED = Bank(lines("""
What is {noun}?
Define {noun} in one sentence.
Explain how {noun} works.
Who invented the {noun}?
When was {noun} discovered?
What are the main causes of {noun}?
Give two examples of {noun}.
What is the difference between {noun} and {noun2}?
What is the capital of {place}?
Which language is spoken in {place}?
On which continent is {place}?
How many people live in {place}?
What is the highest mountain of {place}?
In which year was {person} born?
What is {person} famous for?
Which of {person} and {person2} lived earlier?
Who was {person}?
Name a work of {person}.
Write a short poem about {noun}.
Write an email to your teacher about {noun}.
Summarize the history of {noun} in three sentences.
Translate the word "{noun}" into French.
What is the plural of "{noun}"?
Is {noun} a kind of {noun2}?
Name three things that are related to {noun}.
True or false: {person} lived in {place}.
What currency is used in {place}?
What is the opposite of "{noun}"?
How is {noun} measured?
Why is {noun} important for {noun2}?
Correct the spelling: {noun} and {noun2}
Which part of speech is "{noun}"?
Describe {place} to a tourist.
What does the word "{noun}" mean?
Compare {person} with {person2}.
What color is {noun}?
"""))
_SAID = Bank(lines("""
It is {noun}.
It was {person}.
It is in {place}.
{noun} is a process in nature.
{person} discovered it in 18{n}.
I think it is {noun2}.
The answer is {place}.
It began in 19{n} and is still used today.
{noun} and {noun2} are closely related.
Yes.
No.
True
False
About {n} million.
It depends on {noun2}.
"""))
_FOREIGN = Bank(lines("""
{a} Kinder teilen sich {b} Bonbons. Wie viele bekommt jedes? ## {b} : {a} = {c}
Im Bus sitzen {a} Personen. {b} steigen aus. Wie viele bleiben? ## {a} - {b} = {c} Personen
Ein Heft kostet {a} Euro. Lena kauft {b} Hefte und zahlt mit {c} Euro. Wie viel Rückgeld bekommt sie? ## {a} · {b} = {d}, {c} - {d} = {e}
Berechne {a} + {b} · {c}. ## Punkt vor Strich: {d}
Wie groß ist der Flächeninhalt eines Rechtecks mit {a} cm und {b} cm? ## A = a·b = {c} cm²
Il y a {a} élèves dans la classe et {b} sont absents. Combien sont présents ? ## {a} - {b} = {c} élèves
Marie achète {a} livres à {b} euros. Combien paie-t-elle ? ## Elle paie {a} × {b} = {c} euros.
Un train part à {a} h et arrive à {b} h. Quelle est la durée du trajet ? ## {b} - {a} = {c} heures
Calcule {a} fois {b}. ## Le résultat est {c}.
Juan tiene {a} canicas y pierde {b}. ¿Cuántas le quedan? ## {a} - {b} = {c} canicas
¿Cuánto es {a} por {b}? ## {a} × {b} = {c}
Una caja tiene {a} lápices. ¿Cuántos lápices hay en {b} cajas? ## {a} x {b} = {c} lápices
Luca compra {a} gelati da {b} euro. Quanto spende? ## {a} × {b} = {c} euro
Quanti minuti ci sono in {a} ore? ## {a} × 60 = {b} minuti
Maria tinha {a} reais e gastou {b}. Quanto sobrou? ## {a} - {b} = {c} reais
Jan heeft {a} knikkers en krijgt er {b} bij. Hoeveel heeft hij er nu? ## {a} + {b} = {c} knikkers
Anna hade {a} kronor och köpte glass för {b} kronor. Hur mycket har hon kvar? ## {a} - {b} = {c} kronor
Kasia ma {a} zł i wydaje {b} zł. Ile jej zostało? ## {a} - {b} = {c} zł
Петя купил {a} тетрадей по {b} рублей. Сколько он заплатил? ## {a} · {b} = {c} рублей
В классе {a} учеников, {b} заболели. Сколько пришло? ## {a} - {b} = {c}
商店里有{a}个苹果，卖了{b}个，还剩多少个？ ## {a} - {b} = {c}（个）
一本书{a}元，买{b}本要多少元？ ## {a} × {b} = {c}（元）
计算：{a} + {b} × {c} ## 先算乘法，得 {d}
鉛筆が{a}本あります。{b}人で同じ数ずつ分けると、一人何本ですか。 ## {a} ÷ {b} = {c}
사탕 {a}개를 {b}명이 똑같이 나누면 한 사람이 몇 개씩 가집니까? ## {a} ÷ {b} = {c}
Ali {a} kitap okudu, {b} tane daha okuyacak. Toplam kaç kitap? ## {a} + {b} = {c}
Maija osti {a} omenaa ja söi {b}. Montako jäi? ## {a} - {b} = {c}
Petr má {a} korun a utratí {b}. Kolik mu zbude? ## {a} - {b} = {c} korun
Hur mycket är {a} gånger {b}? ## {c}
Có {a} quả táo, cho đi {b} quả. Còn lại bao nhiêu? ## {a} - {b} = {c} quả
एक किताब {a} रुपये की है। {b} किताबें कितने की होंगी? ## {a} × {b} = {c} रुपये
في الصف {a} طالبا غاب منهم {b}. كم بقي؟ ## {a} - {b} = {c}
Ο Νίκος έχει {a} μήλα και τρώει {b}. Πόσα έμειναν; ## {a} - {b} = {c}
לדנה יש {a} תפוחים והיא נתנה {b}. כמה נשארו? ## {a} - {b} = {c}
Ion are {a} mere și mănâncă {b}. Câte mere rămân? ## {a} - {b} = {c} mere
"""))
_CALL = Bank(["Solve {E}", "Solve for {x}: {E}", "Find {x} if {E}.", "{E}, {x} = ?", "Determine all {x} with {E}.", "What is the solution of {E}?",
              "For which {x} does {E} hold?", "Given {E}, find {x}.", "Let {E}. Compute {x}."])
_EVALUATE = Bank(["Compute {E}.", "Evaluate {E}", "What is the value of {E}?", "Simplify {E}.", "Calculate {E}", "{E} = ?", "Find {E}.", "Prove that {E} is an integer.",
                  "Find the derivative of {E}.", "Determine the limit of {E}.", "Is {E} positive?", "Expand {E}."])
_FORCED = Bank(lines("""
Prove that {E} for all positive integers {x}.
Show that {E}.
Let {x} be a real number with {E}. Find the minimum of {x}.
How many integers {x} satisfy {E}?
Find all functions f such that f({x}) = {E}.
Suppose {E}. What can be said about {x}?
A particle moves with position s(t) = {a}t^2 + {b}t. Find its velocity at t = {c}.
A stone falls for {a} seconds. How far does it fall? Use g = 9.8 m/s^2.
A gas at {a} atm and {b} K has a volume of {c} L. How many moles are there?
What is the momentum of a {a} kg object moving at {b} m/s?
A {a} W lamp burns for {b} hours. How much energy in joules does it use?
Find the wavelength of light with a frequency of {a} x 10^14 Hz.
What is the resistance of {a} ohm and {b} ohm in parallel?
A solution contains {a} g of salt in {b} mL of water. What is its molarity?
A cell divides every {a} minutes. How many cells are there after {b} hours?
A spring with k = {a} N/m is stretched by {b} cm. What force is needed?
What is the probability that a number from 1 to {a} is a multiple of {b}?
{a} people shake hands with each other once. How many handshakes are there?
In how many ways can {a} of {b} books be chosen?
A die is rolled {a} times. What is the expected number of sixes?
What day of the week is it {a} days after a Tuesday?
What is the {a}th digit after the decimal point of 1/7?
The perimeter of an equilateral triangle is {a}. What is its area?
A circle is inscribed in a square of side {a}. Find the area outside the circle.
Find the equation of the line through ({a}, {b}) with slope {c}.
A regular polygon has interior angles of {a} degrees. How many sides has it?
A cube has a surface of {a} square cm. What is its volume?
How many edges does a prism with {a} sides have?
The sides of a triangle are {a}, {b} and {c}. Is it a right triangle?
Two trains start {a} km apart and move towards each other at {b} and {c} km/h. When do they meet?
{a} workers need {b} days for a job. How many days do {c} workers need?
A is twice as old as B was when A was as old as B is now. The sum of their ages is {a}.
Divide {a} into two parts in the ratio {b}:{c}.
{a} pupils fit into a van with {b} seats. How many trips are needed for {c} pupils?
If the day before yesterday was the {a}th, what is the date tomorrow?
Round {a}.{b}{c}7 to two decimal places.
Express {a}/{b} as a decimal with four places.
Write {a} as a Roman numeral.
What is -{a} + {b} - {c}?
What is the square of {a}?
Which is larger, {a}/{b} or {c}/{d}?
Reduce the fraction {a}/{b} to lowest terms.
List the factors of {a}.
What is the cube root of {a}?
"""))


def _formula(rng: random.Random, x: str, depth: int = 2) -> str:
    """A random formula with a letter, powers, roots or functions."""
    u = rng.random()
    n = rng.randint(2, 30)
    if depth == 0:
        return rng.choice((x, str(n), f"{n}{x}", f"{x}^{rng.randint(2, 5)}", f"\\sqrt{{{n}}}", f"-{n}", f"{n}^{rng.randint(2, 9)}", "\\pi", f"\\frac{{{x}}}{{{n}}}"))
    a, b = _formula(rng, x, depth - 1), _formula(rng, x, depth - 1)
    if u < 0.45:
        return f"{a} {rng.choice('+-')} {b}"
    if u < 0.6:
        return f"\\frac{{{a}}}{{{b}}}" if rng.random() < 0.7 else f"({a})/({b})"
    if u < 0.7:
        return f"({a})({b})"
    if u < 0.8:
        function = rng.choice(("sin", "cos", "tan", "ln", "log", "\\sin", "\\log", "exp", "sqrt"))
        return f"{function}({a})"
    if u < 0.88:
        return f"({a})^{rng.randint(2, 6)}"
    return rng.choice((f"\\int_0^{{{n}}} {a} \\, d{x}", f"\\sum_{{k=1}}^{{{n}}} {a}", f"\\lim_{{{x} \\to 0}} {a}", f"|{a}|", f"{n}! + {a}", f"\\binom{{{n}}}{{2}}"))


def _code(rng: random.Random) -> tuple[str, str]:
    name, n, m = rng.choice(("total", "f", "count", "solve", "items", "xs", "data", "foo")), rng.randint(2, 20), rng.randint(2, 9)
    snippet = rng.choice((
        f"def {name}(n):\n    return n * {m} if n > {n} else {name}(n + 1)", f"for (int i = 0; i < {n}; i++) {{ sum += i * {m}; }}",
        f"let {name} = [{n}, {m}].map(v => v * 2);", f"SELECT {name}, COUNT(*) FROM orders GROUP BY {name} HAVING COUNT(*) > {m};",
        f"while {name} < {n}:\n    {name} += {m}\nprint({name})", f"fn {name}(v: &[u32]) -> u32 {{ v.iter().sum() }}", f"grep -c '{name}' file.txt | sort | head -{n}",
        f"{name} = {{i: i**{m} for i in range({n})}}", f"<div class=\"{name}\">{n}</div>", f"public static int {name}(int a) {{ return a % {m}; }}"))
    ask = rng.choice(("What does this code print?", "Find the bug.", "What is the complexity of this code?", "Rewrite this in Python.", "Explain this code.",
                      f"Write a test for `{name}`.", "What does this return?", "Refactor:", "Translate this to Rust."))
    reply = rng.choice((str(n * m), "O(n)", "It returns a list.", f"```python\nprint({n})\n```", "The loop never ends.", f"def test_{name}(): assert {name}({m}) == {n}", "an error"))
    return (f"{ask}\n```\n{snippet}\n```" if rng.random() < 0.6 else f"{ask} {snippet}"), reply


def composed(rng: random.Random, split: str, story: str) -> tuple[str, str, str, str]:
    """Sort, question, answer and reference; ``story`` is a problem of the domain, for questions about it that are none."""
    u = rng.random()
    x = rng.choice("xyzntkmab")
    numbers = {c: str(rng.randint(2, rng.choice((12, 99, 400)))) for c in "abcde"}
    value = str(rng.randint(2, 300))

    def put(text: str) -> str:
        for c, n in numbers.items():
            text = text.replace("{%s}" % c, n)
        return text.replace("{x}", x)

    if u < 0.2:
        formula = _formula(rng, x, rng.choice((1, 2, 2)))
        if rng.random() < 0.5:
            formula = f"{formula} {rng.choice(('=', '=', '<', '>'))} {_formula(rng, x, rng.choice((0, 1)))}"
            question = _CALL.pick(rng, split).replace("{x}", x)
        else:
            question = _EVALUATE.pick(rng, split)
        formula = f"${formula}$" if rng.random() < 0.4 else formula
        result = rng.choice((value, f"{x} = {value}", f"\\frac{{{value}}}{{{numbers['a']}}}", f"\\sqrt{{{value}}}", f"-{value}"))
        answer = rng.choice((f"{formula}, hence {result}", f"{_formula(rng, x, 1)} = {_formula(rng, x, 0)}\n{result}", f"We get {result}.", result, f"= {result}"))
        return "formula", question.replace("{E}", formula), answer, result
    if u < 0.4:
        question = put(_FORCED.pick(rng, split)).replace("{E}", f"{_formula(rng, x, 1)} > {_formula(rng, x, 0)}")
        a, b = numbers["a"], numbers["b"]
        answer = rng.choice((f"{a} * {b} = {value}", f"{a}/{b} = {value}", f"{value}", f"{a} + {b} = {value}, so the answer is {value}", f"formula: {_formula(rng, x, 1)}",
                             f"{a} x {b} x {numbers['c']} = {value}", f"C({a}, {b}) = {value}", f"{a}² + {b}² = {value}"))
        return "forced", question, answer, rng.choice((value, value, f"{a}/{b}", f"-{value}"))
    if u < 0.58:
        words = dict(zip(("noun", "noun2"), (w.replace("_", " ") for w in rng.sample(_NOUNS, 2))))
        words |= dict(zip(("person", "person2"), rng.sample(_PEOPLE, 2))) | {"place": rng.choice(_PLACES), "n": str(rng.randint(10, 99))}

        def name(text: str) -> str:
            for key, word in words.items():
                text = text.replace("{%s}" % key, word)
            return text

        return "facts", name(_NUMBERED.pick(rng, split)), name(_SAID.pick(rng, split)), name(rng.choice(("{noun2}", "{place}", "{person}", "18{n}", "{noun}", "yes")))
    if u < 0.78:
        question, answer = _FOREIGN.pick(rng, split).split(" ## ")
        return "foreign", put(question), put(answer), numbers["c"]
    if u < 0.9:
        question, answer = _code(rng)
        return "code", question, answer, answer
    options = [str(rng.randint(2, 200)) for _ in range(4)]
    style = rng.choice(("(A) {} (B) {} (C) {} (D) {}", "A) {}\nB) {}\nC) {}\nD) {}", "A. {}  B. {}  C. {}  D. {}", "a) {} b) {} c) {} d) {}"))
    letter = rng.choice("ABCD")
    return "choice", f"{story}\n{style.format(*options)}", rng.choice((letter, f"The answer is {letter}.", f"({letter})", f"{options[0]} + {options[1]} = {value}, so {letter}")), letter
