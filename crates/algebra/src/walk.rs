//! The one place that knows the parts of an expression: visiting, rebuilding, substitution.

use std::convert::Infallible;

use super::expr::{Binder, BinderKind, Constant, Expr};
use super::work;

/// Calls `visit` with each direct part until it says true: the sides of a power, the limits and the body of a binder.
pub fn any_part<'e>(expr: &'e Expr, mut visit: impl FnMut(&'e Expr) -> bool) -> bool {
    match expr {
        Expr::Add(parts) | Expr::Multiply(parts) | Expr::Call(_, parts) | Expr::Apply(_, parts) => {
            parts.iter().any(visit)
        }
        Expr::Power(pair) => visit(&pair.0) || visit(&pair.1),
        Expr::Binder(binder) => {
            let limits = [&binder.lower, &binder.upper];
            limits.into_iter().flatten().any(&mut visit) || visit(&binder.body)
        }
        Expr::Number(_) | Expr::LongNumber(_) | Expr::Constant(_) | Expr::Symbol(_) => false,
    }
}

/// The same expression with each direct part replaced by what `change` makes of it.
///
/// # Errors
///
/// The first error of `change`.
pub fn mapped<E>(
    expr: &Expr,
    change: &mut impl FnMut(&Expr) -> Result<Expr, E>,
) -> Result<Expr, E> {
    work::charge(work::NODE);
    let mut all = |parts: &[Expr]| {
        parts
            .iter()
            .map(&mut *change)
            .collect::<Result<Vec<_>, E>>()
    };
    Ok(match expr {
        Expr::Add(parts) => Expr::Add(all(parts)?),
        Expr::Multiply(parts) => Expr::Multiply(all(parts)?),
        Expr::Call(function, parts) => Expr::Call(*function, all(parts)?),
        Expr::Apply(name, parts) => Expr::Apply(name.clone(), all(parts)?),
        Expr::Power(pair) => Expr::power(change(&pair.0)?, change(&pair.1)?),
        Expr::Binder(binder) => Expr::Binder(Box::new(Binder {
            kind: binder.kind,
            variable: binder.variable.clone(),
            lower: binder.lower.as_ref().map(&mut *change).transpose()?,
            upper: binder.upper.as_ref().map(&mut *change).transpose()?,
            body: change(&binder.body)?,
        })),
        Expr::Number(_) | Expr::LongNumber(_) | Expr::Constant(_) | Expr::Symbol(_) => expr.clone(),
    })
}

/// Calls `test` on the expression and all its parts until it says true.
pub fn any(expr: &Expr, test: &mut impl FnMut(&Expr) -> bool) -> bool {
    work::charge(1);
    test(expr) || any_part(expr, |part| any(part, test))
}

/// How many parts an expression has, itself among them.
pub fn size(expr: &Expr) -> u64 {
    let mut nodes = 0;
    any(expr, &mut |_| {
        nodes += 1;
        false
    });
    nodes
}

/// Is there a letter, or a function without a meaning?
pub fn has_letter(expr: &Expr) -> bool {
    any(expr, &mut |part| {
        matches!(part, Expr::Symbol(_) | Expr::Apply(..))
    })
}

/// Does ∞ occur?
pub(super) fn has_infinity(expr: &Expr) -> bool {
    any(expr, &mut |part| {
        matches!(part, Expr::Constant(Constant::Infinity))
    })
}

pub(super) fn is_symbol(expr: &Expr, name: &str) -> bool {
    matches!(expr, Expr::Symbol(symbol) if **symbol == *name)
}

/// Does a symbol of this name occur, bound ones included?
pub(super) fn mentions(expr: &Expr, name: &str) -> bool {
    any(expr, &mut |part| is_symbol(part, name))
}

/// The variables of an expression, sorted, without bound ones.
pub fn variables(expr: &Expr) -> Vec<Box<str>> {
    variables_of([expr])
}

/// The variables of several expressions, sorted, without bound ones.
pub fn variables_of<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Box<str>> {
    let mut found = Vec::new();
    for expr in exprs {
        collect(expr, &mut Vec::new(), &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(Into::into).collect()
}

fn collect<'e>(expr: &'e Expr, bound: &mut Vec<&'e str>, found: &mut Vec<&'e str>) {
    work::charge(2);
    let mut note = |name: &'e str, bound: &[&str]| {
        if !bound.contains(&name) {
            found.push(name);
        }
    };
    match expr {
        Expr::Symbol(name) => note(name, bound),
        Expr::Binder(binder) => {
            if !binds(binder) {
                note(&binder.variable, bound);
            }
            for limit in [&binder.lower, &binder.upper].into_iter().flatten() {
                collect(limit, bound, found);
            }
            let outside = bound.len();
            if binds(binder) {
                bound.push(&binder.variable);
            }
            collect(&binder.body, bound, found);
            bound.truncate(outside);
        }
        _ => {
            any_part(expr, |part| {
                collect(part, bound, found);
                false
            });
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

/// Is it free of variables?
pub(crate) fn is_constant(expr: &Expr) -> bool {
    let mut has_binder = false;
    let symbol = any(expr, &mut |part| {
        has_binder |= matches!(part, Expr::Binder(_));
        matches!(part, Expr::Symbol(_)) && !has_binder
    });
    !symbol && (!has_binder || variables(expr).is_empty())
}

/// An expression rebuilt with what `change` returns in place of every part that it returns something for, outermost
/// first. A binder's own variable is no occurrence of the variable of that name outside, and stays.
pub fn replace(expr: &Expr, change: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    work::charge(1);
    if let Some(changed) = change(expr) {
        return changed;
    }
    if let Expr::Binder(binder) = expr {
        let mut inside = |part: &Expr| {
            if is_symbol(part, &binder.variable) {
                Some(part.clone())
            } else {
                change(part)
            }
        };
        let body = replace(&binder.body, &mut inside);
        return Expr::Binder(Box::new(Binder {
            kind: binder.kind,
            variable: binder.variable.clone(),
            lower: binder.lower.as_ref().map(|part| replace(part, change)),
            upper: binder.upper.as_ref().map(|part| replace(part, change)),
            body,
        }));
    }
    let Ok(rebuilt) = mapped::<Infallible>(expr, &mut |part| Ok(replace(part, change)));
    rebuilt
}

/// `expr` with `value` for every free occurrence of `variable`. A bound variable that occurs in `value` is renamed; what
/// a derivative or an antiderivative is a function of stays.
pub fn substitute(expr: &Expr, variable: &str, value: &Expr) -> Expr {
    replace(expr, &mut |part| match part {
        Expr::Symbol(name) if **name == *variable => Some(value.clone()),
        Expr::Binder(binder)
            if *binder.variable != *variable && mentions(value, &binder.variable) =>
        {
            let fresh = format!("{}'", binder.variable);
            let renamed = Binder {
                body: substitute(&binder.body, &binder.variable, &Expr::symbol(&fresh)),
                variable: fresh.into(),
                ..(**binder).clone()
            };
            Some(substitute(
                &Expr::Binder(Box::new(renamed)),
                variable,
                value,
            ))
        }
        _ => None,
    })
}
