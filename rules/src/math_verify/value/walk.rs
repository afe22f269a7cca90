//! Walks over terms: their symbols, replacement, exact values, and the way to the expressions of the verifier.

use std::cell::Cell;

use dashu_base::{BitTest, Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::term::{Term, Value};
use crate::algebra;
use crate::algebra::work;
use crate::algebra::{BinderKind, Constant, Expr, Function};

/// Exact values are worked out up to this many bits.
const MAX_BITS: usize = 40_000;
/// How much work one value may take, in words of 64 bits, roughly.
const MAX_WORK: usize = 3_000_000;
/// Factorials are worked out up to this argument.
const MAX_FACTORIAL: i64 = 3_000;

/// How many parts a term has, counted up to a limit.
pub(super) fn size(term: &Term, limit: usize) -> usize {
    let mut count = 0;
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        work::charge(1);
        count += 1;
        if count >= limit {
            return limit;
        }
        match term {
            Term::Add(items) | Term::Multiply(items) | Term::Call(_, items) => stack.extend(items),
            Term::Power(power) => stack.extend([&power.0, &power.1]),
            Term::Unevaluated(inner) => stack.push(inner),
            Term::Matrix(rows) => stack.extend(rows.iter().flatten()),
            Term::Apply(_, items) => count += items.len(),
            Term::Binder(binder) => {
                stack.push(&binder.body);
                stack.extend(binder.lower.iter().chain(&binder.upper));
            }
            _ => {}
        }
    }
    count
}

/// Is it more than can be evaluated at hundreds of points: long, or a sum, an integral or a limit?
pub(super) fn is_heavy(term: &Term) -> bool {
    const MAX_SIZE: usize = 200;
    fn has_binder(term: &Term) -> bool {
        match term {
            Term::Binder(_) => true,
            Term::Add(items) | Term::Multiply(items) | Term::Call(_, items) => {
                items.iter().any(has_binder)
            }
            Term::Power(power) => has_binder(&power.0) || has_binder(&power.1),
            Term::Unevaluated(inner) => has_binder(inner),
            Term::Matrix(rows) => rows.iter().flatten().any(has_binder),
            _ => false,
        }
    }
    size(term, MAX_SIZE) >= MAX_SIZE || has_binder(term)
}

/// Adds the free symbols of a term to `found`, each once.
pub(super) fn symbols(term: &Term, found: &mut Vec<Term>) {
    work::charge(1);
    match term {
        Term::Symbol { .. } if !found.contains(term) => found.push(term.clone()),
        Term::Add(items) | Term::Multiply(items) | Term::Call(_, items) => {
            for item in items {
                symbols(item, found);
            }
        }
        Term::Power(power) => {
            symbols(&power.0, found);
            symbols(&power.1, found);
        }
        Term::Apply(_, items) => items.iter().for_each(|item| value_symbols(item, found)),
        Term::Unevaluated(inner) => symbols(inner, found),
        Term::Matrix(rows) => rows.iter().flatten().for_each(|item| symbols(item, found)),
        Term::Binder(binder) => {
            let mut inside = Vec::new();
            symbols(&binder.body, &mut inside);
            let bound = match binder.kind {
                BinderKind::Sum | BinderKind::Product | BinderKind::Limit => true,
                BinderKind::Integral => binder.lower.is_some(),
                BinderKind::Derivative => false,
            };
            for symbol in inside {
                let is_bound = bound && symbol == binder.variable;
                if !is_bound && !found.contains(&symbol) {
                    found.push(symbol);
                }
            }
            for bound in [&binder.lower, &binder.upper].into_iter().flatten() {
                symbols(bound, found);
            }
        }
        _ => {}
    }
}

/// Adds the free symbols of a value.
pub(super) fn value_symbols(value: &Value, found: &mut Vec<Term>) {
    match value {
        Value::Term(term) => symbols(term, found),
        Value::Relation(relation) | Value::Not(relation) => {
            value_symbols(&relation.left, found);
            value_symbols(&relation.right, found);
        }
        Value::And(relations) => {
            for relation in relations {
                value_symbols(&relation.left, found);
                value_symbols(&relation.right, found);
            }
        }
        Value::Tuple(items) | Value::FiniteSet(items) => {
            for item in items {
                value_symbols(item, found);
            }
        }
        Value::Interval(interval) => {
            symbols(&interval.lower, found);
            symbols(&interval.upper, found);
        }
        Value::Compound(_, sides) => {
            value_symbols(&sides.0, found);
            value_symbols(&sides.1, found);
        }
        Value::NamedSet(_) | Value::Foreign => {}
    }
}

