//! Sets, lists and tuples.

use super::comparison::Comparison;
use super::context::{Context, in_order_of_sides, other_kind};
use super::{expressions, matching, naming, relation, system};
use crate::algebra::Expr;
use crate::answer::{Answer, Operator, Quantity};

/// Compares two answers of which neither is a relation, a region, a matrix, words or letters.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    if let Some(verdict) = system::compare(gold, pred, context) {
        return verdict;
    }
    match (gold, named_point(gold), pred, named_point(pred)) {
        (Answer::Tuple(a), _, _, Some(b)) => return in_order("tuple", a, &b, context),
        (_, Some(a), Answer::Tuple(b), _) => return in_order("tuple", &a, b, context),
        _ => {}
    }
    match (gold, pred) {
        (Answer::Set(a), Answer::Set(b) | Answer::List(b)) | (Answer::List(a), Answer::Set(b)) => {
            let nested = |it: &[Answer]| it.iter().any(|part| matches!(part, Answer::Set(_)));
            if nested(a) != nested(b) {
                return Comparison::open("a set of sets against a set");
            }
            matching::unordered(a, b, true, context)
        }
        (Answer::List(a), Answer::List(b)) => lists(a, b, context),
        (Answer::Tuple(a), Answer::Tuple(b)) => in_order("tuple", a, b, context),
        // "x > 1 and x < 3" is an interval, and so may (1, 3) be.
        (Answer::Tuple(_), Answer::List(parts)) | (Answer::List(parts), Answer::Tuple(_))
            if (parts.iter())
                .any(|it| matches!(it, Answer::Relation(it) if relation::is_inequality(it))) =>
        {
            Comparison::open("inequalities against a tuple or an interval")
        }
        (Answer::Tuple(a), Answer::List(b)) | (Answer::List(a), Answer::Tuple(b)) => {
            if !context.config.strict {
                return matching::unordered(a, b, false, context);
            }
            in_order("tuple", a, b, context)
        }
        (Answer::Tuple(a), Answer::Set(b)) | (Answer::Set(a), Answer::Tuple(b)) => {
            if !context.config.strict {
                return matching::unordered(a, b, true, context);
            }
            Comparison::different("kind", "a tuple has an order, a set has none")
        }
        (Answer::Quantity(_), Answer::List(parts)) | (Answer::List(parts), Answer::Quantity(_))
            if parts.iter().any(|it| matches!(it, Answer::Text(_))) =>
        {
            Comparison::open("a value against one with words beside it")
        }
        (Answer::Quantity(_), Answer::List(parts)) => single(gold, parts, false, false, context),
        (Answer::List(parts), Answer::Quantity(_)) => single(pred, parts, true, false, context),
        (Answer::Quantity(_), Answer::Set(parts)) => single(gold, parts, false, true, context),
        (Answer::Set(parts), Answer::Quantity(_)) => single(pred, parts, true, true, context),
        (Answer::Tuple(parts), other) | (other, Answer::Tuple(parts))
            if parts.len() == 1 && matches!(other, Answer::Quantity(_)) =>
        {
            let swapped = matches!(pred, Answer::Tuple(_));
            context.either_way(&parts[0], other, swapped)
        }
        _ => other_kind(gold, pred, context),
    }
}

/// The coordinates of `A(1, 2)`, a point with a name.
fn named_point(answer: &Answer) -> Option<Vec<Answer>> {
    match expressions::expression(answer)? {
        Expr::Apply(name, parts) if parts.len() > 1 && name.starts_with(char::is_uppercase) => {
            Some(parts.iter().cloned().map(expressions::answer).collect())
        }
        _ => None,
    }
}
pub(super) fn in_order(
    method: &'static str,
    gold: &[Answer],
    pred: &[Answer],
    context: &mut Context<'_>,
) -> Comparison {
    if gold.len() != pred.len() {
        return matching::lengths(method, gold.len(), pred.len(), context);
    }
    let parts = gold.iter().zip(pred).map(|(a, b)| context.answers(a, b));
    Comparison::all(method, parts)
}
fn lists(gold: &[Answer], pred: &[Answer], context: &mut Context<'_>) -> Comparison {
    let label = |it: &Answer| match it {
        Answer::Quantity(Quantity {
            unit: Some(unit), ..
        }) if unit.dimension.is_none() => {
            Some(unit.name.to_lowercase().trim_end_matches('s').to_owned())
        }
        _ => None,
    };
    // "9 cats, 10 dogs" and "9 dogs, 10 cats"
    let swapped = |one: &Answer| {
        let own = label(one);
        let named = |it: &&Answer| own.is_some() && label(it) == own;
        let mut same = pred.iter().filter(named).peekable();
        same.peek().is_some() && same.all(|it| context.answers(one, it).equal == Some(false))
    };
    if gold.iter().any(swapped) {
        return Comparison::different("list", "the same things with other numbers");
    }
    // Solutions given twice are the same solutions.
    let is_tuple = |part: &Answer| matches!(part, Answer::Tuple(_));
    let solutions = gold.iter().chain(pred).all(is_tuple);
    matching::unordered(gold, pred, solutions, context)
}

/// A quantity against a collection: equal only to a collection of one, or to a measure in several units.
fn single(
    answer: &Answer,
    parts: &[Answer],
    swapped: bool,
    as_set: bool,
    context: &mut Context<'_>,
) -> Comparison {
    if let [only] = parts {
        return context.either_way(answer, only, swapped);
    }
    // "1/2 or 0.5" writes one value in two ways.
    if !as_set && parts.len() > 1 && parts.windows(2).all(|pair| pair[0] != pair[1]) {
        let mut verdicts = parts
            .iter()
            .map(|part| context.either_way(answer, part, swapped));
        if verdicts.all(|it| it.equal == Some(true)) {
            return Comparison::equal("list");
        }
    }
    // "4 weeks and 10 days"
    let mut units = parts.iter().map(|it| match it {
        Answer::Quantity(it) => Some(it),
        _ => None,
    });
    let whole = units.next().flatten().map(|it| (it.clone(), it));
    if !as_set
        && matches!(answer, Answer::Quantity(it) if it.unit.is_some())
        && let Some((sum, _)) = whole.and_then(|whole| {
            units.try_fold(whole, |(sum, last), part| {
                Some((sum.with_part(last, part?)?, part?))
            })
        })
    {
        return context.either_way(answer, &Answer::Quantity(sum), swapped);
    }
    if as_set && !parts.is_empty() {
        let one = std::slice::from_ref(answer);
        let (a, b) = in_order_of_sides(one, parts, swapped);
        return matching::unordered(a, b, true, context);
    }
    if let (false, Some(last)) = (as_set, last_result(parts)) {
        return context.either_way(answer, last, swapped);
    }
    let (a, b) = in_order_of_sides(1, parts.len(), swapped);
    matching::lengths("list", a, b, context)
}

/// The last of several equations between numbers: `2 + 3 = 5, 5 + 5 = 10` is a calculation, and its last result the answer.
fn last_result(parts: &[Answer]) -> Option<&Answer> {
    let is_step = |part: &Answer| {
        matches!(part, Answer::Relation(relation)
            if relation.operators.iter().all(|operator| *operator == Operator::Equal)
                && relation.sides.iter().all(naming::is_number))
    };
    parts.iter().all(is_step).then(|| parts.last()).flatten()
}
