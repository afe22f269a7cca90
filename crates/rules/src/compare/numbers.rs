//! Two expressions, either of which may be a rounded decimal.

use std::cmp::Ordering;

use dashu_base::Abs;
use dashu_int::{IBig, UBig};

use super::comparison::Comparison;
use super::context::Context;
use super::expressions::{self, show};
use crate::algebra::{self, Identity};
use crate::algebra::{Expr, Rational};
use crate::verification::Status;

/// A value, and how many digits after the point its writer showed, if it is a decimal.
#[derive(Clone, Copy)]
pub(super) struct Value<'e> {
    pub(super) expr: &'e Expr,
    pub(super) places: Option<i64>,
}

impl<'e> Value<'e> {
    /// A value of which nothing but the number is known.
    pub(super) fn of(expr: &'e Expr) -> Self {
        Self {
            expr,
            places: expressions::places(expr),
        }
    }
}

/// Are two values equal, or is one the other as a decimal?
pub(super) fn compare(gold: Value<'_>, pred: Value<'_>, context: &mut Context<'_>) -> Comparison {
    let (a, b) = (gold.expr, pred.expr);
    if let (Expr::Number(x), Expr::Number(y)) = (a, b) {
        if x == y {
            return Comparison::equal("rational");
        }
    } else if let (infinite_a @ Some(_), infinite_b) | (infinite_a, infinite_b @ Some(_)) =
        (algebra::infinity(a), algebra::infinity(b))
    {
        return infinities(infinite_a, infinite_b, a, b, context);
    }
    let (identity, method) = match (a, b) {
        (Expr::Number(_), Expr::Number(_)) => (Identity::Different, "rational"),
        _ => algebra::identical(a, b, &mut context.budget),
    };
    match identity {
        Identity::Equal => Comparison::equal(method),
        Identity::NumericallyEqual => Comparison::equal_as(Status::Numeric, "numeric"),
        Identity::Undefined => {
            Comparison::open("one side has no value, or none that is understood")
        }
        Identity::Different | Identity::TooComplex => {
            let rounds = (gold.places.is_some() || pred.places.is_some())
                && is_rounded(gold, pred, context) == Some(true);
            if rounds {
                Comparison::equal("rounding")
            } else if identity == Identity::Different {
                differ(method, a, b, context)
            } else {
                Comparison::too_complex()
            }
        }
    }
}

/// The verdict "different", with the two in a sentence.
pub(super) fn differ(
    method: &'static str,
    a: &Expr,
    b: &Expr,
    context: &Context<'_>,
) -> Comparison {
    context.different(method, || format!("{} and {} differ", show(a), show(b)))
}

/// At least one of the two is ±∞.
fn infinities(
    a: Option<Ordering>,
    b: Option<Ordering>,
    x: &Expr,
    y: &Expr,
    context: &mut Context<'_>,
) -> Comparison {
    if a == b {
        return Comparison::equal("structure");
    }
    let finite = if a.is_some() { y } else { x };
    if a.is_some() && b.is_some()
        || expressions::number(finite).is_some()
        || algebra::approximate(finite, &mut context.budget).is_some()
        || !algebra::variables(finite).is_empty()
    {
        return differ("rational", x, y, context);
    }
    Comparison::open("infinity against what may have no value")
}

/// Is one of two different values a decimal that stands for the other?
///
/// - It must show at least `float_rounding` places (six, unless told otherwise) and be off by half a unit of that
///   place at most. 0.333333 is 1/3; 0.333334 and 0.33333 are not.
/// - With exactly so many places it must be correctly rounded: 0.666666 is not 2/3. With more it may also be cut off,
///   as calculators do; from the fifteenth on the last digits of a binary float are not held against it.
/// - It must show about half as many leading digits too, so that 0.0000001 is no 1/7000000.
/// - Two decimals: the shorter must be the longer one rounded.
fn is_rounded(gold: Value<'_>, pred: Value<'_>, context: &mut Context<'_>) -> Option<bool> {
    let asked = i64::from(context.config.float_rounding);
    let gold_decimal = gold
        .places
        .and_then(|places| Decimal::of(gold.expr, places, context));
    let pred_decimal = pred
        .places
        .and_then(|places| Decimal::of(pred.expr, places, context));
    match (gold_decimal, pred_decimal) {
        (Some(a), Some(b)) => {
            let (short, long) = if a.places <= b.places { (a, b) } else { (b, a) };
            let distance = (&short.value - &long.value).abs();
            let noise = long.places >= FLOAT_PLACES && distance <= float_noise(&long.value);
            let rounded = short.places >= asked
                && distance <= half_unit(short.places)
                && distance <= digits_allow(&long.value, asked);
            Some(rounded || noise)
        }
        (Some(decimal), None) => decimal.stands_for(pred.expr, asked, context),
        (None, Some(decimal)) => decimal.stands_for(gold.expr, asked, context),
        (None, None) => None,
    }
}

