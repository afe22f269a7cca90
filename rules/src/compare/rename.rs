//! Other letters for the same things.

use super::terms;
use super::{Comparison, Context};
use crate::algebra;
use crate::algebra::Expr;
use crate::answer::Answer;

/// An answer with letters exchanged: each first of a pair becomes the second, all at once.
pub(super) fn letters(answer: &Answer, pairs: &[(Box<str>, Box<str>)]) -> Answer {
    if pairs.iter().all(|(from, to)| from == to) {
        return answer.clone();
    }
    terms::map(answer, &mut |expr| {
        terms::replace(expr, &mut |part| match part {
            Expr::Symbol(name) => pairs
                .iter()
                .find(|(from, _)| from == name)
                .map(|(_, to)| Expr::Symbol(to.clone())),
            _ => None,
        })
    })
}

/// The letters of an answer, sorted.
fn letters_of(answer: &Answer) -> Vec<Box<str>> {
    let mut letters = Vec::new();
    terms::map(answer, &mut |expr| {
        letters.extend(algebra::variables(expr));
        Expr::integer(0)
    });
    letters.sort_unstable();
    letters.dedup();
    letters
}

/// Compares under every way of calling the prediction's variables by the gold answer's letters. `None` where there is
/// none to try.
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
