//! The table of units.

/// Exponents of length, mass, time, current, temperature, amount, luminosity, angle, information.
pub(super) type Dimension = [i8; 9];

/// One unit without a prefix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) dimension: Dimension,
    pub(super) numerator: u128,
    pub(super) denominator: u128,
    /// May it take SI prefixes?
    pub(super) prefixes: Prefixes,
}

/// How a unit takes prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefixes {
    /// Not at all.
    No,
    /// As a symbol: `k`, `m`, `µ`.
    Symbols,
    /// As a name: `kilo`, `milli`.
    Names,
}

pub(super) const NONE: Dimension = [0; 9];
pub(super) const LENGTH: Dimension = [1, 0, 0, 0, 0, 0, 0, 0, 0];
pub(super) const AREA: Dimension = [2, 0, 0, 0, 0, 0, 0, 0, 0];
pub(super) const VOLUME: Dimension = [3, 0, 0, 0, 0, 0, 0, 0, 0];
pub(super) const MASS: Dimension = [0, 1, 0, 0, 0, 0, 0, 0, 0];
pub(super) const TIME: Dimension = [0, 0, 1, 0, 0, 0, 0, 0, 0];
pub(super) const FREQUENCY: Dimension = [0, 0, -1, 0, 0, 0, 0, 0, 0];
pub(super) const SPEED: Dimension = [1, 0, -1, 0, 0, 0, 0, 0, 0];
pub(super) const CURRENT: Dimension = [0, 0, 0, 1, 0, 0, 0, 0, 0];
pub(super) const CHARGE: Dimension = [0, 0, 1, 1, 0, 0, 0, 0, 0];
pub(super) const TEMPERATURE: Dimension = [0, 0, 0, 0, 1, 0, 0, 0, 0];
pub(super) const AMOUNT: Dimension = [0, 0, 0, 0, 0, 1, 0, 0, 0];
pub(super) const LUMINOSITY: Dimension = [0, 0, 0, 0, 0, 0, 1, 0, 0];
pub(super) const ANGLE: Dimension = [0, 0, 0, 0, 0, 0, 0, 1, 0];
pub(super) const INFORMATION: Dimension = [0, 0, 0, 0, 0, 0, 0, 0, 1];
pub(super) const FORCE: Dimension = [1, 1, -2, 0, 0, 0, 0, 0, 0];
pub(super) const ENERGY: Dimension = [2, 1, -2, 0, 0, 0, 0, 0, 0];
pub(super) const POWER: Dimension = [2, 1, -3, 0, 0, 0, 0, 0, 0];
pub(super) const PRESSURE: Dimension = [-1, 1, -2, 0, 0, 0, 0, 0, 0];
pub(super) const VOLTAGE: Dimension = [2, 1, -3, -1, 0, 0, 0, 0, 0];
pub(super) const RESISTANCE: Dimension = [2, 1, -3, -2, 0, 0, 0, 0, 0];
pub(super) const CONDUCTANCE: Dimension = [-2, -1, 3, 2, 0, 0, 0, 0, 0];
pub(super) const CAPACITANCE: Dimension = [-2, -1, 4, 2, 0, 0, 0, 0, 0];
pub(super) const INDUCTANCE: Dimension = [2, 1, -2, -2, 0, 0, 0, 0, 0];
pub(super) const FIELD: Dimension = [0, 1, -2, -1, 0, 0, 0, 0, 0];
pub(super) const FLUX: Dimension = [2, 1, -2, -1, 0, 0, 0, 0, 0];
pub(super) const CONCENTRATION: Dimension = [-3, 0, 0, 0, 0, 1, 0, 0, 0];

/// The unit of a symbol or a name, without prefixes, in the singular.
pub(super) fn base(name: &str) -> Option<Base> {
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
        "Hz" | "Bq" => entry(FREQUENCY, 1, 1, Symbols),
        "hertz" | "becquerel" => entry(FREQUENCY, 1, 1, Names),
        "rpm" => entry(FREQUENCY, 1, 60, No),
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
