//! Sets of real numbers against each other: intervals, unions, inequalities.

use std::cmp::Ordering;

use super::comparison::Comparison;
use super::context::{Context, other_kind};
use super::numbers::{self, Value};
use super::real_set::{order_of, sets};
use super::{expressions, matching, solve};
use crate::algebra;
use crate::answer::{Answer, Interval};

/// Does an answer state a stretch of the real line?
pub(super) fn is_region(answer: &Answer) -> bool {
    matches!(
        answer,
        Answer::Interval(_) | Answer::Union(_) | Answer::Intersection(_) | Answer::Difference(_)
    )
}

/// At least one side states a region: an interval, a union, an inequality.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    match (gold, pred) {
        (Answer::Interval(a), Answer::Interval(b)) => {
            let verdict = intervals(a, b, context);
            // Nothing is claimed of intervals whose ends stand the wrong way round.
            if verdict.equal == Some(false) && may_be_empty(a, b, context) {
                return Comparison::open("intervals that hold nothing");
            }
            return verdict;
        }
        // `[1, 2]` may be a list in square brackets.
        (Answer::Interval(interval), Answer::List(parts))
        | (Answer::List(parts), Answer::Interval(interval))
            if interval.lower.closed && interval.upper.closed && parts.len() == 2 =>
        {
            let ends = [
                expressions::answer(interval.lower.value.clone()),
                expressions::answer(interval.upper.value.clone()),
            ];
            let alike = context
                .quietly(|context| matching::unordered(&ends, parts, false, context))
                .equal;
            if alike != Some(false) {
                return Comparison::open("an interval, or a list in square brackets");
            }
        }
        (Answer::Union(a), Answer::Union(b)) if a.len() == b.len() => {
            // Ends with letters in them cannot be put in order, but may be the same.
            let verdict = context.quietly(|context| matching::unordered(a, b, true, context));
            if verdict.equal == Some(true) {
                return verdict.by("interval");
            }
        }
        _ => {}
    }
    let left = solve::region(gold, context);
    let right = solve::region(pred, context);
    match (left, right) {
        (Some(a), Some(b)) => {
            if let (Some(x), Some(y)) = (&a.variable, &b.variable)
                && x != y
            {
                let letters =
                    || format!("{} is not {}", expressions::show(x), expressions::show(y));
                return context.different("names", letters);
            }
            let named = a.variable.is_some() || b.variable.is_some();
            let method = if named { "solutions" } else { "interval" };
            sets(method, &a.set, &b.set, context)
        }
        _ if gold == pred => Comparison::equal("structure"),
        _ => unlike(gold, pred, context),
    }
}

/// Regions that could not be computed.
fn unlike(gold: &Answer, pred: &Answer, context: &Context<'_>) -> Comparison {
    for side in [gold, pred] {
        match side {
            Answer::Tuple(parts) if parts.len() != 2 => {
                return Comparison::different("kind", "an interval has two ends");
            }
            Answer::Matrix(_) | Answer::Ratio(_) | Answer::Time { .. } => {
                return other_kind(gold, pred, context);
            }
            _ => {}
        }
    }
    Comparison::open("a set of numbers that could not be computed")
}

/// Interval against interval, end by end.
fn intervals(a: &Interval, b: &Interval, context: &mut Context<'_>) -> Comparison {
    let mut parts = Vec::with_capacity(2);
    for (x, y) in [(&a.lower, &b.lower), (&a.upper, &b.upper)] {
        let infinite =
            algebra::infinity(&x.value).is_some() && algebra::infinity(&y.value).is_some();
        if x.closed != y.closed && !infinite {
            return Comparison::different(
                "interval",
                "an end belongs to one of the intervals only",
            );
        }
        let part = numbers::compare(Value::of(&x.value), Value::of(&y.value), context);
        if part.equal == Some(false) {
            return part.by("interval");
        }
        parts.push(part);
    }
    Comparison::all("interval", parts)
}
fn may_be_empty(a: &Interval, b: &Interval, context: &mut Context<'_>) -> bool {
    [a, b].into_iter().all(|interval| {
        order_of(&interval.lower.value, &interval.upper.value, context) != Some(Ordering::Less)
            && algebra::infinity(&interval.lower.value).is_none()
            && algebra::infinity(&interval.upper.value).is_none()
    })
}
