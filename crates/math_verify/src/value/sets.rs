//! Sets, tuples and intervals.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::expr::Term;
use super::judge::{self, Judgement};
use super::principal::{constant, exact, is_heavy};
use super::regions;
use super::{Interval, NamedSet, SetOperator, Value};
use crate::options::Options;
use juror_algebra::{self as algebra, Constant, Expr, Function};

/// Collections without an order are matched element by element up to this size.
const MAX_MATCHED: usize = 40;
/// Likewise, where elements are long, or are sums or integrals.
const MAX_MATCHED_HEAVY: usize = 4;

/// The order of two real constants; `None` where it cannot be told from double precision.
pub(super) fn order(a: &Expr, b: &Expr) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    match (a, b) {
        (Expr::Constant(Constant::NegativeInfinity), _)
        | (_, Expr::Constant(Constant::Infinity)) => return Some(Ordering::Less),
        (Expr::Constant(Constant::Infinity), _)
        | (_, Expr::Constant(Constant::NegativeInfinity)) => return Some(Ordering::Greater),
        _ => {}
    }
    if let (Some((left, _)), Some((right, _))) = (exact(a), exact(b)) {
        return Some(left.cmp(&right));
    }
    let left = constant(a)?;
    let right = constant(b)?;
    if left.im.abs() > left.error || right.im.abs() > right.error {
        return None;
    }
    if (left.re - right.re).abs() <= 100.0 * (left.error + right.error) {
        return Some(Ordering::Equal);
    }
    left.re.partial_cmp(&right.re)
}

/// Does the imaginary unit occur in its sums and products?
fn is_imaginary(term: &Expr) -> bool {
    match term {
        Expr::Add(items) | Expr::Multiply(items) => items.iter().any(is_imaginary),
        _ => *term == Expr::Constant(Constant::ImaginaryUnit),
    }
}

/// Is it a percentage or another product with something that is kept apart?
fn is_kept_apart(term: &Expr) -> bool {
    match term {
        Expr::Call(Function::Held, _) => true,
        Expr::Multiply(items) => items.iter().any(is_kept_apart),
        _ => false,
    }
}

/// Is the term finite wherever its variables are, as far as `SymPy` sees?
fn is_finite(term: &Expr) -> bool {
    let is_constant = |term: &Expr| algebra::variables(term).is_empty();
    match term {
        Expr::Add(items) | Expr::Multiply(items) => items.iter().all(is_finite),
        Expr::Power(power) => {
            is_constant(term)
                || power.0 == Expr::Constant(Constant::E) && is_finite(&power.1)
                || is_finite(&power.0)
                    && power
                        .1
                        .as_rational()
                        .is_some_and(|exponent| *exponent > dashu_ratio::RBig::ZERO)
        }
        Expr::Call(Function::Logarithm | Function::Tan | Function::Cot, _) => is_constant(term),
        _ => true,
    }
}

/// An interval from two ends: a tuple where it would be upside down, empty or a point where the ends say so, and `None` where `SymPy` refuses.
pub(super) fn interval(lower: Expr, upper: Expr, open: bool, close: bool) -> Option<Value> {
    if lower.is_matrix() || upper.is_matrix() {
        return None;
    }
    let order = order(&lower, &upper);
    let is_pair = match order {
        Some(Ordering::Greater) => open == close,
        Some(Ordering::Equal) => open && close,
        _ => false,
    };
    if is_pair {
        return Some(Value::Tuple(vec![Value::Term(lower), Value::Term(upper)]));
    }
    if is_imaginary(&lower) || is_imaginary(&upper) {
        return None;
    }
    if lower == Expr::Constant(Constant::Undefined) || upper == Expr::Constant(Constant::Undefined)
    {
        return None;
    }
    // `SymPy` cannot tell that the distance of a percentage to anything but a plain number is real.
    let plain = |term: &Expr| matches!(term, Expr::Number(_)) || is_kept_apart(term);
    if (is_kept_apart(&lower) || is_kept_apart(&upper)) && !(plain(&lower) && plain(&upper)) {
        return None;
    }
    match order {
        Some(Ordering::Greater) => return Some(Value::NamedSet(NamedSet::Empty)),
        Some(Ordering::Equal) => {
            return Some(if open || close || lower.is_infinite() {
                Value::NamedSet(NamedSet::Empty)
            } else {
                Value::finite_set(vec![Value::Term(upper)])
            });
        }
        _ => {}
    }
    let lower_open = open || lower == Expr::Constant(Constant::NegativeInfinity);
    let upper_open = close || upper == Expr::Constant(Constant::Infinity);
    Some(Value::Interval(Box::new(Interval {
        lower,
        upper,
        lower_open,
        upper_open,
    })))
}

