//! Formulas before and after, step by step.

use super::boxes::unboxed;
use super::*;
use crate::tests::{floods, table};

#[test]
fn texts_are_rewritten() {
    let rows = include_str!("../../tests/cases/rewritten.jsonl");
    for (step, text, expected) in table::<(String, String, String)>(rows) {
        let found = match &*step {
            "formula" => normalized(&text, Boxes::All, Normalization::default()),
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
fn parts_are_left_out_by_name() {
    let text = r"\frac12 m";
    let all = Normalization::default();
    for (parts, expected) in [
        (all, r"\frac{1}{2}"),
        (
            Normalization {
                units: false,
                ..all
            },
            r"\frac{1}{2} m",
        ),
        (
            Normalization {
                malformed_operators: false,
                ..all
            },
            r"\frac12",
        ),
    ] {
        assert_eq!(normalized(text, Boxes::All, parts), expected, "{parts:?}");
    }
    for (nits, expected) in [(true, r"\frac{1}{2}"), (false, ".5")] {
        assert_eq!(
            normalized(".5", Boxes::All, Normalization { nits, ..all }),
            expected
        );
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
            assert!(
                normalized(&text, Boxes::Last, Normalization::default()).len() <= 3 * text.len()
            );
        }
    }
}
