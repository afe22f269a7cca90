"""Recompute drawn training rows: ``python -m problems.check_rows DATA [count]`` from ``scripts/tiny_judge``; DATA is GSM8K's training set.

The target is read back from its text, with nothing of the code that wrote it: every value, partial product and verdict, the marks of origin, the
first flaw, the contradiction, the outcome against the reference and the final answer against the response.
"""
from __future__ import annotations

import random
import re
import sys
from collections import Counter
from fractions import Fraction

_STEP = re.compile(r"^(-?[\d.:]+)([qskx])([-+*/])(-?[\d.:]+)([qskx])([=,])(.*) (ok|no)$")
_NUMBERS = re.compile(r"[-−–]?\s?[$€£\\]*\s?[-−]?(?:\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)")


class Wrong(Exception):
    """A row whose target is not true."""


def need(ok: bool, what: str) -> None:
    """Raise where something does not hold."""
    if not ok:
        raise Wrong(what)


def number(text: str) -> Fraction:
    """The value of a number as the judge writes it; a time of day in minutes."""
    if ":" in text:
        hours, minutes = text.split(":")
        return Fraction(int(hours) * 60 + int(minutes))
    return Fraction(text)


def values(text: str) -> set[Fraction]:
    """Magnitudes of the numbers that stand in a text."""
    found = set()
    for m in _NUMBERS.finditer(text):
        plain = re.sub(r"[^\d.]", "", m[0])
        found.add(Fraction(plain))
    for m in re.finditer(r"\d[\d,]*(?:\.\d+)?|\.\d+", text):
        found.add(Fraction(m[0].replace(",", "")))
    return found


def chain(text: str, product: Fraction) -> None:
    """Partial products and running sums: P1+P2=S+P3=S."""
    parts = text.split("=")
    total = Fraction(parts[0].split("+")[0])
    for index, part in enumerate(parts):
        if index:
            need(Fraction(part.split("+")[0]) == total, "a running sum")
        if "+" in part:
            total += Fraction(part.split("+")[1])
    need(total == product, "a product")


def rounded(true: Fraction, claimed: Fraction) -> bool:
    """Whether a quotient that does not end is given to two to four decimals."""
    if (true * 10_000).denominator == 1:
        return False
    return any((claimed * 10**n).denominator == 1 and abs(true - claimed) < Fraction(1, 10**n) for n in (2, 3, 4))


