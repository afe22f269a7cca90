//! Numeric decision: an enclosure without 0 proves difference; agreement to hundreds of digits is reported as such.

use super::ball::{Arithmetic, Big, Double, Evaluation, PointValue, Real, Value};
use super::budget::{Budget, Failure, Outcome};
use super::traits::Look;
use super::walk;
use super::{sample, separation};
use crate::algebra::Expr;

/// What enclosures tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numeric {
    /// Proved.
    Different,
    /// Two constants with the same rational value.
    Equal,
    /// As equal as the digits looked at.
    Agreeing,
    /// No value anywhere.
    Undefined,
    /// Not told.
    Open,
}

/// Bits that have to agree before two constants are called numerically equal.
const AGREEMENT: u32 = 500;
/// Precisions, one after the other, of constants and at points.
const CONSTANT_LADDER: [u32; 3] = [192, 704, 1_600];
const POINT_LADDER: [u32; 2] = [704, 1_600];
/// The same where equality is known but for signs, which only have to be told apart.
const QUICK_LADDER: [u32; 2] = [256, 704];
const QUICK_AGREEMENT: u32 = 180;
/// Points at which expressions with variables are compared to [`AGREEMENT`] bits.
const POINTS: usize = 6;
/// Fewer than this are no evidence.
const LEAST: usize = 3;

/// One comparison of two values.
enum Sight {
    Different,
    Equal,
    Agreeing,
    Undefined,
    Unknown,
}

/// Compares at one point.
fn look_at<R: Real>(
    a: &Expr,
    b: &Expr,
    point: &[(&str, PointValue)],
    bits: u32,
    agreement: u32,
    real_only: bool,
    budget: &mut Budget,
) -> Outcome<Sight> {
    let arithmetic = Arithmetic { bits };
    let mut evaluation = Evaluation {
        point,
        arithmetic,
        real_only,
        principal: false,
        budget,
    };
    let left: Outcome<Value<R>> = evaluation.value(a);
    let right: Outcome<Value<R>> = match left {
        Err(Failure::Undefined | Failure::TooComplex) => Err(Failure::Unknown),
        _ => evaluation.value(b),
    };
    if budget.steps == 0 {
        return Err(Failure::TooComplex);
    }
    match (left, right) {
        (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => Ok(Sight::Undefined),
        (Ok(left), Ok(right)) => {
            let difference = arithmetic.add(&left, &right.negated());
            if difference.is_nonzero() {
                return Ok(Sight::Different);
            }
            if matches!(difference, Value::Exact(_)) {
                return Ok(Sight::Equal);
            }
            Ok(if arithmetic.agrees(&difference, &left, agreement) {
                Sight::Agreeing
            } else {
                Sight::Unknown
            })
        }
        _ => Ok(Sight::Unknown),
    }
}

/// Do doubles show that two constants differ?
pub(super) fn apart(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<bool> {
    let sight = look_at::<Double>(a, b, &[], 53, AGREEMENT, false, budget)?;
    Ok(matches!(sight, Sight::Different))
}

/// Compares two constants.
pub(super) fn constants(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<Numeric> {
    for bits in CONSTANT_LADDER {
        match look_at::<Big>(a, b, &[], bits, AGREEMENT, false, budget)? {
            Sight::Different => return Ok(Numeric::Different),
            Sight::Equal => return Ok(Numeric::Equal),
            Sight::Undefined => return Ok(Numeric::Undefined),
            Sight::Agreeing => return Ok(Numeric::Agreeing),
            Sight::Unknown => {}
        }
    }
    Ok(Numeric::Open)
}

/// Are two constants, built with real roots, equal? Decided either way where the bound of separation is not too far out.
pub(super) fn algebraic(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<Option<bool>> {
    let difference = a.clone().minus(b.clone());
    let Some(separation) = separation::bits(&difference) else {
        return Ok(None);
    };
    Ok(
        match look_at::<Big>(a, b, &[], separation + 128, separation + 4, false, budget)? {
            Sight::Different => Some(false),
            Sight::Agreeing | Sight::Equal => Some(true),
            Sight::Undefined | Sight::Unknown => None,
        },
    )
}

/// Compares two expressions at points: with doubles at many, then to hundreds of digits at some.
///
/// `quick`: equality is known but for signs, and few digits are enough.
pub(super) fn functions(
    a: &Expr,
    b: &Expr,
    look: &Look<'_>,
    quick: bool,
    budget: &mut Budget,
) -> Outcome<Numeric> {
    let mut variables = walk::variables(a);
    variables.extend(walk::variables(b));
    variables.sort_unstable();
    variables.dedup();
    let modes: &[bool] = if look.imaginary {
        &[false]
    } else {
        &[true, false]
    };
    let mut open = false;
    for &real_only in modes {
        match at_points(a, b, look, &variables, real_only, quick, budget)? {
            Numeric::Undefined => {}
            Numeric::Open => open = true,
            decided => return Ok(decided),
        }
        if open {
            break;
        }
    }
    Ok(if open {
        Numeric::Open
    } else {
        Numeric::Undefined
    })
}

fn at_points(
    a: &Expr,
    b: &Expr,
    look: &Look<'_>,
    variables: &[Box<str>],
    real_only: bool,
    quick: bool,
    budget: &mut Budget,
) -> Outcome<Numeric> {
    let mut candidates = Vec::new();
    let mut close = 0;
    for index in 0..sample::MOST_POINTS {
        if index >= sample::POINTS && candidates.len() >= POINTS {
            break;
        }
        let point = sample::point(index, variables, look);
        match look_at::<Double>(a, b, &point, 53, 20, real_only, budget)? {
            Sight::Different => return Ok(Numeric::Different),
            Sight::Agreeing | Sight::Equal => {
                close += 1;
                candidates.insert(0, index);
            }
            Sight::Unknown => candidates.push(index),
            Sight::Undefined => {}
        }
    }
    let quick = quick && close >= LEAST;
    let (ladder, agreement, enough): (&[u32], u32, usize) = if quick {
        (&QUICK_LADDER, QUICK_AGREEMENT, LEAST)
    } else {
        (&POINT_LADDER, AGREEMENT, POINTS)
    };
    let mut agreeing = 0;
    let mut seen = 0;
    for index in candidates {
        let point = sample::point(index, variables, look);
        for &bits in ladder {
            match look_at::<Big>(a, b, &point, bits, agreement, real_only, budget)? {
                Sight::Different => return Ok(Numeric::Different),
                Sight::Agreeing | Sight::Equal => {
                    agreeing += 1;
                    seen += 1;
                    break;
                }
                Sight::Undefined => break,
                Sight::Unknown => {
                    seen += usize::from(Some(&bits) == ladder.last());
                }
            }
        }
        if agreeing >= enough {
            return Ok(Numeric::Agreeing);
        }
    }
    Ok(if agreeing >= LEAST {
        Numeric::Agreeing
    } else if seen > 0 {
        Numeric::Open
    } else {
        Numeric::Undefined
    })
}
