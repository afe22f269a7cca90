//! Sets, lists and tuples.

use super::matching;
use super::naming::{self, Stated};
use super::real_set;
use super::rename;
use super::terms;
use super::words;
use super::{Comparison, Context, verdict};
use crate::rules::expr::{Answer, Expr, Operator, Quantity, Rational};

/// Compares two answers of which neither is a relation, a region, a matrix, words or letters.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Comparison {
    if let Some(verdict) = systems(gold, pred, context) {
        return verdict;
    }
    match (gold, pred) {
        (Answer::Set(a), Answer::Set(b)) => matching::unordered(a, b, true, context),
        (Answer::Set(a), Answer::List(b)) | (Answer::List(a), Answer::Set(b)) => or_region(
            gold,
            pred,
            matching::unordered(a, b, true, context),
            context,
        ),
        (Answer::List(a), Answer::List(b)) => {
            let verdict = lists(a, b, context);
            or_region(gold, pred, verdict, context)
        }
        (Answer::Tuple(a), Answer::Tuple(b)) => in_order("tuple", a, b, context),
        (Answer::Tuple(a), Answer::List(b)) | (Answer::List(a), Answer::Tuple(b)) => {
            if !context.options.strict {
                return matching::unordered(a, b, false, context);
            }
            in_order("tuple", a, b, context)
        }
        (Answer::Tuple(a), Answer::Set(b)) | (Answer::Set(a), Answer::Tuple(b)) => {
            if !context.options.strict {
                return matching::unordered(a, b, true, context);
            }
            verdict::no("kind", "a tuple has an order, a set has none".to_owned())
        }
        (Answer::Quantity(quantity), Answer::List(parts)) => {
            single(gold, quantity, parts, false, false, context)
        }
        (Answer::List(parts), Answer::Quantity(quantity)) => {
            single(pred, quantity, parts, true, false, context)
        }
        (Answer::Quantity(quantity), Answer::Set(parts)) => {
            single(gold, quantity, parts, false, true, context)
        }
        (Answer::Set(parts), Answer::Quantity(quantity)) => {
            single(pred, quantity, parts, true, true, context)
        }
        // A(1, 2) is a point with a name.
        (Answer::Tuple(parts), other) | (other, Answer::Tuple(parts))
            if named_point(other).is_some() =>
        {
            let point: Vec<Answer> = named_point(other)
                .unwrap_or_default()
                .iter()
                .map(|part| terms::answer(part.clone()))
                .collect();
            if matches!(gold, Answer::Tuple(_)) {
                in_order("tuple", parts, &point, context)
            } else {
                in_order("tuple", &point, parts, context)
            }
        }
        (Answer::Tuple(parts), other) | (other, Answer::Tuple(parts))
            if parts.len() == 1 && matches!(other, Answer::Quantity(_)) =>
        {
            let swapped = matches!(pred, Answer::Tuple(_));
            context.either_way(&parts[0], other, swapped)
        }
        _ => {
            let reason =
                context.say(|| format!("a {} is no {}", words::kind(gold), words::kind(pred)));
            verdict::no("kind", reason)
        }
    }
}

/// The coordinates of `A(1, 2)`.
fn named_point(answer: &Answer) -> Option<&[Expr]> {
    match terms::expression(answer)? {
        Expr::Apply(name, parts)
            if parts.len() > 1 && name.chars().next().is_some_and(char::is_uppercase) =>
        {
            Some(parts)
        }
        _ => None,
    }
}

/// Element by element.
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
    verdict::all(method, parts)
}