/// The term with every `from` replaced by `to`.
pub(super) fn replaced(term: &Term, from: &Term, to: &Term) -> Term {
    if term == from {
        return to.clone();
    }
    work::charge(work::NODE);
    let all = |items: &[Term]| items.iter().map(|item| replaced(item, from, to)).collect();
    match term {
        Term::Add(items) => Term::Add(all(items)),
        Term::Multiply(items) => Term::Multiply(all(items)),
        Term::Call(function, items) => Term::Call(*function, all(items)),
        Term::Power(power) => {
            Term::power(replaced(&power.0, from, to), replaced(&power.1, from, to))
        }
        Term::Apply(name, items) => Term::Apply(
            name.clone(),
            items
                .iter()
                .map(|item| value_replaced(item, from, to))
                .collect(),
        ),
        Term::Unevaluated(inner) => Term::Unevaluated(Box::new(replaced(inner, from, to))),
        Term::Matrix(rows) => Term::Matrix(rows.iter().map(|row| all(row)).collect()),
        Term::Binder(binder) => {
            let mut binder = (**binder).clone();
            binder.body = replaced(&binder.body, from, to);
            binder.lower = binder.lower.map(|bound| replaced(&bound, from, to));
            binder.upper = binder.upper.map(|bound| replaced(&bound, from, to));
            if let renamed @ Term::Symbol { .. } = replaced(&binder.variable, from, to) {
                binder.variable = renamed;
            }
            Term::Binder(Box::new(binder))
        }
        other => other.clone(),
    }
}

/// The value with every `from` replaced by `to`.
pub(super) fn value_replaced(value: &Value, from: &Term, to: &Term) -> Value {
    let all = |items: &[Value]| {
        items
            .iter()
            .map(|item| value_replaced(item, from, to))
            .collect()
    };
    let relation = |relation: &super::term::Relation| super::term::Relation {
        operator: relation.operator,
        left: value_replaced(&relation.left, from, to),
        right: value_replaced(&relation.right, from, to),
    };
    match value {
        Value::Term(term) => Value::Term(replaced(term, from, to)),
        Value::Relation(inner) => Value::Relation(Box::new(relation(inner))),
        Value::Not(inner) => Value::Not(Box::new(relation(inner))),
        Value::And(relations) => Value::And(relations.iter().map(relation).collect()),
        Value::Tuple(items) => Value::Tuple(all(items)),
        Value::FiniteSet(items) => Value::finite_set(all(items)),
        Value::Interval(interval) => {
            let mut interval = (**interval).clone();
            interval.lower = replaced(&interval.lower, from, to);
            interval.upper = replaced(&interval.upper, from, to);
            Value::Interval(Box::new(interval))
        }
        Value::Compound(operator, sides) => Value::Compound(
            *operator,
            Box::new((
                value_replaced(&sides.0, from, to),
                value_replaced(&sides.1, from, to),
            )),
        ),
        Value::NamedSet(_) | Value::Foreign => value.clone(),
    }
}

fn bits(value: &RBig) -> usize {
    value.numerator().bit_len() + value.denominator().bit_len()
}

/// A number in double precision, where it fits.
fn double(value: &RBig) -> Option<RBig> {
    let near = value.to_f64().value();
    if near.is_finite() && (near == 0.0) == value.is_zero() {
        RBig::try_from(near).ok()
    } else {
        None
    }
}

/// Are two values the same, where decimals are calculated with in double precision?
pub(super) fn same_value(a: &(RBig, bool), b: &(RBig, bool)) -> bool {
    if a.0 == b.0 {
        return true;
    }
    match (a.1 || b.1)
        .then(|| double(&a.0).zip(double(&b.0)))
        .flatten()
    {
        Some((left, right)) => left == right,
        None => false,
    }
}

/// The exact value of a rational term, and whether a decimal takes part in it; `None` for everything else and for
/// what is too large to write down. Where decimals take part every step is rounded as `SymPy` rounds it.
pub(super) fn exact(term: &Term) -> Option<(RBig, bool)> {
    exact_within(term, &Cell::new(MAX_WORK))
}

fn exact_within(term: &Term, work: &Cell<usize>) -> Option<(RBig, bool)> {
    if !work::afford(5) {
        return None;
    }
    let (value, float) = unrounded(term, work)?;
    if float
        && !matches!(term, Term::Float(_))
        && let Some(value) = double(&value)
    {
        return Some((value, true));
    }
    Some((value, float))
}