/// Are two values built alike? The order in sets does not matter.
pub(super) fn same_structure(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::FiniteSet(left), Value::FiniteSet(right)) if left.len() > MAX_MATCHED => {
            let members: std::collections::HashSet<&Value> = right.iter().collect();
            left.len() == right.len() && left.iter().all(|item| members.contains(item))
        }
        (Value::FiniteSet(left), Value::FiniteSet(right)) => {
            left.len() == right.len()
                && left.iter().all(|item| {
                    right.contains(item) || right.iter().any(|other| same_structure(item, other))
                })
        }
        (Value::Tuple(left), Value::Tuple(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same_structure(left, right))
        }
        (Value::Compound(first, left), Value::Compound(second, right)) => {
            first == second
                && (same_structure(&left.0, &right.0) && same_structure(&left.1, &right.1)
                    || *first != SetOperator::Difference
                        && same_structure(&left.0, &right.1)
                        && same_structure(&left.1, &right.0))
        }
        (Value::Relation(left), Value::Relation(right)) | (Value::Not(left), Value::Not(right)) => {
            left.operator == right.operator
                && same_structure(&left.left, &right.left)
                && same_structure(&left.right, &right.right)
        }
        _ => a == b,
    }
}

/// Step 6: sets, tuples and intervals, where a single value is a set of itself.
pub(super) fn compare(gold: &Value, pred: &Value, options: &Options, depth: u32) -> Judgement {
    if let (Value::Interval(a), Value::Interval(b)) = (gold, pred) {
        return intervals(a, b, options);
    }
    let wrapped = |value: &Value| match value {
        set if set.is_set() => set.clone(),
        Value::Tuple(_) => value.clone(),
        single => Value::FiniteSet(vec![single.clone()]),
    };
    let (a, b) = (wrapped(gold), wrapped(pred));
    if same_structure(&a, &b) {
        return Judgement::decided(true, "structure");
    }
    let finite = |value: &Value| matches!(value, Value::FiniteSet(_) | Value::Tuple(_));
    if !(finite(&a) && finite(&b))
        && a.is_set()
        && b.is_set()
        && regions::same(&a, &b) == Some(true)
    {
        return Judgement::decided(true, "region");
    }
    // Lists compare member by member: in order where the gold one has an order.
    match (members(&a), members(&b)) {
        (Some(left), Some(right)) if left.len() != right.len() => Judgement::decided(false, "size"),
        (Some(left), Some(right)) if matches!(a, Value::FiniteSet(_)) => {
            matched(&left, &right, options, depth)
        }
        (Some(left), Some(right)) => {
            let pairs = left.iter().zip(right.iter());
            let verdicts = pairs.map(|(left, right)| judge::inside(left, right, options, depth));
            Judgement::all("elements", verdicts)
        }
        _ => Judgement::decided(false, "set"),
    }
}

/// The members of a finite set or a tuple; an open interval may be a pair.
fn members(value: &Value) -> Option<Cow<'_, [Value]>> {
    match value {
        Value::FiniteSet(items) | Value::Tuple(items) => Some(Cow::Borrowed(items)),
        Value::Interval(interval) => {
            let ends = [&interval.lower, &interval.upper];
            let open = interval.lower_open && interval.upper_open;
            let pair = || ends.map(|end| Value::Term(end.clone())).to_vec();
            (open && ends.into_iter().all(is_finite)).then(|| Cow::Owned(pair()))
        }
        _ => None,
    }
}

fn intervals(a: &Interval, b: &Interval, options: &Options) -> Judgement {
    if a.lower_open != b.lower_open || a.upper_open != b.upper_open {
        return Judgement::decided(false, "interval");
    }
    let end = |a: &Expr, b: &Expr| {
        if a == b {
            Judgement::decided(true, "structure")
        } else {
            judge::terms(a, b, options)
        }
    };
    end(&a.lower, &b.lower).and(end(&a.upper, &b.upper))
}

/// Every element of the one with an element of its own of the other.
fn matched(left: &[Value], right: &[Value], options: &Options, depth: u32) -> Judgement {
    let heavy = |value: &Value| matches!(value, Value::Term(term) if is_heavy(term));
    let most = if left.iter().chain(right).any(heavy) {
        MAX_MATCHED_HEAVY
    } else {
        MAX_MATCHED
    };
    if left.len() > most {
        return Judgement::open("size");
    }
    let mut free: Vec<&Value> = right.iter().collect();
    let mut all = Judgement::decided(true, "elements");
    for item in left {
        let mut open = None;
        let mut partner = None;
        for (at, other) in free.iter().enumerate() {
            let verdict = judge::inside(item, other, options, depth);
            if verdict.is_true() {
                partner = Some((at, verdict));
                break;
            }
            if verdict.equal.is_none() {
                open = Some(verdict);
            }
        }
        match (partner, open) {
            (Some((at, verdict)), _) => {
                free.swap_remove(at);
                all = all.and(verdict);
            }
            (None, Some(open)) => return open,
            (None, None) => return Judgement::decided(false, "elements"),
        }
    }
    all
}
