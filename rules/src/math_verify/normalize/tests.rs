//! Formulas before and after, step by step.

use super::boxes::unboxed;
use super::*;
use crate::math_verify::tests::{floods, table};

#[test]
fn texts_are_rewritten() {
    let rows = include_str!("../../../tests/cases/math_verify/rewritten.jsonl");
    for (step, text, expected) in table::<(String, String, String)>(rows) {
        let found = match &*step {
            "formula" => normalized(&text, Boxes::All),
            "braces" => {
                let mut text = text.clone();
                operators::with_braces(&mut text);
                text
            }
            "units" => units::without_units(&text).unwrap_or(&text).to_owned(),
            "boxes" => unboxed(&text, Boxes::All).into_owned(),
            "last box" => unboxed(&text, Boxes::Last).into_owned(),
            _ => panic!("{step}"),
        };
        assert_eq!(found, expected, "{step}: {text}");
    }
}

#[test]
fn the_distance_of_boxes_is_counted_in_characters() {
    for (between, joined) in [
        ("ä".repeat(9), "1,2"),
        ("ä".repeat(10), "2"),
        (format!("{} or", " ".repeat(66)), "1,2"),
        (format!("{} or", " ".repeat(67)), "2"),
        ("              for     ".to_owned(), "2"),
    ] {
        let text = format!(r"\boxed{{1}}{between}\boxed{{2}}");
        assert_eq!(unboxed(&text, Boxes::Last), joined, "{between}");
    }
}

#[test]
fn hostile_texts_end() {
    for unit in floods("rewriting") {
        let long = unit.repeat(200_000 / unit.len());
        for text in [format!("{long}x"), format!("x{long}}}"), format!("{long}2")] {
            assert!(normalized(&text, Boxes::Last).len() <= 3 * text.len());
        }
    }
}
