//! Units of measurement, exactly, and currencies.

use super::answer::Unit;
use super::term::Rational;

/// Exponents of length, mass, time, current, temperature, amount, luminosity, angle, information.
type Dimension = [i8; 9];

/// One unit without a prefix.
#[derive(Debug, Clone, Copy)]
struct Base {
    dimension: Dimension,
    numerator: u128,
    denominator: u128,
    /// May it take SI prefixes?
    prefixes: Prefixes,
}

/// How a unit takes prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prefixes {
    /// Not at all.
    No,
    /// As a symbol: `k`, `m`, `µ`.
    Symbols,
    /// As a name: `kilo`, `milli`.
    Names,
}

const NONE: Dimension = [0; 9];
const LENGTH: Dimension = [1, 0, 0, 0, 0, 0, 0, 0, 0];
const AREA: Dimension = [2, 0, 0, 0, 0, 0, 0, 0, 0];
const VOLUME: Dimension = [3, 0, 0, 0, 0, 0, 0, 0, 0];
const MASS: Dimension = [0, 1, 0, 0, 0, 0, 0, 0, 0];
const TIME: Dimension = [0, 0, 1, 0, 0, 0, 0, 0, 0];
const FREQUENCY: Dimension = [0, 0, -1, 0, 0, 0, 0, 0, 0];
const SPEED: Dimension = [1, 0, -1, 0, 0, 0, 0, 0, 0];
const CURRENT: Dimension = [0, 0, 0, 1, 0, 0, 0, 0, 0];
const CHARGE: Dimension = [0, 0, 1, 1, 0, 0, 0, 0, 0];
const TEMPERATURE: Dimension = [0, 0, 0, 0, 1, 0, 0, 0, 0];
const AMOUNT: Dimension = [0, 0, 0, 0, 0, 1, 0, 0, 0];
const LUMINOSITY: Dimension = [0, 0, 0, 0, 0, 0, 1, 0, 0];
const ANGLE: Dimension = [0, 0, 0, 0, 0, 0, 0, 1, 0];
const INFORMATION: Dimension = [0, 0, 0, 0, 0, 0, 0, 0, 1];
const FORCE: Dimension = [1, 1, -2, 0, 0, 0, 0, 0, 0];
const ENERGY: Dimension = [2, 1, -2, 0, 0, 0, 0, 0, 0];
const POWER: Dimension = [2, 1, -3, 0, 0, 0, 0, 0, 0];
const PRESSURE: Dimension = [-1, 1, -2, 0, 0, 0, 0, 0, 0];
const VOLTAGE: Dimension = [2, 1, -3, -1, 0, 0, 0, 0, 0];
const RESISTANCE: Dimension = [2, 1, -3, -2, 0, 0, 0, 0, 0];
const CONDUCTANCE: Dimension = [-2, -1, 3, 2, 0, 0, 0, 0, 0];
const CAPACITANCE: Dimension = [-2, -1, 4, 2, 0, 0, 0, 0, 0];
const INDUCTANCE: Dimension = [2, 1, -2, -2, 0, 0, 0, 0, 0];
const FIELD: Dimension = [0, 1, -2, -1, 0, 0, 0, 0, 0];
const FLUX: Dimension = [2, 1, -2, -1, 0, 0, 0, 0, 0];
const CONCENTRATION: Dimension = [-3, 0, 0, 0, 0, 1, 0, 0, 0];

