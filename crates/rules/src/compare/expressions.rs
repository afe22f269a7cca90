//! Small questions about expressions and answers.

use std::borrow::Cow;

use dashu_base::BitTest;

use crate::algebra::{self, Constant, Expr, Rational};
use crate::answer::{Answer, Quantity};
use crate::parse::{render, render_expr};

/// The number that an expression is as written, without any computing: `3`, `-3`, `0.25`.
pub(super) fn number(expr: &Expr) -> Option<Cow<'_, Rational>> {
    match expr {
        Expr::Number(value) => Some(Cow::Borrowed(value)),
        Expr::Multiply(factors) => match factors.as_slice() {
            [Expr::Number(sign), Expr::Number(value)] if *sign == Rational::NEG_ONE => {
                Some(Cow::Owned(-value.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Digits after the point, where nothing recorded them: those of a decimal fraction without trailing zeros. Whole
/// numbers and fractions such as 1/3 were not written as decimals.
pub(super) fn places(expr: &Expr) -> Option<i64> {
    let value = number(expr)?;
    let denominator = value.denominator();
    if value.is_int() || denominator.bit_len() > 8_000 {
        return None;
    }
    let two = denominator.trailing_zeros()?;
    let mut odd = denominator >> two;
    let mut five = 0_usize;
    let divisor = dashu_int::UBig::from(5_u8);
    while (&odd % &divisor).is_zero() {
        odd /= &divisor;
        five += 1;
    }
    odd.is_one()
        .then(|| i64::try_from(two.max(five)).unwrap_or(i64::MAX))
}

/// A quantity with nothing beside the value, of which a decimal has its places.
pub(super) fn bare(value: Expr) -> Quantity {
    Quantity {
        places: places(&value),
        ..Quantity::bare(value)
    }
}

pub(super) fn answer(value: Expr) -> Answer {
    Answer::Quantity(bare(value))
}

/// The expression that an answer is, if nothing stands beside it.
pub(super) fn expression(answer: &Answer) -> Option<&Expr> {
    match answer {
        Answer::Quantity(quantity)
            if !quantity.percent && quantity.unit.is_none() && quantity.currency.is_none() =>
        {
            Some(&quantity.value)
        }
        _ => None,
    }
}

/// An expression with a plain variable in place of every `f(x)`, so that functions without a meaning are unknowns too.
pub(super) fn opaque(expr: &Expr) -> Cow<'_, Expr> {
    if !algebra::any(expr, &mut |part| matches!(part, Expr::Apply(..))) {
        return Cow::Borrowed(expr);
    }
    Cow::Owned(algebra::replace(expr, &mut |part| match part {
        Expr::Apply(..) => Some(Expr::symbol(&format!("{part:?}"))),
        _ => None,
    }))
}

/// The letters of an expression that is nothing but letters in a row: `odd` from o·d·d.
pub(super) fn spelled(expr: &Expr) -> Option<String> {
    fn spell(expr: &Expr, text: &mut String) -> bool {
        match expr {
            Expr::Symbol(name) => text.push_str(name),
            Expr::Constant(Constant::E) => text.push('e'),
            Expr::Constant(Constant::ImaginaryUnit) => text.push('i'),
            Expr::Constant(Constant::Pi) => text.push_str("pi"),
            Expr::Multiply(factors) => return factors.iter().all(|factor| spell(factor, text)),
            _ => return false,
        }
        true
    }
    let mut text = String::new();
    spell(expr, &mut text).then_some(text)
}

/// An expression in short, for a sentence.
pub(super) fn show(expr: &Expr) -> String {
    shortened(render_expr(expr))
}

/// An answer in short, for a sentence.
pub(super) fn show_answer(answer: &Answer) -> String {
    shortened(render(answer))
}

/// A text, of a long one the beginning.
pub(super) fn shortened(text: String) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}

/// Is an expression built with π?
pub(super) fn has_pi(expr: &Expr) -> bool {
    algebra::any(expr, &mut |part| *part == Expr::Constant(Constant::Pi))
}

/// a · b, of two numbers their product.
pub(super) fn product(a: Expr, b: Expr) -> Expr {
    match (number(&a), number(&b)) {
        (Some(a), Some(b)) => Expr::Number(a.into_owned() * b.into_owned()),
        _ => Expr::Multiply(vec![a, b]),
    }
}