/// From how many places on the last digits may be noise of a binary floating-point number.
const FLOAT_PLACES: i64 = 15;

/// More places than this are cut: nothing differs so late.
const MOST_PLACES: i64 = 400;

struct Decimal {
    value: Rational,
    places: i64,
}

impl Decimal {
    /// Reads a decimal; the first digits of one that is too long to expand.
    fn of(expr: &Expr, places: i64, context: &mut Context<'_>) -> Option<Self> {
        const DIGITS: usize = 300;
        if let Expr::LongNumber(long) = expr {
            let kept = long.digits.get(..DIGITS.min(long.digits.len()))?;
            let cut = i64::try_from(long.digits.len() - kept.len()).ok()?;
            let places = long.exponent.checked_add(cut)?.checked_neg()?;
            // Numbers so large or so small are nobody's rounding.
            if !(0..=2 * MOST_PLACES).contains(&places) {
                return None;
            }
            let digits = kept.parse::<UBig>().ok()?;
            let value = Rational::from_parts(IBig::from(digits), power_of_ten(places));
            let value = if long.negative { -value } else { value };
            return Some(Self { value, places });
        }
        let value = match expressions::number(expr) {
            Some(value) => value.into_owned(),
            None => algebra::rational(expr, &mut context.budget)?,
        };
        Some(Self { value, places })
    }

    /// Is this decimal `exact`, rounded? `None` where that cannot be told.
    fn stands_for(&self, exact: &Expr, asked: i64, context: &mut Context<'_>) -> Option<bool> {
        if self.places < asked {
            return Some(false);
        }
        let places = self.places.min(MOST_PLACES);
        let mut towards_zero = half_unit(places);
        let mut away = towards_zero.clone();
        if places > asked {
            // Cut off instead of rounded: the exact value lies beyond, by less than a whole unit.
            away = away * Rational::from(2) * Rational::from_parts(999.into(), 1000_u32.into());
        }
        if places >= FLOAT_PLACES {
            let noise = float_noise(&self.value);
            towards_zero = towards_zero.max(noise.clone());
            away = away.max(noise);
        }
        let limit = half_unit(asked).min(digits_allow(&self.value, asked));
        let (towards_zero, away) = (towards_zero.min(limit.clone()), away.min(limit));
        let (below, above) = if self.value < Rational::ZERO {
            (away, towards_zero)
        } else {
            (towards_zero, away)
        };
        let lower = &self.value - below;
        let upper = &self.value + above;
        if let Some(exact) = expressions::number(exact) {
            return Some(lower <= *exact && *exact <= upper);
        }
        if let Some(exact) = algebra::rational(exact, &mut context.budget) {
            return Some(lower <= exact && exact <= upper);
        }
        let lower = algebra::order(&Expr::Number(lower), exact, &mut context.budget)?;
        let upper = algebra::order(exact, &Expr::Number(upper), &mut context.budget)?;
        Some(lower != Ordering::Greater && upper != Ordering::Greater)
    }
}

fn power_of_ten(exponent: i64) -> UBig {
    UBig::from(10_u8).pow(usize::try_from(exponent.clamp(0, 2 * MOST_PLACES)).unwrap_or(0))
}

/// ½ · 10^−places.
fn half_unit(places: i64) -> Rational {
    Rational::from_parts(1.into(), power_of_ten(places) * UBig::from(2_u8))
}

/// How far off a decimal may be for the sake of its leading digits.
fn digits_allow(value: &Rational, asked: i64) -> Rational {
    value.clone().abs() * half_unit(asked / 2)
}

/// What the last bits of a binary float near `value` may be off.
fn float_noise(value: &Rational) -> Rational {
    let size = value.clone().abs();
    Rational::from_parts(1.into(), power_of_ten(FLOAT_PLACES)) * size
}