/// The unit of a symbol or a name, without prefixes, in the singular.
fn base(name: &str) -> Option<Base> {
    use Prefixes::{Names, No, Symbols};
    let entry = |dimension, numerator, denominator, prefixes| {
        Some(Base {
            dimension,
            numerator,
            denominator,
            prefixes,
        })
    };
    match name {
        "m" => entry(LENGTH, 1, 1, Symbols),
        "meter" | "metre" => entry(LENGTH, 1, 1, Names),
        "in" | "inch" | "inche" => entry(LENGTH, 254, 10_000, No),
        "ft" | "foot" | "feet" => entry(LENGTH, 3048, 10_000, No),
        "yd" | "yard" => entry(LENGTH, 9144, 10_000, No),
        "mi" | "mile" => entry(LENGTH, 1_609_344, 1000, No),
        "nmi" | "nautical mile" => entry(LENGTH, 1852, 1, No),
        "ly" | "light year" | "light-year" | "lightyear" => {
            entry(LENGTH, 9_460_730_472_580_800, 1, No)
        }
        "AU" | "astronomical unit" => entry(LENGTH, 149_597_870_700, 1, No),
        "pc" | "parsec" => entry(LENGTH, 30_856_775_814_913_673, 1, No),
        "Å" | "angstrom" | "Angstrom" => entry(LENGTH, 1, 10_000_000_000, No),
        "micron" => entry(LENGTH, 1, 1_000_000, No),
        "acre" => entry(AREA, 40_468_564_224, 10_000_000, No),
        "ha" | "hectare" => entry(AREA, 10_000, 1, No),
        "L" | "l" | "ℓ" => entry(VOLUME, 1, 1000, Symbols),
        "liter" | "litre" => entry(VOLUME, 1, 1000, Names),
        "cc" => entry(VOLUME, 1, 1_000_000, No),
        "gal" | "gallon" => entry(VOLUME, 3_785_411_784, 1_000_000_000_000, No),
        "qt" | "quart" => entry(VOLUME, 946_352_946, 1_000_000_000_000, No),
        "pint" => entry(VOLUME, 473_176_473, 1_000_000_000_000, No),
        "cup" => entry(VOLUME, 473_176_473, 2_000_000_000_000, No),
        "fl oz" | "fluid ounce" => entry(VOLUME, 473_176_473, 16_000_000_000_000, No),
        "tbsp" | "tablespoon" => entry(VOLUME, 473_176_473, 32_000_000_000_000, No),
        "tsp" | "teaspoon" => entry(VOLUME, 473_176_473, 96_000_000_000_000, No),
        "g" => entry(MASS, 1, 1000, Symbols),
        "gram" | "gramme" | "gm" => entry(MASS, 1, 1000, Names),
        "kilo" => entry(MASS, 1, 1, No),
        "ton" | "tonne" | "metric ton" => entry(MASS, 1000, 1, No),
        "lb" | "lbs" | "pound" => entry(MASS, 45_359_237, 100_000_000, No),
        "oz" | "ounce" => entry(MASS, 45_359_237, 1_600_000_000, No),
        "u" | "amu" => entry(
            MASS,
            166_053_906_660,
            100_000_000_000_000_000_000_000_000_000_000_000_000,
            No,
        ),
        "s" => entry(TIME, 1, 1, Symbols),
        "sec" => entry(TIME, 1, 1, No),
        "second" => entry(TIME, 1, 1, Names),
        "min" | "minute" => entry(TIME, 60, 1, No),
        "h" | "hr" | "hour" => entry(TIME, 3600, 1, No),
        "d" | "day" => entry(TIME, 86_400, 1, No),
        "wk" | "week" => entry(TIME, 604_800, 1, No),
        "fortnight" => entry(TIME, 1_209_600, 1, No),
        "month" => entry(TIME, 2_629_800, 1, No),
        "yr" | "year" => entry(TIME, 31_557_600, 1, No),
        "decade" => entry(TIME, 315_576_000, 1, No),
        "century" | "centurie" => entry(TIME, 3_155_760_000, 1, No),
        "mph" => entry(SPEED, 1_609_344, 3_600_000, No),
        "kph" | "kmh" | "kmph" => entry(SPEED, 1000, 3600, No),
        "fps" => entry(SPEED, 3048, 10_000, No),
        "kn" | "kt" | "knot" => entry(SPEED, 1852, 3600, No),
        "Hz" => entry(FREQUENCY, 1, 1, Symbols),
        "hertz" => entry(FREQUENCY, 1, 1, Names),
        "rpm" => entry(FREQUENCY, 1, 60, No),
        "Bq" | "becquerel" => entry(FREQUENCY, 1, 1, Symbols),
        "A" => entry(CURRENT, 1, 1, Symbols),
        "amp" | "ampere" => entry(CURRENT, 1, 1, Names),
        "C" => entry(CHARGE, 1, 1, Symbols),
        "coulomb" => entry(CHARGE, 1, 1, Names),
        "Ah" => entry(CHARGE, 3600, 1, Symbols),
        "K" => entry(TEMPERATURE, 1, 1, Symbols),
        "kelvin" | "Kelvin" => entry(TEMPERATURE, 1, 1, Names),
        "°C" => entry(TEMPERATURE, 1, 1, No),
        "°F" => entry(TEMPERATURE, 5, 9, No),
        "mol" => entry(AMOUNT, 1, 1, Symbols),
        "mole" => entry(AMOUNT, 1, 1, Names),
        "M" => entry(CONCENTRATION, 1000, 1, Symbols),
        "cd" | "candela" => entry(LUMINOSITY, 1, 1, No),
        "°" | "degree" | "deg" | "º" => entry(ANGLE, 1, 1, No),
        "arcmin" | "arcminute" => entry(ANGLE, 1, 60, No),
        "arcsec" | "arcsecond" => entry(ANGLE, 1, 3600, No),
        "rad" | "radian" | "sr" | "steradian" => entry(NONE, 1, 1, Symbols),
        "bit" => entry(INFORMATION, 1, 1, Names),
        "B" => entry(INFORMATION, 8, 1, Symbols),
        "byte" => entry(INFORMATION, 8, 1, Names),
        "KB" => entry(INFORMATION, 8000, 1, No),
        "KiB" => entry(INFORMATION, 8192, 1, No),
        "MiB" => entry(INFORMATION, 8_388_608, 1, No),
        "GiB" => entry(INFORMATION, 8_589_934_592, 1, No),
        "N" => entry(FORCE, 1, 1, Symbols),
        "newton" => entry(FORCE, 1, 1, Names),
        "dyn" | "dyne" => entry(FORCE, 1, 100_000, No),
        "lbf" | "pound-force" => entry(FORCE, 44_482_216_152_605, 10_000_000_000_000, No),
        "J" => entry(ENERGY, 1, 1, Symbols),
        "joule" => entry(ENERGY, 1, 1, Names),
        "erg" => entry(ENERGY, 1, 10_000_000, No),
        "cal" => entry(ENERGY, 4184, 1000, Symbols),
        "calorie" => entry(ENERGY, 4184, 1000, Names),
        "Cal" => entry(ENERGY, 4184, 1, No),
        "Wh" => entry(ENERGY, 3600, 1, Symbols),
        "eV" => entry(
            ENERGY,
            1_602_176_634,
            10_000_000_000_000_000_000_000_000_000,
            Symbols,
        ),
        "electronvolt" | "electron volt" => entry(
            ENERGY,
            1_602_176_634,
            10_000_000_000_000_000_000_000_000_000,
            Names,
        ),
        "BTU" | "Btu" => entry(ENERGY, 105_505_585_262, 100_000_000, No),
        "W" => entry(POWER, 1, 1, Symbols),
        "watt" => entry(POWER, 1, 1, Names),
        "hp" | "horsepower" => entry(POWER, 74_569_987_158_227_022, 100_000_000_000_000, No),
        "Pa" => entry(PRESSURE, 1, 1, Symbols),
        "pascal" => entry(PRESSURE, 1, 1, Names),
        "atm" | "atmosphere" => entry(PRESSURE, 101_325, 1, No),
        "bar" => entry(PRESSURE, 100_000, 1, Symbols),
        "torr" | "Torr" => entry(PRESSURE, 101_325, 760, No),
        "mmHg" => entry(PRESSURE, 133_322_387_415, 1_000_000_000, No),
        "psi" => entry(PRESSURE, 44_482_216_152_605, 6_451_600_000, No),
        "V" => entry(VOLTAGE, 1, 1, Symbols),
        "volt" => entry(VOLTAGE, 1, 1, Names),
        "Ω" => entry(RESISTANCE, 1, 1, Symbols),
        "ohm" | "Ohm" => entry(RESISTANCE, 1, 1, Names),
        "S" => entry(CONDUCTANCE, 1, 1, Symbols),
        "siemens" => entry(CONDUCTANCE, 1, 1, Names),
        "F" => entry(CAPACITANCE, 1, 1, Symbols),
        "farad" => entry(CAPACITANCE, 1, 1, Names),
        "H" => entry(INDUCTANCE, 1, 1, Symbols),
        "henry" | "henrie" => entry(INDUCTANCE, 1, 1, Names),
        "T" => entry(FIELD, 1, 1, Symbols),
        "tesla" => entry(FIELD, 1, 1, Names),
        "G" | "gauss" => entry(FIELD, 1, 10_000, No),
        "Wb" | "weber" => entry(FLUX, 1, 1, Symbols),
        _ => None,
    }
}

