//! Tests of the whole way from text to answer.

mod algebra;
mod hostile;
mod properties;

use super::{Answer, parse, render, text, worded};

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

#[test]
fn a_number_with_its_unit_is_what_its_formula_is() {
    let units = crate::lexicon::rows(include_str!("../../lexicon/units.tsv"));
    let units = units.flat_map(|row| row[0].split(", ").map(str::to_owned).collect::<Vec<_>>());
    let money = crate::lexicon::units::currency_names().map(str::to_owned);
    let (mut read, mut wrong) = (0, Vec::new());
    for name in units.chain(money) {
        for name in [&name, &format!("{name}s"), &format!("kilo{name}"), ""] {
            for number in [
                "1",
                "18",
                "007",
                "0.5",
                "18.50",
                "1.234",
                "12.000",
                "999999999999999999",
            ] {
                let text = format!("{number} {name}");
                let text = text.trim_end();
                let formula = || text::formula(text);
                if let Some(answer) = text::measured(text)
                    // A formula takes an arcsecond for a function.
                    && let Ok(slow) = worded::worded(text).map_or_else(formula, Ok)
                {
                    read += usize::from(!name.is_empty());
                    if answer != slow {
                        wrong.push(format!("{text}: {answer:?} {slow:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read > 1_000, "{read}");
}
