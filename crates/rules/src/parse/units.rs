//! Units as they are written: with exponents, products and quotients, in LaTeX or words. Each unit is a line of `lexicon/units.tsv`.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::algebra::Rational;
use crate::answer::Unit;
use crate::lexicon::leading;
use crate::lexicon::units::{Dimension, NO_DIMENSION, unit_word};
use crate::lexicon::words::{self, JOINS_UNITS};
use crate::pattern;

/// The dimension and size of a unit in one word, prefix and plural included.
fn word(name: &str) -> Option<(Dimension, Rational)> {
    let unit = unit_word(name)?;
    let mut size = Rational::from_parts(unit.numerator.into(), unit.denominator.into());
    if unit.power != 0 {
        size *= Rational::from(10).pow(unit.power as isize);
    }
    Some((unit.dimension, size))
}

/// The unit that a text states: `km/h`, `m s^{-1}`, `square feet`, `°C`.
pub(crate) fn unit(text: &str) -> Option<Unit> {
    let text = text.trim().trim_end_matches('.');
    if text.is_empty() || text.len() > 80 {
        return None;
    }
    let (found, offset) = match temperature(text) {
        Some((size, offset)) => (word("K").map(|it| (it.0, size)), offset),
        None => (word(text).or_else(|| compound(text)), Rational::ZERO),
    };
    let (dimension, size) = found?;
    Some(Unit {
        name: text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
        dimension: Some(dimension),
        size,
        offset,
    })
}

/// Scales of temperature that do not begin at absolute zero.
fn temperature(text: &str) -> Option<(Rational, Rational)> {
    let ratio = |a: u32, b: u32| Rational::from_parts(a.into(), b.into());
    let shown = |c: &char| !c.is_whitespace() && !matches!(c, '{' | '}' | '^' | '\\');
    let compact: String = text.chars().filter(shown).collect();
    if words::CELSIUS.contains(&compact) {
        return Some((ratio(1, 1), ratio(27_315, 100)));
    }
    let fahrenheit = words::FAHRENHEIT.contains(&compact);
    fahrenheit.then(|| (ratio(5, 9), ratio(45_967, 180)))
}

/// Units with exponents, products and quotients.
fn compound(text: &str) -> Option<(Dimension, Rational)> {
    let text = plain(text);
    let mut rest = text.trim();
    let mut dimension = NO_DIMENSION;
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
        let rate = JOINS_UNITS.begin(rest);
        let rate = rate.and_then(|(_, rest)| rest.strip_prefix(' '));
        if let Some(after) = rest.strip_prefix('/').or(rate) {
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
        size *= found.1.pow(isize::from(exponent));
    }
    (!bracket).then_some((dimension, size))
}

/// `square`, `cubic` before a unit: the power and the rest.
fn words_of_power(text: &str) -> (i8, &str) {
    for (list, power) in [(&words::SQUARE_BEFORE, 2), (&words::CUBE_BEFORE, 3)] {
        if let Some(rest) = list.begin(text).and_then(|it| it.1.strip_prefix(' ')) {
            return (power, rest.trim_start());
        }
    }
    (1, text)
}

/// The longest unit in one or two words at the start, and its length.
fn longest(text: &str) -> Option<((Dimension, Rational), usize)> {
    let first = leading(text, |c| c.is_alphabetic() || c == '°' || c == 'º');
    if let Some(second) = text.get(first..).and_then(|rest| rest.strip_prefix(' ')) {
        let length = leading(second, char::is_alphabetic);
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

/// The exponent after a unit, given the power that words before it name.
fn exponent(text: &str, power: i8) -> Option<(i8, &str)> {
    for (list, named) in [(&words::SQUARE_AFTER, 2), (&words::CUBE_AFTER, 3)] {
        if let Some((_, rest)) = text.strip_prefix(' ').and_then(|it| list.begin(it)) {
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
    let digit = i8::try_from(digit).ok()?;
    Some((if negative { -digit } else { digit }, rest))
}

/// A unit without the commands and braces of LaTeX.
pub(super) fn plain(text: &str) -> String {
    static COMMAND: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\(?:([a-zA-Z]+)|[, ;:!])?"));
    // `\frac{m}{s}`
    let divides = if text.contains("frac") { "}/{" } else { "}{" };
    let text = text.replace("}{", divides);
    let text = COMMAND.replace_all(&text, |found: &Captures<'_>| {
        match found.get(1).map_or("", |it| it.as_str()) {
            "cdot" | "times" => "·",
            "mu" => "µ",
            "Omega" | "ohm" => "Ω",
            "circ" | "degree" => "°",
            _ => " ",
        }
    });
    let plain = text.chars().filter_map(|it| match it {
        '{' | '}' => None,
        '⋅' | '∙' | '.' => Some('·'),
        it if it == '~' || it.is_whitespace() => Some(' '),
        it => Some(it),
    });
    plain.collect()
}
