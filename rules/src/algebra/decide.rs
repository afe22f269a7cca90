//! The questions, and who answers them: exact arithmetic, evaluation modulo primes, enclosures, cheapest first.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::arbiter::{self, Numeric};
use super::ball::{Arithmetic, Big, Double, Evaluation, Real, Value};
use super::binder;
use super::budget::{Budget, Failure, Outcome};
use super::fold;
use super::modular::{self, Verdict};
use super::traits::Look;
use super::walk;
use crate::algebra::{Constant, Expr, Rational};

/// What is known of a = b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
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

/// Are `a` and `b` equal as functions of their variables?
///
/// Variables are real unless conjugates or the like are taken, and where one side has no real value nothing is compared:
/// (√x)² is x. The text names the argument that settled it.
pub(crate) fn identical(a: &Expr, b: &Expr, budget: &mut Budget) -> (Identity, &'static str) {
    if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
        let verdict = if a == b {
            Identity::Equal
        } else {
            Identity::Different
        };
        return (verdict, "rational");
    }
    match compare(a, b, budget) {
        Ok(verdict) => verdict,
        Err(Failure::Undefined) => (Identity::Undefined, "undefined"),
        Err(Failure::Unknown | Failure::TooComplex) => (Identity::TooComplex, "budget"),
    }
}

