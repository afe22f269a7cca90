//! Tests of the whole way from text to answer.

mod answers;
mod expressions;
mod hostile;
mod kinds;
mod properties;
mod prose;
mod values;

use super::{Answer, parse, render};

/// The kind of the answer that a text is read as, and its rendered form.
fn read(text: &str) -> (String, String) {
    let Ok(answer) = parse(text) else {
        return ("Error".to_owned(), String::new());
    };
    let kind = match &answer {
        Answer::Quantity(_) => "Quantity",
        Answer::Relation(_) => "Relation",
        Answer::Set(_) => "Set",
        Answer::List(_) => "List",
        Answer::Tuple(_) => "Tuple",
        Answer::Interval(_) => "Interval",
        Answer::Union(_) => "Union",
        Answer::Intersection(_) => "Intersection",
        Answer::Difference(_) => "Difference",
        Answer::Matrix(_) => "Matrix",
        Answer::Choice(_) => "Choice",
        Answer::Ratio(_) => "Ratio",
        Answer::Time { .. } => "Time",
        Answer::Truth(_) => "Truth",
        Answer::Text(_) => "Text",
    };
    (kind.to_owned(), render(&answer))
}

/// Reads every text and compares kind and rendered form with what is expected: tables recorded from the parser and read through line by line.
fn check(kind: &str, table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(
            read(text),
            (kind.to_owned(), (*expected).to_owned()),
            "{text}"
        );
    }
}
