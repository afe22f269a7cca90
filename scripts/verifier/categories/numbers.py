"""How numbers are written: mixed, repeating, rounded, scientific, grouped, percent, money, bases; large, close ones."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from math import factorial

from .core import Draw, Pair, category
from .dressing import formulas, plain_response, response
from .dressing import gold as dress_gold
from .notation import SQUAREFREE, fraction, grouped, number


def _rounded(value: Fraction, places: int) -> str:
    """Correctly rounded to these places."""
    with localcontext() as context:
        context.prec = 60
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        return f"{exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"


@category("mixed numbers")
def mixed_numbers(d: Draw, same: bool) -> Pair:
    whole, part = d.whole(1, 15), Fraction(1, 2)
    while (part := fraction(d, 9, negative=False)) >= 1:
        pass
    sign = d.one("", "", "-")
    value = (whole + part) * (-1 if sign else 1)
    mixed = f"{sign}{whole}\\frac{{{part.numerator}}}{{{part.denominator}}}"
    slash = f"{sign}{whole} {part.numerator}/{part.denominator}"
    if same:
        note, gold, pred = d.one(
            ("improper", mixed, number(value)),
            ("mixed", number(value), mixed),
            ("space", mixed, mixed.replace("\\frac", "\\ \\frac")),
            ("dfrac", mixed, mixed.replace("\\frac", "\\dfrac")),
            ("slash", mixed, slash),
            ("slash", number(value), slash),
            ("sum", mixed, f"{sign}({whole}+{number(part)})" if sign else f"{whole}+{number(part)}"),
            ("improper slash", mixed, f"{value.numerator}/{value.denominator}"),
        )
    else:
        swapped = 1 / part
        note, gold, pred = d.one(
            ("whole part", mixed, f"{sign}{whole + 1}{number(part)}"),
            ("whole part missing", mixed, sign + number(part)),
            ("product", mixed, number(whole * part * (-1 if sign else 1))),
            ("upside down", mixed, number(whole + swapped)),
            ("sign", number(value), number(-value)),
            ("numerator", mixed, number(value + Fraction(1, part.denominator))),
            ("slash", number(value), f"{sign}{whole + 1} {part.numerator}/{part.denominator}"),
        )
    return Pair(dress_gold(d, gold), plain_response(d, pred) if note == "slash" else response(d, pred), note)


@formulas("repeating decimals")
def repeating_decimals(d: Draw, same: bool) -> Pair:
    whole = d.one(0, 0, 0, d.whole(1, 20))
    start = d.one("", "", "", str(d.whole(1, 9)))
    length = d.one(1, 1, 2, 2, 3, 6)
    while True:
        period = f"{d.whole(1, 10**length - 2):0{length}d}"
        if len(period) == 1 or len(set(period)) > 1:
            break
    value = whole + Fraction(int(start + period) - int(start or 0), 10 ** len(start) * (10**length - 1))
    over = f"{whole}.{start}\\overline{{{period}}}"
    if same:
        note, gold, pred = d.one(
            ("fraction", over, number(value)),
            ("overline", number(value), over),
            (
                "bar",
                over,
                f"{whole}.{start}\\bar{{{period}}}"
                if length == 1
                else f"{whole}.{start}{period}\\overline{{{period}}}",
            ),
            ("period written twice", over, f"{whole}.{start}\\overline{{{period * 2}}}"),
            ("dots", number(value), f"{whole}.{start}{(period * 6)[: max(6, 2 * length)]}\\ldots")
            if length <= 2
            else ("slash", over, f"{value.numerator}/{value.denominator}"),
            ("nines", f"{whole + 1}", f"{whole}.\\overline{{9}}"),
            ("parentheses", over, f"{whole}.{start}({period})"),
        )
    else:
        terminating = Fraction(int(start + period), 10 ** (len(start) + length)) + whole
        note, gold, pred = d.one(
            ("terminating", over, f"{whole}.{start}{period}"),
            ("fraction of the terminating one", over, number(terminating)),
            ("period", over, f"{whole}.{start}\\overline{{{int(period) % (10**length - 2) + 1:0{length}d}}}")
            if length > 1
            else ("off by a place", over, f"{whole}.0{start}\\overline{{{period}}}"),
            ("off by a place", over, f"{whole}.0{start}\\overline{{{period}}}"),
            ("whole part", number(value), f"{whole + 1}.{start}\\overline{{{period}}}"),
            ("fraction", over, number(value + Fraction(1, value.denominator))),
            ("period reversed", over, f"{whole}.{start}\\overline{{{period[::-1]}}}")
            if period != period[::-1]
            else ("sign", over, "-" + over),
        )
    return Pair(gold, pred, note)


@formulas("decimals and rounding")
def decimals(d: Draw, same: bool) -> Pair:
    third = fraction(d, 13, negative=False)
    while any(third.denominator % p == 0 for p in (2, 5)) or third < Fraction(1, 9):
        third = fraction(d, 13, negative=False)
    ended = Fraction(d.whole(1, 4000), d.one(4, 8, 10, 20, 100, 1000))
    plain = f"{ended.numerator / ended.denominator:.6f}".rstrip("0").rstrip(".")
    root = d.choice(SQUAREFREE)
    with localcontext() as context:
        context.prec = 40
        square_root = Decimal(root).sqrt()
    places = d.whole(6, 10)
    if same:
        zeros = plain + ("0" if "." in plain else ".0") + d.one("", "0")
        note, gold, pred = d.one(
            ("rounded to six or more", number(third), _rounded(third, places)),
            ("root rounded", f"\\sqrt{{{root}}}", f"{square_root:.{places}f}"),
            ("terminating", number(ended), plain),
            ("fraction", plain, number(ended)),
            ("trailing zeros", plain, zeros),
            ("zeros in gold", zeros, plain),
            ("no leading zero", f"0.{d.whole(11, 99)}", None),
            ("sign", f"-{plain}", f"-{zeros}"),
        )
        return Pair(gold, gold[1:] if pred is None else pred, note)
    step = Fraction(1, 10 ** d.whole(2, 4))
    shown = len(plain.partition(".")[2])
    last_digit = _rounded(ended + Fraction(d.one(1, 2), 10**shown), shown)
    number_moved = _rounded(ended * 10, shown)
    note, gold, pred = d.one(
        ("two decimals", number(third), _rounded(third, 2)),
        ("three decimals", number(third), _rounded(third, 3)),
        ("wrong digit", number(third), _rounded(third + step, 7)),
        ("root cut short", f"\\sqrt{{{root}}}", f"{square_root:.{d.whole(1, 3)}f}"),
        ("last digit", plain, last_digit),
        ("point moved", plain, number_moved),
        ("sign", plain, f"-{plain}"),
        ("rounded to a whole number", number(third), f"{round(third)}"),
        ("root with a wrong digit", f"\\sqrt{{{root}}}", f"{square_root + Decimal('0.0001'):.7f}"),
    )
    return Pair(gold, pred, note)


@category("scientific notation")
def scientific_notation(d: Draw, same: bool) -> Pair:
    digits, exponent = d.whole(11, 99), d.whole(-9, 12, (0, 1))
    if digits % 10 == 0:
        digits += 1
    m = f"{digits / 10:.1f}"
    value = Fraction(digits, 10) * Fraction(10) ** exponent
    gold = f"{m} \\times 10^{{{exponent}}}"
    written = str(value.numerator) if value.denominator == 1 else f"{Decimal(digits).scaleb(exponent - 1):f}"
    if same:
        note, gold, pred = d.one(
            ("written out", gold, written),
            ("e", gold, f"{m}e{exponent}"),
            ("E", gold, f"{m}E{exponent:+03d}"),
            ("cdot", gold, f"{m}\\cdot 10^{{{exponent}}}"),
            ("shifted", gold, f"{digits} \\times 10^{{{exponent - 1}}}"),
            ("in gold", written, gold),
            ("Unicode times", gold, f"{m} × 10^{{{exponent}}}"),
            ("trailing zero", gold, f"{m}0 \\times 10^{{{exponent}}}"),
            ("power of ten", f"10^{{{exponent}}}", f"1 \\times 10^{{{exponent}}}"),
            ("sign", f"-{gold}", f"-{m}\\cdot10^{{{exponent}}}"),
        )
    else:
        note, gold, pred = d.one(
            ("exponent", gold, f"{m} \\times 10^{{{exponent + d.one(-1, 1)}}}"),
            ("sign of the exponent", gold, f"{m} \\times 10^{{{-exponent}}}"),
            ("mantissa", gold, f"{(digits + 1) / 10:.1f} \\times 10^{{{exponent}}}"),
            ("e", gold, f"{m}e{exponent - 1}"),
            ("written out", gold, f"{Decimal(digits).scaleb(exponent):f}"),
            ("power missing", gold, m),
            ("sign", gold, f"-{gold}"),
            ("mantissa rounded", gold, f"{digits // 10 + 1} \\times 10^{{{exponent}}}"),
        )
    if note in ("e", "E"):  # between dollars the letter could be the number e
        return Pair(dress_gold(d, gold), plain_response(d, pred), note)
    return Pair(dress_gold(d, gold), response(d, pred), note)


@category("thousands separators")
def thousands(d: Draw, same: bool) -> Pair:
    n = d.whole(1000, 10 ** d.whole(4, 10))
    cents = f".{d.whole(1, 99):02d}" if d.chance(0.15) else ""
    m = n if same else d.one(n + 1, n - 1, n * 10, n + 1000, n // 10 or 7)
    forms = [str(m) + cents, grouped(m, ",") + cents, grouped(m, ",") + cents]
    latex = [
        grouped(m, "{,}") + cents,
        grouped(m, ",\\!") + cents,
        grouped(m, "\\,") + cents,
        grouped(m, ",") + cents,
        str(m) + cents,
    ]
    if m >= 10000:
        forms += [grouped(m, " ") + cents, grouped(m, "\u202f") + cents, grouped(m, "\u00a0") + cents]
    gold = d.one(str(n), str(n), grouped(n, ","), grouped(n, "{,}"), grouped(n, ",\\!")) + cents
    gold = f"${gold}$" if "\\" in gold or "{" in gold or d.chance(0.3) else gold
    pred = plain_response(d, d.choice(forms)) if d.chance(0.5) else response(d, d.choice(latex))
    return Pair(gold, pred, "grouped" if same else "another number")


@formulas("percent")
def percent(d: Draw, same: bool) -> Pair:
    hundredths = d.whole(1, 250) if d.chance(0.7) else d.whole(1, 99) + Fraction(1, 2)
    p = f"{float(hundredths):g}"
    ratio = Fraction(hundredths) / 100
    decimal = f"{float(ratio):.6f}".rstrip("0").rstrip(".")
    gold = f"{p}\\%"
    if same:
        note, gold, pred = d.one(
            ("decimal", gold, decimal),
            ("fraction", gold, number(ratio)),
            ("decimal in gold", decimal, gold),
            ("word", gold, f"{p} \\text{{ percent}}"),
            ("unescaped", gold, f"{p}%"),
            ("space", gold, f"{p} \\%"),
            ("zeros", gold, f"{float(hundredths):.2f}\\%"),
            ("text sign", gold, f"{p}\\text{{\\%}}"),
        )
    else:
        note, gold, pred = d.one(
            ("sign missing", gold, p),
            ("sign too many", p, gold),
            ("number", gold, f"{float(hundredths) + 1:g}\\%"),
            ("decimal with a sign", gold, f"{decimal}\\%"),
            ("ten times", gold, f"{float(hundredths) * 10:g}\\%"),
            ("the rest", gold, f"{100 - float(hundredths):g}\\%") if hundredths != 50 else ("number", gold, "51\\%"),
            ("sign", gold, f"-{p}\\%"),
        )
    return Pair(gold, pred, note)


_CURRENCIES = (("\\$", "$", "dollars"), ("€", "€", "euros"), ("£", "£", "pounds"))


@category("currency")
def currency(d: Draw, same: bool) -> Pair:
    tex, sign, word = d.one(_CURRENCIES[0], *_CURRENCIES)
    cents = d.whole(5, 99999) if d.chance(0.6) else 100 * d.whole(1, 4000)
    amount = f"{cents / 100:.2f}" if cents % 100 else str(cents // 100)
    full = f"{cents / 100:,.2f}"
    gold = d.one(f"{tex}{amount}", f"{sign}{amount}", amount, f"${tex}{amount}$", f"{amount} {word}", f"{sign}{full}")
    other = cents if same else d.one(cents + 1, cents + 100, cents * 10, cents - 1)
    shown, shown_full = f"{other / 100:.2f}" if other % 100 else str(other // 100), f"{other / 100:,.2f}"
    note = "amount"
    forms = [
        (plain_response, f"{sign}{shown}"),
        (plain_response, f"{sign}{shown_full}"),
        (plain_response, f"{shown} {word}"),
        (response, f"{tex}{shown}"),
        (response, f"{shown}"),
        (response, f"{shown} \\text{{ {word}}}"),
        (response, f"\\text{{{tex}}}{shown}"),
    ]
    if same and sign == "$" and cents < 100:
        forms += [(plain_response, f"{cents} cents")] if gold != amount else []
        note = "cents or dollars"
    if not same and d.chance(0.35):
        while (wrong := d.choice(_CURRENCIES)) == (tex, sign, word):
            pass
        gold = d.one(f"{tex}{amount}", f"{amount} {word}")
        forms, note = (
            [
                (plain_response, f"{wrong[1]}{amount}"),
                (plain_response, f"{amount} {wrong[2]}"),
                (response, f"{wrong[0]}{amount}"),
                (response, f"{amount}\\text{{ {wrong[2]}}}"),
            ],
            "another currency",
        )
    dress, text = d.choice(forms)
    return Pair(gold, dress(d, text), note)


def _in_base(n: int, base: int) -> str:
    digits = ""
    while n:
        n, r = divmod(n, base)
        digits = "0123456789ABCDEF"[r] + digits
    return digits


_BASE_WORDS = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    12: "twelve",
    16: "sixteen",
}


@category("number bases")
def number_bases(d: Draw, same: bool) -> Pair:
    base = d.one(2, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16)
    n = d.whole(base, 4000)
    digits = _in_base(n, base)
    while base == 16 and not same and max(digits) > "B":  # it shall be readable in base twelve, too
        n = d.whole(base, 4000)
        digits = _in_base(n, base)
    gold = d.one(
        f"{digits}_{{{base}}}", f"{digits}_{base}" if base < 10 else f"{digits}_{{{base}}}", f"${digits}_{{{base}}}$"
    )
    wrong = n if same else d.one(n + 1, n - 1, n + base)
    shown = _in_base(wrong, base)
    word = _BASE_WORDS[base]
    tail = [
        (response, f"{shown}_{{{base}}}"),
        (response, f"{shown}_{{\\text{{{word}}}}}"),
        (response, f"({shown})_{{{base}}}"),
        (plain_response, f"{shown} in base {base}"),
        (plain_response, f"{shown} (base {base})"),
        (plain_response, f"{shown}_{base}"),
        (response, f"{wrong}_{{10}}"),
    ]
    note = "same base or ten" if same else "digits"
    if not same and d.chance(0.5):
        others = [b for b in _BASE_WORDS if b != base and max(int(c, 16) for c in digits) < b]
        other = d.choice(others)
        tail, note = (
            [
                (response, f"{digits}_{{{other}}}"),
                (plain_response, f"{digits} in base {other}"),
                (response, f"{digits}_{{\\text{{{_BASE_WORDS[other]}}}}}"),
            ],
            "base",
        )
    dress, text = d.choice(tail)
    return Pair(gold, dress(d, text), note)


@formulas("large numbers and powers")
def large_numbers(d: Draw, same: bool) -> Pair:
    a, b = d.one(2, 3, 5, 6, 7, 10), d.whole(20, 120)
    c, n = d.whole(5, 60), d.whole(15, 60)
    huge = d.one(1000, 2023, 2024, 10**6, 10**9)
    long = d.whole(10**39, 10**60)
    if same:
        note, gold, pred = d.one(
            ("digits", f"{a}^{{{b}}}", str(a**b)),
            ("power", str(a**b), f"{a}^{{{b}}}"),
            ("product of powers", f"{a}^{{{b}}}", f"{a}^{{{c}}}\\cdot {a}^{{{b - c}}}"),
            ("base squared", f"4^{{{huge}}}", f"2^{{{2 * huge}}}"),
            ("difference of squares", f"2^{{{2 * c}}}-1", f"(2^{{{c}}}-1)(2^{{{c}}}+1)"),
            ("factorials", str(n * (n - 1)), f"\\frac{{{n}!}}{{{n - 2}!}}"),
            ("long", str(long), grouped(long, ",")),
            ("sum of equals", f"2^{{{huge + 1}}}", f"2^{{{huge}}}+2^{{{huge}}}"),
            ("digits of a factorial", f"{n}!", str(factorial(n))),
            ("order", f"{a}^{{{huge}}}-{c}", f"-{c}+{a}^{{{huge}}}"),
            ("power of a power", f"(2^{{{c}}})^{{{n}}}", f"2^{{{c * n}}}"),
            ("factored", f"3\\cdot 2^{{{huge}}}", f"2^{{{huge + 1}}}+2^{{{huge}}}"),
        )
    else:
        note, gold, pred = d.one(
            ("last digit", f"{a}^{{{b}}}", str(a**b + 1)),
            ("exponent", f"{a}^{{{b}}}", f"{a}^{{{b + 1}}}"),
            ("plus one", f"{a}^{{{huge}}}", f"{a}^{{{huge}}}+1"),
            ("exponents multiplied", f"{a}^{{{b}}}\\cdot {a}^{{{c}}}", f"{a}^{{{b * c}}}"),
            ("digit inside", str(long), str(long + 10**20)),
            ("last digit of a long one", str(long), str(long - 1)),
            ("factorial", f"{n}!", str(factorial(n) - 1)),
            ("base", f"{a}^{{{huge}}}", f"{a + 1}^{{{huge}}}"),
            ("tower", f"(2^{{{c}}})^{{{n}}}", f"2^{{{c}^{{{n}}}}}"),
            ("sum of equals", f"2^{{{huge + 1}}}", f"4^{{{huge}}}"),
            ("one too many", f"2^{{{huge}}}-1", f"2^{{{huge}}}-2"),
        )
    return Pair(gold, pred, note)


@formulas("near misses")
def near_misses(d: Draw, same: bool) -> Pair:
    n, k = d.whole(12, 99), d.whole(7, 14)
    m = d.whole(2, 8)
    e = d.whole(90, 300)
    f = d.whole(1000, 3000)
    if same:
        note, gold, pred = d.one(
            ("small, same", f"{m} \\times 10^{{-{k}}}", f"{m * 10} \\times 10^{{-{k + 1}}}"),
            ("small powers", f"\\frac{{1}}{{2^{{{e}}}}}", f"2^{{-{e}}}"),
            ("small power, factor", f"\\frac{{{m}}}{{{m}\\cdot 3^{{{e}}}}}", f"3^{{-{e}}}"),
            ("decimals added", f"0.{n}", f"0.0{n}+0.{n * 9:03d}"),
            ("factorials cancel", f"\\frac{{{f}!}}{{{f - 1}!}}", str(f)),
            ("digits", f"{n * 11}", f"{n}\\cdot 11"),
            ("golden", "\\frac{1+\\sqrt{5}}{2}", "\\frac{2}{\\sqrt{5}-1}"),
            ("physics", f"1.{n} \\times 10^{{-19}}", f"1.{n}0\\cdot 10^{{-19}}"),
            ("zero", "0", f"{n}^2-{n * n}"),
            ("one", "1", f"\\frac{{{n}}}{{{n}}}"),
            ("exponents", f"x^{{{n}}}", f"x^{{{n - m}}}x^{{{m}}}"),
            ("roots", f"\\sqrt{{{n * n}}}", f"{n}"),
        )
        return Pair(gold, pred, note)
    swapped = int(str(n)[::-1])
    note, gold, pred = d.one(
        ("off by one", f"{n}", f"{n + d.one(-1, 1)}"),
        ("sign", f"{n}", f"-{n}"),
        ("digits swapped", f"{n}", f"{swapped}") if swapped != n else ("off by ten", f"{n}", f"{n + 10}"),
        ("small", f"{m} \\times 10^{{-{k}}}", f"{m + 1} \\times 10^{{-{k}}}"),
        ("small decimals", f"0.{'0' * (k - 1)}{m}", f"0.{'0' * (k - 1)}{m + 1}"),
        ("small powers", f"\\frac{{1}}{{2^{{{e}}}}}", f"\\frac{{1}}{{2^{{{e - 1}}}}}"),
        ("factorials", f"\\frac{{1}}{{{f}!}}", f"\\frac{{1}}{{{f + 2}!}}"),
        (
            "physics",
            f"1.{n} \\times 10^{{-19}}",
            f"1.{n + 1} \\times 10^{{-19}}" if n < 99 else "1.98 \\times 10^{-19}",
        ),
        ("355/113", "\\pi", "\\frac{355}{113}"),
        ("Ramanujan", "\\pi", "\\frac{\\ln(640320^3+744)}{\\sqrt{163}}"),
        ("almost whole", "e^\\pi-\\pi", "20"),
        ("golden", "\\frac{1+\\sqrt{5}}{2}", "1.618"),
        ("roots", "\\pi", "\\sqrt{2}+\\sqrt{3}"),
        ("square of pi", "\\pi^2", "\\sqrt{97.409091}"),
        ("nearly one", "1", "1.00001"),
        ("cubes", "1729", "1728"),
        ("huge", f"{n * 10**12}", f"{n * 10**12 + 1}"),
        ("exponent", f"x^{{{n}}}", f"x^{{{n + 1}}}"),
        ("coefficient", f"{n}x^2", f"{n + 1}x^2"),
        (
            "denominator",
            f"\\frac{{{m}}}{{{n}}}" if n % m else f"\\frac{{1}}{{{n}}}",
            f"\\frac{{{m}}}{{{n + 1}}}" if n % m else f"\\frac{{1}}{{{n + 1}}}",
        ),
        ("tiny is not zero", "0", f"10^{{-{k + 2}}}"),
        ("nearly whole quotient", f"{n}", f"\\frac{{{n * 10**8 + 1}}}{{10^8}}"),
    )
    return Pair(gold, pred, note)
