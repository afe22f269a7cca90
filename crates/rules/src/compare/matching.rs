//! Collections without order: which element of one is which of the other?

use std::collections::HashMap;

use super::comparison::Comparison;
use super::context::Context;
use super::expressions;
use crate::algebra;
use crate::algebra::work;
use crate::answer::Answer;
use crate::verification::Status;

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
    let mut used = vec![false; pred.len()];
    let mut status = Status::Decided;
    let mut undecided = None;
    let mut waiting = Vec::new();
    let mut partnered = vec![false; gold.len()];
    for (element, partnered) in gold.iter().zip(&mut partnered) {
        let mut found = false;
        let mut maybe = None;
        for (index, candidate) in pred.iter().enumerate() {
            if used[index] && (!as_sets || found) {
                continue;
            }
            let part = context.quietly(|context| context.answers(element, candidate));
            match part.equal {
                Some(true) => {
                    used[index] = true;
                    found = true;
                    if part.status == Status::Numeric {
                        status = Status::Numeric;
                    }
                    if !as_sets {
                        break;
                    }
                }
                None => maybe = Some(part),
                Some(false) => {}
            }
        }
        *partnered = found;
        if !found {
            match maybe {
                Some(part) => {
                    undecided = Some(part);
                    waiting.push(*element);
                }
                None => return missing(method, element, context),
            }
        }
    }
    // Of a list, what found its partner is no candidate any more.
    for element in waiting.into_iter().filter(|_| !as_sets) {
        let mut free = pred.iter().zip(&used).filter(|(_, used)| !**used);
        let differs = free.all(|(candidate, _)| {
            let part = context.quietly(|context| context.answers(element, candidate));
            part.equal == Some(false)
        });
        if differs {
            return missing(method, element, context);
        }
    }
    // An element of the prediction that nothing in the gold answer can be settles it too.
    for (index, candidate) in pred.iter().enumerate() {
        if used[index] {
            continue;
        }
        if !as_sets && undecided.is_none() {
            return missing(method, candidate, context);
        }
        let mut maybe = None;
        for (element, partnered) in gold.iter().zip(&partnered) {
            if *partnered && !as_sets {
                continue;
            }
            let part = context.quietly(|context| context.answers(element, candidate));
            if part.equal != Some(false) {
                maybe = Some(part);
            }
        }
        match maybe {
            None => return missing(method, candidate, context),
            Some(part) if part.equal.is_none() => undecided = Some(part),
            Some(_) => {}
        }
    }
    if let Some(mut part) = undecided {
        if part.reason.is_empty() {
            "an element could not be compared".clone_into(&mut part.reason);
        }
        return part;
    }
    Comparison::equal_as(status, method)
}
fn missing(method: &'static str, element: &Answer, context: &Context<'_>) -> Comparison {
    context.different(method, || {
        format!("{} is on one side only", expressions::show_answer(element))
    })
}
