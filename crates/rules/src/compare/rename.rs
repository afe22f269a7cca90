//! Other letters for the same things.

use super::comparison::Told;
use super::context::Context;
use super::expressions;
use super::numbers::{self, Value};
use crate::algebra::{self, Expr};
use crate::answer::{Answer, Endpoint, Interval, Matrix, Operator, Quantity, Relation};

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
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Told {
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

/// Compares two antiderivatives: those that call their constant differently, `x^2 + C` and `x^2 + K`, and those that differ by one, as
/// `sin^2 x + C` and `-cos^2 x + C` do: by what is the same for another letter. `None` where they are none, or may differ.
pub(super) fn constant(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Told {
    const NAMES: [&str; 7] = ["C", "c", "K", "k", "C_1", "c_1", "D"];
    // What is added to the constant, and its name.
    let split = |answer: &Answer| {
        let value = match answer {
            Answer::Relation(relation) => relation.sides.last()?,
            other => other,
        };
        let Expr::Add(terms) = expressions::expression(value)? else {
            return None;
        };
        let name = |it: &Expr| NAMES.iter().find(|name| *it == Expr::symbol(name)).copied();
        let at = terms.iter().position(|it| name(it).is_some())?;
        let rest = [&terms[..at], &terms[at + 1..]].concat();
        Some((Expr::Add(rest), name(&terms[at])?))
    };
    let ((a, own), (b, other)) = (split(gold)?, split(pred)?);
    let equation = |it: &Relation| it.operators == [Operator::Equal] && it.modulus.is_none();
    let stated = match (gold, pred) {
        (Answer::Relation(a), Answer::Relation(b)) => {
            equation(a) && equation(b) && a.sides[0] == b.sides[0]
        }
        (a, b) => ![a, b].iter().any(|it| matches!(it, Answer::Relation(_))),
    };
    // Of a line another one may be meant.
    let curved = algebra::any(&a, &mut |it| {
        let bends = matches!(it, Expr::Power(_) | Expr::Call(..));
        bends && !algebra::variables_of([it]).is_empty()
    });
    if let [letter] = algebra::variables_of([&a, &b]).as_slice()
        && stated
        && curved
        && letter.starts_with(char::is_lowercase)
        && matches!((own, other), ("C", "C" | "K") | ("K", "C"))
    {
        let difference = Expr::Add(vec![a, expressions::product(Expr::integer(-1), b)]);
        let moved = algebra::replace(&difference, &mut |part| {
            matches!(part, Expr::Symbol(_)).then(|| Expr::symbol("'"))
        });
        let [a, b] = [&difference, &moved].map(Value::of);
        let verdict = context.quietly(|context| numbers::compare(a, b, context));
        return Some(verdict).filter(|it| it.equal == Some(true));
    }
    let within = |it: &Answer, name: &str| letters_of(it).iter().any(|own| **own == *name);
    let capital = [own, other].iter().any(|it| it.starts_with(['C', 'K']));
    if !capital || own == other || within(gold, other) || within(pred, own) {
        return None;
    }
    let renamed = letters(pred, &[(other.into(), own.into())]);
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
        Answer::Matrix(matrix) => {
            let rows = matrix.rows.iter();
            let rows = rows
                .map(|row| row.iter().map(&mut *change).collect())
                .collect();
            Answer::Matrix(Matrix { rows })
        }
        Answer::Ratio(parts) => Answer::Ratio(parts.iter().map(change).collect()),
        other => other.clone(),
    }
}