/// The power of ten of an SI prefix that `name` begins with, and what follows it.
fn prefix(name: &str, kind: Prefixes) -> Option<(i32, &str)> {
    const NAMES: [(&str, i32); 13] = [
        ("kilo", 3),
        ("centi", -2),
        ("milli", -3),
        ("micro", -6),
        ("nano", -9),
        ("pico", -12),
        ("femto", -15),
        ("mega", 6),
        ("giga", 9),
        ("tera", 12),
        ("deci", -1),
        ("hecto", 2),
        ("deca", 1),
    ];
    const SYMBOLS: [(&str, i32); 14] = [
        ("da", 1),
        ("k", 3),
        ("c", -2),
        ("m", -3),
        ("µ", -6),
        ("μ", -6),
        ("u", -6),
        ("n", -9),
        ("p", -12),
        ("f", -15),
        ("M", 6),
        ("G", 9),
        ("T", 12),
        ("d", -1),
    ];
    let all: &[(&str, i32)] = match kind {
        Prefixes::Names => &NAMES,
        Prefixes::Symbols => &SYMBOLS,
        Prefixes::No => &[],
    };
    all.iter().find_map(|(text, power)| {
        let rest = name.strip_prefix(text)?;
        (!rest.is_empty()).then_some((*power, rest))
    })
}