/// Two lists. Where every element is labelled, the labels say which belongs to which.
fn lists(gold: &[Answer], pred: &[Answer], context: &mut Context<'_>) -> Comparison {
    if let (Some(mut a), Some(mut b)) = (labelled(gold), labelled(pred))
        && a.len() == b.len()
    {
        a.sort_by(|x, y| x.0.cmp(&y.0));
        b.sort_by(|x, y| x.0.cmp(&y.0));
        if a.iter().zip(&b).all(|(x, y)| x.0 == y.0) {
            let parts = a
                .iter()
                .zip(&b)
                .map(|((_, x), (_, y))| context.answers(x, y));
            return verdict::all("list", parts);
        }
    }
    // Solutions given twice are the same solutions.
    let solutions = gold
        .iter()
        .chain(pred)
        .all(|part| matches!(part, Answer::Tuple(_)));
    matching::unordered(gold, pred, solutions, context)
}

/// Elements with their labels, if each has one and no two the same.
fn labelled(elements: &[Answer]) -> Option<Vec<(String, &Answer)>> {
    let mut labels = Vec::with_capacity(elements.len());
    for element in elements {
        let Answer::Quantity(Quantity {
            unit: Some(unit), ..
        }) = element
        else {
            return None;
        };
        if unit.dimension.is_some() {
            return None;
        }
        let label = unit.name.to_lowercase();
        labels.push((label.trim_end_matches('s').to_owned(), element));
    }
    let mut names: Vec<&String> = labels.iter().map(|(label, _)| label).collect();
    names.sort_unstable();
    names
        .windows(2)
        .all(|pair| pair[0] != pair[1])
        .then_some(labels)
}

/// A quantity against a collection: equal only to a collection of one, or to a measure in several units.
fn single(
    answer: &Answer,
    quantity: &Quantity,
    parts: &[Answer],
    swapped: bool,
    as_set: bool,
    context: &mut Context<'_>,
) -> Comparison {
    if let [only] = parts {
        return context.either_way(answer, only, swapped);
    }
    if !as_set && let Some(sum) = compound(parts, quantity) {
        return context.either_way(answer, &sum, swapped);
    }
    if as_set && !parts.is_empty() {
        let one = std::slice::from_ref(answer);
        return if swapped {
            matching::unordered(parts, one, true, context)
        } else {
            matching::unordered(one, parts, true, context)
        };
    }
    if swapped {
        matching::lengths("list", parts.len(), 1, context)
    } else {
        matching::lengths("list", 1, parts.len(), context)
    }
}

/// `2 hours and 30 minutes` as one quantity in the smaller unit.
fn compound(parts: &[Answer], beside: &Quantity) -> Option<Answer> {
    let mut units = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Answer::Quantity(Quantity {
                value,
                unit: Some(unit),
                percent: false,
                ..
            }) if unit.dimension.is_some() && unit.offset.is_zero() => units.push((value, unit)),
            _ => return None,
        }
    }
    let (_, last) = units.last()?;
    let falls = units
        .windows(2)
        .all(|pair| pair[0].1.dimension == pair[1].1.dimension && pair[0].1.size > pair[1].1.size);
    if !falls || units.len() < 2 || beside.unit.is_none() || last.size.is_zero() {
        return None;
    }
    let mut total = Rational::ZERO;
    for (value, unit) in &units {
        total += terms::number(value)?.into_owned() * (&unit.size / &last.size);
    }
    Some(Answer::Quantity(Quantity {
        value: Expr::Number(total),
        percent: false,
        unit: Some((*last).clone()),
        currency: None,
        places: None,
        base: None,
        approximate: false,
    }))
}

/// A list that was found different may still be the same stretch of the real line, if it states one.
fn or_region(
    gold: &Answer,
    pred: &Answer,
    verdict: Comparison,
    context: &mut Context<'_>,
) -> Comparison {
    if verdict.equal == Some(true) || !(has_region(gold) || has_region(pred)) {
        return verdict;
    }
    real_set::compare(gold, pred, context)
}

/// Does a list hold intervals or inequalities?
pub(super) fn has_region(answer: &Answer) -> bool {
    match answer {
        Answer::List(parts) | Answer::Set(parts) => parts.iter().any(|part| match part {
            Answer::Relation(relation) => relation.operators.iter().any(|operator| {
                matches!(
                    operator,
                    Operator::Less
                        | Operator::LessOrEqual
                        | Operator::Greater
                        | Operator::GreaterOrEqual
                        | Operator::NotEqual
                )
            }),
            part => super::is_region(part),
        }),
        _ => false,
    }
}

