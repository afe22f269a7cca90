//! Σ, Π, ∫, d/dx and lim, replaced by what they come to where that is known: sums that are short, of polynomials or
//! geometric, and integrals, derivatives and limits of polynomials. The others are equal to themselves only.

mod build;
mod calculus;
mod sums;

use super::budget::{Budget, Failure, Outcome};
use super::expr::{Binder, BinderKind, Expr, Rational};
use super::{fold, walk, work};

/// `expr` without binders, where they come to something that is known. The others stay, with their bound variables named alike.
pub(super) fn eliminate(expr: &Expr, budget: &mut Budget) -> Outcome<Expr> {
    within(expr, 0, budget)
}

fn within(expr: &Expr, depth: usize, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(1)?;
    match expr {
        Expr::Binder(binder) => binder_value(binder, depth, budget),
        other => walk::mapped(other, &mut |part| within(part, depth, budget)),
    }
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
            calculus::definite(body, variable, lower, upper, budget)
        }
        (BinderKind::Integral, None, None) => calculus::antiderivative(body, variable, budget),
        (BinderKind::Derivative, order, _) => {
            let order = order.map_or(Ok(Rational::ONE), |order| fold::fold(order, budget))?;
            if !order.is_int() {
                return Err(Failure::Unknown);
            }
            let mut result = body.clone();
            let mut times = Rational::ZERO;
            while times < order {
                result = calculus::derivative(&result, variable, budget)?;
                times += Rational::ONE;
            }
            Ok(result)
        }
        (BinderKind::Limit, Some(target), _) => calculus::limit(body, variable, target, budget),
        _ => Err(Failure::Unknown),
    }
}
