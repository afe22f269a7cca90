//! Are two expressions without binders equal? Exact arithmetic, evaluation modulo primes and enclosures, cheapest first.

use std::cmp::Ordering;

use super::ball::{self, Arithmetic, Big, Double, Real, Value};
use super::budget::{Budget, Failure, Outcome};
use super::enclosure::{self, Enclosed};
use super::expr::{Constant, Expr, Rational};
use super::features::Features;
use super::modular::{self, Congruence};
use super::{fold, walk};

/// What is known of a = b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// Equal wherever both are defined, proved (up to a probability below 2^−100).
    Equal,
    /// Different, proved.
    Different,
    /// Equal to hundreds of digits; nothing decides the case.
    NumericallyEqual,
    /// One side has no value (0/0, 1/0) or is not understood.
    Undefined,
    /// The budget ran out.
    TooComplex,
}

impl Identity {
    /// Equal or different, proved.
    pub(super) fn proved(equal: bool) -> Self {
        if equal { Self::Equal } else { Self::Different }
    }
}

/// Are `a` and `b` equal as functions of their variables? Without binders, or with such as have no known value.
pub(super) fn identical(a: &Expr, b: &Expr, budget: &mut Budget) -> (Identity, &'static str) {
    let features = Features::at(a, b);
    let found = budget
        .spend(features.nodes / 8)
        .and_then(|()| compare_values(a, b, &features, a == b, budget));
    result(found)
}

