//! Other letters for the same things.

use super::comparison::Comparison;
use super::context::Context;
use super::expressions;
use crate::algebra;
use crate::algebra::Expr;
use crate::answer::{Answer, Endpoint, Interval, Matrix, Quantity, Relation};

/// An answer with letters exchanged: each first of a pair becomes the second, all at once.
pub(super) fn letters(answer: &Answer, pairs: &[(Box<str>, Box<str>)]) -> Answer {
    if pairs.iter().all(|(from, to)| from == to) {
        return answer.clone();
    }
    map(answer, &mut |expr| {
        algebra::replace(expr, &mut |part| match part {
            Expr::Symbol(name) => pairs
                .iter()
                .find(|(from, _)| from == name)
                .map(|(_, to)| Expr::Symbol(to.clone())),
            _ => None,
        })
    })
}

/// The letters of an answer, sorted.
pub(super) fn letters_of(answer: &Answer) -> Vec<Box<str>> {
    let mut exprs = Vec::new();
    answer.any(&mut |expr| {
        exprs.push(expr);
        false
    });
    algebra::variables_of(exprs)
}

/// Compares under every way of calling the prediction's variables by the gold answer's letters. `None` where there is none to try.
pub(super) fn compare(
    gold: &Answer,
    pred: &Answer,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    const MOST: usize = 4;
    let (to, mut from) = (letters_of(gold), letters_of(pred));
    if to.len() != from.len() || to.is_empty() || to.len() > MOST || to == from && to.len() == 1 {
        return None;
    }
    let mut undecided = None;
    let mut orders = Vec::new();
    permutations(&mut from, 0, &mut orders);
    for order in orders {
        let pairs: Vec<_> = order.into_iter().zip(to.iter().cloned()).collect();
        let renamed = letters(pred, &pairs);
        let verdict = context.quietly(|context| context.answers(gold, &renamed));
        match verdict.equal {
            Some(true) => return Some(verdict),
            None => undecided = Some(verdict),
            Some(false) => {}
        }
    }
    undecided
}

/// Compares two antiderivatives that call their constant differently, `x^2 + C` and `x^2 + K`. `None` where they do not.
pub(super) fn constant(
    gold: &Answer,
    pred: &Answer,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    const NAMES: [&str; 7] = ["C", "c", "K", "k", "C_1", "c_1", "D"];
    let own = |answer: &Answer| {
        let value = match answer {
            Answer::Relation(relation) => relation.sides.last()?,
            other => other,
        };
        match expressions::expression(value)? {
            Expr::Add(terms) => terms.iter().find_map(|term| match term {
                Expr::Symbol(name) if NAMES.contains(&&**name) => Some(name.clone()),
                _ => None,
            }),
            _ => None,
        }
    };
    let (to, from) = (own(gold)?, own(pred)?);
    let capital = [&to, &from].iter().any(|it| it.starts_with(['C', 'K']));
    if !capital || to == from || letters_of(gold).contains(&from) || letters_of(pred).contains(&to)
    {
        return None;
    }
    let renamed = letters(pred, &[(from, to)]);
    Some(context.quietly(|context| context.answers(gold, &renamed)))
        .filter(|it| it.equal == Some(true))
}

fn permutations(letters: &mut Vec<Box<str>>, from: usize, found: &mut Vec<Vec<Box<str>>>) {
    if from == letters.len() {
        found.push(letters.clone());
        return;
    }
    for index in from..letters.len() {
        letters.swap(from, index);
        permutations(letters, from + 1, found);
        letters.swap(from, index);
    }
}

/// An answer with every expression in it changed.
fn map(answer: &Answer, change: &mut dyn FnMut(&Expr) -> Expr) -> Answer {
    let mut all =
        |parts: &[Answer]| -> Vec<Answer> { parts.iter().map(|part| map(part, change)).collect() };
    match answer {
        Answer::Quantity(quantity) => Answer::Quantity(Quantity {
            value: change(&quantity.value),
            ..quantity.clone()
        }),
        Answer::Relation(relation) => Answer::Relation(Relation {
            sides: all(&relation.sides),
            operators: relation.operators.clone(),
            modulus: relation.modulus.as_ref().map(change),
        }),
        Answer::Set(parts) => Answer::Set(all(parts)),
        Answer::List(parts) => Answer::List(all(parts)),
        Answer::Tuple(parts) => Answer::Tuple(all(parts)),
        Answer::Union(parts) => Answer::Union(all(parts)),
        Answer::Intersection(parts) => Answer::Intersection(all(parts)),
        Answer::Interval(interval) => {
            let mut end = |end: &Endpoint| (change(&end.value), end.closed);
            Answer::Interval(Interval::new(end(&interval.lower), end(&interval.upper)))
        }
        Answer::Difference(pair) => {
            Answer::Difference(Box::new((map(&pair.0, change), map(&pair.1, change))))
        }
        Answer::Matrix(matrix) => Answer::Matrix(Matrix {
            rows: matrix
                .rows
                .iter()
                .map(|row| row.iter().map(&mut *change).collect())
                .collect(),
        }),
        Answer::Ratio(parts) => Answer::Ratio(parts.iter().map(change).collect()),
        other => other.clone(),
    }
}
