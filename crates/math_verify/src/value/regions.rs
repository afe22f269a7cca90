//! Parts of the real line: sets that are one, and relations that describe one.

use std::cmp::Ordering;

use super::equal_terms::difference;
use super::expr::Term;
use super::judge::Judgement;
use super::principal::{self, constant, coordinate, is_heavy};
use super::sets::order;
use super::{Interval, NamedSet, Operator, SetOperator, Value};
use juror_algebra::{self as algebra, Constant, Expr, Near};

/// Regions with more ends are not compared.
const MAX_ENDS: usize = 40;
/// How often a relation is tried between two ends.
const TRIES: usize = 24;

/// The ends of a region, sorted, each once; `None` where it is no region with ends that can be told apart.
fn ends(values: &[&Value]) -> Option<Vec<Expr>> {
    let mut all = Vec::new();
    for value in values {
        collect(value, &mut all)?;
    }
    if all.len() > MAX_ENDS || all.iter().any(is_heavy) {
        return None;
    }
    for end in &all {
        order(end, &Expr::integer(0))?;
    }
    all.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    all.dedup_by(|a, b| order(a, b) == Some(Ordering::Equal));
    all.retain(|end| !end.is_infinite());
    Some(all)
}

fn collect(value: &Value, found: &mut Vec<Expr>) -> Option<()> {
    match value {
        Value::FiniteSet(items) => {
            for item in items {
                let Value::Term(term) = item else {
                    return None;
                };
                found.push(term.clone());
            }
        }
        Value::Interval(interval) => {
            found.push(interval.lower.clone());
            found.push(interval.upper.clone());
        }
        Value::NamedSet(NamedSet::Empty | NamedSet::Reals) => {}
        Value::Compound(_, sides) => {
            collect(&sides.0, found)?;
            collect(&sides.1, found)?;
        }
        _ => return None,
    }
    Some(())
}

/// A place on the line that the ends cut: on an end, or between two.
#[derive(Clone, Copy)]
enum Place<'e> {
    On(&'e Expr),
    /// After this end and before the next; `None` before the first.
    After(Option<&'e Expr>),
}

fn holds(value: &Value, place: Place<'_>) -> bool {
    match value {
        Value::FiniteSet(items) => match place {
            Place::On(end) => items.iter().any(
                |item| matches!(item, Value::Term(term) if order(term, end) == Some(Ordering::Equal)),
            ),
            Place::After(_) => false,
        },
        Value::Interval(interval) => {
            let ascends = |a: &Expr, b: &Expr, or_equal: bool| match order(a, b) {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => or_equal,
                _ => false,
            };
            let (lower, upper) = (&interval.lower, &interval.upper);
            match place {
                Place::On(end) => {
                    ascends(lower, end, !interval.lower_open)
                        && ascends(end, upper, !interval.upper_open)
                }
                Place::After(None) => *lower == Expr::Constant(Constant::NegativeInfinity),
                Place::After(Some(end)) => ascends(lower, end, true) && ascends(end, upper, false),
            }
        }
        Value::NamedSet(NamedSet::Reals) => true,
        Value::Compound(operator, sides) => {
            let (left, right) = (holds(&sides.0, place), holds(&sides.1, place));
            match operator {
                SetOperator::Union => left || right,
                SetOperator::Intersection => left && right,
                SetOperator::Difference => left && !right,
            }
        }
        _ => false,
    }
}

/// Does an intersection take part? `SymPy` leaves it standing.
fn has_intersection(value: &Value) -> bool {
    match value {
        Value::Compound(operator, sides) => {
            *operator == SetOperator::Intersection
                || has_intersection(&sides.0)
                || has_intersection(&sides.1)
        }
        _ => false,
    }
}

/// Are two sets the same part of the line? `None` where that cannot be told.
pub(super) fn same(a: &Value, b: &Value) -> Option<bool> {
    if has_intersection(a) || has_intersection(b) {
        return None;
    }
    let ends = ends(&[a, b])?;
    let agree = |place: Place<'_>| holds(a, place) == holds(b, place);
    Some(
        agree(Place::After(None))
            && ends
                .iter()
                .all(|end| agree(Place::On(end)) && agree(Place::After(Some(end)))),
    )
}

/// Does a relation in one variable describe this set? `None` where one of them is of another kind.
pub(super) fn relation_is_set(relation: &Value, set: &Value) -> Option<Judgement> {
    let relations = relation.relations();
    if relations.is_empty() {
        return None;
    }
    let mut differences = Vec::with_capacity(relations.len());
    for relation in relations {
        let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
            return None;
        };
        let difference = match (left, right) {
            (Expr::Constant(Constant::Infinity), _)
            | (_, Expr::Constant(Constant::NegativeInfinity)) => Expr::integer(1),
            (Expr::Constant(Constant::NegativeInfinity), _)
            | (_, Expr::Constant(Constant::Infinity)) => Expr::integer(-1),
            _ => Expr::Add(vec![left.clone(), Expr::integer(-1).times(right.clone())]),
        };
        differences.push((relation.operator, difference));
    }
    let mut calls = Vec::new();
    for (_, difference) in &mut differences {
        *difference = without_calls(difference, &mut calls);
    }
    let symbols = algebra::variables_of(differences.iter().map(|(_, difference)| difference));
    let [variable] = symbols.as_slice() else {
        return None;
    };
    if differences.iter().any(|(_, term)| is_heavy(term)) {
        return None;
    }
    let plain = solutions(set);
    let set = plain.as_ref().unwrap_or(set);
    let ends = ends(&[set])?;
    let equal = describes(&differences, variable, set, &ends)
        || open_interval(set)
            .is_some_and(|interval| describes(&differences, variable, &interval, &ends));
    Some(Judgement::unproved(equal, "region"))
}