/// Values under names: `x = 1, y = 2`, once or several times.
struct System<'a> {
    /// The names as they were written.
    names: Vec<&'a Answer>,
    /// Under each, the values of one solution.
    rows: Vec<Vec<&'a Answer>>,
}

/// Reads a list of equations with a name on the left.
fn system(answer: &Answer) -> Option<System<'_>> {
    let (Answer::List(parts) | Answer::Set(parts)) = answer else {
        return None;
    };
    if parts.len() > 1_000 {
        return None;
    }
    let mut names: Vec<&Answer> = Vec::new();
    let mut rows: Vec<Vec<Option<&Answer>>> = Vec::new();
    let mut has_relation = false;
    for part in parts {
        let (name, value) = match part {
            Answer::Relation(relation) => {
                let Stated {
                    name,
                    value,
                    member: false,
                    ..
                } = naming::stated(relation)?
                else {
                    return None;
                };
                has_relation = true;
                (name, value)
            }
            // `a = 4, -8, -10`: further values of the same name.
            value => match names.as_slice() {
                [name] => (*name, value),
                _ => return None,
            },
        };
        if let (Answer::Tuple(_), _) | (_, Answer::Relation(_)) = (name, value) {
            return None;
        }
        let known = names
            .iter()
            .position(|known| naming::agree(known, name).is_some());
        let index = known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        if names.len() > 40 {
            return None;
        }
        let row = match rows.last_mut() {
            Some(row) if row.get(index).is_none_or(Option::is_none) => row,
            _ => {
                rows.push(Vec::new());
                rows.last_mut()?
            }
        };
        if row.len() <= index {
            row.resize(index + 1, None);
        }
        row[index] = Some(value);
    }
    if !has_relation {
        return None;
    }
    let rows = rows
        .into_iter()
        .map(|row| {
            let values: Vec<&Answer> = row.into_iter().flatten().collect();
            (values.len() == names.len()).then_some(values)
        })
        .collect::<Option<Vec<_>>>()?;
    Some(System { names, rows })
}

/// At least one side gives values to names.
fn systems(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Option<Comparison> {
    match (system(gold), system(pred)) {
        (Some(a), Some(b)) => two_systems(&a, &b, context),
        (Some(system), None) => system_against(&system, pred, false, context),
        (None, Some(system)) => system_against(&system, gold, true, context),
        (None, None) => None,
    }
}

/// Name by name; several solutions in any order.
fn two_systems(
    gold: &System<'_>,
    pred: &System<'_>,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    if gold.names.len() != pred.names.len() {
        // `k = 1, 2` against `k_1 = 1, k_2 = 2`.
        let (bases_a, bases_b) = (bases(gold), bases(pred));
        if bases_a.len() != 1 || bases_a != bases_b {
            return None;
        }
        let values = |system: &System<'_>| -> Vec<Answer> {
            let values = system.rows.iter().flatten();
            values.map(|value| (*value).clone()).collect()
        };
        return Some(matching::unordered(
            &values(gold),
            &values(pred),
            true,
            context,
        ));
    }
    let mut order = Vec::with_capacity(gold.names.len());
    let mut renames = Vec::with_capacity(gold.names.len());
    for name in &gold.names {
        let found = pred
            .names
            .iter()
            .enumerate()
            .find_map(|(index, candidate)| {
                naming::agree(name, candidate).map(|renames| (index, renames))
            });
        let Some((index, pairs)) = found else {
            let reason = context.say(|| {
                format!(
                    "a value is given to {} on one side only",
                    terms::show_answer(name)
                )
            });
            return Some(verdict::no("names", reason));
        };
        order.push(index);
        renames.push(pairs);
    }
    let as_tuples = |rows: Vec<Vec<Answer>>| -> Vec<Answer> {
        rows.into_iter()
            .map(|mut row| match row.pop() {
                Some(only) if row.is_empty() => only,
                Some(last) => {
                    row.push(last);
                    Answer::Tuple(row)
                }
                None => Answer::Tuple(row),
            })
            .collect()
    };
    let a = as_tuples(
        gold.rows
            .iter()
            .map(|row| row.iter().map(|value| (*value).clone()).collect())
            .collect(),
    );
    let b = as_tuples(
        pred.rows
            .iter()
            .map(|row| {
                order
                    .iter()
                    .zip(&renames)
                    .map(|(&index, pairs)| rename::letters(row[index], pairs))
                    .collect()
            })
            .collect(),
    );
    let verdict = matching::unordered(&a, &b, true, context);
    Some(match verdict.equal {
        Some(true) => Comparison {
            method: if gold.names.len() == 1 {
                "solutions"
            } else {
                "system"
            },
            ..verdict
        },
        _ => verdict,
    })
}

