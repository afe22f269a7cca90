//! Σ, Π, ∫, d/dx and lim, replaced by what they come to where that is known.

mod build;
mod derivative;
mod integral;
mod limit;
mod sums;

use super::budget::{Budget, Failure, Outcome};
use super::fold;
use super::modular;
use super::traits::Look;
use super::walk;
use crate::algebra::work;
use crate::algebra::{Binder, BinderKind, Constant, Expr};

/// `expr` without binders, where they come to something that is known. The others stay, with their bound variables
/// named alike.
pub(super) fn eliminate(expr: &Expr, budget: &mut Budget) -> Outcome<Expr> {
    within(expr, 0, budget)
}

fn within(expr: &Expr, depth: usize, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(1)?;
    let all = |parts: &[Expr], budget: &mut Budget| -> Outcome<Vec<Expr>> {
        parts
            .iter()
            .map(|part| within(part, depth, budget))
            .collect()
    };
    Ok(match expr {
        Expr::Add(parts) => Expr::Add(all(parts, budget)?),
        Expr::Multiply(parts) => Expr::Multiply(all(parts, budget)?),
        Expr::Power(pair) => Expr::power(
            within(&pair.0, depth, budget)?,
            within(&pair.1, depth, budget)?,
        ),
        Expr::Call(function, parts) => Expr::Call(*function, all(parts, budget)?),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), all(parts, budget)?),
        Expr::Binder(binder) => binder_value(binder, depth, budget)?,
        other => other.clone(),
    })
}

fn binder_value(binder: &Binder, depth: usize, budget: &mut Budget) -> Outcome<Expr> {
    let limit = |part: &Option<Expr>, budget: &mut Budget| -> Outcome<Option<Expr>> {
        part.as_ref()
            .map(|part| within(part, depth, budget))
            .transpose()
    };
    let lower = limit(&binder.lower, budget)?;
    let upper = limit(&binder.upper, budget)?;
    let body = within(&binder.body, depth + 1, budget)?;
    // The copy that is made tidy, before it is made.
    budget.spend_units(work::NODE * walk::size(&body))?;
    match value(
        binder,
        &build::tidy(&body),
        lower.as_ref(),
        upper.as_ref(),
        budget,
    ) {
        Ok(value) => {
            budget.check()?;
            return Ok(value);
        }
        Err(Failure::Undefined) => return Err(Failure::Undefined),
        Err(_) if budget.steps == 0 => return Err(Failure::TooComplex),
        Err(_) => {}
    }
    let mut left = Binder {
        kind: binder.kind,
        variable: binder.variable.clone(),
        lower,
        upper,
        body,
    };
    if walk::binds(binder) {
        let name = format!("\u{1}{depth}");
        left.body = walk::substitute(&left.body, &binder.variable, &Expr::symbol(&name));
        left.variable = name.into();
    }
    Ok(Expr::Binder(Box::new(left)))
}

fn value(
    binder: &Binder,
    body: &Expr,
    lower: Option<&Expr>,
    upper: Option<&Expr>,
    budget: &mut Budget,
) -> Outcome<Expr> {
    let variable = &binder.variable;
    match (binder.kind, lower, upper) {
        (BinderKind::Sum | BinderKind::Product, Some(lower), Some(upper)) => sums::repeated(
            body,
            variable,
            lower,
            upper,
            binder.kind == BinderKind::Product,
            budget,
        ),
        (BinderKind::Integral, Some(lower), Some(upper)) => {
            integral::definite(body, variable, lower, upper, budget)
        }
        (BinderKind::Integral, None, None) => integral::antiderivative(body, variable, budget),
        (BinderKind::Derivative, order, _) => {
            let order = match order {
                None => 1,
                Some(order) => {
                    let order = fold::fold(order, budget)?;
                    order
                        .is_int()
                        .then(|| usize::try_from(order.numerator()).ok())
                        .flatten()
                        .filter(|order| *order <= 12)
                        .ok_or(Failure::Unknown)?
                }
            };
            let mut result = body.clone();
            for _ in 0..order {
                result = derivative::derivative(&result, variable, budget)?;
            }
            Ok(result)
        }
        (BinderKind::Limit, Some(target), _) => limit::limit(body, variable, target, budget),
        _ => Err(Failure::Unknown),
    }
}

/// Are two expressions without ∞ and binders equal, by evaluation modulo primes alone?
fn agree(a: &Expr, b: &Expr, budget: &mut Budget) -> bool {
    let look = Look::at(a, b, budget);
    if look.infinite || look.binder {
        return false;
    }
    matches!(
        modular::compare(a, b, &look.traits, budget),
        Ok(modular::Verdict::Equal)
    )
}

/// Does ∞ occur?
pub(super) fn has_infinity(expr: &Expr) -> bool {
    walk::any(expr, &mut |part| {
        matches!(part, Expr::Constant(Constant::Infinity))
    })
}
