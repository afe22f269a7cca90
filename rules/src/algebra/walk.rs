//! Looking through expressions: variables, constants, substitution.

use crate::algebra::work;
use crate::algebra::{Binder, BinderKind, Expr};

/// The variables of an expression, sorted, without bound ones.
pub(crate) fn variables(expr: &Expr) -> Vec<Box<str>> {
    let mut found = Vec::new();
    let mut bound = Vec::new();
    collect(expr, &mut bound, &mut found);
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(Into::into).collect()
}

fn collect<'e>(expr: &'e Expr, bound: &mut Vec<&'e str>, found: &mut Vec<&'e str>) {
    work::charge(2);
    match expr {
        Expr::Symbol(name) => {
            if !bound.contains(&&**name) {
                found.push(name);
            }
        }
        Expr::Binder(binder) => {
            for limit in [&binder.lower, &binder.upper].into_iter().flatten() {
                collect(limit, bound, found);
            }
            if binds(binder) {
                bound.push(&binder.variable);
                collect(&binder.body, bound, found);
                bound.pop();
            } else {
                collect(&binder.body, bound, found);
                if !bound.contains(&&*binder.variable) {
                    found.push(&binder.variable);
                }
            }
        }
        Expr::Power(pair) => {
            collect(&pair.0, bound, found);
            collect(&pair.1, bound, found);
        }
        _ => {
            for child in children(expr) {
                collect(child, bound, found);
            }
        }
    }
}

/// Is the binder's variable free in no part of its value? A derivative and an antiderivative are functions of theirs.
pub(super) fn binds(binder: &Binder) -> bool {
    match binder.kind {
        BinderKind::Sum | BinderKind::Product | BinderKind::Limit => true,
        BinderKind::Integral => binder.lower.is_some() && binder.upper.is_some(),
        BinderKind::Derivative => false,
    }
}

/// The direct parts of an expression that keeps them in a list: not those of powers and binders.
pub(super) fn children(expr: &Expr) -> &[Expr] {
    match expr {
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) | Expr::Apply(_, parts) => {
            parts
        }
        _ => &[],
    }
}

/// The expression with what `part` makes of each of its direct parts. Bound variables stay.
pub(crate) fn mapped<E>(
    expr: &Expr,
    part: &mut impl FnMut(&Expr) -> Result<Expr, E>,
) -> Result<Expr, E> {
    work::charge(work::NODE);
    let mut all = |parts: &[Expr]| parts.iter().map(&mut *part).collect::<Result<Vec<_>, E>>();
    Ok(match expr {
        Expr::Number(_) | Expr::LongNumber { .. } | Expr::Constant(_) | Expr::Symbol(_) => {
            expr.clone()
        }
        Expr::Add(parts) => Expr::Add(all(parts)?),
        Expr::Multiply(parts) => Expr::Multiply(all(parts)?),
        Expr::Power(pair) => Expr::power(part(&pair.0)?, part(&pair.1)?),
        Expr::Call(function, parts) => Expr::Call(*function, all(parts)?),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), all(parts)?),
        Expr::Binder(binder) => {
            let mut limit = |limit: &Option<Expr>| limit.as_ref().map(&mut *part).transpose();
            Expr::Binder(Box::new(Binder {
                kind: binder.kind,
                variable: binder.variable.clone(),
                lower: limit(&binder.lower)?,
                upper: limit(&binder.upper)?,
                body: part(&binder.body)?,
            }))
        }
    })
}

/// Calls `test` on the expression and its parts, binders' too, until it says true.
pub(crate) fn any(expr: &Expr, test: &mut impl FnMut(&Expr) -> bool) -> bool {
    work::charge(1);
    if test(expr) {
        return true;
    }
    match expr {
        Expr::Power(pair) => any(&pair.0, test) || any(&pair.1, test),
        Expr::Binder(binder) => {
            binder.lower.as_ref().is_some_and(|part| any(part, test))
                || binder.upper.as_ref().is_some_and(|part| any(part, test))
                || any(&binder.body, test)
        }
        _ => children(expr).iter().any(|part| any(part, test)),
    }
}

/// How many parts an expression has, itself among them.
pub(crate) fn size(expr: &Expr) -> u64 {
    let mut nodes = 0;
    any(expr, &mut |_| {
        nodes += 1;
        false
    });
    nodes
}

/// Is it free of variables?
pub(crate) fn is_constant(expr: &Expr) -> bool {
    let mut has_binder = false;
    let symbol = any(expr, &mut |part| {
        has_binder |= matches!(part, Expr::Binder(_));
        matches!(part, Expr::Symbol(_)) && !has_binder
    });
    !symbol && (!has_binder || variables(expr).is_empty())
}

/// `expr` with `value` for every free occurrence of `variable`.
pub(crate) fn substitute(expr: &Expr, variable: &str, value: &Expr) -> Expr {
    work::charge(work::NODE);
    let all = |parts: &[Expr]| -> Vec<Expr> {
        parts
            .iter()
            .map(|part| substitute(part, variable, value))
            .collect()
    };
    match expr {
        Expr::Symbol(name) if **name == *variable => value.clone(),
        Expr::Number(_) | Expr::LongNumber { .. } | Expr::Constant(_) | Expr::Symbol(_) => {
            expr.clone()
        }
        Expr::Add(parts) => Expr::Add(all(parts)),
        Expr::Multiply(parts) => Expr::Multiply(all(parts)),
        Expr::Power(pair) => Expr::power(
            substitute(&pair.0, variable, value),
            substitute(&pair.1, variable, value),
        ),
        Expr::Call(function, parts) => Expr::Call(*function, all(parts)),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), all(parts)),
        Expr::Binder(binder) => Expr::Binder(Box::new(within(binder, variable, value))),
    }
}

/// [`substitute`] in a binder. What a derivative or an antiderivative is a function of stays a symbol.
fn within(binder: &Binder, variable: &str, value: &Expr) -> Binder {
    let limit = |part: &Option<Expr>| part.as_ref().map(|part| substitute(part, variable, value));
    let mut result = binder.clone();
    result.lower = limit(&binder.lower);
    result.upper = limit(&binder.upper);
    if *binder.variable == *variable {
        return result;
    }
    let captured = any(
        value,
        &mut |part| matches!(part, Expr::Symbol(name) if *name == binder.variable),
    );
    if captured {
        let fresh = Expr::Symbol(format!("{}'", binder.variable).into());
        result.body = substitute(&binder.body, &binder.variable, &fresh);
        result.variable = format!("{}'", binder.variable).into();
    }
    result.body = substitute(&result.body, variable, value);
    result
}
