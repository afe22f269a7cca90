//! Names and signs by which answers are rendered.

use crate::algebra::{Function, Rational};
use crate::answer::Operator;

/// A rational number as `p/q`.
pub(super) fn fraction(value: &Rational) -> String {
    value.to_string()
}

/// A number with so many decimal places; `None` where that is out of proportion.
pub(super) fn decimal(value: &Rational, places: i64) -> Option<String> {
    let places = usize::try_from(places)
        .ok()
        .filter(|places| (1..=60).contains(places))?;
    let scale = dashu_int::IBig::from(10).pow(places);
    let scaled = value * Rational::from(scale);
    if !scaled.denominator().is_one() {
        return None;
    }
    let text = scaled.numerator().to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, decimals) = padded.split_at_checked(padded.len() - places)?;
    Some(format!("{sign}{whole}.{decimals}"))
}

#[rustfmt::skip]
const SIGNS: [(&str, Operator); 14] = [
    ("=", Operator::Equal), ("≠", Operator::NotEqual), ("<", Operator::Less), ("≤", Operator::LessOrEqual),
    (">", Operator::Greater), ("≥", Operator::GreaterOrEqual), ("∈", Operator::In), ("∉", Operator::NotIn),
    ("≈", Operator::Approximately), ("⊆", Operator::Subset), ("∣", Operator::Divides), ("∥", Operator::Parallel),
    ("⊥", Operator::Perpendicular), ("∼", Operator::Similar),
];

#[rustfmt::skip]
const FUNCTIONS: [(&str, Function); 38] = [
    ("root", Function::Root), ("abs", Function::Absolute), ("log", Function::Logarithm), ("sin", Function::Sin),
    ("cos", Function::Cos), ("tan", Function::Tan), ("cot", Function::Cot), ("sec", Function::Sec),
    ("csc", Function::Csc), ("arcsin", Function::Arcsin), ("arccos", Function::Arccos), ("arctan", Function::Arctan),
    ("arccot", Function::Arccot), ("arcsec", Function::Arcsec), ("arccsc", Function::Arccsc),
    ("sinh", Function::Sinh), ("cosh", Function::Cosh), ("tanh", Function::Tanh), ("coth", Function::Coth),
    ("arsinh", Function::Arsinh), ("arcosh", Function::Arcosh), ("artanh", Function::Artanh),
    ("factorial", Function::Factorial), ("double factorial", Function::DoubleFactorial), ("Γ", Function::Gamma),
    ("binom", Function::Binomial), ("P", Function::Permutations), ("floor", Function::Floor),
    ("ceil", Function::Ceiling), ("sgn", Function::Sign), ("gcd", Function::Gcd), ("lcm", Function::Lcm),
    ("max", Function::Max), ("min", Function::Min), ("mod", Function::Modulo), ("Re", Function::RealPart),
    ("Im", Function::ImaginaryPart), ("arg", Function::Argument),
];

pub(super) fn sign(operator: Operator) -> &'static str {
    SIGNS
        .iter()
        .find(|it| it.1 == operator)
        .map_or("", |it| it.0)
}

pub(super) fn relation(sign: &str) -> Option<Operator> {
    SIGNS.iter().find(|it| it.0 == sign).map(|it| it.1)
}

pub(super) fn name(function: Function) -> &'static str {
    FUNCTIONS
        .iter()
        .find(|it| it.1 == function)
        .map_or("", |it| it.0)
}

pub(super) fn function(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|it| it.0 == name).map(|it| it.1)
}
