//! Expressions for the common algebra: values at points, and identity.

use dashu_base::Signed;
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::expr::{Term, is_complex};
use juror_algebra::{self as algebra, Budget, Constant, Expr, Function, Near, PointValue};

/// How many steps one value may take.
const MAX_STEPS: u64 = 20_000;
/// Larger expressions are not evaluated at hundreds of points.
const MAX_HEAVY: u64 = 200;

/// The exact value of a rational term, and whether a decimal takes part in it.
pub(super) fn exact(term: &Expr) -> Option<(RBig, bool)> {
    algebra::with_decimals(term, &mut Budget::default())
}

/// The term with every `from` replaced by `to`.
pub(super) fn replaced(term: &Expr, from: &Expr, to: &Expr) -> Expr {
    algebra::replace(term, &mut |part| (part == from).then(|| to.clone()))
}

/// Is it more than can be evaluated at hundreds of points: long, or a sum, an integral or a limit?
pub(super) fn is_heavy(term: &Expr) -> bool {
    let mut size = 0;
    algebra::any(term, &mut |part| {
        size += 1;
        size >= MAX_HEAVY || matches!(part, Expr::Binder(_))
    })
}

pub(super) fn coordinate(re: f64) -> PointValue {
    PointValue {
        real: RBig::try_from(re).unwrap_or_default(),
        imaginary: RBig::ZERO,
    }
}

/// The values of symbols: rows of numbers, which go on with `step` more where there are more symbols. Symbols that may
/// be complex get an imaginary part.
pub(super) fn point<'s>(
    symbols: &'s [Box<str>],
    row: &[f64],
    step: f64,
    complex: bool,
) -> Vec<(&'s str, PointValue)> {
    symbols
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let shift = (at / row.len()) as f64 * step;
            let mut value = coordinate(row[at % row.len()] + shift);
            if complex && is_complex(name) {
                value.imaginary = coordinate(row[(at + 1) % row.len()] * 0.7).real;
            }
            (&**name, value)
        })
        .collect()
}

/// The value of a term at a point; `None` where it has none that this can find.
pub(super) fn at(term: &Expr, point: &[(&str, PointValue)]) -> Option<Near> {
    let mut budget = Budget { steps: MAX_STEPS };
    let special = |part: &Expr| {
        matches!(
            part,
            Expr::Constant(_)
                | Expr::Call(
                    Function::Decimal | Function::Held | Function::Matrix | Function::Arccot,
                    _
                )
        )
    };
    if algebra::any(term, &mut |part| special(part)) {
        algebra::principal(&plain(term)?, point, &mut budget)
    } else {
        algebra::principal(term, point, &mut budget)
    }
}

pub(super) fn constant(term: &Expr) -> Option<Near> {
    at(term, &[])
}

/// A term in the words of the common algebra; `None` where it has none for it: matrices, 1/0.
pub(super) fn plain(term: &Expr) -> Option<Expr> {
    converted(term, false)
}

/// The same with principal roots of negative numbers written out: ∛−8 is 2·(cos π/3 + i·sin π/3).
pub(super) fn expression(term: &Expr) -> Option<Expr> {
    converted(term, true)
}

fn converted(term: &Expr, roots: bool) -> Option<Expr> {
    match term {
        Expr::Call(Function::Decimal | Function::Held, items)
        | Expr::Add(items)
        | Expr::Multiply(items)
            if items.len() == 1 =>
        {
            converted(items.first()?, roots)
        }
        Expr::Constant(Constant::NegativeInfinity) => {
            Some(Expr::Constant(Constant::Infinity).negated())
        }
        Expr::Constant(Constant::ComplexInfinity | Constant::Undefined)
        | Expr::Call(Function::Matrix | Function::Row, _) => None,
        // Arctangents of ±∞ are ±π/2; SymPy's arccotangent is the arctangent of the reciprocal.
        Expr::Call(Function::Arctan, items) if items.iter().all(Expr::is_infinite) => {
            let positive = items.contains(&Expr::Constant(Constant::Infinity));
            let sign = if positive { 1 } else { -1 };
            let half = Expr::Number(RBig::from_parts(sign.into(), UBig::from(2_u8)));
            Some(half.times(Expr::Constant(Constant::Pi)))
        }
        Expr::Call(Function::Arccot, items) => {
            let inverse = Expr::power(converted(items.last()?, roots)?, Expr::integer(-1));
            Some(Expr::call(Function::Arctan, inverse))
        }
        Expr::Power(power) if roots => principal_power(&power.0, &power.1),
        Expr::Binder(binder) if binder.kind == algebra::BinderKind::Limit => {
            // A limit from one side is one to the common algebra.
            let mut limit = (**binder).clone();
            limit.upper = None;
            limit.lower = limit.lower.as_ref().and_then(|to| converted(to, roots));
            limit.body = converted(&limit.body, roots)?;
            Some(Expr::Binder(Box::new(limit)))
        }
        _ => algebra::mapped(term, &mut |part| converted(part, roots).ok_or(())).ok(),
    }
}

/// A power whose root of a negative number is the principal one.
fn principal_power(base: &Expr, exponent: &Expr) -> Option<Expr> {
    let plain = || Some(Expr::power(expression(base)?, expression(exponent)?));
    let (Some((base_value, _)), Some((exponent, _))) = (exact(base), exact(exponent)) else {
        return plain();
    };
    if !base_value.is_negative() || exponent.is_int() {
        return plain();
    }
    let angle = Expr::Number(exponent.clone()).times(Expr::Constant(Constant::Pi));
    let upright = Expr::Constant(Constant::ImaginaryUnit);
    let upright = upright.times(Expr::call(Function::Sin, angle.clone()));
    let turn = Expr::call(Function::Cos, angle).plus(upright);
    let size = Expr::power(Expr::Number(-base_value), Expr::Number(exponent));
    Some(Expr::Multiply(vec![size, turn]))
}
