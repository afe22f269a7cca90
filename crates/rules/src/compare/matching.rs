//! Collections without order: which element of one is which of the other?

use std::collections::HashMap;

use super::comparison::Comparison;
use super::context::Context;
use super::expressions;
use crate::algebra;
use crate::algebra::work;
use crate::answer::Answer;

/// How many elements are tried against each other.
const MOST_PAIRED: usize = 40;

/// Do two collections hold the same elements? As sets, repetition does not count.
pub(super) fn unordered(
    gold: &[Answer],
    pred: &[Answer],
    as_sets: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let method = if as_sets { "set" } else { "list" };
    if !as_sets && gold.len() != pred.len() {
        return lengths(method, gold.len(), pred.len(), context);
    }
    if gold.is_empty() || pred.is_empty() {
        return if gold.len() == pred.len() {
            Comparison::equal(method)
        } else {
            lengths(method, gold.len(), pred.len(), context)
        };
    }
    one_by_one(method, gold, pred, as_sets, context)
}

/// The verdict on collections of different sizes.
pub(super) fn lengths(
    method: &'static str,
    gold: usize,
    pred: usize,
    context: &Context<'_>,
) -> Comparison {
    context.different(method, || {
        let elements = |n: usize| if n == 1 { "element" } else { "elements" };
        format!("{gold} {} and {pred} {}", elements(gold), elements(pred))
    })
}

/// How many parts an answer has.
fn size(answer: &Answer) -> u64 {
    let mut size = 4;
    answer.any(&mut |expr| {
        size += 4 + algebra::size(expr);
        false
    });
    size
}

/// Any elements: those written alike first, the rest each against each.
fn one_by_one(
    method: &'static str,
    gold: &[Answer],
    pred: &[Answer],
    as_sets: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let mut whole = Comparison::equal(method);
    let (mut rest_gold, mut rest_pred): (Vec<&Answer>, Vec<&Answer>) =
        (gold.iter().collect(), pred.iter().collect());
    if as_sets {
        // Each is hashed, and compared where it is found.
        let nodes: u64 = gold.iter().chain(pred).map(size).sum();
        work::charge(5 * nodes);
        let mut seen = std::collections::HashSet::new();
        rest_gold.retain(|element| seen.insert(*element));
        seen.clear();
        rest_pred.retain(|element| seen.insert(*element));
    }
    if rest_gold.len().max(rest_pred.len()) > 8 {
        let alike = take_alike(&mut rest_gold, &rest_pred);
        take_alike(&mut rest_pred, &alike);
        for element in alike {
            // What has no value is not equal to itself.
            let part = context.answers(element, element);
            if part.equal != Some(true) {
                whole = Comparison::all(method, [whole, part]);
            }
        }
        // Of a set, an element may also repeat one that was taken; that is left open below.
        if rest_gold.len().max(rest_pred.len()) > MOST_PAIRED {
            return Comparison::too_complex();
        }
        if rest_gold.is_empty() != rest_pred.is_empty() && !as_sets {
            return lengths(method, gold.len(), pred.len(), context);
        }
        if as_sets && rest_gold.len() != rest_pred.len() {
            (rest_gold, rest_pred) = (gold.iter().collect(), pred.iter().collect());
            if rest_gold.len().max(rest_pred.len()) > 3 * MOST_PAIRED {
                return Comparison::open("sets whose elements may repeat one another");
            }
        }
    }
    let found = paired(method, &rest_gold, &rest_pred, as_sets, context);
    Comparison::all(method, [found, whole])
}

/// Removes from `elements` those that are written as one of `others`, each of these once, and returns them.
fn take_alike<'a>(elements: &mut Vec<&'a Answer>, others: &[&'a Answer]) -> Vec<&'a Answer> {
    let mut counts: HashMap<&Answer, usize> = HashMap::with_capacity(others.len());
    for element in others {
        *counts.entry(element).or_default() += 1;
    }
    let mut taken = Vec::new();
    elements.retain(|element| match counts.get_mut(element) {
        Some(count) if *count > 0 => {
            *count -= 1;
            taken.push(*element);
            false
        }
        _ => true,
    });
    taken
}

/// Each against each. Equality carries over, so the first partner found is as good as any.
fn paired(
    method: &'static str,
    gold: &[&Answer],
    pred: &[&Answer],
    as_sets: bool,
    context: &mut Context<'_>,
) -> Comparison {
    let (mut waiting, mut free) = (gold.to_vec(), pred.to_vec());
    let mut whole = Comparison::equal(method);
    if !as_sets {
        // Of a list, what found its partner is no candidate any more.
        waiting.retain(|element| {
            if let (Some(at), part) = partner(method, element, &free, false, context) {
                free.remove(at);
                whole = Comparison::all(method, [whole.clone(), part]);
                return false;
            }
            true
        });
    }
    for (elements, others, swapped) in [(&waiting, &free, false), (&free, &waiting, true)] {
        for element in elements {
            let (_, part) = partner(method, element, others, swapped, context);
            if part.equal == Some(false) {
                return part;
            }
            whole = Comparison::all(method, [whole, part]);
        }
    }
    whole
}

/// The first of several that an element is equal to, by its place, and how it compares with them all.
fn partner(
    method: &'static str,
    element: &Answer,
    others: &[&Answer],
    swapped: bool,
    context: &mut Context<'_>,
) -> (Option<usize>, Comparison) {
    let mut maybe = None;
    for (at, other) in others.iter().enumerate() {
        let part = context.quietly(|context| context.either_way(element, other, swapped));
        match part.equal {
            Some(true) => return (Some(at), part),
            None => maybe = Some(part),
            Some(false) => {}
        }
    }
    (
        None,
        maybe.unwrap_or_else(|| missing(method, element, context)),
    )
}
fn missing(method: &'static str, element: &Answer, context: &Context<'_>) -> Comparison {
    context.different(method, || {
        format!("{} is on one side only", expressions::show_answer(element))
    })
}