fn unrounded(term: &Term, work: &Cell<usize>) -> Option<(RBig, bool)> {
    // A decimal that is calculated with is one in double precision.
    let exact = |term: &Term| {
        let (value, float) = exact_within(term, work)?;
        work.set(work.get().checked_sub(1 + bits(&value) / 64)?);
        Some((
            if float {
                double(&value).unwrap_or(value)
            } else {
                value
            },
            float,
        ))
    };
    let one = |items: &[Term]| match items {
        [single] => exact(single),
        _ => None,
    };
    match term {
        Term::Number(value) => Some((value.clone(), false)),
        Term::Float(value) => Some((value.clone(), true)),
        Term::Unevaluated(inner) => exact(inner),
        Term::Add(items) => {
            let mut total = RBig::ZERO;
            let mut float = false;
            for item in items {
                let (value, decimal) = exact(item)?;
                work::charge(work::addition(&total, &value));
                total += value;
                float |= decimal;
                if bits(&total) > MAX_BITS {
                    return None;
                }
            }
            Some((total, float))
        }
        Term::Multiply(items) => {
            let mut total = RBig::from(1);
            let mut float = false;
            for item in items {
                let (value, decimal) = exact(item)?;
                work::charge(work::operation(&total, &value));
                total *= value;
                float |= decimal;
                if float && let Some(rounded) = double(&total) {
                    total = rounded;
                }
                if bits(&total) > MAX_BITS {
                    return None;
                }
            }
            Some((total, float))
        }
        Term::Power(power) => {
            let (base, decimal) = exact(&power.0)?;
            let (exponent, decimal_exponent) = exact(&power.1)?;
            let float = decimal || decimal_exponent;
            let degree = i64::try_from(exponent.denominator()).ok()?;
            let base = if degree == 1 {
                base
            } else if float {
                return None;
            } else {
                root(&base, degree)?
            };
            let exponent = i64::try_from(exponent.numerator()).ok()?;
            Some((raised(&base, exponent)?, float))
        }
        Term::Call(Function::Factorial, items) => {
            let (value, _) = one(items)?;
            let count = i64::try_from(value.numerator()).ok()?;
            if !value.is_int() || !(0..=MAX_FACTORIAL).contains(&count) {
                return None;
            }
            work.set(work.get().checked_sub((count * count / 8) as usize)?);
            work::charge(count as u64 * (3 + count as u64 / 64));
            let product = (1..=count).fold(IBig::from(1), |product, factor| product * factor);
            Some((RBig::from(product), false))
        }
        Term::Call(Function::Absolute, items) => {
            let (value, float) = one(items)?;
            Some((if value < RBig::ZERO { -value } else { value }, float))
        }
        Term::Call(Function::Floor, items) => {
            let (value, _) = one(items)?;
            Some((RBig::from(value.floor()), false))
        }
        Term::Call(Function::Ceiling, items) => {
            let (value, _) = one(items)?;
            Some((RBig::from(value.ceil()), false))
        }
        Term::Call(Function::Modulo, items) => match items.as_slice() {
            [value, modulus] => {
                let (value, float) = exact(value)?;
                let (modulus, decimal) = exact(modulus)?;
                if modulus.is_zero() {
                    return None;
                }
                work::charge(4 * work::operation(&value, &modulus));
                let whole = RBig::from((&value / &modulus).floor());
                Some((value - whole * modulus, float || decimal))
            }
            _ => None,
        },
        Term::Call(function @ (Function::Max | Function::Min), items) => {
            let mut values = items.iter().map(exact);
            let mut best = values.next()??;
            for value in values {
                let value = value?;
                if (value.0 > best.0) == (*function == Function::Max) {
                    best = value;
                }
            }
            Some(best)
        }
        _ => None,
    }
}

