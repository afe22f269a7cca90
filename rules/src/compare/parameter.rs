//! Families of solutions: `x = π/4 + kπ, k ∈ ℤ`.

use super::naming;
use super::rename;
use super::terms;
use super::{Comparison, Context, verdict};
use crate::algebra::{self, Identity};
use crate::algebra::{Expr, Rational};
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
            match (terms::expression(letter)?, terms::expression(set)?) {
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
    let (value_a, value_b) = (value(&a), value(&b));
    if let (Some(f), Some(g)) = (value_a, value_b)
        && let Some(verdict) = progressions(f, g, &letter_a, context)
    {
        return Some(verdict);
    }
    Some(verdict::open(
        "families of solutions that are not written alike".to_owned(),
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
        Answer::Relation(relation) => terms::expression(naming::stated(relation)?.value),
        answer => terms::expression(answer),
    }
}

/// a + bk and c + dk for all integers k: the same numbers if b = ±d and a − c is a multiple of b.
fn progressions(f: &Expr, g: &Expr, letter: &str, context: &mut Context<'_>) -> Option<Comparison> {
    let (a, b) = linear(f, letter, context)?;
    let (c, d) = linear(g, letter, context)?;
    let budget = &mut context.budget;
    let same_step = [d.clone(), d.negated()]
        .iter()
        .map(|d| algebra::identical(&b, d, budget).0)
        .collect::<Vec<_>>();
    if same_step.iter().all(|step| *step == Identity::Different) {
        return Some(verdict::no(
            "solutions",
            "the families have different steps".to_owned(),
        ));
    }
    if !same_step.contains(&Identity::Equal) {
        return None;
    }
    let steps = algebra::rational(&a.minus(c).divided_by(b), budget)?;
    Some(if steps.is_int() {
        verdict::yes("solutions")
    } else {
        verdict::no("solutions", "the families are shifted".to_owned())
    })
}

/// Beginning and step of an expression that is linear in the letter.
pub(super) fn linear(expr: &Expr, letter: &str, context: &mut Context<'_>) -> Option<(Expr, Expr)> {
    let at = |n: i64| terms::substitute(expr, letter, &Expr::Number(Rational::from(n)));
    let (zero, one, two) = (at(0), at(1), at(2));
    let step = one.clone().minus(zero.clone());
    let next = two.minus(one);
    let (same, _) = algebra::identical(&step, &next, &mut context.budget);
    let (nothing, _) = algebra::identical(&step, &Expr::integer(0), &mut context.budget);
    (same == Identity::Equal && nothing == Identity::Different).then_some((zero, step))
}