/// The letters of the names, without indices.
fn bases(system: &System<'_>) -> Vec<String> {
    let mut bases: Vec<String> = system
        .names
        .iter()
        .map(|name| match naming::family(name) {
            Some(base) => base.to_owned(),
            None => terms::show_answer(name),
        })
        .collect();
    bases.sort_unstable();
    bases.dedup();
    bases
}

/// Named values against bare ones.
fn system_against(
    system: &System<'_>,
    other: &Answer,
    swapped: bool,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    let same_family = system.names.windows(2).all(|pair| {
        naming::family(pair[0]).is_some() && naming::family(pair[0]) == naming::family(pair[1])
    });
    // Several values of one name are a list of solutions.
    if system.names.len() == 1 || (same_family && system.rows.len() == 1) {
        let values: Vec<Answer> = system
            .rows
            .iter()
            .flatten()
            .map(|value| (*value).clone())
            .collect();
        if system.names.len() == 1 || !matches!(other, Answer::Tuple(_)) {
            let values = match values.as_slice() {
                [only] => only.clone(),
                _ => Answer::List(values),
            };
            return Some(context.either_way(&values, other, swapped));
        }
    }
    let mut order: Vec<usize> = (0..system.names.len()).collect();
    order.sort_by_cached_key(|&index| terms::show_answer(system.names[index]));
    let alphabetical = order.iter().enumerate().all(|(a, b)| a == *b);
    let row_in = |row: &Vec<&Answer>, order: &[usize]| -> Vec<Answer> {
        order.iter().map(|&index| row[index].clone()).collect()
    };
    let written: Vec<usize> = (0..system.names.len()).collect();
    match other {
        Answer::List(parts) | Answer::Set(parts)
            if parts.iter().all(|part| matches!(part, Answer::Tuple(_))) =>
        {
            let rows: Vec<Answer> = system
                .rows
                .iter()
                .map(|row| Answer::Tuple(row_in(row, &order)))
                .collect();
            Some(context.either_way(&Answer::List(rows), other, swapped))
        }
        Answer::Tuple(_) | Answer::List(_) => {
            let [row] = system.rows.as_slice() else {
                return None;
            };
            let tuple = Answer::Tuple(row_in(row, &written));
            let verdict = context.either_way(&tuple, other, swapped);
            if alphabetical || matches!(other, Answer::List(_)) {
                return Some(verdict);
            }
            let sorted = Answer::Tuple(row_in(row, &order));
            let by_letter = context.either_way(&sorted, other, swapped);
            Some(if by_letter.equal == Some(true) {
                by_letter
            } else {
                verdict::at_most_open(verdict, "which value belongs to which name is not said")
            })
        }
        Answer::Set(_) => {
            let [row] = system.rows.as_slice() else {
                return None;
            };
            let set = Answer::Set(row_in(row, &written));
            let verdict = context.either_way(&set, other, swapped);
            Some(verdict::at_most_open(
                verdict,
                "a set does not say which value belongs to which name",
            ))
        }
        _ => None,
    }
}
