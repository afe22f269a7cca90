//! Enclosed decision: an enclosure without 0 proves difference; agreement to hundreds of digits is reported as such.

use super::ball::{self, Arithmetic, Big, Branches, Double, PointValue, Real, Value};
use super::budget::{Budget, Failure, Outcome};
use super::features::Features;
use super::{sample, walk};
use crate::expr::Expr;

/// What the enclosures of two values show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosed {
    /// Disjoint: the values differ.
    Different,
    /// Both exact, and the same rational number.
    Equal,
    /// Narrow, and overlapping: equal to so many bits.
    Agreeing,
    /// At least one side has no value.
    Undefined,
    /// Too wide to tell.
    Open,
}

/// Bits that have to agree before two constants are called numerically equal.
const AGREEMENT: u32 = 500;
/// Precisions, one after the other, of constants.
const CONSTANT_LADDER: [u32; 3] = [192, 576, 1_600];
/// The same at points, with the bits that have to agree; the first point begins with the second.
const POINT_LADDER: [(u32, u32); 3] = [(320, 256), (576, AGREEMENT), (1_600, AGREEMENT)];
/// Bits to which doubles of values that are likely equal agree.
const CLOSE: u32 = 20;
/// Points at which expressions with variables are compared to so many bits; fewer are no evidence.
const POINTS: usize = 3;

fn at_point<R: Real>(
    a: &Expr,
    b: &Expr,
    point: &[(&str, PointValue)],
    bits: u32,
    agreement: u32,
    branches: Branches,
    budget: &mut Budget,
) -> Outcome<Enclosed> {
    let arithmetic = Arithmetic { bits };
    let left = ball::evaluate::<R>(a, point, bits, branches, budget);
    let right = match left {
        Err(Failure::Undefined | Failure::TooComplex) => Err(Failure::Unknown),
        _ => ball::evaluate::<R>(b, point, bits, branches, budget),
    };
    if budget.steps == 0 {
        return Err(Failure::TooComplex);
    }
    match (left, right) {
        (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => Ok(Enclosed::Undefined),
        (Ok(left), Ok(right)) => {
            let difference = arithmetic.add(&left, &right.negated());
            if difference.is_nonzero() {
                return Ok(Enclosed::Different);
            }
            if matches!(difference, Value::Exact(_)) {
                return Ok(Enclosed::Equal);
            }
            Ok(if arithmetic.agrees(&difference, &left, agreement) {
                Enclosed::Agreeing
            } else {
                Enclosed::Open
            })
        }
        _ => Ok(Enclosed::Open),
    }
}

/// What doubles show of two constants: apart, or so close that they are likely equal.
pub(super) fn rough(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<Enclosed> {
    at_point::<Double>(a, b, &[], 53, CLOSE, Branches::RealRoots, budget)
}

/// Compares two constants of which doubles showed so much.
pub(super) fn constants(
    a: &Expr,
    b: &Expr,
    rough: Enclosed,
    budget: &mut Budget,
) -> Outcome<Enclosed> {
    // The first step tells those apart that are not that close.
    for &bits in &CONSTANT_LADDER[usize::from(rough == Enclosed::Agreeing)..] {
        match at_point::<Big>(a, b, &[], bits, AGREEMENT, Branches::RealRoots, budget)? {
            Enclosed::Open => {}
            decided => return Ok(decided),
        }
    }
    Ok(Enclosed::Open)
}

/// Compares two expressions at points: with doubles at many, then to hundreds of digits at some.
pub(super) fn functions(
    a: &Expr,
    b: &Expr,
    features: &Features<'_>,
    budget: &mut Budget,
) -> Outcome<Enclosed> {
    let variables = walk::variables_of([a, b]);
    let modes = [Branches::RealValues, Branches::RealRoots];
    let mut open = false;
    for &branches in &modes[usize::from(features.imaginary)..] {
        match at_several(a, b, features, &variables, branches, budget)? {
            Enclosed::Undefined => {}
            Enclosed::Open => open = true,
            decided => return Ok(decided),
        }
        if open {
            break;
        }
    }
    Ok([Enclosed::Undefined, Enclosed::Open][usize::from(open)])
}

fn at_several(
    a: &Expr,
    b: &Expr,
    features: &Features<'_>,
    variables: &[Box<str>],
    branches: Branches,
    budget: &mut Budget,
) -> Outcome<Enclosed> {
    let mut candidates = Vec::new();
    for index in 0..sample::MOST_POINTS {
        if index >= sample::POINTS && candidates.len() >= 2 * POINTS {
            break;
        }
        let point = sample::point(index, variables, features);
        match at_point::<Double>(a, b, &point, 53, CLOSE, branches, budget)? {
            Enclosed::Different => return Ok(Enclosed::Different),
            Enclosed::Agreeing | Enclosed::Equal => {
                candidates.insert(0, index);
            }
            Enclosed::Open => candidates.push(index),
            Enclosed::Undefined => {}
        }
    }
    let mut agreeing = 0;
    let mut seen = 0;
    for index in candidates {
        let point = sample::point(index, variables, features);
        for (bits, agreement) in &POINT_LADDER[usize::from(agreeing == 0)..] {
            match at_point::<Big>(a, b, &point, *bits, *agreement, branches, budget)? {
                Enclosed::Different => return Ok(Enclosed::Different),
                Enclosed::Agreeing | Enclosed::Equal => {
                    agreeing += 1;
                    seen += 1;
                    break;
                }
                Enclosed::Undefined => break,
                Enclosed::Open => {
                    seen += usize::from(*bits == POINT_LADDER[2].0);
                }
            }
        }
        if agreeing >= POINTS {
            return Ok(Enclosed::Agreeing);
        }
    }
    Ok([Enclosed::Undefined, Enclosed::Open][usize::from(seen > 0)])
}