/// A unit in one word, prefix and plural included.
fn word(name: &str) -> Option<(Dimension, Rational)> {
    let exact = |base: Base, power: i32| {
        let size = Rational::from_parts(base.numerator.into(), base.denominator.into());
        let ten = Rational::from(dashu_int::IBig::from(10).pow(power.unsigned_abs() as usize));
        let size = if power >= 0 { size * ten } else { size / ten };
        Some((base.dimension, size))
    };
    let look = |name: &str| {
        if let Some(base) = base(name) {
            return exact(base, 0);
        }
        for kind in [Prefixes::Symbols, Prefixes::Names] {
            if let Some((power, rest)) = prefix(name, kind)
                && let Some(base) = base(rest)
                && base.prefixes == kind
            {
                return exact(base, power);
            }
        }
        None
    };
    if name.len() > 24 {
        return None;
    }
    look(name)
        .or_else(|| {
            let singular = name.strip_suffix('s')?;
            (singular.chars().count() > 1 && singular != "m" && singular != "in")
                .then(|| look(singular))?
        })
        .or_else(|| {
            let lower = name.to_lowercase();
            (name.len() > 2 && lower != name)
                .then(|| look(&lower).or_else(|| look(lower.strip_suffix('s')?)))?
        })
}

/// Is this one word a unit?
pub(super) fn is_known(name: &str) -> bool {
    word(name).is_some()
}

/// Is this run of letters, right behind a number and without anything to mark it, a unit and nothing else?
pub(super) fn is_plain(run: &str, spaced: bool) -> bool {
    match run {
        "m" | "s" | "g" | "L" | "J" | "N" | "W" | "V" | "h" | "K" => spaced,
        "cm" | "mm" | "km" | "kg" | "kJ" | "kW" | "Pa" | "Hz" | "nm" | "mL" | "ml" | "eV"
        | "ft" | "lb" | "oz" | "yd" | "hr" => true,
        "mg" | "ms" | "mi" | "mA" | "mV" | "in" | "pm" | "fm" | "qt" | "kN" | "MW" | "mW"
        | "kV" | "MN" | "MV" | "GW" | "dL" | "cL" | "dm" | "ns" | "nC" | "hp" | "ha" | "yr"
        | "ly" | "AU" | "cc" | "MJ" | "mN" | "mT" | "mH" | "nF" | "pF" | "mm²" | "kA" | "GB"
        | "MB" | "KB" | "TB" | "mJ" | "MΩ" | "kΩ" => spaced,
        "day" | "deg" | "rad" | "bar" | "cal" | "bit" | "ton" | "amp" | "cup" | "gal" | "ohm"
        | "erg" | "mol" | "atm" | "psi" => spaced,
        _ => run.len() >= 3 && is_known(run),
    }
}

