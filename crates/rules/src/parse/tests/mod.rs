//! Tests of the whole way from text to answer.

mod algebra;
mod hostile;
mod properties;

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

#[test]
fn texts_are_read_as_recorded() {
    let mut wrong = Vec::new();
    for row in crate::lexicon::rows(include_str!("cases.tsv")) {
        let (kind, text) = read(row[1]);
        if (&*kind, &*text) != (row[0], row[2]) {
            wrong.push(format!("{kind}\t{}\t{text}", row[1]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
