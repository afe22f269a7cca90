//! Words and signs that join the parts of an answer: a list does not say which of them they were.

use crate::answer::{Answer, Operator};

/// Signs of logic, which mean what they say; words, which between values only list them; products of vectors.
const AND: [&str; 3] = ["\\land", "\\wedge", "∧"];
const OR: [&str; 3] = ["\\lor", "\\vee", "∨"];
const AND_WORD: [&str; 1] = [" and "];
const OR_WORD: [&str; 1] = [" or "];
const CROSS: [&str; 2] = ["\\times", "×"];
const DOT: [&str; 2] = ["\\cdot", "·"];
const VECTOR: [&str; 4] = ["\\vec", "\\mathbf", "\\overrightarrow", "\\hat"];

/// Are the parts of two answers, of which `texts` are the statements, joined in ways that exclude each other: "x > 1 and x < 3" and
/// "x > 1 or x < 3", "A and B" and "A or B", p ∧ q and p ∨ q, a vector product and a scalar product?
pub(crate) fn joined_otherwise(gold: &Answer, pred: &Answer, texts: [&str; 2]) -> bool {
    let has = |text: &str, signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    let only = |text: &str, one: &[&str], other: &[&str]| has(text, one) && !has(text, other);
    let [a, b] = texts;
    let differ = |one: &[&str], other: &[&str]| {
        only(a, one, other) && only(b, other, one) || only(a, other, one) && only(b, one, other)
    };
    let symbolic = |text: &str| text.contains('\\') || !text.is_ascii();
    symbolic(a) && symbolic(b) && (differ(&AND, &OR) || has(a, &VECTOR) && differ(&CROSS, &DOT))
        || says_how(gold) && says_how(pred) && differ(&AND_WORD, &OR_WORD)
        // "x < -1 and x > 3" is empty.
        || matches!(gold, Answer::Union(_)) && says_how(pred) && only(b, &AND_WORD, &OR_WORD)
        || matches!(pred, Answer::Union(_)) && says_how(gold) && only(a, &AND_WORD, &OR_WORD)
        || matches!(pred, Answer::Choice(letters) if letters.len() > 1)
            && only(b, &OR_WORD, &AND_WORD) && !has(a, &OR_WORD)
}

/// Does it matter how the parts are joined: is one of them an inequality or a text, or are they equations about different things? Values
/// of one unknown are listed either way.
fn says_how(answer: &Answer) -> bool {
    let Answer::List(parts) = answer else {
        return false;
    };
    let subject = |part: &Answer| match part {
        Answer::Relation(relation) => relation.sides.first().cloned(),
        _ => None,
    };
    let first = parts.first().and_then(subject);
    parts.iter().any(|part| match part {
        Answer::Text(_) => true,
        Answer::Relation(relation) => {
            use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
            let mut operators = relation.operators.iter();
            operators.any(|it| matches!(it, Less | LessOrEqual | Greater | GreaterOrEqual))
                || subject(part) != first
        }
        _ => false,
    })
}
