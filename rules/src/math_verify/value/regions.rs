//! Parts of the real line: sets that are one, and relations that describe one.

use std::cmp::Ordering;

use super::Judgement;
use super::sample::{self, Sample};
use super::scalars;
use super::sets::order;
use super::term::{Interval, NamedSet, Operator, Relation, SetOperator, Term, Value};
use super::walk;

/// Regions with more ends are not compared.
const MAX_ENDS: usize = 40;
/// How often a relation is tried between two ends.
const TRIES: usize = 24;

/// The ends of a region, sorted, each once; `None` where it is no region with ends that can be told apart.
fn ends(values: &[&Value]) -> Option<Vec<Term>> {
    let mut all = Vec::new();
    for value in values {
        collect(value, &mut all)?;
    }
    if all.len() > MAX_ENDS || all.iter().any(walk::is_heavy) {
        return None;
    }
    for end in &all {
        order(end, &Term::integer(0))?;
    }
    all.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    all.dedup_by(|a, b| order(a, b) == Some(Ordering::Equal));
    all.retain(|end| !matches!(end, Term::Infinity | Term::NegativeInfinity));
    Some(all)
}

fn collect(value: &Value, found: &mut Vec<Term>) -> Option<()> {
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
    On(&'e Term),
    /// Behind this end and before the next; `None` before the first.
    Behind(Option<&'e Term>),
}

/// Is the place in the region?
fn holds(value: &Value, place: Place<'_>) -> bool {
    match value {
        Value::FiniteSet(items) => match place {
            Place::On(end) => items.iter().any(
                |item| matches!(item, Value::Term(term) if order(term, end) == Some(Ordering::Equal)),
            ),
            Place::Behind(_) => false,
        },
        Value::Interval(interval) => {
            let above = match place {
                Place::On(end) => match order(&interval.lower, end) {
                    Some(Ordering::Less) => true,
                    Some(Ordering::Equal) => !interval.lower_open,
                    _ => false,
                },
                Place::Behind(None) => interval.lower == Term::NegativeInfinity,
                Place::Behind(Some(end)) => matches!(
                    order(&interval.lower, end),
                    Some(Ordering::Less | Ordering::Equal)
                ),
            };
            let below = match place {
                Place::On(end) => match order(end, &interval.upper) {
                    Some(Ordering::Less) => true,
                    Some(Ordering::Equal) => !interval.upper_open,
                    _ => false,
                },
                Place::Behind(None) => true,
                Place::Behind(Some(end)) => order(end, &interval.upper) == Some(Ordering::Less),
            };
            above && below
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
        agree(Place::Behind(None))
            && ends
                .iter()
                .all(|end| agree(Place::On(end)) && agree(Place::Behind(Some(end)))),
    )
}

/// Does a relation in one variable describe this set? `None` where one of them is of another kind.
pub(super) fn relation_is_set(relation: &Value, set: &Value) -> Option<Judgement> {
    let relations: Vec<&Relation> = match relation {
        Value::Relation(single) => vec![single],
        Value::And(several) => several.iter().collect(),
        _ => return None,
    };
    let mut differences = Vec::with_capacity(relations.len());
    for relation in relations {
        let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
            return None;
        };
        let difference = match (left, right) {
            (Term::Infinity, _) | (_, Term::NegativeInfinity) => Term::integer(1),
            (Term::NegativeInfinity, _) | (_, Term::Infinity) => Term::integer(-1),
            _ => Term::Add(vec![left.clone(), Term::integer(-1).times(right.clone())]),
        };
        differences.push((relation.operator, difference));
    }
    let symbols = with_names_for_calls(&mut differences);
    let [variable] = symbols.as_slice() else {
        return None;
    };
    if differences.iter().any(|(_, term)| walk::is_heavy(term)) {
        return None;
    }
    let plain = solutions(set);
    let set = plain.as_ref().unwrap_or(set);
    let ends = ends(&[set])?;
    let equal = describes(&differences, variable, set, &ends)
        || open_interval(set)
            .is_some_and(|interval| describes(&differences, variable, &interval, &ends));
    Some(Judgement::numeric(equal, "region"))
}

/// A finite set of equations as the set of their right sides.
fn solutions(set: &Value) -> Option<Value> {
    let Value::FiniteSet(items) = set else {
        return None;
    };
    let right_sides = items
        .iter()
        .map(|item| match item {
            Value::Relation(relation) if relation.operator == Operator::Equal => {
                relation.right.clone()
            }
            other => other.clone(),
        })
        .collect();
    Some(Value::finite_set(right_sides))
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

/// Puts symbols in the place of calls, so that `0 < f(x) < 1` is about `f(x)`; the symbols that are then there.
fn with_names_for_calls(differences: &mut [(Operator, Term)]) -> Vec<Term> {
    let mut calls = Vec::new();
    for (_, difference) in differences.iter() {
        outer_calls(difference, &mut calls);
    }
    let mut symbols = Vec::new();
    for (_, difference) in differences {
        for (index, call) in calls.iter().enumerate() {
            let symbol = Term::Symbol {
                name: format!("call {index}").into(),
                real: Some(true),
            };
            *difference = walk::replaced(difference, call, &symbol);
        }
        walk::symbols(difference, &mut symbols);
    }
    symbols
}

/// Adds the calls of functions without a meaning that stand in no other such call.
fn outer_calls(term: &Term, found: &mut Vec<Term>) {
    match term {
        Term::Apply(..) if !found.contains(term) => found.push(term.clone()),
        Term::Add(items) | Term::Multiply(items) | Term::Call(_, items) => {
            for item in items {
                outer_calls(item, found);
            }
        }
        Term::Power(power) => {
            outer_calls(&power.0, found);
            outer_calls(&power.1, found);
        }
        _ => {}
    }
}

fn describes(
    differences: &[(Operator, Term)],
    variable: &Term,
    set: &Value,
    ends: &[Term],
) -> bool {
    for end in ends {
        let mut holds_there = true;
        for (operator, difference) in differences {
            let value = walk::replaced(difference, variable, end);
            let sign = if scalars::difference(&value, &Term::integer(0)).is_true() {
                Some(Ordering::Equal)
            } else {
                sample::at(&value, &[]).and_then(|value| sign(value, false))
            };
            holds_there &= sign.is_some_and(|sign| satisfies(*operator, sign));
        }
        if holds_there != holds(set, Place::On(end)) {
            return false;
        }
    }
    let mut marks: Vec<f64> = Vec::with_capacity(ends.len());
    for end in ends {
        match sample::at(end, &[]) {
            Some(value) => marks.push(value.re),
            None => return false,
        }
    }
    let below = marks.first().map_or(-1.0, |first| first - 1.0);
    let above = marks.last().map_or(1.0, |last| last + 1.0);
    let mut gaps = vec![(Place::Behind(None), (below - 1.0e4, below + 0.999, false))];
    for (at, end) in ends.iter().enumerate() {
        let from = marks[at];
        match marks.get(at + 1) {
            Some(to) => gaps.push((Place::Behind(Some(end)), (from, *to, false))),
            None => gaps.push((
                Place::Behind(Some(end)),
                (above - 0.999, above + 1.0e4, true),
            )),
        }
    }
    gaps.iter()
        .all(|(place, gap)| agrees_between(differences, variable, holds(set, *place), *place, *gap))
}

/// Does the relation hold all over a gap, or nowhere in it?
fn agrees_between(
    differences: &[(Operator, Term)],
    variable: &Term,
    expected: bool,
    place: Place<'_>,
    (from, to, last_gap): (f64, f64, bool),
) -> bool {
    let mut last: Vec<Option<Ordering>> = vec![None; differences.len()];
    for step in 1..TRIES {
        let share = step as f64 / TRIES as f64;
        // The outer gaps are tried near their inner end most.
        let share = match place {
            Place::Behind(None) => 1.0 - share.powi(8),
            Place::Behind(Some(_)) if last_gap => share.powi(8),
            _ => share + 0.003,
        };
        let x = from + (to - from) * share;
        let mut value_point = Sample::real(x);
        value_point.error = 0.0;
        let point = [(variable.clone(), value_point)];
        let mut there = true;
        for (at, (operator, difference)) in differences.iter().enumerate() {
            let sign = sample::at(difference, &point).and_then(|value| sign(value, true));
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

fn sign(value: Sample, strict: bool) -> Option<Ordering> {
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
