//! The questions that are asked of expressions: binders are replaced by what they come to, and the rest is compared.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::ball::{self, Big, Double, Real, Value};
use super::budget::{Budget, Failure, Outcome};
use super::expr::{Expr, Rational};
use super::features::Features;
use super::identity::{self, Identity};
use super::polynomial::expand;
use super::{binder, fold, walk};

/// Are `a` and `b` equal as functions of their variables?
///
/// Variables are real unless conjugates or the like are taken, and where one side has no real value nothing is compared:
/// (√x)² is x. The text names the argument that settled it.
pub fn identical(a: &Expr, b: &Expr, budget: &mut Budget) -> (Identity, &'static str) {
    if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
        return (Identity::proved(a == b), "rational");
    }
    identity::result(compare(a, b, budget))
}

fn compare(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<(Identity, &'static str)> {
    let features = Features::at(a, b);
    budget.spend(features.nodes / 8)?;
    let same = a == b;
    if features.binder {
        let (left, right) = (binder::eliminate(a, budget), binder::eliminate(b, budget));
        return match (left, right) {
            (Err(Failure::Undefined), _) | (_, Err(Failure::Undefined)) => Err(Failure::Undefined),
            (Ok(left), Ok(right)) => {
                let features = Features::at(&left, &right);
                identity::compare_values(&left, &right, &features, same || left == right, budget)
            }
            _ if same => Ok((Identity::Equal, "structure")),
            _ => Err(Failure::TooComplex),
        };
    }
    identity::compare_values(a, b, &features, same, budget)
}

/// The expression without binders.
pub(super) fn plain<'e>(expr: &'e Expr, budget: &mut Budget) -> Option<Cow<'e, Expr>> {
    if walk::any(expr, &mut |part| matches!(part, Expr::Binder(_))) {
        binder::eliminate(expr, budget).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(expr))
    }
}

/// The order of two real constants; `None` where they are not real constants or it cannot be told.
pub fn order(a: &Expr, b: &Expr, budget: &mut Budget) -> Option<Ordering> {
    if let (Expr::Number(a), Expr::Number(b)) = (a, b) {
        return Some(a.cmp(b));
    }
    let (a, b) = (plain(a, budget)?, plain(b, budget)?);
    identity::order(&a, &b, budget)
}

/// The exact value of a constant expression that is rational; `None` for the rest.
pub fn rational(expr: &Expr, budget: &mut Budget) -> Option<Rational> {
    let expr = plain(expr, budget)?;
    fold::fold(&expr, budget).ok()
}

/// The coefficients, from the constant up, of a polynomial in `variable` with rational coefficients; `None` otherwise.
///
/// The highest one is not 0; the zero polynomial has none.
pub fn polynomial(expr: &Expr, variable: &str, budget: &mut Budget) -> Option<Vec<Rational>> {
    let expr = plain(expr, budget)?;
    expand(&expr, variable, budget).ok()
}

/// A real constant near enough for sorting and printing; `None` where it is not real, not constant, or not finite.
pub fn approximate(expr: &Expr, budget: &mut Budget) -> Option<f64> {
    if let Expr::Number(value) = expr {
        let near = value.to_f64_fast();
        return near.is_finite().then_some(near);
    }
    let expr = &*plain(expr, budget)?;
    let near = match ball::constant::<Double>(expr, 53, budget) {
        Ok(Value::Exact(value)) => value.to_f64_fast(),
        Ok(Value::Real(value)) if value.within(20, &value) => value.middle(),
        Ok(Value::Complex(..)) | Err(Failure::Undefined) => return None,
        _ => match ball::constant::<Big>(expr, 192, budget) {
            Ok(Value::Exact(value)) => value.to_f64_fast(),
            Ok(Value::Real(value)) if value.within(20, &value) => value.middle(),
            _ => return None,
        },
    };
    near.is_finite().then_some(near)
}