_WRITTEN = re.compile(r"(?<![\d.,%/*x×·÷+($\-−–])(?<![-+*/x×·÷−–(] )(?<![)\]}] [-+*/x×·÷−–] )\$?(\d[\d,]*(?:\.\d+)?|\.\d+)\s?([-+*/x×·÷−–])\s?\$?(\d[\d,]*(?:\.\d+)?|\.\d+) ?= ?\$?(-?)\$?(\d[\d,]*(?:\.\d+)?|\.\d+)(?![\d%])")
_SIGNS = {"x": "*", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"}


def followed(response: str, steps: list[tuple]) -> None:
    """Every plain equation of two numbers in the response is among the steps."""
    plain = re.sub(r"<<.*?>>", "", response).replace("\\times", "*").replace("\\div", "/")
    for a, op, b, minus, result in _WRITTEN.findall(plain):
        a, b, result = (Fraction(n.replace(",", "").rstrip(".")) for n in (a, b, result))
        step = (a, _SIGNS.get(op, op), b, -result if minus else result)
        if result.denominator <= 10_000:
            need(step in steps, f"not followed: {step}")


def check(e, text: str, exact_text: bool) -> None:
    """All that must hold for one target; with `exact_text` the values that are claimed must stand in the response."""
    lines = text.removeprefix("<think>").split("</think>")[0].strip("\n").split("\n")
    grades = {field: f"<{field}> True" in text for field in ("process", "outcome", "perfect")}
    if lines[0] == "domain out":
        need(len(lines) == 1 and not any(grades.values()), "nothing follows what is outside")
        return
    need(lines[0] == "domain in" and lines[1].startswith("num "), "the head")
    given = {number(n) for n in lines[1][4:].split(",")} if lines[1] != "num none" else set()
    hours = {n / 60 for n in given if n % 60 == 0}
    there = values(e.student_answer)
    results: list[Fraction] = []
    written: list[tuple] = []
    flaws: list[str | None] = []
    at = 2
    while m := _STEP.match(lines[at]):
        a, ma, op, b, mb, sign, rest, verdict = m.groups()
        a, b = number(a), number(b)
        for value, mark in ((a, ma), (b, mb)):
            if mark == "q":
                need(value in given | hours or -value in given or value * 100 in given, f"from the question: {lines[at]}")
            elif mark == "s":
                need(value in results, f"an earlier result: {lines[at]}")
            elif mark == "k":
                need(value not in results and value not in given, f"known: {lines[at]}")
        if op == "/":
            claim, _, partial = rest.partition("=")
            found, _, by = claim.partition("*")
            claimed = number(found)
            need(sign == "," and number(by) == b, "the divisor")
            chain(partial, claimed * b)
            right = claimed * b == a or rounded(a / b, claimed)
            shown = found
        else:
            value, _, shown = rest.rpartition(",")
            true = a + b if op == "+" else a - b if op == "-" else a * b
            chain(value, true) if op == "*" else need(sign == "=" and number(value) == true, f"a value: {lines[at]}")
            claimed = true if shown == "-" else number(shown)
            right = claimed == true
        need((verdict == "ok") == right, f"a verdict: {lines[at]}")
        if exact_text and op != "/" and shown != "-":
            need(abs(claimed) in there or abs(claimed) * 100 in there, f"{claimed} is not in the response")
        results.append(claimed)
        written.append((a, op, b, claimed))
        flaws.append(None if right else "calc")
        if right and "x" in (ma, mb):
            flaws[-1] = "copy"
        at += 1
    if exact_text:
        followed(e.student_answer, written)
    reached, reference, reaches = re.match(r"^last (\S+),(\S+) (ok|no)$", lines[at]).groups()
    final, again, matches = re.match(r"^end (\S+),(\S+) (ok|no)$", lines[at + 1]).groups()
    need(reference == again, "the reference, twice")
    if exact_text:
        plain = e.reference_answer.replace("−", "-").replace(",", "")
        plain = re.search(r"-?\$?-?(?:\d+(?:\.\d+)?|\.\d+)", plain)[0].replace("$", "")
        need(Fraction(plain) == number(reference), "the reference as written")
    need((reaches == "ok") == (reached != "-" and number(reached) == number(reference)), "reaches")
    need((matches == "ok") == (final != "?" and number(final) == number(reference)), "matches")
    need((reached == "-") == (not results) and (reached == "-" or number(reached) in results), "the end of the derivation is a result")
    need(e.kind != "correct" or reaches == matches == "ok", "a sound solution reaches the reference")
    if final != "?" and exact_text:
        need(abs(number(final)) in there, "the final answer stands in the response")
    flaw = lines[at + 2].removeprefix("flaw ")
    first = next((i for i, f in enumerate(flaws) if f), None)
    if first is not None:
        need(flaw == f"{first + 1} {flaws[first]}", f"the first flaw: {flaw}")
    else:
        need(flaw == "none" or flaw.endswith(" fit") and int(flaw.split()[0]) <= len(flaws), "no flaw")
    flags = lines[at + 3].removeprefix("flags ").split()
    need(not grades["perfect"] or grades["process"] and grades["outcome"], "perfect")
    if "repeat" not in flags and "cut" not in flags:
        need(grades["outcome"] == (matches == "ok"), "the outcome")
        need(grades["process"] == (flaw == "none" and "contradiction" not in flags), "the process")
        differ = reached != "-" and final != "?" and number(reached) != number(final)
        need(("contradiction" in flags) == (differ and reaches == "no"), f"the contradiction: {flags}")


def main() -> None:
    """Draw and check."""
    from layout import target

    from . import KINDS, generate
    from .made import SORTS, made, stated
    from .marks import Lost, solutions
    from .retell import renumbered, tell
    from .retell import KINDS as TOLD
    from .unfollowed import unfollowed, unread

    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    real, rng = solutions(sys.argv[1]), random.Random(11)
    sources = {f"real {kind}": (lambda kind=kind: tell(rng.choice(real), rng, kind)) for kind in TOLD}
    sources |= {"real, other numbers": lambda: tell(renumbered(rng.choice(real), rng), rng)}
    sources |= {f"made {kind}": (lambda kind=kind: made(rng, kind)) for kind in TOLD}
    sources |= {"made": lambda: made(rng), "stated": lambda: stated(rng), "unfollowed": lambda: unfollowed(rng.choice(real), rng), "unread": lambda: unread(rng.choice(real), rng)}
    sources |= {f"generated {kind}": (lambda kind=kind: generate(rng, split="train", kind=kind)) for kind in KINDS}
    counts: Counter = Counter()
    for name, draw in sources.items():
        done = 0
        while done < count:
            try:
                e = draw()
            except Lost:
                continue
            done += 1
            text = "".join(piece.text for piece in target(e, False))
            try:
                check(e, text, exact_text=not name.startswith("generated"))
            except (Wrong, ValueError, AttributeError, TypeError, IndexError) as error:
                counts[name] += 1
                if counts[name] <= 3:
                    print(f"--- {name}: {error!r}\nQ {e.question}\n>> {e.student_answer}\n== {e.reference_answer}\n{text}\n")
        print(f"{name}: {counts[name]} of {done} wrong ({len(SORTS)} sorts made)" if name == "made" else f"{name}: {counts[name]} of {done} wrong", flush=True)
    sys.exit(bool(counts))


if __name__ == "__main__":
    main()
