//! Written numbers and their exact values.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};

use super::token::{Numeral, digit};
use crate::algebra::{Expr, LongNumber, Rational};

/// What a written number says.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) expr: Expr,
    /// See [`crate::answer::Quantity::places`].
    pub(super) places: Option<i64>,
    /// Was it broken off without a visible period?
    pub(super) approximate: bool,
}

impl Value {
    /// A value that nobody rounded.
    fn exact(expr: Expr) -> Self {
        Self {
            expr,
            places: None,
            approximate: false,
        }
    }
}

/// How large an exponent of ten is read at all.
const MOST_EXPONENT: i64 = 1 << 60;
fn power_of_ten(exponent: usize) -> UBig {
    UBig::from(10_u8).pow(exponent)
}

/// The value of a numeral; `None` where an exponent or a base is out of reach.
pub(super) fn value(numeral: &Numeral<'_>) -> Option<Value> {
    if numeral.radix != 10 {
        let digits = numeral.text.chars();
        let text: String = digits.filter(char::is_ascii_alphanumeric).collect();
        return Some(Value::exact(in_base(&text, u32::from(numeral.radix))?));
    }
    if numeral.point.is_none()
        && numeral.exponent == 0
        && numeral.text.len() <= 18
        && let Ok(small) = numeral.text.parse::<i64>()
    {
        return Some(Value::exact(Expr::integer(small)));
    }
    if numeral.exponent.abs() > MOST_EXPONENT {
        return None;
    }
    let (digits, fraction) = digits(numeral);
    let fraction = i64::try_from(fraction).ok()?;
    if numeral.dots && numeral.repeat.is_empty() {
        return broken_off(&digits, fraction);
    }
    if !numeral.repeat.is_empty() {
        let repeat: String = numeral.repeat.chars().filter_map(ascii_digit).collect();
        return Some(Value::exact(repeating(&digits, fraction, &repeat)?));
    }
    let places =
        (fraction > 0 || numeral.exponent < 0).then(|| fraction.saturating_sub(numeral.exponent));
    Some(Value {
        expr: scaled(&digits, numeral.exponent - fraction),
        places,
        approximate: false,
    })
}

fn ascii_digit(character: char) -> Option<char> {
    digit(character).map(|value| char::from(b'0' + value))
}

/// The digits of a numeral, without leading zeros kept apart, and how many stand after the point.
fn digits(numeral: &Numeral<'_>) -> (String, usize) {
    let mut digits = String::with_capacity(numeral.text.len());
    let mut fraction = 0;
    let mut past_point = false;
    for (at, character) in numeral.text.char_indices() {
        if numeral.point == Some(at as u32) {
            past_point = true;
        } else if let Some(digit) = ascii_digit(character) {
            digits.push(digit);
            fraction += usize::from(past_point);
        }
    }
    (digits, fraction)
}

/// digits · 10^exponent.
pub(super) fn scaled(digits: &str, exponent: i64) -> Expr {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Expr::integer(0);
    }
    let far = exponent.unsigned_abs() > Expr::LONG_DIGITS as u64;
    if digits.len() > Expr::LONG_DIGITS || far {
        let shorter = digits.trim_end_matches('0');
        return Expr::LongNumber(LongNumber {
            negative: false,
            digits: shorter.into(),
            exponent: exponent.saturating_add_unsigned((digits.len() - shorter.len()) as u64),
        });
    }
    let Ok(integer) = IBig::from_str_radix(digits, 10) else {
        return Expr::integer(0);
    };
    Expr::Number(if exponent >= 0 {
        Rational::from(integer * IBig::from(power_of_ten(exponent as usize)))
    } else {
        Rational::from_parts(integer, power_of_ten(exponent.unsigned_abs() as usize))
    })
}

/// The value of `digits` (of which `fraction` stand after the point) followed by `repeat` over and over.
fn repeating(digits: &str, fraction: i64, repeat: &str) -> Option<Expr> {
    if repeat.is_empty() || digits.len() + repeat.len() > Expr::LONG_DIGITS {
        return None;
    }
    let head = IBig::from_str_radix(if digits.is_empty() { "0" } else { digits }, 10).ok()?;
    let period = IBig::from_str_radix(repeat, 10).ok()?;
    let nines = power_of_ten(repeat.len()) - UBig::ONE;
    let numerator = head * IBig::from(nines.clone()) + period;
    let denominator = nines * power_of_ten(usize::try_from(fraction).ok()?);
    Some(Expr::Number(Rational::from_parts(numerator, denominator)))
}

/// A decimal broken off by dots: repeating where a period shows at its end, else the digits that are there.
fn broken_off(digits: &str, fraction: i64) -> Option<Value> {
    let decimals = usize::try_from(fraction).ok()?;
    let tail = digits.get(digits.len().checked_sub(decimals)?..)?;
    if let Some(period) = period(tail.as_bytes()) {
        let head = digits.get(..digits.len() - period)?;
        let repeat = digits.get(digits.len() - period..)?;
        let fraction = fraction.checked_sub_unsigned(period as u64)?;
        return Some(Value::exact(repeating(head, fraction, repeat)?));
    }
    Some(Value {
        expr: scaled(digits, -fraction),
        places: (fraction > 0).then_some(fraction),
        approximate: true,
    })
}

/// The length of the block that the end repeats: one digit three times, or two to twelve digits twice.
pub(crate) fn period(tail: &[u8]) -> Option<usize> {
    (1..=12).find(|&length| {
        let times = if length == 1 { 3 } else { 2 };
        tail.len() >= length * times && {
            let block = &tail[tail.len() - length..];
            (2..=times).all(|n| {
                let from = tail.len() - n * length;
                &tail[from..from + length] == block
            })
        }
    })
}

/// The value of letters and digits (with at most one point) in a base of 2 to 36; `None` where a digit does not belong.
pub(super) fn in_base(text: &str, base: u32) -> Option<Expr> {
    if !(2..=36).contains(&base) || text.len() > Expr::LONG_DIGITS {
        return None;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return None;
    }
    let value = IBig::from_str_radix(&digits, base).ok()?;
    Some(Expr::Number(if fraction.is_empty() {
        Rational::from(value)
    } else {
        Rational::from_parts(value, UBig::from(base).pow(fraction.len()))
    }))
}

/// A small natural number that a numeral states in plain digits.
pub(super) fn small(numeral: &Numeral<'_>) -> Option<u64> {
    if numeral.point.is_some() || numeral.exponent != 0 || numeral.radix != 10 || numeral.dots {
        return None;
    }
    let mut value: u64 = 0;
    for character in numeral.text.chars() {
        if let Some(digit) = digit(character) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        }
    }
    Some(value)
}

/// whole + numerator / denominator, if that is a mixed number: a proper fraction of positive integers.
pub(super) fn mixed(whole: &Expr, numerator: &Expr, denominator: &Expr) -> Option<Expr> {
    let (Expr::Number(whole), Expr::Number(numerator), Expr::Number(denominator)) =
        (whole, numerator, denominator)
    else {
        return None;
    };
    let zero = Rational::from(0);
    let sound = whole.denominator().is_one()
        && numerator.denominator().is_one()
        && denominator.denominator().is_one()
        && *numerator > zero
        && numerator < denominator
        && denominator.numerator().bit_len() <= 64;
    sound.then(|| Expr::Number(whole + numerator / denominator))
}