/// base^exponent within the bounds of what is worked out.
fn raised(base: &RBig, exponent: i64) -> Option<RBig> {
    if exponent == 0 {
        return Some(RBig::from(1));
    }
    if base.is_zero() {
        return (exponent > 0).then_some(RBig::ZERO);
    }
    if *base == RBig::from(1) {
        return Some(RBig::from(1));
    }
    let size = exponent.unsigned_abs() as usize;
    if bits(base).checked_mul(size)? > MAX_BITS {
        return None;
    }
    let words = (bits(base) * size / 64) as u64;
    if !work::afford(10 + words * words / 8) {
        return None;
    }
    let numerator = base.numerator().clone().pow(size);
    let denominator = base.denominator().clone().pow(size);
    if exponent > 0 {
        return Some(RBig::from_parts(numerator, denominator));
    }
    let negative = numerator < IBig::ZERO;
    let size = numerator.unsigned_abs();
    let upper = IBig::from(denominator);
    Some(RBig::from_parts(
        if negative { -upper } else { upper },
        size,
    ))
}

/// The root of a positive rational if it is rational.
fn root(base: &RBig, degree: i64) -> Option<RBig> {
    if *base < RBig::ZERO || !(2..=64).contains(&degree) {
        return None;
    }
    let degree = degree as usize;
    let words = work::longest(base);
    if !work::afford(20 + words * words) {
        return None;
    }
    let of = |value: UBig| {
        let root = value.nth_root(degree);
        (root.pow(degree) == value).then_some(root)
    };
    let numerator = of(base.numerator().clone().unsigned_abs())?;
    let denominator = of(base.denominator().clone())?;
    Some(RBig::from_parts(IBig::from(numerator), denominator))
}

/// The expression that a term is for the verifier's own engine; `None` where it has none (matrices, 1/0, sets inside
/// functions).
pub(super) fn expression(term: &Term) -> Option<Expr> {
    work::charge(work::NODE);
    let all = |items: &[Term]| items.iter().map(expression).collect::<Option<Vec<_>>>();
    Some(match term {
        Term::Number(value) | Term::Float(value) => Expr::Number(value.clone()),
        Term::Infinity => Expr::Constant(Constant::Infinity),
        Term::NegativeInfinity => Expr::Constant(Constant::Infinity).negated(),
        Term::Constant(constant) => Expr::Constant(*constant),
        Term::Symbol { name, real } => Expr::Symbol(if *real == Some(false) {
            format!("{name}\u{2102}").into()
        } else {
            name.clone()
        }),
        Term::Add(items) => match items.as_slice() {
            [single] => expression(single)?,
            _ => Expr::Add(all(items)?),
        },
        Term::Multiply(items) => match items.as_slice() {
            [single] => expression(single)?,
            _ => Expr::Multiply(all(items)?),
        },
        Term::Power(power) => principal_power(&power.0, &power.1)?,
        Term::Call(function, items) => Expr::Call(*function, all(items)?),
        Term::Apply(name, items) => {
            let mut arguments = Vec::with_capacity(items.len());
            for item in items {
                let Value::Term(term) = item else {
                    return None;
                };
                arguments.push(expression(term)?);
            }
            Expr::Apply(name.clone(), arguments)
        }
        Term::Unevaluated(inner) => expression(inner)?,
        Term::Binder(binder) => {
            let Expr::Symbol(variable) = expression(&binder.variable)? else {
                return None;
            };
            let bound = |bound: &Option<Term>| match bound {
                Some(term) => expression(term).map(Some),
                None => Some(None),
            };
            Expr::Binder(Box::new(algebra::Binder {
                kind: binder.kind,
                variable,
                lower: bound(&binder.lower)?,
                upper: bound(&binder.upper)?,
                body: expression(&binder.body)?,
            }))
        }
        Term::ComplexInfinity | Term::Undefined | Term::Matrix(_) => return None,
    })
}

/// A power whose root of a negative number is the principal one, as `SymPy` has it: ∛−8 is 1 + i√3.
fn principal_power(base: &Term, exponent: &Term) -> Option<Expr> {
    let plain = || Some(Expr::power(expression(base)?, expression(exponent)?));
    let (Some((base_value, _)), Some((exponent, _))) = (exact(base), exact(exponent)) else {
        return plain();
    };
    if !base_value.is_negative() || exponent.is_int() {
        return plain();
    }
    let angle = Expr::Multiply(vec![
        Expr::Number(exponent.clone()),
        Expr::Constant(Constant::Pi),
    ]);
    let turn = Expr::Add(vec![
        Expr::Call(Function::Cos, vec![angle.clone()]),
        Expr::Multiply(vec![
            Expr::Constant(Constant::ImaginaryUnit),
            Expr::Call(Function::Sin, vec![angle]),
        ]),
    ]);
    Some(Expr::Multiply(vec![
        Expr::power(Expr::Number(-base_value), Expr::Number(exponent)),
        turn,
    ]))
}
