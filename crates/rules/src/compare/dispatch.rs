//! Which file compares which kinds of answer. Two numbers go by way of `quantity` to `numbers`.

use super::comparison::Comparison;
use super::context::Context;
use super::{
    clock, collection, congruence, letters, linear, matrix, parameter, quantity, region, relation,
    rename, words,
};
use crate::algebra::work;
use crate::answer::Answer;
use crate::config::Config;

/// Is `pred` the same answer as `gold`?
pub(crate) fn compare(gold: &Answer, pred: &Answer, config: &Config) -> Comparison {
    work::limited(0, || within_limit(gold, pred, config))
}

fn within_limit(gold: &Answer, pred: &Answer, config: &Config) -> Comparison {
    let mut context = Context::new(config, answers);
    let mut comparison =
        parameter::compare(gold, pred, &mut context).unwrap_or_else(|| context.answers(gold, pred));
    if !config.strict
        && comparison.equal != Some(true)
        && let Some(renamed) = rename::compare(gold, pred, &mut context)
    {
        comparison = renamed;
    }
    if comparison.equal == Some(false)
        && let Some(renamed) = rename::constant(gold, pred, &mut context)
    {
        comparison = renamed;
    }
    if comparison.reason.is_empty() {
        comparison.reason = comparison.sentence();
    }
    comparison
}
fn answers(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    let stated = matches!(gold, Answer::Relation(_)) || matches!(pred, Answer::Relation(_));
    if stated && let Some(verdict) = congruence::classes(gold, pred, context) {
        return verdict;
    }
    match (gold, pred) {
        (Answer::Quantity(_), Answer::Tuple(_) | Answer::Matrix(_))
            if let Some(vector) = linear::vector(gold, entries(pred)) =>
        {
            answers(&vector, pred, context)
        }
        (Answer::Tuple(_) | Answer::Matrix(_), Answer::Quantity(_))
            if let Some(vector) = linear::vector(pred, entries(gold)) =>
        {
            answers(gold, &vector, context)
        }
        (Answer::Quantity(a), Answer::Quantity(b)) => quantity::compare(a, b, context),
        (Answer::Relation(a), Answer::Relation(b)) => relation::both(a, b, context),
        (Answer::Relation(a), other) => relation::against(a, other, false, context),
        (other, Answer::Relation(b)) => relation::against(b, other, true, context),
        (Answer::Choice(_), _) | (_, Answer::Choice(_)) => letters::choices(gold, pred, context),
        (Answer::Truth(_), _) | (_, Answer::Truth(_)) => letters::truths(gold, pred, context),
        (Answer::Text(_), _) | (_, Answer::Text(_)) => words::compare(gold, pred, context),
        (Answer::Time { .. } | Answer::Ratio(_), _)
        | (_, Answer::Time { .. } | Answer::Ratio(_)) => clock::compare(gold, pred, context),
        (Answer::Matrix(_), _) | (_, Answer::Matrix(_)) => matrix::compare(gold, pred, context),
        _ if region::is_region(gold) || region::is_region(pred) => {
            region::compare(gold, pred, context)
        }
        _ => collection::compare(gold, pred, context),
    }
}

/// How many entries a vector has.
fn entries(answer: &Answer) -> usize {
    match answer {
        Answer::Tuple(parts) => parts.len(),
        Answer::Matrix(matrix) => matrix.rows.iter().map(Vec::len).sum(),
        _ => 0,
    }
}