/// A currency by its name: the code, and how large the named amount is in it.
pub(super) fn currency(name: &str) -> Option<(&'static str, u32, u32)> {
    Some(match name.trim_end_matches('.') {
        "dollar" | "dollars" | "USD" | "usd" | "US dollars" | "U.S. dollars" | "bucks"
        | "Dollars" => ("USD", 1, 1),
        "cent" | "cents" | "¢" | "penny" | "pennies" | "Cents" => ("USD", 1, 100),
        "euro" | "euros" | "EUR" | "Euros" | "Euro" => ("EUR", 1, 1),
        "GBP" | "pounds sterling" | "quid" => ("GBP", 1, 1),
        "pence" => ("GBP", 1, 100),
        "yen" | "JPY" => ("JPY", 1, 1),
        "rupee" | "rupees" | "INR" | "Rs" | "Rupees" => ("INR", 1, 1),
        "yuan" | "RMB" | "CNY" | "Yuan" => ("CNY", 1, 1),
        "ruble" | "rubles" | "roubles" | "RUB" => ("RUB", 1, 1),
        "won" | "KRW" => ("KRW", 1, 1),
        "peso" | "pesos" => ("MXN", 1, 1),
        "kr" | "SEK" => ("SEK", 1, 1),
        "CHF" | "francs" => ("CHF", 1, 1),
        _ => return None,
    })
}

/// The unit that a text states: `km/h`, `m s^{-1}`, `square feet`, `°C`.
pub(super) fn unit(text: &str) -> Option<Unit> {
    let text = text.trim().trim_end_matches('.');
    if text.is_empty() || text.len() > 80 {
        return None;
    }
    let name = || text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((size, offset)) = temperature(text) {
        return Some(Unit {
            name: name().into(),
            dimension: Some(TEMPERATURE),
            size,
            offset,
        });
    }
    let (dimension, size) = match word(text) {
        Some(found) => found,
        None => compound(text)?,
    };
    Some(Unit {
        name: name().into(),
        dimension: Some(dimension),
        size,
        offset: Rational::from(0),
    })
}

/// Scales of temperature that do not begin at absolute zero.
fn temperature(text: &str) -> Option<(Rational, Rational)> {
    let ratio = |a: u32, b: u32| Rational::from_parts(a.into(), b.into());
    let compact: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '{' | '}' | '^' | '\\'))
        .collect();
    Some(match &*compact {
        "°C" | "ºC" | "℃" | "circC" | "degreesCelsius" | "degreeCelsius" | "Celsius"
        | "celsius" | "degreescelsius" | "°Celsius" | "degC" | "degreesC" => {
            (ratio(1, 1), ratio(27_315, 100))
        }
        "°F" | "ºF" | "℉" | "circF" | "degreesFahrenheit" | "degreeFahrenheit" | "Fahrenheit"
        | "fahrenheit" | "degreesfahrenheit" | "°Fahrenheit" | "degF" | "degreesF" => {
            (ratio(5, 9), ratio(45_967, 180))
        }
        _ => return None,
    })
}

