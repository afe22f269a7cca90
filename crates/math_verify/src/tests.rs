//! Pairs, end to end, as far as they do not depend on how values are compared.

use super::*;

/// What is read, as texts.
fn texts(readings: Vec<Reading>) -> Vec<String> {
    readings.into_iter().map(Reading::into_text).collect()
}
use crate::options::{ExtractionMode, ExtractionTarget, FallbackMode};

fn verify(gold: &str, pred: &str, options: &Options) -> Verdict {
    super::verify((gold, options), (pred, options))
}

/// The rows of a table: one JSON array a line.
pub(super) fn table<T: serde::de::DeserializeOwned>(rows: &str) -> impl Iterator<Item = T> {
    rows.lines().map(|row| serde_json::from_str(row).unwrap())
}

/// Texts whose repetition is hostile to one stage.
pub(super) fn floods(stage: &'static str) -> impl Iterator<Item = String> {
    table::<(String, String)>(include_str!("../tests/cases/floods.jsonl"))
        .filter_map(move |(of, unit)| (of == stage).then_some(unit))
}

#[test]
fn strings_match_where_values_differ() {
    let same = verify("28%", "28", &Options::default());
    assert_eq!((same.equal, same.method), (Some(true), "string"));
    let same = verify("0.5", "x is 0.50 or 0.5", &Options::default());
    assert_eq!((same.equal, same.method), (Some(true), "string"));
}

#[test]
fn what_is_missing_is_named() {
    for (gold, pred, status) in [
        ("nothing", "5", Status::UnparsedGold),
        ("5", "I cannot say.", Status::NoAnswer),
        ("5", "", Status::NoAnswer),
        ("", "", Status::UnparsedGold),
        ("٣", "٣", Status::UnparsedGold),
        ("-007", "-007", Status::UnparsedGold),
    ] {
        let verification = verify(gold, pred, &Options::default());
        assert_eq!(
            (verification.equal, verification.status),
            (Some(false), status),
            "{gold} / {pred}"
        );
    }
}

#[test]
fn letters_are_compared_as_strings() {
    let options = |lowercase| Options {
        extract: vec![ExtractionTarget::String {
            strings: ["A", "AB", "B"].map(str::to_owned).to_vec(),
            lowercase,
        }],
        ..Options::default()
    };
    for (gold, pred, equal) in [
        ("A", "the final answer is AB", true),
        ("AB", "answer: AB.", true),
        ("AB", "answer: A.", false),
        ("A", "A quick look says B", true),
        ("B", "(B)", false),
    ] {
        for lowercase in [true, false] {
            let verification = verify(gold, pred, &options(lowercase));
            assert_eq!(verification.equal, Some(equal), "{gold} / {pred}");
        }
    }
    let found = verify("A", "A", &options(true));
    assert_eq!(texts(found.gold), ["a", "A"]);
}

#[test]
fn modes_limit_what_is_tried() {
    let text = r"so $\frac{1$ is 5";
    let with = |extraction_mode, fallback_mode| {
        let options = Options {
            extraction_mode,
            fallback_mode,
            ..Options::default()
        };
        texts(read(text, &options))
    };
    assert_eq!(
        with(ExtractionMode::AnyMatch, FallbackMode::FirstMatch),
        ["5", "5"]
    );
    assert_eq!(
        with(ExtractionMode::AnyMatch, FallbackMode::NoFallback),
        ["5"]
    );
    let text = r"so $\frac{1$";
    let options = Options {
        extraction_mode: ExtractionMode::FirstMatch,
        fallback_mode: FallbackMode::NoFallback,
        ..Options::default()
    };
    assert_eq!(parse(text, &options), Parsed::default());
    let options = Options {
        extraction_mode: ExtractionMode::FirstMatch,
        ..Options::default()
    };
    assert_eq!(texts(read(text, &options)), [r"\frac{1"]);
}

#[test]
fn numbers_lose_separators_and_zeros() {
    for (text, number) in [
        ("1,234,567.50", "1234567.50"),
        ("007", "7"),
        ("000", "0"),
        ("1,5", "1.5"),
        (".25", "0.25"),
        ("€3", "3"),
        ("−5 or 5", "5"),
    ] {
        let parsed = parse(text, &Options::default());
        assert_eq!(parsed.fallback.as_deref(), Some(number), "{text}");
    }
}

#[test]
fn verdicts_are_math_verifys() {
    let rows = include_str!("../tests/cases/answers.jsonl");
    for (gold, pred, equal) in table::<(String, String, bool)>(rows) {
        let verification = verify(&gold, &pred, &Options::default());
        assert_eq!(
            verification.equal,
            Some(equal),
            "{gold} / {pred}: {verification:?}"
        );
    }
}
