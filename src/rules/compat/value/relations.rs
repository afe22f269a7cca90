//! Relations against relations.

use super::judge;
use super::scalars;
use super::term::{Operator, Relation, Term, Value};
use super::walk;
use super::{Judgement, Settings};

/// Step 5: chains link by link, single relations by their sides, equations also by their solutions.
pub(super) fn compare(gold: &Value, pred: &Value, settings: &Settings, depth: u32) -> Judgement {
    match (gold, pred) {
        (Value::And(left), Value::And(right)) => {
            if left.len() != right.len() {
                return Judgement::decided(false, "chain");
            }
            let mut all = Judgement::decided(true, "chain");
            for (left, right) in left.iter().zip(right) {
                all = all.and(pair(left, right, settings, depth));
                if all.equal == Some(false) {
                    break;
                }
            }
            all
        }
        (Value::Relation(left), Value::Relation(right)) => pair(left, right, settings, depth),
        _ => Judgement::decided(false, "chain"),
    }
}

/// left − right, as SymPy works it out; `None` where a side is no term.
fn gap(relation: &Relation) -> Option<Term> {
    let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
        return None;
    };
    if left.is_matrix() || right.is_matrix() {
        return None;
    }
    Some(simple(left, right))
}

/// a − b, a number or a bare symbol where it plainly is one.
fn simple(a: &Term, b: &Term) -> Term {
    let zero = Term::integer(0);
    if *b == zero {
        return a.clone();
    }
    let difference = Term::Add(vec![a.clone(), Term::integer(-1).times(b.clone())]);
    match walk::exact(&difference) {
        Some((value, false)) => Term::Number(value),
        Some((value, true)) => Term::Float(value),
        None => difference,
    }
}

fn pair(gold: &Relation, pred: &Relation, settings: &Settings, depth: u32) -> Judgement {
    if gold == pred {
        return Judgement::decided(true, "structure");
    }
    let _ = depth;
    let gaps = gap(gold).zip(gap(pred));
    let mut open = None;
    if let Some((left, right)) = &gaps {
        if gold.operator == pred.operator {
            let verdict = judge::terms(left, right, settings);
            if verdict.is_true() {
                return verdict;
            }
            open = verdict.equal.is_none().then_some(verdict);
        }
        if gold.operator.flipped() == Some(pred.operator) {
            let negated = match right.clone() {
                Term::Number(value) => Term::Number(-value),
                Term::Float(value) => Term::Float(-value),
                other => Term::integer(-1).times(other),
            };
            let verdict = judge::terms(left, &negated, settings);
            if verdict.is_true() {
                return verdict;
            }
            open = open.or(verdict.equal.is_none().then_some(verdict));
        }
        if gold.operator == Operator::Equal && pred.operator == Operator::Equal {
            let verdict = super::solving::same_solutions(left, right);
            if verdict.is_true() {
                return verdict;
            }
        }
    }
    open.unwrap_or_else(|| Judgement::decided(false, "relation"))
}

/// Is the difference of two terms zero, whatever kind they are of?
pub(super) fn vanishes(a: &Term, b: &Term) -> bool {
    scalars::difference(a, b).is_true()
}