/// Units with exponents, products and quotients.
fn compound(text: &str) -> Option<(Dimension, Rational)> {
    let text = plain(text);
    let mut rest = text.trim();
    let mut dimension = NONE;
    let mut size = Rational::from(1);
    let mut below = false;
    let mut bracket = false;
    let mut steps = 0;
    while !rest.is_empty() {
        steps += 1;
        if steps > 24 {
            return None;
        }
        if let Some(after) = rest.strip_prefix(['·', '*', '×', ' ', '-']) {
            rest = after.trim_start();
            continue;
        }
        if let Some(after) = rest.strip_prefix('/').or_else(|| rest.strip_prefix("per ")) {
            if steps == 1 {
                return None;
            }
            below = true;
            rest = after.trim_start();
            continue;
        }
        if let Some(after) = rest.strip_prefix('(') {
            bracket = true;
            rest = after.trim_start();
            continue;
        }
        if bracket && let Some(after) = rest.strip_prefix(')') {
            bracket = false;
            rest = after.trim_start();
            continue;
        }
        let (power, after) = words_of_power(rest);
        let (found, length) = longest(after)?;
        rest = after.get(length..)?;
        let (exponent, after) = exponent(rest, power)?;
        rest = after.trim_start_matches('.');
        let exponent = if below { -exponent } else { exponent };
        for (sum, own) in dimension.iter_mut().zip(found.0) {
            *sum = sum.checked_add(own.checked_mul(exponent)?)?;
        }
        let factor = found.1.pow(isize::from(exponent.abs()));
        size = if exponent >= 0 {
            size * factor
        } else {
            size / factor
        };
    }
    (!bracket).then_some((dimension, size))
}

/// `square`, `cubic` before a unit: the power and the rest.
fn words_of_power(text: &str) -> (i8, &str) {
    for (word, power) in [
        ("square ", 2),
        ("sq. ", 2),
        ("sq ", 2),
        ("squared ", 2),
        ("cubic ", 3),
        ("cu. ", 3),
        ("cu ", 3),
    ] {
        if let Some(rest) = text.strip_prefix(word) {
            return (power, rest.trim_start());
        }
    }
    (1, text)
}

/// The longest unit in one or two words at the start, and its length.
fn longest(text: &str) -> Option<((Dimension, Rational), usize)> {
    let first = text
        .find(|c: char| !(c.is_alphabetic() || c == '°' || c == 'º'))
        .unwrap_or(text.len());
    if let Some(second) = text.get(first..).and_then(|rest| rest.strip_prefix(' ')) {
        let length = second
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(second.len());
        let both = text.get(..first + 1 + length)?;
        if length > 0
            && let Some(found) = word(both)
        {
            return Some((found, both.len()));
        }
    }
    let one = text.get(..first)?;
    if one.is_empty() {
        return None;
    }
    Some((word(one)?, first))
}

/// The exponent behind a unit, given the power that words before it name.
fn exponent(text: &str, power: i8) -> Option<(i8, &str)> {
    for (words, named) in [(" squared", 2), (" cubed", 3)] {
        if let Some(rest) = text.strip_prefix(words) {
            return (power == 1).then_some((named, rest));
        }
    }
    let (marked, mut rest) = match text.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut negative = false;
    if let Some(after) = rest.strip_prefix(['-', '−', '⁻'])
        && after.starts_with(|c| super::token::digit(c).is_some())
    {
        negative = true;
        rest = after;
    }
    let Some(digit) = rest.chars().next().and_then(super::token::digit) else {
        return (!marked).then_some((power, text));
    };
    let rest = rest.get(rest.chars().next()?.len_utf8()..)?;
    if rest.starts_with(|c| super::token::digit(c).is_some()) || power != 1 {
        return None;
    }
    let digit = digit as i8;
    Some((if negative { -digit } else { digit }, rest))
}

/// A unit without the commands and braces of LaTeX.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if next == '\\' {
            let length = rest[1..]
                .bytes()
                .take_while(u8::is_ascii_alphabetic)
                .count();
            if length == 0 {
                out.push(' ');
                rest = rest.get(1..).unwrap_or("");
                rest = rest.strip_prefix([',', ' ', ';', ':', '!']).unwrap_or(rest);
                continue;
            }
            match &rest[1..=length] {
                "cdot" | "times" => out.push('·'),
                "mu" => out.push('µ'),
                "Omega" | "ohm" => out.push('Ω'),
                "circ" | "degree" => out.push('°'),
                _ => out.push(' '),
            }
            rest = &rest[1 + length..];
            continue;
        }
        match next {
            '{' | '}' => {}
            '~' => out.push(' '),
            '⋅' | '∙' | '.' if !out.is_empty() => out.push('·'),
            other if other.is_whitespace() => out.push(' '),
            other => out.push(other),
        }
        rest = &rest[next.len_utf8()..];
    }
    out
}
