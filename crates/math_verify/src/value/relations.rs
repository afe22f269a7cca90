//! Relations against relations.

use dashu_ratio::RBig;

use super::expr::Term;
use super::judge::{self, Judgement};
use super::principal::exact;
use super::{Operator, Relation, Value};
use crate::options::Options;
use juror_algebra::Expr;

/// Step 5: chains link by link, single relations by their sides, equations also by their solutions.
pub(super) fn compare(gold: &Value, pred: &Value, options: &Options) -> Judgement {
    match (gold, pred) {
        (Value::And(left), Value::And(right)) => {
            if left.len() != right.len() {
                return Judgement::decided(false, "chain");
            }
            let links = left.iter().zip(right);
            Judgement::all(
                "chain",
                links.map(|(left, right)| pair(left, right, options)),
            )
        }
        (Value::Relation(left), Value::Relation(right)) => pair(left, right, options),
        _ => Judgement::decided(false, "chain"),
    }
}

/// left − right, as `SymPy` works it out; `None` where a side is no term.
fn gap(relation: &Relation) -> Option<Expr> {
    let (Value::Term(left), Value::Term(right)) = (&relation.left, &relation.right) else {
        return None;
    };
    if left.is_matrix() || right.is_matrix() {
        return None;
    }
    if *right == Expr::integer(0) {
        return Some(left.clone());
    }
    let difference = Expr::Add(vec![left.clone(), Expr::integer(-1).times(right.clone())]);
    Some(exact(&difference).map_or(difference, Expr::number))
}

/// −a, and a of −a.
fn negated(term: &Expr) -> Expr {
    match term {
        Expr::Multiply(items) => match items.as_slice() {
            [Expr::Number(minus_one), rest] if *minus_one == RBig::NEG_ONE => rest.clone(),
            _ => term.clone().opposite(),
        },
        _ => term.clone().opposite(),
    }
}

fn pair(gold: &Relation, pred: &Relation, options: &Options) -> Judgement {
    if gold == pred {
        return Judgement::decided(true, "structure");
    }
    let gaps = gap(gold).zip(gap(pred));
    let mut open = None;
    if let Some((left, right)) = &gaps {
        if gold.operator == pred.operator {
            let verdict = judge::terms(left, right, options);
            if verdict.is_true() {
                return verdict;
            }
            open = verdict.equal.is_none().then_some(verdict);
        }
        if gold.operator.flipped() == Some(pred.operator) {
            let verdict = judge::terms(left, &negated(right), options);
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
