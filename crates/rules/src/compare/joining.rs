//! Words and signs that join the parts of an answer: a list does not say which of them they were.

use crate::answer::{Answer, Operator};

/// Signs of logic, which mean what they say; words, which between values only list them; products of vectors.
const AND: [&str; 3] = ["\\land", "\\wedge", "∧"];
const OR: [&str; 3] = ["\\lor", "\\vee", "∨"];
const WORDS: [[&str; 1]; 2] = [[" and "], [" or "]];
const CROSS: [&str; 2] = ["\\times", "×"];
const DOT: [&str; 2] = ["\\cdot", "·"];
const VECTOR: [&str; 4] = ["\\vec", "\\mathbf", "\\overrightarrow", "\\hat"];

/// Are the parts of two answers, of which `texts` are the statements, joined in ways that exclude each other: "x > 1 and x < 3" and
/// "x > 1 or x < 3", p ∧ q and p ∨ q, a vector product and a scalar product?
pub(crate) fn joined_otherwise(gold: &Answer, pred: &Answer, texts: [&str; 2]) -> bool {
    let has = |text: &str, signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    let only = |text: &str, one: &[&str], other: &[&str]| has(text, one) && !has(text, other);
    let [a, b] = texts;
    let differ = |one: &[&str], other: &[&str]| {
        only(a, one, other) && only(b, other, one) || only(a, other, one) && only(b, one, other)
    };
    differ(&AND, &OR)
        || has(a, &VECTOR) && differ(&CROSS, &DOT)
        || is_bounded(gold) && is_bounded(pred) && differ(&WORDS[0], &WORDS[1])
}

/// Is this a list with an inequality in it?
fn is_bounded(answer: &Answer) -> bool {
    let bounds = |part: &Answer| match part {
        Answer::Relation(relation) => relation.operators.iter().any(|operator| {
            use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
            matches!(operator, Less | LessOrEqual | Greater | GreaterOrEqual)
        }),
        _ => false,
    };
    matches!(answer, Answer::List(parts) if parts.iter().any(bounds))
}
