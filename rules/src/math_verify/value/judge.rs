//! The order of Math-Verify's tests for two values.

use super::relations;
use super::scalars;
use super::sets;
use super::symbols;
use super::term::{Operator, Relation, Term, Value};
use super::walk;
use super::{Judgement, Settings};
use crate::algebra::work;

/// How deep collections inside collections are compared.
const MAX_NESTING: u32 = 24;

/// Is an assignment: an equation whose left side consists of symbols.
fn is_assignment(value: &Value) -> bool {
    match value {
        Value::Relation(relation) => {
            relation.operator == Operator::Equal && relation.left.is_of_symbols()
        }
        Value::And(relations) => {
            relations
                .iter()
                .all(|relation| relation.operator == Operator::Equal)
                && relations
                    .first()
                    .is_some_and(|first| first.left.is_of_symbols())
        }
        _ => false,
    }
}

fn is_equation(value: &Value) -> bool {
    match value {
        Value::Relation(relation) => relation.operator == Operator::Equal,
        Value::And(relations) => relations
            .iter()
            .all(|relation| relation.operator == Operator::Equal),
        _ => false,
    }
}

/// The right side of the last relation.
fn last_right(value: &Value) -> Option<&Value> {
    match value {
        Value::Relation(relation) => Some(&relation.right),
        Value::And(relations) => relations.last().map(|relation| &relation.right),
        _ => None,
    }
}

/// The right side of an assignment, anything else whole.
pub(super) fn unwrapped(value: &Value) -> &Value {
    if is_assignment(value) {
        last_right(value).unwrap_or(value)
    } else {
        value
    }
}

/// A chain of an assignment, from its first left side to its last right side.
fn collapsed(value: &Value) -> Option<Value> {
    let Value::And(relations) = value else {
        return None;
    };
    Some(Value::Relation(Box::new(Relation {
        operator: Operator::Equal,
        left: relations.first()?.left.clone(),
        right: relations.last()?.right.clone(),
    })))
}

/// The verdict on two values under the settings of the caller.
pub(super) fn judge(
    gold: &Value,
    pred: &Value,
    settings: Settings,
    strict: bool,
    allow_relation_for_set: bool,
) -> Judgement {
    if strict {
        return nested(gold, pred, settings, allow_relation_for_set, 0);
    }
    let pred = renamed(gold, pred);
    nested(gold, &pred, settings, allow_relation_for_set, 0)
}

/// The prediction with its symbols named like the gold answer's, if they are as many.
fn renamed(gold: &Value, pred: &Value) -> Value {
    let mut wanted = Vec::new();
    let mut present = Vec::new();
    walk::value_symbols(gold, &mut wanted);
    walk::value_symbols(pred, &mut present);
    let mut renamed = pred.clone();
    if wanted.len() != present.len() {
        return renamed;
    }
    let name = |symbol: &Term| match symbol {
        Term::Symbol { name, .. } => name.clone(),
        _ => Box::default(),
    };
    wanted.sort_by_key(name);
    present.sort_by_key(name);
    let pairs: Vec<(Term, Term)> = present
        .into_iter()
        .zip(wanted)
        .filter(|(from, to)| from != to)
        .collect();
    // By way of names that nobody writes, so that an exchange of two letters is one.
    for (index, (from, _)) in pairs.iter().enumerate() {
        renamed = walk::value_replaced(&renamed, from, &stand_in(index));
    }
    for (index, (_, to)) in pairs.iter().enumerate() {
        renamed = walk::value_replaced(&renamed, &stand_in(index), to);
    }
    renamed
}

fn stand_in(index: usize) -> Term {
    Term::Symbol {
        name: format!("\u{0}{index}").into(),
        real: None,
    }
}

/// The verdict on two values inside others.
pub(super) fn inside(gold: &Value, pred: &Value, settings: Settings, depth: u32) -> Judgement {
    nested(gold, pred, settings, false, depth + 1)
}

fn nested(
    gold: &Value,
    pred: &Value,
    settings: Settings,
    allow_relation_for_set: bool,
    depth: u32,
) -> Judgement {
    if depth > MAX_NESTING {
        return Judgement::decided(false, "depth");
    }
    if work::is_spent() {
        return Judgement::too_complex();
    }
    let gold_assigns = is_assignment(gold);
    let gold_equation = is_equation(gold);
    let pred_equation = is_equation(pred);
    let gold_collapsed = if gold_assigns { collapsed(gold) } else { None };
    let pred_collapsed = if is_assignment(pred) {
        collapsed(pred)
    } else {
        None
    };
    let mut gold = gold_collapsed.as_ref().unwrap_or(gold);
    let mut pred = pred_collapsed.as_ref().unwrap_or(pred);
    if pred_equation && !gold_equation {
        pred = last_right(pred).unwrap_or(pred);
    } else if gold_assigns && !pred_equation {
        gold = last_right(gold).unwrap_or(gold);
    }
    let is_relation = |value: &Value| matches!(value, Value::Relation(_) | Value::And(_));
    if is_relation(gold)
        && pred.is_set()
        && let Some(verdict) = super::regions::relation_is_set(gold, pred)
    {
        return verdict;
    }
    if allow_relation_for_set
        && is_relation(pred)
        && gold.is_set()
        && let Some(verdict) = super::regions::relation_is_set(pred, gold)
    {
        return verdict;
    }
    if matches!(
        gold,
        Value::Term(Term::Undefined | Term::ComplexInfinity) | Value::Foreign
    ) || *pred == Value::Foreign
    {
        return Judgement::decided(false, "undefined");
    }
    if sets::same_structure(gold, pred) {
        return Judgement::decided(true, "structure");
    }
    if is_relation(gold) && is_relation(pred) {
        return relations::compare(gold, pred, settings, depth);
    }
    let collects = |value: &Value| value.is_set() || matches!(value, Value::Tuple(_));
    if collects(gold) || collects(pred) {
        return sets::compare(gold, pred, settings, depth);
    }
    let (Value::Term(gold), Value::Term(pred)) = (gold, pred) else {
        return Judgement::decided(false, "kind");
    };
    terms(gold, pred, settings)
}

/// The verdict on two terms: names by their spelling, everything else by its value.
pub(super) fn terms(gold: &Term, pred: &Term, settings: Settings) -> Judgement {
    let is_symbol = |term: &Term| matches!(term, Term::Symbol { .. });
    if is_symbol(gold) || is_symbol(pred) {
        return Judgement::decided(symbols::same(gold, pred), "symbol");
    }
    scalars::equal(gold, pred, settings)
}
