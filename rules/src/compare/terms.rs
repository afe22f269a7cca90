//! Small questions about expressions.

use std::borrow::Cow;

use dashu_base::BitTest;

use crate::algebra::{Binder, Constant, Expr, Rational};
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

/// Digits behind the point, where nothing recorded them: those of a decimal fraction without trailing zeros. Whole
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

/// +1 for ∞, −1 for −∞.
pub(super) fn infinity(expr: &Expr) -> Option<i8> {
    match expr {
        Expr::Constant(Constant::Infinity) => Some(1),
        Expr::Multiply(factors) => match factors.as_slice() {
            [Expr::Number(sign), Expr::Constant(Constant::Infinity)] if !sign.is_zero() => {
                Some(if *sign < Rational::ZERO { -1 } else { 1 })
            }
            _ => None,
        },
        _ => None,
    }
}

/// A quantity with nothing beside the value.
pub(super) fn bare(value: Expr) -> Quantity {
    let places = places(&value);
    Quantity {
        value,
        percent: false,
        unit: None,
        currency: None,
        places,
        base: None,
        approximate: false,
    }
}

/// An expression as an answer.
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

/// Does any part of an expression, itself included, pass the test?
pub(super) fn any(expr: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    if test(expr) {
        return true;
    }
    match expr {
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) | Expr::Apply(_, parts) => {
            parts.iter().any(|part| any(part, test))
        }
        Expr::Power(power) => any(&power.0, test) || any(&power.1, test),
        Expr::Binder(binder) => {
            any(&binder.body, test)
                || binder.lower.as_ref().is_some_and(|part| any(part, test))
                || binder.upper.as_ref().is_some_and(|part| any(part, test))
        }
        _ => false,
    }
}

/// An expression rebuilt with `change` applied to every part that it returns something for, outermost first.
pub(super) fn replace(expr: &Expr, change: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(changed) = change(expr) {
        return changed;
    }
    let mut many =
        |parts: &[Expr]| -> Vec<Expr> { parts.iter().map(|part| replace(part, change)).collect() };
    match expr {
        Expr::Add(parts) => Expr::Add(many(parts)),
        Expr::Multiply(parts) => Expr::Multiply(many(parts)),
        Expr::Call(function, parts) => Expr::Call(*function, many(parts)),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), many(parts)),
        Expr::Power(power) => Expr::power(replace(&power.0, change), replace(&power.1, change)),
        Expr::Binder(binder) => {
            // The bound variable is another one than that of the same name outside.
            let bound = &binder.variable;
            let mut inner = |part: &Expr| match part {
                Expr::Symbol(name) if name == bound => Some(part.clone()),
                _ => change(part),
            };
            Expr::Binder(Box::new(Binder {
                kind: binder.kind,
                variable: bound.clone(),
                body: replace(&binder.body, &mut inner),
                lower: binder.lower.as_ref().map(|part| replace(part, change)),
                upper: binder.upper.as_ref().map(|part| replace(part, change)),
            }))
        }
        other => other.clone(),
    }
}

/// An expression with a value in place of a variable.
pub(super) fn substitute(expr: &Expr, variable: &str, value: &Expr) -> Expr {
    replace(expr, &mut |part| match part {
        Expr::Symbol(name) if **name == *variable => Some(value.clone()),
        _ => None,
    })
}

/// An expression with a plain variable in place of every `f(x)`, so that functions without a meaning are unknowns too.
pub(super) fn opaque(expr: &Expr) -> Cow<'_, Expr> {
    if !any(expr, &mut |part| matches!(part, Expr::Apply(..))) {
        return Cow::Borrowed(expr);
    }
    Cow::Owned(replace(expr, &mut |part| match part {
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

fn shortened(text: String) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text,
    }
}

/// Is an expression built with π?
pub(super) fn has_pi(expr: &Expr) -> bool {
    any(expr, &mut |part| *part == Expr::Constant(Constant::Pi))
}

/// An angle in degrees written as if degrees were plain numbers: `30° + 45°` as `30 + 45`. Angles inside functions
/// stay what they are.
pub(super) fn without_degrees(expr: &Expr) -> Option<Expr> {
    let mut found = false;
    let plain = replace(expr, &mut |part| match part {
        Expr::Constant(Constant::Degree) => {
            found = true;
            Some(Expr::integer(1))
        }
        Expr::Call(..) | Expr::Apply(..) | Expr::Binder(_) => Some(part.clone()),
        _ => None,
    });
    found.then_some(plain)
}

/// a · b.
pub(super) fn product(a: Expr, b: Expr) -> Expr {
    Expr::Multiply(vec![a, b])
}

/// An answer with every expression in it changed.
pub(super) fn map(answer: &Answer, change: &mut dyn FnMut(&Expr) -> Expr) -> Answer {
    use crate::answer::{Endpoint, Interval, Matrix, Relation};
    let mut all =
        |parts: &[Answer]| -> Vec<Answer> { parts.iter().map(|part| map(part, change)).collect() };
    match answer {
        Answer::Quantity(quantity) => Answer::Quantity(Quantity {
            value: change(&quantity.value),
            ..quantity.clone()
        }),
        Answer::Relation(relation) => Answer::Relation(Relation {
            sides: all(&relation.sides),
            operators: relation.operators.clone(),
            modulus: relation.modulus.as_ref().map(change),
        }),
        Answer::Set(parts) => Answer::Set(all(parts)),
        Answer::List(parts) => Answer::List(all(parts)),
        Answer::Tuple(parts) => Answer::Tuple(all(parts)),
        Answer::Union(parts) => Answer::Union(all(parts)),
        Answer::Intersection(parts) => Answer::Intersection(all(parts)),
        Answer::Interval(interval) => {
            let mut end = |end: &Endpoint| Endpoint {
                value: change(&end.value),
                closed: end.closed,
            };
            Answer::Interval(Interval {
                lower: end(&interval.lower),
                upper: end(&interval.upper),
            })
        }
        Answer::Difference(pair) => {
            Answer::Difference(Box::new((map(&pair.0, change), map(&pair.1, change))))
        }
        Answer::Matrix(matrix) => Answer::Matrix(Matrix {
            rows: matrix
                .rows
                .iter()
                .map(|row| row.iter().map(&mut *change).collect())
                .collect(),
        }),
        Answer::Ratio(parts) => Answer::Ratio(parts.iter().map(change).collect()),
        other => other.clone(),
    }
}
