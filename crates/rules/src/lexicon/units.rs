//! Units of measurement and currencies.

use std::sync::LazyLock;

use super::{Table, names, rows};

const UNITS: &str = include_str!("units.tsv");
const PREFIXES: &str = include_str!("prefixes.tsv");
const CURRENCIES: &str = include_str!("currencies.tsv");

/// Exponents of length, mass, time, current, temperature, amount, luminosity, angle, information; from the tenth on of what has a scale of
/// its own: level, biological activity, apparent power, activity, equivalent dose, luminous flux, equivalents, osmotic activity; turns and parts.
pub(crate) type Dimension = [i8; 19];

/// The symbols of these in `units.tsv`.
#[rustfmt::skip]
const BASES: [&str; 19] = [
    "m", "kg", "s", "A", "K", "mol", "cd", "deg", "bit", "dB", "IU", "VA", "Bq", "Sv", "lm", "Eq", "Osm", "turn", "part",
];

/// The places of the mole, and of turns and parts of a whole, which are plain numbers, too.
pub(crate) const MOLE: usize = 5;
pub(crate) const TURNS: usize = 17;
pub(crate) const PARTS: usize = 18;

/// That of a plain number.
pub(crate) const NO_DIMENSION: Dimension = [0; BASES.len()];

/// A dimension, what may be measured beside its own scale in that: activity in s⁻¹, a dose in J/kg, light in cd, equivalents in mol.
pub(crate) fn kin(mut dimension: Dimension) -> Vec<i8> {
    #[rustfmt::skip]
    let kin = [(12, 2, -1), (13, 0, 2), (13, 2, -2), (14, 6, 1), (15, MOLE, 1), (16, MOLE, 1)];
    for (scale, base, times) in kin {
        dimension[base] = dimension[base].wrapping_add(dimension[scale].wrapping_mul(times));
    }
    dimension[..12].to_vec()
}

/// A unit in one word: its dimension, and its size as a fraction times a power of ten.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnitWord {
    /// What it measures.
    pub dimension: Dimension,
    /// The numerator of its size in base units.
    pub numerator: u128,
    /// The denominator of its size.
    pub denominator: u128,
    /// The power of ten of its prefix.
    pub power: i32,
    /// Is a long name a unit only right after a number alone, unless it is marked as one?
    marked: bool,
}

/// Units by name, with and without prefixes, in the singular.
static WORDS: LazyLock<Table<String, UnitWord>> = LazyLock::new(|| {
    let units = || rows(UNITS).filter_map(|row| Some((row[0], *row.get(3)?, entry(&row)?)));
    let plain =
        units().flat_map(|(own, _, unit)| names(own).map(move |name| (name.to_owned(), unit)));
    let prefixes: Vec<_> = rows(PREFIXES).collect();
    let prefixed = units().flat_map(|(own, kind, unit)| {
        let of_kind = prefixes.iter().filter(move |row| row[0] == kind);
        of_kind.flat_map(move |row| {
            let power = row[1].parse().unwrap_or(0);
            row[2].split(' ').flat_map(move |prefix| {
                names(own).map(move |name| ([prefix, name].concat(), UnitWord { power, ..unit }))
            })
        })
    });
    plain.chain(prefixed).collect()
});

/// Short units that may stand bare after a number: right after it (0), after a space (1), or after a space where that is all that is said (2).
static BARE: LazyLock<Table<&'static str, u8>> = LazyLock::new(|| {
    let fields = rows(UNITS).filter_map(|row| row.get(4).copied());
    fields
        .flat_map(|field| {
            let (field, alone) = field.split_once('*').unwrap_or((field, ""));
            let (tight, spaced) = field.split_once(';').unwrap_or((field, ""));
            let of = |names: &'static str, how| names.split_whitespace().map(move |it| (it, how));
            let others = of(spaced, 1).chain(of(alone, 2));
            of(tight, 0).chain(others)
        })
        .collect()
});