/// A finite set of equations as the set of their right sides.
fn solutions(set: &Value) -> Option<Value> {
    let Value::FiniteSet(items) = set else {
        return None;
    };
    let right_side = |item: &Value| match item {
        Value::Relation(it) if it.operator == Operator::Equal => it.right.clone(),
        other => other.clone(),
    };
    Some(Value::finite_set(items.iter().map(right_side).collect()))
}

/// Two members in ascending order may stand for the open interval between them.
fn open_interval(set: &Value) -> Option<Value> {
    let Value::FiniteSet(items) = set else {
        return None;
    };
    match items.as_slice() {
        [Value::Term(lower), Value::Term(upper)] if order(lower, upper) == Some(Ordering::Less) => {
            Some(Value::Interval(Box::new(Interval {
                lower: lower.clone(),
                upper: upper.clone(),
                lower_open: true,
                upper_open: true,
            })))
        }
        _ => None,
    }
}

/// The term with symbols in the place of calls of functions without a meaning, so that `0 < f(x) < 1` is about `f(x)`.
fn without_calls(term: &Expr, calls: &mut Vec<Expr>) -> Expr {
    algebra::replace(term, &mut |part| {
        matches!(part, Expr::Apply(..)).then(|| {
            let known = calls.iter().position(|call| call == part);
            let index = known.unwrap_or_else(|| {
                calls.push(part.clone());
                calls.len() - 1
            });
            Expr::Symbol(format!("call {index}").into())
        })
    })
}

fn describes(differences: &[(Operator, Expr)], variable: &str, set: &Value, ends: &[Expr]) -> bool {
    for end in ends {
        let mut holds_there = true;
        for (operator, gap) in differences {
            let value = principal::replaced(gap, &Expr::symbol(variable), end);
            let sign = if difference(&value, &Expr::integer(0)).is_true() {
                Some(Ordering::Equal)
            } else {
                constant(&value).and_then(|value| sign(value, false))
            };
            holds_there &= sign.is_some_and(|sign| satisfies(*operator, sign));
        }
        if holds_there != holds(set, Place::On(end)) {
            return false;
        }
    }
    let marks = ends.iter().map(|end| Some(constant(end)?.re));
    let Some(marks) = marks.collect::<Option<Vec<f64>>>() else {
        return false;
    };
    let below = marks.first().map_or(-1.0, |first| first - 1.0);
    let above = marks.last().map_or(1.0, |last| last + 1.0);
    let mut gaps = vec![(Place::After(None), (below - 1.0e4, below + 0.999, false))];
    for (at, end) in ends.iter().enumerate() {
        let next = marks.get(at + 1).map(|to| (marks[at], *to, false));
        let last = (above - 0.999, above + 1.0e4, true);
        gaps.push((Place::After(Some(end)), next.unwrap_or(last)));
    }
    gaps.iter()
        .all(|(place, gap)| agrees_between(differences, variable, holds(set, *place), *place, *gap))
}

/// Does the relation hold all over a gap, or nowhere in it?
fn agrees_between(
    differences: &[(Operator, Expr)],
    variable: &str,
    expected: bool,
    place: Place<'_>,
    (from, to, last_gap): (f64, f64, bool),
) -> bool {
    let mut last: Vec<Option<Ordering>> = vec![None; differences.len()];
    for step in 1..TRIES {
        let share = step as f64 / TRIES as f64;
        // The outer gaps are tried near their inner end most.
        let share = match place {
            Place::After(None) => 1.0 - share.powi(8),
            Place::After(Some(_)) if last_gap => share.powi(8),
            _ => share + 0.003,
        };
        let x = from + (to - from) * share;
        let point = [(variable, coordinate(x))];
        let mut there = true;
        for (at, (operator, difference)) in differences.iter().enumerate() {
            let sign = principal::at(difference, &point).and_then(|value| sign(value, true));
            there &= sign.is_some_and(|sign| satisfies(*operator, sign));
            // An equation may hold between two tries.
            if *operator == Operator::Equal
                && let (Some(before), Some(now)) = (last[at], sign)
                && before != now
            {
                return false;
            }
            last[at] = sign;
        }
        if there != expected {
            return false;
        }
    }
    true
}

fn sign(value: Near, strict: bool) -> Option<Ordering> {
    if value.im.abs() > value.error * 10.0 {
        return None;
    }
    if !strict && value.re.abs() <= value.error {
        return Some(Ordering::Equal);
    }
    value.re.partial_cmp(&0.0)
}

fn satisfies(operator: Operator, sign: Ordering) -> bool {
    match operator {
        Operator::Equal => sign == Ordering::Equal,
        Operator::NotEqual => sign != Ordering::Equal,
        Operator::Less => sign == Ordering::Less,
        Operator::LessOrEqual => sign != Ordering::Greater,
        Operator::Greater => sign == Ordering::Greater,
        Operator::GreaterOrEqual => sign != Ordering::Less,
    }
}
