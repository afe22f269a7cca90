//! Families of solutions: `x = π/4 + kπ, k ∈ ℤ`.

use super::comparison::Comparison;
use super::context::Context;
use super::{expressions, naming, rename};
use crate::algebra::{self, Expr};
use crate::answer::{Answer, Operator};

/// An answer without the remark on its parameter, and the parameter.
fn without_condition(answer: &Answer) -> Option<(Answer, Box<str>)> {
    let Answer::List(parts) = answer else {
        return None;
    };
    if parts.len() > 100 {
        return None;
    }
    let mut parameter = None;
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match integer_letter(part) {
            Some(_) if parameter.is_some() => return None,
            Some(letter) => parameter = Some(letter.into()),
            None => kept.push(part.clone()),
        }
    }
    let parameter = parameter?;
    let rest = if kept.len() == 1 {
        kept.pop()?
    } else {
        Answer::List(kept)
    };
    Some((rest, parameter))
}

/// `k` of `k ∈ ℤ` and of "k is an integer".
fn integer_letter(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Relation(relation) => {
            let ([letter, set], [Operator::In]) =
                (relation.sides.as_slice(), relation.operators.as_slice())
            else {
                return None;
            };
            match (
                expressions::expression(letter)?,
                expressions::expression(set)?,
            ) {
                (Expr::Symbol(letter), Expr::Symbol(set)) if **set == *"ℤ" || **set == *"Z" => {
                    Some(letter)
                }
                _ => None,
            }
        }
        Answer::Text(text) => {
            let text = text
                .trim_matches(|c: char| !c.is_alphanumeric())
                .trim_start_matches("where ")
                .trim_start_matches("for ")
                .trim_start_matches("any ")
                .trim_start_matches("some ")
                .trim_start_matches("integer ");
            let letter = text
                .strip_suffix(" is an integer")
                .or_else(|| text.strip_suffix(" is any integer"))
                .unwrap_or(text);
            (letter.len() == 1 && letter != text).then_some(letter)
        }
        _ => None,
    }
}

/// Compares answers of which at least one has an integer parameter. `None` where neither has.
pub(super) fn compare(
    gold: &Answer,
    pred: &Answer,
    context: &mut Context<'_>,
) -> Option<Comparison> {
    let (a, b) = (without_condition(gold), without_condition(pred));
    let (a, letter_a, b, letter_b) = match (a, b) {
        (None, None) => return None,
        (Some((a, letter_a)), Some((b, letter_b))) => (a, letter_a, b, letter_b),
        // One side takes the remark for granted.
        (Some((a, letter)), None) => {
            let other = parameter_of(pred, &letter)?;
            (a, letter, pred.clone(), other)
        }
        (None, Some((b, letter))) => {
            let other = parameter_of(gold, &letter)?;
            (gold.clone(), other, b, letter)
        }
    };
    let b = rename::letters(&b, &[(letter_b, letter_a.clone())]);
    let verdict = context.answers(&a, &b);
    if verdict.equal != Some(false) {
        return Some(verdict);
    }
    Some(Comparison::open(
        "families of solutions that are not written alike",
    ))
}

/// The letter that must be the parameter of an answer without a remark: the same one, or the usual ones.
fn parameter_of(answer: &Answer, known: &str) -> Option<Box<str>> {
    let expr = value(answer)?;
    let letters = algebra::variables(expr);
    [known, "k", "n", "m", "l", "t"]
        .iter()
        .find(|usual| letters.iter().any(|letter| **letter == ***usual))
        .map(|letter| (*letter).into())
}

/// The expression of an answer `x = …` or `…`.
fn value(answer: &Answer) -> Option<&Expr> {
    match answer {
        Answer::Relation(relation) => expressions::expression(naming::stated(relation)?.value),
        answer => expressions::expression(answer),
    }
}