fn entry(row: &[&'static str]) -> Option<UnitWord> {
    let mut dimension = NO_DIMENSION;
    for factor in row.get(1)?.split(' ').filter(|factor| *factor != "1") {
        let digits = factor.find(|c: char| c == '-' || c.is_ascii_digit());
        let (base, exponent) = factor.split_at(digits.unwrap_or(factor.len()));
        let index = BASES.iter().position(|own| *own == base)?;
        let one = exponent.is_empty().then_some(1);
        dimension[index] = one.or_else(|| exponent.parse().ok())?;
    }
    let (above, below) = row.get(2)?.split_once('/').unwrap_or((row.get(2)?, "1"));
    let ((numerator, scale), (denominator, _)) = (decimal(above)?, decimal(below)?);
    Some(UnitWord {
        dimension,
        numerator,
        denominator: denominator.checked_mul(scale)?,
        power: 0,
        marked: row.get(4).is_some_and(|it| it.starts_with('*')),
    })
}

/// A decimal as an integer and the power of ten that divides it.
fn decimal(text: &str) -> Option<(u128, u128)> {
    let (digits, exponent) = text.split_once("e-").unwrap_or((text, "0"));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let places = u32::try_from(decimals.len()).ok()? + exponent.parse::<u32>().ok()?;
    let value = format!("{whole}{decimals}").parse().ok()?;
    Some((value, 10_u128.checked_pow(places)?))
}

/// The unit that one word (or a name such as `light year`) is, with prefix and plural.
pub(crate) fn unit_word(name: &str) -> Option<UnitWord> {
    if name.len() > 24 {
        return None;
    }
    let singular = |name: &str| WORDS.get(name);
    singular(name)
        .or_else(|| {
            let without_s = name.strip_suffix('s')?;
            (without_s.chars().count() > 1 && without_s != "m" && without_s != "in")
                .then(|| singular(without_s))?
        })
        .or_else(|| {
            // Most words are in lower case.
            let small = |it: u8| it.is_ascii() && !it.is_ascii_uppercase();
            if name.len() <= 2 || name.bytes().all(small) {
                return None;
            }
            let lower = name.to_lowercase();
            singular(&lower).or_else(|| singular(lower.strip_suffix('s')?))
        })
}

pub(crate) fn is_unit(name: &str) -> bool {
    unit_word(name).is_some()
}

/// Are these letters, which stand after a number as `how` of [`BARE`] says, without anything to mark them, a unit and nothing else?
pub(crate) fn is_bare_unit(letters: &str, how: u8) -> bool {
    let long = || unit_word(letters).filter(|_| letters.len() >= 3);
    let own = BARE.get(letters);
    let own = own.or_else(|| long().map(|it| 2 * u8::from(it.marked)));
    own.is_some_and(|own| own <= how)
}

/// Currencies by their names: the code, and how many of what is named make one.
static CURRENCY_NAMES: LazyLock<Table<&'static str, (&'static str, u32)>> = LazyLock::new(|| {
    let mut entries = Vec::new();
    for row in rows(CURRENCIES) {
        for (field, parts) in [(1, 1), (2, 100)] {
            let named = names(row.get(field).copied().unwrap_or(""));
            entries.extend(named.map(|name| (name, (row[0], parts))));
        }
    }
    entries.into_iter().collect()
});

/// A currency by its name: the code, and how many of what is named make one (100 cents).
pub(crate) fn currency(name: &str) -> Option<(&'static str, u32)> {
    CURRENCY_NAMES.get(name.trim_end_matches('.'))
}

/// The names of currencies.
pub(crate) fn currency_names() -> impl Iterator<Item = &'static str> {
    rows(CURRENCIES).flat_map(|row| names(row.get(1).copied().unwrap_or("")))
}

/// The length of the currency of several words that a text begins with: "Swiss francs".
pub(crate) fn long_currency(text: &str) -> Option<usize> {
    static LONG: LazyLock<Vec<&str>> =
        LazyLock::new(|| currency_names().filter(|it| it.contains(' ')).collect());
    if !text.starts_with(|it: char| it.is_ascii_uppercase()) {
        return None;
    }
    let begins = |name: &&&str| text.starts_with(**name);
    LONG.iter().find(begins).map(|it| it.len())
}

/// The signs and commands of currencies, with their codes.
pub(crate) static CURRENCY_SIGNS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = rows(CURRENCIES).filter_map(|row| Some((*row.get(3)?, row[0])));
    let signs = rows.flat_map(|(signs, code)| signs.split(' ').map(move |it| (it, code)));
    signs.filter(|it| !it.0.is_empty()).collect()
});

#[cfg(test)]
mod tests;