pub(super) fn result(found: Outcome<(Identity, &'static str)>) -> (Identity, &'static str) {
    match found {
        Ok(found) => found,
        Err(Failure::Undefined) => (Identity::Undefined, "undefined"),
        Err(Failure::Unknown | Failure::TooComplex) => (Identity::TooComplex, "budget"),
    }
}

/// Binders that are left have no value but are equal to themselves.
pub(super) fn compare_values(
    a: &Expr,
    b: &Expr,
    features: &Features<'_>,
    same: bool,
    budget: &mut Budget,
) -> Outcome<(Identity, &'static str)> {
    if same && !features.infinite && !divides_by_constant(a) {
        return Ok((Identity::Equal, "structure"));
    }
    if features.infinite {
        return match (infinity(a), infinity(b)) {
            (Some(a), Some(b)) => Ok((Identity::proved(a == b), "infinity")),
            (Some(_), None) if !walk::has_infinity(b) => Ok((Identity::Different, "infinity")),
            (None, Some(_)) if !walk::has_infinity(a) => Ok((Identity::Different, "infinity")),
            // ∞ − ∞ has no value, but a series is equal to itself.
            _ if same && !has_bare_infinity(a) => Ok((Identity::Equal, "structure")),
            _ => Err(Failure::TooComplex),
        };
    }
    if features.constant {
        let share = budget.steps / 8;
        match (
            fold::fold_within(a, share, budget),
            fold::fold_within(b, share, budget),
        ) {
            (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => {
                return Err(Failure::Undefined);
            }
            (Ok(a), Ok(b)) => {
                return Ok((Identity::proved(a == b), "rational"));
            }
            _ if budget.steps == 0 => return Err(Failure::TooComplex),
            _ => {}
        }
    }
    let mut rough = Enclosed::Open;
    if features.constant {
        rough = enclosure::rough(a, b, budget)?;
        if rough == Enclosed::Different {
            return Ok((Identity::Different, "enclosure"));
        }
    }
    match modular::compare(a, b, budget)? {
        Congruence::Equal => return Ok((Identity::Equal, "identity")),
        Congruence::Different => return Ok((Identity::Different, "identity")),
        Congruence::Undefined => return Err(Failure::Undefined),
        Congruence::Open => {}
    }
    let enclosed = if features.constant {
        enclosure::constants(a, b, rough, budget)?
    } else {
        enclosure::functions(a, b, features, budget)?
    };
    Ok(match enclosed {
        Enclosed::Different => (Identity::Different, "enclosure"),
        Enclosed::Equal => (Identity::Equal, "rational"),
        Enclosed::Agreeing => (Identity::NumericallyEqual, "digits"),
        Enclosed::Undefined => (Identity::Undefined, "undefined"),
        Enclosed::Open if same => (Identity::Equal, "structure"),
        Enclosed::Open => (Identity::TooComplex, "budget"),
    })
}

/// The sign of ∞, or of a number times it.
pub fn infinity(expr: &Expr) -> Option<Ordering> {
    match expr {
        Expr::Constant(Constant::Infinity) => Some(Ordering::Greater),
        Expr::Multiply(parts) => match parts.as_slice() {
            [Expr::Number(factor), Expr::Constant(Constant::Infinity)] if !factor.is_zero() => {
                Some(factor.cmp(&Rational::ZERO))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Does ∞ occur, other than as a limit of a binder?
fn has_bare_infinity(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Binder(binder) => has_bare_infinity(&binder.body),
        other => walk::any_part(other, has_bare_infinity),
    }
}

/// Is there a power of a constant that may be a division by 0, or another function that may have no value?
fn divides_by_constant(expr: &Expr) -> bool {
    walk::any(expr, &mut |part| {
        matches!(part, Expr::Power(pair) if !match (&pair.0, &pair.1) {
            (Expr::Number(base), _) => !base.is_zero(),
            (Expr::Constant(_) | Expr::Symbol(_), _) => true,
            (_, Expr::Number(exponent)) => *exponent > Rational::ZERO,
            _ => false,
        })
    })
}

/// The order of two real constants; `None` where they are not real constants or it cannot be told.
pub(super) fn order(a: &Expr, b: &Expr, budget: &mut Budget) -> Option<Ordering> {
    if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
        return Some(a.cmp(b));
    }
    let features = Features::at(a, b);
    if !features.constant {
        return None;
    }
    if features.infinite {
        return match (infinity(a), infinity(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            (Some(sign), None) if !walk::has_infinity(b) => Some(sign),
            (None, Some(sign)) if !walk::has_infinity(a) => Some(sign.reverse()),
            _ => None,
        };
    }
    if !features.transcendental
        && let (Ok(a), Ok(b)) = (fold::fold(a, budget), fold::fold(b, budget))
    {
        return Some(a.cmp(&b));
    }
    if let Some(order) = enclosed_order::<Double>(a, b, 53, budget) {
        return Some(order);
    }
    for bits in [128, 512] {
        if let Some(order) = enclosed_order::<Big>(a, b, bits, budget) {
            return Some(order);
        }
        if bits == 128 {
            match identical(a, b, budget).0 {
                Identity::Equal | Identity::NumericallyEqual => {
                    // Both must be real for an order to exist.
                    return is_real(a, budget).then_some(Ordering::Equal);
                }
                Identity::Undefined | Identity::TooComplex => return None,
                Identity::Different => {}
            }
        }
    }
    None
}

fn is_real(expr: &Expr, budget: &mut Budget) -> bool {
    !matches!(
        ball::constant::<Double>(expr, 53, budget),
        Ok(Value::Complex(..)) | Err(Failure::Undefined)
    )
}

fn enclosed_order<R: Real>(a: &Expr, b: &Expr, bits: u32, budget: &mut Budget) -> Option<Ordering> {
    let arithmetic = Arithmetic { bits };
    let left = ball::constant::<R>(a, bits, budget).ok()?;
    let right = ball::constant::<R>(b, bits, budget).ok()?;
    match arithmetic.add(&left, &right.negated()) {
        Value::Exact(difference) => Some(difference.cmp(&Rational::ZERO)),
        Value::Real(difference) => difference.sign(),
        Value::Complex(..) => None,
    }
}

/// Are two expressions without ∞ and binders equal, by evaluation modulo primes alone?
pub(super) fn agree(a: &Expr, b: &Expr, budget: &mut Budget) -> bool {
    let features = Features::at(a, b);
    if features.infinite || features.binder {
        return false;
    }
    matches!(modular::compare(a, b, budget), Ok(Congruence::Equal))
}
