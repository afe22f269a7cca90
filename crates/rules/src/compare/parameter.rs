//! Families of solutions: `x = π/4 + kπ, k ∈ ℤ`.

use super::comparison::{Comparison, Told};
use super::context::Context;
use super::{expressions, rename};
use crate::algebra::Expr;
use crate::answer::{Answer, Operator};
use crate::lexicon::words::QUANTIFIER;

/// An answer without the remark that one of its letters is any integer, and that letter.
fn without_remark(answer: &Answer) -> Option<(Answer, Box<str>)> {
    const MOST: usize = 100;
    let Answer::List(parts) = answer else {
        return None;
    };
    let mut letters = parts.iter().map(integer_letter);
    let at = letters.position(|it| it.is_some())?;
    let letter = integer_letter(&parts[at])?.into();
    if parts.len() > MOST || letters.any(|it| it.is_some()) {
        return None;
    }
    let mut kept = [&parts[..at], &parts[at + 1..]].concat();
    let one = if kept.len() == 1 { kept.pop() } else { None };
    Some((one.unwrap_or(Answer::List(kept)), letter))
}

/// `k` of `k ∈ ℤ` and of "k is an integer".
fn integer_letter(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Relation(relation) if *relation.operators == [Operator::In] => {
            let symbol = |it| match expressions::expression(it)? {
                Expr::Symbol(name) => Some(&**name),
                _ => None,
            };
            let [letter, set] = relation.sides.as_slice() else {
                return None;
            };
            symbol(letter).filter(|_| matches!(symbol(set), Some("ℤ" | "Z")))
        }
        Answer::Text(text) => {
            let words = text.split(|it: char| !it.is_alphanumeric());
            let said: Vec<_> = words
                .filter(|it| !it.is_empty() && !QUANTIFIER.contains(it))
                .take(3)
                .collect();
            match *said {
                [letter, "integer"] | ["integer", letter] if letter.len() == 1 => Some(letter),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Compares answers of which at least one has a letter that is any integer, by the other's letter for it. `None` where neither has one.
pub(super) fn compare(gold: &Answer, pred: &Answer, context: &mut Context<'_>) -> Told {
    let (a, b) = (without_remark(gold), without_remark(pred));
    let known = a.as_ref().or(b.as_ref())?.1.clone();
    // One side takes the remark for granted: of the same letter, or of a usual one.
    let granted = |answer: &Answer| {
        let letters = rename::letters_of(answer);
        let usual = [&*known, "k", "n", "m", "l", "t"].into_iter();
        let mut usual = usual.filter(|it| letters.iter().any(|letter| **letter == **it));
        Some((answer.clone(), usual.next()?.into()))
    };
    let (a, letter) = a.or_else(|| granted(gold))?;
    let (b, other) = b.or_else(|| granted(pred))?;
    // A letter of the problem is not the other side's parameter.
    let holds = |answer, letter| rename::letters_of(answer).contains(letter);
    if letter != other && (holds(&a, &other) || holds(&b, &letter)) {
        return Some(Comparison::open("a letter that is a parameter on one side"));
    }
    let pairs = [(other, letter)];
    let verdict = context.answers(&a, &rename::letters(&b, &pairs));
    if verdict.equal == Some(false) {
        return Some(Comparison::open(
            "families of solutions that are not written alike",
        ));
    }
    Some(verdict)
}
