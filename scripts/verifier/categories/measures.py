"""Units, conversions, compound units, angles, times and ratios."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import gcd

from .core import Draw, Pair, category
from .dressing import formulas, plain_response, response
from .dressing import gold as dress_gold

# Dimension -> (symbol, words, size in the first of them).
_UNITS: dict[str, list[tuple[str, str, Fraction]]] = {
    "length": [
        ("m", "meters", Fraction(1)),
        ("cm", "centimeters", Fraction(1, 100)),
        ("mm", "millimeters", Fraction(1, 1000)),
        ("km", "kilometers", Fraction(1000)),
    ],
    "imperial length": [("in", "inches", Fraction(1)), ("ft", "feet", Fraction(12)), ("yd", "yards", Fraction(36))],
    "mass": [("g", "grams", Fraction(1)), ("kg", "kilograms", Fraction(1000)), ("mg", "milligrams", Fraction(1, 1000))],
    "time": [("s", "seconds", Fraction(1)), ("min", "minutes", Fraction(60)), ("h", "hours", Fraction(3600))],
    "volume": [("L", "liters", Fraction(1)), ("mL", "milliliters", Fraction(1, 1000))],
    "energy": [("J", "joules", Fraction(1)), ("kJ", "kilojoules", Fraction(1000))],
    "power": [("W", "watts", Fraction(1)), ("kW", "kilowatts", Fraction(1000))],
    "pressure": [("Pa", "pascals", Fraction(1)), ("kPa", "kilopascals", Fraction(1000))],
    "force": [("N", "newtons", Fraction(1)), ("kN", "kilonewtons", Fraction(1000))],
    "voltage": [("V", "volts", Fraction(1)), ("mV", "millivolts", Fraction(1, 1000))],
    "frequency": [
        ("Hz", "hertz", Fraction(1)),
        ("kHz", "kilohertz", Fraction(1000)),
        ("MHz", "megahertz", Fraction(10**6)),
    ],
}
_LABELS = ("apples", "students", "books", "miles", "days", "marbles", "tickets", "pages", "cookies", "cars", "coins")


def _decimal(value: Fraction) -> str | None:
    """The value as a decimal, if it has a short one."""
    for places in range(8):
        if (value * 10**places).denominator == 1:
            return f"{Decimal(int(value * 10**places)).scaleb(-places):f}"
    return None


def _amount(d: Draw) -> Fraction:
    return Fraction(d.whole(2, 400)) if d.chance(0.6) else Fraction(d.whole(11, 999), 10)


def _with_unit(d: Draw, value: str, symbol: str, words: str) -> tuple[str, bool]:
    """A measured value, and whether it is LaTeX."""
    return d.one(
        (f"{value} \\text{{ {symbol}}}", True),
        (f"{value}\\,\\mathrm{{{symbol}}}", True),
        (f"{value}\\ \\text{{{words}}}", True),
        (f"{value}~\\text{{{symbol}}}", True),
        (f"{value} {symbol}", False),
        (f"{value} {words}", False),
    )


def _state(d: Draw, text: str, tex: bool) -> str:
    return response(d, text) if tex else plain_response(d, text)


def _keep(d: Draw, text: str, tex: bool) -> str:
    return dress_gold(d, text) if tex else text


@category("units")
def units(d: Draw, same: bool) -> Pair:
    """The same unit in another dress, or none; against another number or a unit of another kind."""
    dimension = d.choice(list(_UNITS))
    symbol, words, _ = d.choice(_UNITS[dimension])
    value = _decimal(_amount(d))
    if d.chance(0.25):
        symbol = words = d.choice(_LABELS)
    area = d.chance(0.12) and dimension in ("length", "imperial length")
    if area:
        symbol, words = f"{symbol}^2", f"square {words}"
    gold, tex = _with_unit(d, value, symbol, words)
    if area:
        gold, tex = d.one((f"{value} \\text{{ {symbol[:-2]}}}^2", True), (f"{value} {words}", False))
    gold = _keep(d, gold, tex)
    if same:
        note = d.one("same unit", "same unit", "unit missing in response", "unit missing in gold")
        if note == "unit missing in response":
            return Pair(gold, _state(d, value, d.chance(0.6)), note)
        if note == "unit missing in gold":
            gold = dress_gold(d, value)
        if area:
            return Pair(
                gold,
                _state(
                    d,
                    *d.one(
                        (f"{value} \\text{{ {symbol[:-2]}}}^2", True),
                        (f"{value} {words}", False),
                        (f"{value}\\,\\text{{{symbol[:-2]}}}^{{2}}", True),
                    ),
                ),
                note,
            )
        return Pair(gold, _state(d, *_with_unit(d, value, symbol, words)), note)
    note = d.one("number", "another kind")
    if note == "number" or symbol in _LABELS:
        other = _decimal(Fraction(value) + d.one(1, -1, 10))
        return Pair(
            gold,
            _state(d, f"{other} \\text{{ {words}}}", True) if d.chance(0.5) else _state(d, f"{other} {words}", False),
            "number",
        )
    strange = d.choice([k for k in _UNITS if k.split()[-1] != dimension.split()[-1]])
    other_symbol, other_words, _ = d.choice(_UNITS[strange])
    return Pair(gold, _state(d, *_with_unit(d, value, other_symbol, other_words)), note)


@category("unit conversion")
def unit_conversion(d: Draw, same: bool) -> Pair:
    """The same amount in another unit of the kind, or the same number, or a wrong factor."""
    dimension = d.choice(list(_UNITS))
    while True:
        one, two = d.sample(_UNITS[dimension], 2)
        value = _amount(d)
        converted = _decimal(value * one[2] / two[2])
        if converted is not None and len(converted) < 9:
            break
    gold, tex = _with_unit(d, _decimal(value), one[0], one[1])
    gold = _keep(d, gold, tex)
    if same and d.chance(0.15):
        hours, minutes = d.whole(2, 9), d.whole(2, 59)
        return Pair(
            f"{60 * hours + minutes} minutes",
            _state(
                d,
                *d.one(
                    (f"{hours} hours and {minutes} minutes", False),
                    (f"{hours}\\text{{ hours }}{minutes}\\text{{ minutes}}", True),
                ),
            ),
            "hours and minutes",
        )
    if same:
        return Pair(gold, _state(d, *_with_unit(d, converted, two[0], two[1])), "converted")
    if d.chance(0.5):
        return Pair(
            gold, _state(d, *_with_unit(d, _decimal(value), two[0], two[1])), "same number, unit of another size"
        )
    return Pair(
        gold, _state(d, *_with_unit(d, _decimal(Fraction(converted) * d.one(10, 2)), two[0], two[1])), "wrong factor"
    )


# Ways to write one unit; all of a row are the same.
_COMPOUND = (
    (
        "\\text{ m/s}",
        "\\,\\mathrm{m/s}",
        "\\ \\text{m s}^{-1}",
        "\\,\\frac{\\text{m}}{\\text{s}}",
        " m/s",
        " meters per second",
    ),
    ("\\text{ m/s}^2", "\\,\\mathrm{m/s^2}", "\\ \\text{m s}^{-2}", " m/s^2", " m/s²", " meters per second squared"),
    ("\\text{ km/h}", "\\,\\mathrm{km/h}", "\\ \\text{km/hr}", " km/h", " kilometers per hour"),
    (
        "\\text{ g/cm}^3",
        "\\,\\mathrm{g/cm^3}",
        "\\,\\frac{\\text{g}}{\\text{cm}^3}",
        " g/cm^3",
        " g/cm³",
        " grams per cubic centimeter",
    ),
    ("\\text{ J/(kg K)}", "\\,\\mathrm{J/(kg\\cdot K)}", "\\ \\mathrm{J\\,kg^{-1}\\,K^{-1}}", " J/(kg·K)"),
    ("\\text{ kg m/s}", "\\,\\mathrm{kg\\cdot m/s}", "\\ \\mathrm{kg\\,m\\,s^{-1}}", " kg·m/s", " kg m/s"),
    ("\\text{ mol/L}", "\\,\\mathrm{mol/L}", "\\ \\mathrm{mol\\,L^{-1}}", " mol/L"),
    ("\\text{ N}", "\\,\\mathrm{kg\\,m/s^2}", "\\ \\text{kg}\\cdot\\text{m/s}^2", " newtons"),
    ("\\text{ W/m}^2", "\\,\\mathrm{W/m^2}", "\\ \\mathrm{W\\,m^{-2}}", " W/m^2", " W/m²"),
    (
        "\\text{ cm}^3",
        "\\,\\mathrm{cm^3}",
        "\\ \\text{cubic centimeters}",
        " cm^3",
        " cm³",
        " cubic centimeters",
        "\\text{ mL}",
    ),
)
# Sizes for conversion: unit, words in LaTeX, factor.
_SPEEDS = (
    ("\\text{ km/h}", Fraction(18, 5)),
    ("\\text{ m/s}", Fraction(1)),
    ("\\text{ km/s}", Fraction(1, 1000)),
    ("\\text{ cm/s}", Fraction(100)),
)


@category("compound units")
def compound_units(d: Draw, same: bool) -> Pair:
    value = _decimal(_amount(d))
    row = d.choice(_COMPOUND)
    if d.chance(0.2):
        speed = Fraction(d.whole(1, 40) * 5)
        (one, f), (two, g) = d.sample(_SPEEDS, 2)
        right, wrong = _decimal(speed * g), _decimal(speed * g * d.one(10, 2))
        if d.chance(0.5):
            wrong = _decimal(speed * f)
        return Pair(
            dress_gold(d, _decimal(speed * f) + one),
            response(d, (right if same else wrong) + two),
            "speed converted" if same else "speed not converted",
        )
    one, two = d.sample(row, 2)
    gold = _keep(d, value + one, "\\" in one)
    if same:
        return Pair(gold, _state(d, value + two, "\\" in two), "same unit")
    if d.chance(0.4):
        two, note = _decimal(Fraction(value) + d.one(1, -1, 5)) + two, "number"
    else:
        two, note = value + d.choice(d.choice([r for r in _COMPOUND if r is not row])), "another kind"
    return Pair(gold, _state(d, two, "\\" in two), note)


@formulas("degrees and radians")
def degrees_and_radians(d: Draw, same: bool) -> Pair:
    n = d.choice([k for k in range(5, 360, 5)])
    value = Fraction(n, 180)
    radians = (
        f"\\frac{{{'' if value.numerator == 1 else value.numerator}\\pi}}{{{value.denominator}}}"
        if value.denominator > 1
        else "\\pi"
    )
    gold = d.one(f"{n}^\\circ", f"{n}^{{\\circ}}", f"{n}\\text{{ degrees}}")
    if same:
        note, gold, pred = d.one(
            ("sign", gold, f"{n}°"),
            ("word", gold, f"{n}\\text{{ degrees}}"),
            ("sign", gold, f"{n}^{{\\circ}}"),
            ("sign missing", gold, f"{n}"),
            ("sign missing in gold", f"{n}", f"{n}^\\circ"),
            ("radians", gold, f"{radians}\\text{{ radians}}"),
            ("radians", radians, f"{n}^\\circ"),
            ("degree command", gold, f"{n}\\degree"),
            ("named angle", gold, f"\\angle ABC = {n}^\\circ"),
            ("rad", radians, f"{radians} \\text{{ rad}}"),
            ("assigned", gold, f"\\theta = {n}^\\circ"),
        )
    else:
        doubled = value * 2
        note, gold, pred = d.one(
            ("number", gold, f"{n + d.one(1, -1, 10)}^\\circ"),
            ("supplement", gold, f"{180 - n}^\\circ") if n not in (90,) else ("number", gold, "80^\\circ"),
            ("complement", gold, f"{90 - n}^\\circ") if n != 45 else ("number", gold, "46^\\circ"),
            ("radians", gold, f"{n} \\text{{ radians}}"),
            ("doubled", radians, f"\\frac{{{doubled.numerator}\\pi}}{{{doubled.denominator}}}"),
            ("radians halved", gold, f"\\frac{{{n}\\pi}}{{360}}"),
            ("sign", gold, f"-{n}^\\circ"),
        )
    return Pair(gold, pred, note)


@category("times and ratios")
def times_and_ratios(d: Draw, same: bool) -> Pair:
    hour, minute = d.whole(1, 12), d.whole(0, 59)
    afternoon = d.chance(0.5)
    half = "p.m." if afternoon else "a.m."
    clock = f"{hour}:{minute:02d}"
    if d.chance(0.5):
        if same:
            gold = d.one(f"{clock} {half}", f"{clock} {half.replace('.', '').upper()}", f"{clock} \\text{{ {half}}}")
            long = f"{hour % 12 + 12 * afternoon:02d}:{minute:02d}"
            pred = d.one(
                (plain_response, f"{clock} {half.replace('.', '').upper()}"),
                (plain_response, f"{clock} {half}"),
                (response, f"{clock} \\text{{ {half}}}"),
                (response, f"{clock}\\text{{ {half.replace('.', '').upper()}}}"),
                (plain_response, long) if afternoon else (plain_response, f"{clock} {half}"),
            )
            return Pair(gold, pred[0](d, pred[1]), "time")
        wrong_hour, wrong_minute = d.one((hour % 12 + 1, minute), (hour, (minute + d.one(1, 10, 30)) % 60))
        other_half = half
        note = d.one("time", "half of the day")
        if note == "half of the day":
            wrong_hour, wrong_minute, other_half = hour, minute, "a.m." if afternoon else "p.m."
        dress, text = d.one(
            (plain_response, f"{wrong_hour}:{wrong_minute:02d} {other_half}"),
            (response, f"{wrong_hour}:{wrong_minute:02d} \\text{{ {other_half}}}"),
        )
        return Pair(f"{clock} {half}", dress(d, text), note)
    parts = [d.whole(1, 9) for _ in range(d.one(2, 2, 3))]  # one digit each: no time of day
    while len(set(parts)) < len(parts) or gcd(*parts) > 1:
        parts = [d.whole(1, 9) for _ in parts]
    gold = d.one(":", ":", " : ").join(map(str, parts))
    k = d.whole(2, 9)
    if same:
        note, (dress, text) = d.one(
            ("ratio", (response, " : ".join(map(str, parts)))),
            ("not reduced", (response, ":".join(str(k * p) for p in parts))),
            ("to", (plain_response, " to ".join(map(str, parts)))),
            ("plain", (plain_response, ":".join(map(str, parts)))),
            ("mathbin", (response, "{:}".join(map(str, parts)))),
        )
        return Pair(dress_gold(d, gold), dress(d, text), note)
    wrong = list(parts)
    note = d.one("order", "number")
    if note == "order":
        wrong = d.shuffled(parts)
    else:
        wrong[d.randrange(len(wrong))] += d.one(1, 2) if len(parts) == 3 else 13
    return Pair(
        dress_gold(d, gold),
        d.one(response(d, ":".join(map(str, wrong))), plain_response(d, ":".join(map(str, wrong)))),
        note,
    )