fn compare(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<(Identity, &'static str)> {
    let look = Look::at(a, b, budget);
    budget.spend(look.nodes / 8)?;
    let same = a == b;
    if look.binder {
        let (left, right) = (binder::eliminate(a, budget), binder::eliminate(b, budget));
        return match (left, right) {
            (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => Err(Failure::Undefined),
            (Ok(left), Ok(right)) => {
                let look = Look::at(&left, &right, budget);
                compare_values(&left, &right, &look, same || left == right, budget)
            }
            _ if same => Ok((Identity::Equal, "structure")),
            _ => Err(Failure::TooComplex),
        };
    }
    compare_values(a, b, &look, same, budget)
}

/// Binders that are left have no value but are equal to themselves.
fn compare_values(
    a: &Expr,
    b: &Expr,
    look: &Look<'_>,
    same: bool,
    budget: &mut Budget,
) -> Outcome<(Identity, &'static str)> {
    if same && !look.infinite && !divides_by_constant(a) {
        return Ok((Identity::Equal, "structure"));
    }
    if look.infinite {
        return Ok(infinities(a, b, same, budget));
    }
    if look.traits.constant {
        let share = budget.steps / 8;
        match (
            fold::fold_within(a, share, budget),
            fold::fold_within(b, share, budget),
        ) {
            (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => {
                return Err(Failure::Undefined);
            }
            (Ok(a), Ok(b)) => {
                let verdict = if a == b {
                    Identity::Equal
                } else {
                    Identity::Different
                };
                return Ok((verdict, "rational"));
            }
            _ if budget.steps == 0 => return Err(Failure::TooComplex),
            _ => {}
        }
    }
    if look.traits.constant && arbiter::apart(a, b, budget)? {
        return Ok((Identity::Different, "enclosure"));
    }
    let mut up_to_signs = false;
    match modular::compare(a, b, &look.traits, budget)? {
        Verdict::Equal if look.assumed => up_to_signs = true,
        Verdict::Equal => return Ok((Identity::Equal, "identity")),
        Verdict::Different => return Ok((Identity::Different, "identity")),
        Verdict::Undefined => return Err(Failure::Undefined),
        Verdict::EqualUpToSigns => up_to_signs = true,
        Verdict::Open => {}
    }
    let numeric = if look.traits.constant {
        arbiter::constants(a, b, budget)?
    } else {
        arbiter::functions(a, b, look, up_to_signs, budget)?
    };
    if numeric == Numeric::Agreeing
        && look.traits.constant
        && !look.imaginary
        && !look.transcendental
        && let Some(equal) = arbiter::algebraic(a, b, budget)?
    {
        let verdict = if equal {
            Identity::Equal
        } else {
            Identity::Different
        };
        return Ok((verdict, "separation"));
    }
    Ok(match numeric {
        Numeric::Different => (Identity::Different, "enclosure"),
        Numeric::Equal => (Identity::Equal, "rational"),
        Numeric::Agreeing if up_to_signs => (Identity::Equal, "identity"),
        Numeric::Agreeing => (Identity::NumericallyEqual, "digits"),
        Numeric::Undefined => (Identity::Undefined, "undefined"),
        Numeric::Open if same => (Identity::Equal, "structure"),
        Numeric::Open => (Identity::TooComplex, "budget"),
    })
}

/// Is there a power of a constant that may be a division by 0, or another function that may have no value?
fn divides_by_constant(expr: &Expr) -> bool {
    walk::any(expr, &mut |part| match part {
        Expr::Power(pair) => {
            let harmless = match (&pair.0, &pair.1) {
                (Expr::Number(base), _) => !base.is_zero(),
                (Expr::Constant(_) | Expr::Symbol(_), _) => true,
                (_, Expr::Number(exponent)) => *exponent > Rational::ZERO,
                _ => false,
            };
            !harmless
        }
        _ => false,
    })
}

/// A value on the extended line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extended {
    Finite,
    Infinite(Ordering),
}

/// Where ∞ occurs.
fn infinities(a: &Expr, b: &Expr, same: bool, budget: &mut Budget) -> (Identity, &'static str) {
    match (extended(a, budget), extended(b, budget)) {
        (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => {
            (Identity::Undefined, "undefined")
        }
        (Ok(Extended::Finite), Ok(Extended::Finite)) => (Identity::TooComplex, "budget"),
        (Ok(a), Ok(b)) if a == b => (Identity::Equal, "infinity"),
        (Ok(_), Ok(_)) => (Identity::Different, "infinity"),
        _ if same => (Identity::Equal, "structure"),
        _ => (Identity::TooComplex, "budget"),
    }
}

/// The kind of value, of sums, products and powers of ∞ and real constants.
fn extended(expr: &Expr, budget: &mut Budget) -> Outcome<Extended> {
    budget.spend(1)?;
    let has_infinity = walk::any(expr, &mut |part| {
        matches!(part, Expr::Constant(Constant::Infinity))
    });
    if !has_infinity {
        // A variable may be anything.
        return Ok(Extended::Finite);
    }
    match expr {
        Expr::Constant(Constant::Infinity) => Ok(Extended::Infinite(Ordering::Greater)),
        Expr::Add(parts) => {
            let mut sum = Extended::Finite;
            for part in parts {
                match (sum, extended(part, budget)?) {
                    (_, Extended::Finite) => {}
                    (Extended::Finite, infinite) => sum = infinite,
                    (one, other) if one == other => {}
                    _ => return Err(Failure::Undefined),
                }
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => {
            let mut negative = false;
            for part in parts {
                match extended(part, budget)? {
                    Extended::Infinite(sign) => negative ^= sign == Ordering::Less,
                    Extended::Finite => match sign(part, budget)? {
                        Ordering::Equal => return Err(Failure::Undefined),
                        sign => negative ^= sign == Ordering::Less,
                    },
                }
            }
            Ok(Extended::Infinite(if negative {
                Ordering::Less
            } else {
                Ordering::Greater
            }))
        }
        Expr::Power(pair) => {
            let (Extended::Infinite(sign), Expr::Number(exponent)) =
                (extended(&pair.0, budget)?, &pair.1)
            else {
                return Err(Failure::Unknown);
            };
            if *exponent < Rational::ZERO {
                return Ok(Extended::Finite);
            }
            if exponent.is_zero() {
                return Err(Failure::Undefined);
            }
            let odd = exponent
                .numerator()
                .as_sign_words()
                .1
                .first()
                .is_some_and(|word| word & 1 == 1);
            match sign {
                Ordering::Less if !exponent.is_int() => Err(Failure::Undefined),
                Ordering::Less if odd => Ok(Extended::Infinite(Ordering::Less)),
                _ => Ok(Extended::Infinite(Ordering::Greater)),
            }
        }
        _ => Err(Failure::Unknown),
    }
}

fn sign(expr: &Expr, budget: &mut Budget) -> Outcome<Ordering> {
    order(expr, &Expr::Number(Rational::ZERO), budget).ok_or(Failure::Unknown)
}

/// The order of two real constants; `None` where they are not real constants or it cannot be told.
pub(crate) fn order(a: &Expr, b: &Expr, budget: &mut Budget) -> Option<Ordering> {
    if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
        return Some(a.cmp(b));
    }
    let (a, b) = (&*plain(a, budget)?, &*plain(b, budget)?);
    let look = Look::at(a, b, budget);
    if !look.traits.constant {
        return None;
    }
    if look.infinite {
        return match (extended(a, budget).ok()?, extended(b, budget).ok()?) {
            (Extended::Infinite(sign), Extended::Finite) => Some(sign),
            (Extended::Finite, Extended::Infinite(sign)) => Some(sign.reverse()),
            (Extended::Infinite(a), Extended::Infinite(b)) => Some(a.cmp(&b)),
            (Extended::Finite, Extended::Finite) => None,
        };
    }
    if !look.transcendental
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

/// The expression without binders.
pub(super) fn plain<'e>(expr: &'e Expr, budget: &mut Budget) -> Option<Cow<'e, Expr>> {
    if walk::any(expr, &mut |part| matches!(part, Expr::Binder(_))) {
        binder::eliminate(expr, budget).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(expr))
    }
}

fn evaluate<R: Real>(expr: &Expr, bits: u32, budget: &mut Budget) -> Outcome<Value<R>> {
    Evaluation {
        point: &[],
        arithmetic: Arithmetic { bits },
        real_only: false,
        principal: false,
        budget,
    }
    .value(expr)
}

fn is_real(expr: &Expr, budget: &mut Budget) -> bool {
    !matches!(
        evaluate::<Double>(expr, 53, budget),
        Ok(Value::Complex(..)) | Err(Failure::Undefined)
    )
}

fn enclosed_order<R: Real>(a: &Expr, b: &Expr, bits: u32, budget: &mut Budget) -> Option<Ordering> {
    let arithmetic = Arithmetic { bits };
    let left = evaluate::<R>(a, bits, budget).ok()?;
    let right = evaluate::<R>(b, bits, budget).ok()?;
    match arithmetic.add(&left, &right.negated()) {
        Value::Exact(difference) => Some(difference.cmp(&Rational::ZERO)),
        Value::Real(difference) => difference.sign(),
        Value::Complex(..) => None,
    }
}

/// The exact value of a constant expression that is rational; `None` for the rest.
pub(crate) fn rational(expr: &Expr, budget: &mut Budget) -> Option<Rational> {
    rational_value(expr, budget).ok()
}

pub(super) fn rational_value(expr: &Expr, budget: &mut Budget) -> Outcome<Rational> {
    match fold::fold(expr, budget) {
        Err(Failure::Unknown) => {}
        decided => return decided,
    }
    let plain = plain(expr, budget).ok_or(Failure::Unknown)?;
    if let Cow::Owned(value) = &plain
        && let Ok(value) = fold::fold(value, budget)
    {
        return Ok(value);
    }
    let expr = &*plain;
    let look = Look::at(expr, expr, budget);
    if !look.traits.constant || look.infinite {
        return Err(Failure::Unknown);
    }
    // Not by itself: √2·√8, sin(π/6). A simple fraction nearby is tried.
    let Value::Real(value) = evaluate::<Double>(expr, 53, budget)? else {
        return Err(Failure::Unknown);
    };
    let guess = nearby(value.middle()).ok_or(Failure::Unknown)?;
    match identical(expr, &Expr::Number(guess.clone()), budget).0 {
        Identity::Equal => Ok(guess),
        _ => Err(Failure::Unknown),
    }
}

/// A fraction with a small denominator that is very near.
fn nearby(value: f64) -> Option<Rational> {
    if !value.is_finite() || value.abs() > 1e9 {
        return None;
    }
    let (mut before, mut last) = ((0i64, 1i64), (1i64, 0i64));
    let mut rest = value;
    for _ in 0..12 {
        let whole = rest.floor();
        if whole.abs() > 1e9 {
            return None;
        }
        let whole_integer = whole as i64;
        let numerator = whole_integer.checked_mul(last.0)?.checked_add(before.0)?;
        let denominator = whole_integer.checked_mul(last.1)?.checked_add(before.1)?;
        (before, last) = (last, (numerator, denominator));
        if denominator > 100_000 {
            return None;
        }
        let near = numerator as f64 / denominator as f64;
        if (near - value).abs() <= 1e-12 * value.abs().max(1.0) {
            return Some(Rational::from_parts_signed(
                numerator.into(),
                denominator.into(),
            ));
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

/// A real constant near enough for sorting and printing; `None` where it is not real, not constant, or not finite.
pub(crate) fn approximate(expr: &Expr, budget: &mut Budget) -> Option<f64> {
    if let Expr::Number(value) = expr {
        let near = value.to_f64_fast();
        return near.is_finite().then_some(near);
    }
    let expr = &*plain(expr, budget)?;
    let near = match evaluate::<Double>(expr, 53, budget) {
        Ok(Value::Exact(value)) => value.to_f64_fast(),
        Ok(Value::Real(value)) if value.within(20, &value) => value.middle(),
        Ok(Value::Complex(..)) | Err(Failure::Undefined) => return None,
        _ => match evaluate::<Big>(expr, 192, budget) {
            Ok(Value::Exact(value)) => value.to_f64_fast(),
            Ok(Value::Real(value)) if value.within(20, &value) => value.middle(),
            _ => return None,
        },
    };
    near.is_finite().then_some(near)
}

/// Is the expression 0, proved?
pub(super) fn is_zero(expr: &Expr, budget: &mut Budget) -> bool {
    let zero = Expr::integer(0);
    let look = Look::at(expr, &zero, budget);
    if look.infinite || look.binder {
        return false;
    }
    identical(expr, &zero, budget).0 == Identity::Equal
}

/// Has the expression a value? `None` where that cannot be told.
pub(super) fn is_defined(expr: &Expr, budget: &mut Budget) -> Option<bool> {
    let look = Look::at(expr, expr, budget);
    if look.infinite || look.binder {
        return None;
    }
    if look.traits.constant {
        match evaluate::<Double>(expr, 53, budget) {
            Ok(_) => return Some(true),
            Err(Failure::Undefined) => return Some(false),
            Err(_) => {}
        }
    }
    match modular::compare(expr, expr, &look.traits, budget) {
        Ok(Verdict::Equal | Verdict::EqualUpToSigns) => Some(true),
        Ok(Verdict::Undefined) => Some(false),
        _ => None,
    }
}
