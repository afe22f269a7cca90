//! Times of day and ratios.

use super::comparison::Comparison;
use super::context::{Context, in_order_of_sides, other_kind};
use super::expressions;
use super::numbers::{self, Value};
use super::quantity;
use crate::algebra::Expr;
use crate::algebra::{self, Identity, Rational};
use crate::answer::Answer;

const HALF_DAY: u32 = 12 * 3600;

/// At least one side is a time or a ratio.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    match (gold, pred) {
        (
            Answer::Time {
                seconds: a,
                afternoon: half_a,
            },
            Answer::Time {
                seconds: b,
                afternoon: half_b,
            },
        ) => times(*a, *half_a, *b, *half_b, context),
        (Answer::Ratio(a), Answer::Ratio(b)) => ratios(a, b, context),
        (Answer::Ratio(ratio), Answer::Quantity(quantity))
        | (Answer::Quantity(quantity), Answer::Ratio(ratio)) => {
            let Some(fraction) = fraction(ratio) else {
                return other_kind(gold, pred, context);
            };
            let value = quantity::written(quantity);
            let swapped = matches!(gold, Answer::Quantity(_));
            let (a, b) = in_order_of_sides(Value::of(&fraction), value, swapped);
            numbers::compare(a, b, context)
        }
        (Answer::Ratio(ratio), Answer::Time { seconds, afternoon })
        | (Answer::Time { seconds, afternoon }, Answer::Ratio(ratio)) => {
            ratio_as_time(ratio, *seconds, *afternoon, context)
        }
        (Answer::Ratio(_), Answer::List(_) | Answer::Tuple(_))
        | (Answer::List(_) | Answer::Tuple(_), Answer::Ratio(_)) => {
            Comparison::open("a ratio against a list")
        }
        (Answer::Time { .. }, Answer::Quantity(quantity))
        | (Answer::Quantity(quantity), Answer::Time { .. })
            if quantity.unit.is_some() || expressions::number(&quantity.value).is_none() =>
        {
            Comparison::open("a time of day against a duration or an expression")
        }
        // "7" may be what is said of 7 p.m.
        (Answer::Time { seconds, .. }, Answer::Quantity(quantity))
        | (Answer::Quantity(quantity), Answer::Time { seconds, .. })
            if expressions::number(&quantity.value).is_some_and(|hours| {
                let hour = u64::from(*seconds / 3600);
                seconds % 3600 == 0
                    && (*hours == Rational::from(hour)
                        || *hours == Rational::from((hour + 11) % 12 + 1))
            }) =>
        {
            Comparison::open("a time of day against the number of its hour")
        }
        _ => other_kind(gold, pred, context),
    }
}

/// Two times of day. Before one o'clock in the afternoon, a time without a.m. or p.m. may be either.
fn times(
    a: u32,
    half_a: Option<bool>,
    b: u32,
    half_b: Option<bool>,
    context: &Context<'_>,
) -> Comparison {
    let either = |seconds: u32, half: Option<bool>| half.is_none() && seconds < HALF_DAY + 3600;
    let equal = if (either(a, half_a) && half_b.is_some() || either(b, half_b) && half_a.is_some())
        || either(a, half_a) != either(b, half_b)
    {
        a % HALF_DAY == b % HALF_DAY
    } else {
        a == b
    };
    if equal {
        return Comparison::equal("time");
    }
    let clock = |seconds: u32| format!("{}:{:02}", seconds / 3600, seconds / 60 % 60);
    context.different("time", || format!("{} and {} differ", clock(a), clock(b)))
}

/// a : b as a / b.
fn fraction(ratio: &[Expr]) -> Option<Expr> {
    match ratio {
        [a, b] => match expressions::number(b) {
            Some(b) if b.is_zero() => None,
            _ => Some(a.clone().divided_by(b.clone())),
        },
        _ => None,
    }
}
fn ratios(a: &[Expr], b: &[Expr], context: &mut Context<'_>) -> Comparison {
    if a.len() != b.len() {
        return Comparison::different("ratio", "ratios of a different number of parts differ");
    }
    // Against the first part that is zero on neither side.
    let is_something = |it: &Expr, context: &mut Context<'_>| {
        algebra::identical(it, &Expr::integer(0), &mut context.budget).0 == Identity::Different
    };
    let mut places = 0..a.len();
    let pivot = places.find(|&at| is_something(&a[at], context) && is_something(&b[at], context));
    let Some(pivot) = pivot else {
        return Comparison::open("ratios whose parts may be zero");
    };
    // 6:00 is no 5:00.
    if a.len() == 2 {
        let other = &a[1 - pivot];
        let (zero, one) = (Expr::integer(0), &b[pivot]);
        let ends = algebra::identical(other, &zero, &mut context.budget).0;
        let same = algebra::identical(&a[pivot], one, &mut context.budget).0;
        if ends == Identity::Equal && same == Identity::Different {
            return Comparison::different("ratio", "two times of day, or ratios to nothing");
        }
    }
    let mut parts = Vec::with_capacity(a.len());
    for (x, y) in a.iter().zip(b) {
        let left = expressions::product(x.clone(), b[pivot].clone());
        let right = expressions::product(y.clone(), a[pivot].clone());
        // Cross products are exact, never rounded.
        let part = numbers::compare(quantity::exact(&left), quantity::exact(&right), context);
        if part.equal == Some(false) {
            return Comparison::different("ratio", "the ratios differ");
        }
        parts.push(part);
    }
    Comparison::all("ratio", parts)
}

/// `3:45` was read as a ratio on one side, as a time on the other.
fn ratio_as_time(
    ratio: &[Expr],
    seconds: u32,
    half: Option<bool>,
    context: &Context<'_>,
) -> Comparison {
    let part = |index: usize| -> Option<u32> {
        let Some(expr) = ratio.get(index) else {
            return Some(0);
        };
        let value = expressions::number(expr)?;
        u32::try_from(value.numerator())
            .ok()
            .filter(|part| value.is_int() && *part < 60)
    };
    match (ratio.len(), part(0), part(1), part(2)) {
        (2 | 3, Some(hours), Some(minutes), Some(rest)) if hours <= 24 => {
            let time = hours * 3600 + minutes * 60 + rest;
            times(time, None, seconds, half, context)
        }
        _ => Comparison::different("kind", "a ratio is no time of day"),
    }
}
