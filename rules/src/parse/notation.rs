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
    let (whole, behind) = padded.split_at_checked(padded.len() - places)?;
    Some(format!("{sign}{whole}.{behind}"))
}

/// The sign of a relation.
pub(super) fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "=",
        Operator::NotEqual => "≠",
        Operator::Less => "<",
        Operator::LessOrEqual => "≤",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => "≥",
        Operator::In => "∈",
        Operator::NotIn => "∉",
        Operator::Approximately => "≈",
        Operator::Subset => "⊆",
        Operator::Divides => "∣",
        Operator::Parallel => "∥",
        Operator::Perpendicular => "⊥",
        Operator::Similar => "∼",
    }
}

/// The name of a function.
pub(super) fn name(function: Function) -> &'static str {
    use Function as F;
    match function {
        F::Root => "root",
        F::Absolute => "abs",
        F::Logarithm => "log",
        F::Sin => "sin",
        F::Cos => "cos",
        F::Tan => "tan",
        F::Cot => "cot",
        F::Sec => "sec",
        F::Csc => "csc",
        F::Arcsin => "arcsin",
        F::Arccos => "arccos",
        F::Arctan => "arctan",
        F::Arccot => "arccot",
        F::Arcsec => "arcsec",
        F::Arccsc => "arccsc",
        F::Sinh => "sinh",
        F::Cosh => "cosh",
        F::Tanh => "tanh",
        F::Coth => "coth",
        F::Arsinh => "arsinh",
        F::Arcosh => "arcosh",
        F::Artanh => "artanh",
        F::Factorial => "factorial",
        F::DoubleFactorial => "double factorial",
        F::Gamma => "Γ",
        F::Binomial => "binom",
        F::Permutations => "P",
        F::Floor => "floor",
        F::Ceiling => "ceil",
        F::Sign => "sgn",
        F::Gcd => "gcd",
        F::Lcm => "lcm",
        F::Max => "max",
        F::Min => "min",
        F::Modulo => "mod",
        F::RealPart => "Re",
        F::ImaginaryPart => "Im",
        F::Conjugate => "conj",
        F::Argument => "arg",
    }
}
