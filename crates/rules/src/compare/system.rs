//! Systems: values under names, `x = 1, y = 2`.

use super::comparison::{Comparison, Told};
use super::context::Context;
use super::naming::{self, Stated};
use super::{expressions, matching, rename};
use crate::answer::Answer;

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

/// Compares where at least one side gives values to names; `None` where neither does, or it does not matter.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Told {
    match (system(gold), system(pred)) {
        (Some(a), Some(b)) => two_systems(&a, &b, context),
        (Some(system), None) => system_against(&system, pred, false, context),
        (None, Some(system)) => system_against(&system, gold, true, context),
        (None, None) => None,
    }
}

/// Name by name; several solutions in any order.
fn two_systems(gold: &System<'_>, pred: &System<'_>, context: &mut Context<'_>) -> Told {
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
        let [gold, pred] = [gold, pred].map(values);
        return Some(matching::unordered(&gold, &pred, true, context));
    }
    let mut order = Vec::with_capacity(gold.names.len());
    let mut renames = Vec::with_capacity(gold.names.len());
    for name in &gold.names {
        let mut candidates = pred.names.iter().enumerate();
        let found = candidates.find_map(|(at, it)| Some((at, naming::agree(name, it)?)));
        let Some((index, pairs)) = found else {
            let reason = context.say(|| {
                format!(
                    "a value is given to {} on one side only",
                    expressions::show_answer(name)
                )
            });
            return Some(Comparison::different("names", reason));
        };
        order.push(index);
        renames.push(pairs);
    }
    let tuple = |mut row: Vec<Answer>| match row.len() {
        1 => row.swap_remove(0),
        _ => Answer::Tuple(row),
    };
    let owned = |row: &Vec<&Answer>| tuple(row.iter().map(|value| (*value).clone()).collect());
    let renamed = |row: &Vec<&Answer>| {
        let values = order.iter().zip(&renames);
        tuple(
            values
                .map(|(&at, pairs)| rename::letters(row[at], pairs))
                .collect(),
        )
    };
    let a: Vec<Answer> = gold.rows.iter().map(owned).collect();
    let b: Vec<Answer> = pred.rows.iter().map(renamed).collect();
    let verdict = matching::unordered(&a, &b, true, context);
    Some(match (verdict.equal, gold.names.len()) {
        (Some(true), 1) => verdict.by("solutions"),
        (Some(true), _) => verdict.by("system"),
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
            None => expressions::show_answer(name),
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
) -> Told {
    let same_family = system.names.windows(2).all(|pair| {
        naming::family(pair[0]).is_some() && naming::family(pair[0]) == naming::family(pair[1])
    });
    // Several values of one name are a list of solutions.
    if system.names.len() == 1 || (same_family && system.rows.len() == 1) {
        let values = system.rows.iter().flatten();
        let values: Vec<Answer> = values.map(|it| (*it).clone()).collect();
        if system.names.len() == 1 || !matches!(other, Answer::Tuple(_)) {
            let values = match values.as_slice() {
                [only] => only.clone(),
                _ => Answer::List(values),
            };
            return Some(context.either_way(&values, other, swapped));
        }
    }
    let mut order: Vec<usize> = (0..system.names.len()).collect();
    order.sort_by_cached_key(|&index| expressions::show_answer(system.names[index]));
    let alphabetical = order.iter().enumerate().all(|(a, b)| a == *b);
    let row_in = |row: &Vec<&Answer>, order: &[usize]| -> Vec<Answer> {
        order.iter().map(|&index| row[index].clone()).collect()
    };
    let written: Vec<usize> = (0..system.names.len()).collect();
    match other {
        Answer::List(parts) | Answer::Set(parts)
            if parts.iter().all(|part| matches!(part, Answer::Tuple(_))) =>
        {
            let rows = system.rows.iter();
            let rows = rows.map(|row| Answer::Tuple(row_in(row, &order)));
            Some(context.either_way(&Answer::List(rows.collect()), other, swapped))
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
                verdict.at_most_open("which value belongs to which name is not said")
            })
        }
        Answer::Set(_) => Some(Comparison::open(
            "a set does not say which value belongs to which name",
        )),
        _ => None,
    }
}
