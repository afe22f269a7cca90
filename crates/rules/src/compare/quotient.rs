//! Inequalities between a quotient of polynomials and 0.

use std::cmp::Ordering;

use super::context::Context;
use super::expressions;
use super::real_set::{self, Bound, RealSet};
use crate::algebra::{self, Expr, Rational};
use crate::answer::Operator;

/// Where p / q has a sign: between the roots of p and q it keeps it.
pub(super) fn sign_set(
    above: &[Rational],
    below: &[Rational],
    operator: Operator,
    context: &mut Context<'_>,
) -> Option<RealSet> {
    let roots_above = algebra::roots(above)?;
    let roots_below = algebra::roots(below)?;
    let points: Vec<(Expr, bool)> = roots_above
        .into_iter()
        .map(|root| (root, true))
        .chain(roots_below.into_iter().map(|root| (root, false)))
        .collect();
    let points = real_set::sorted(points, &mut |a, b| real_set::order_of(&a.0, &b.0, context))?;
    // Where both vanish, the quotient has no value.
    let mut distinct: Vec<(Expr, bool)> = Vec::with_capacity(points.len());
    for point in points {
        match distinct.last_mut() {
            Some(last) if real_set::order_of(&last.0, &point.0, context)? == Ordering::Equal => {
                last.1 &= point.1;
            }
            _ => distinct.push(point),
        }
    }
    let (strict, wanted) = match operator {
        Operator::Equal | Operator::NotEqual => (false, 0),
        Operator::Less => (true, -1),
        Operator::LessOrEqual => (false, -1),
        Operator::Greater => (true, 1),
        Operator::GreaterOrEqual => (false, 1),
        _ => return None,
    };
    let everywhere_zero = above.iter().all(Rational::is_zero);
    let mut sets = Vec::new();
    for index in 0..=distinct.len() {
        let from = index.checked_sub(1).and_then(|before| distinct.get(before));
        let to = distinct.get(index);
        let [low, high] = [from, to].map(|it| it.map(|point| &point.0));
        let sample = between(low, high, context)?;
        let sign = if everywhere_zero {
            0
        } else {
            sign(&algebra::evaluate(above, &sample)) * sign(&algebra::evaluate(below, &sample))
        };
        let inside = match operator {
            Operator::NotEqual => sign != 0,
            Operator::Equal => sign == 0,
            _ => sign == wanted || (sign == 0 && !strict),
        };
        if inside {
            let lower = from.map_or(Bound::Below, |point| Bound::At(point.0.clone()));
            let upper = to.map_or(Bound::Above, |point| Bound::At(point.0.clone()));
            sets.push(RealSet::between(lower, false, upper, false, context)?);
        }
        if let Some((root, zero)) = to {
            let holds = *zero && !strict && operator != Operator::NotEqual;
            if holds {
                sets.push(RealSet::point(root.clone(), context)?);
            }
        }
    }
    RealSet::union(sets, context)
}

fn sign(value: &Rational) -> i8 {
    match value.cmp(&Rational::ZERO) {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

/// A rational number strictly between two roots, proved to be there.
fn between(from: Option<&Expr>, to: Option<&Expr>, context: &mut Context<'_>) -> Option<Rational> {
    let exact_or_near = |root: &Expr, context: &mut Context<'_>| match expressions::number(root) {
        Some(value) => Some(value.into_owned()),
        None => Rational::try_from(algebra::approximate(root, &mut context.budget)?).ok(),
    };
    let sample = match (from, to) {
        (None, None) => return Some(Rational::ZERO),
        (Some(from), None) => Rational::from(exact_or_near(from, context)?.ceil()) + Rational::ONE,
        (None, Some(to)) => Rational::from(exact_or_near(to, context)?.floor()) - Rational::ONE,
        (Some(from), Some(to)) => {
            (exact_or_near(from, context)? + exact_or_near(to, context)?) / Rational::from(2)
        }
    };
    let at = Expr::Number(sample.clone());
    let above = match from {
        Some(from) => real_set::order_of(from, &at, context)? == Ordering::Less,
        None => true,
    };
    let below = match to {
        Some(to) => real_set::order_of(&at, to, context)? == Ordering::Less,
        None => true,
    };
    (above && below).then_some(sample)
}
