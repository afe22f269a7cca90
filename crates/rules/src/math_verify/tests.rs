//! Pairs, end to end, as far as they do not depend on how values are compared.

use super::*;
use crate::config::{ExtractionMode, ExtractionTarget, FallbackMode};

fn verify(gold: &str, pred: &str, config: &Config) -> Verification {
    super::verify((gold, config), (pred, config))
}

/// The rows of a table: one JSON array a line.
pub(super) fn table<T: serde::de::DeserializeOwned>(rows: &str) -> impl Iterator<Item = T> {
    rows.lines().map(|row| serde_json::from_str(row).unwrap())
}

/// Texts whose repetition is hostile to one stage.
pub(super) fn floods(stage: &'static str) -> impl Iterator<Item = String> {
    table::<(String, String)>(include_str!("../../tests/cases/math_verify/floods.jsonl"))
        .filter_map(move |(of, unit)| (of == stage).then_some(unit))
}

#[test]
fn strings_match_where_values_differ() {
    let same = verify("28%", "28", &Config::default());
    assert_eq!((same.equal, same.method), (Some(true), "string"));
    let same = verify("0.5", "x is 0.50 or 0.5", &Config::default());
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
        let verification = verify(gold, pred, &Config::default());
        assert_eq!(
            (verification.equal, verification.status),
            (Some(false), status),
            "{gold} / {pred}"
        );
    }
}

#[test]
fn letters_are_compared_as_strings() {
    let config = |lowercase| Config {
        extract: vec![ExtractionTarget::String {
            strings: ["A", "AB", "B"].map(str::to_owned).to_vec(),
            lowercase,
        }],
        ..Config::default()
    };
    for (gold, pred, equal) in [
        ("A", "the final answer is AB", true),
        ("AB", "answer: AB.", true),
        ("AB", "answer: A.", false),
        ("A", "A quick look says B", true),
        ("B", "(B)", false),
    ] {
        for lowercase in [true, false] {
            let verification = verify(gold, pred, &config(lowercase));
            assert_eq!(verification.equal, Some(equal), "{gold} / {pred}");
        }
    }
    let found = verify("A", "A", &config(true));
    assert_eq!(found.gold, ["a", "A"]);
}

#[test]
fn modes_limit_what_is_tried() {
    let text = r"so $\frac{1$ is 5";
    let with = |extraction_mode, fallback_mode| {
        let config = Config {
            extraction_mode,
            fallback_mode,
            ..Config::default()
        };
        parse(text, &config).list()
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
    let config = Config {
        extraction_mode: ExtractionMode::FirstMatch,
        fallback_mode: FallbackMode::NoFallback,
        ..Config::default()
    };
    assert_eq!(parse(text, &config), Parsed::default());
    let config = Config {
        extraction_mode: ExtractionMode::FirstMatch,
        ..Config::default()
    };
    assert_eq!(parse(text, &config).list(), [r"\frac{1"]);
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
        let parsed = parse(text, &Config::default());
        assert_eq!(parsed.fallback.as_deref(), Some(number), "{text}");
    }
}

#[test]
fn verdicts_are_math_verifys() {
    let rows = include_str!("../../tests/cases/math_verify/answers.jsonl");
    for (gold, pred, equal) in table::<(String, String, bool)>(rows) {
        let verification = verify(&gold, &pred, &Config::default());
        assert_eq!(
            verification.equal,
            Some(equal),
            "{gold} / {pred}: {verification:?}"
        );
    }
}
