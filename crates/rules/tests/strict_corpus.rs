//! The strict profile on pairs labelled by construction.
//!
//! `tests/cases/pairs.jsonl` is what `scripts/verifier/corpus.py --seed 20260 --per-category 16` writes; figures
//! from fresh seeds are in `docs/rules/README.md`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;

use juror_rules::{Config, Profile, Verification, Verifier};
use serde_json::Value;

struct Case {
    category: String,
    gold: String,
    pred: String,
    expected: bool,
}

fn cases() -> Vec<Case> {
    include_str!("cases/pairs.jsonl")
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            Case {
                category: text("category"),
                gold: text("gold"),
                pred: text("pred"),
                expected: row["expected"].as_bool().unwrap(),
            }
        })
        .collect()
}

fn verify(gold: &str, pred: &str) -> Verification {
    Verifier::new(Profile::Strict, Config::default()).verify(gold, pred)
}

#[test]
fn different_answers_are_not_equal_and_equal_ones_are() {
    let cases = cases();
    let mut wrong: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut different, mut false_positives, mut equal, mut false_negatives) = (0, 0, 0, 0);
    for case in &cases {
        let verification = verify(&case.gold, &case.pred);
        let right = if case.expected {
            equal += 1;
            verification.equal == Some(true)
        } else {
            different += 1;
            verification.equal != Some(true)
        };
        if !right {
            false_positives += usize::from(!case.expected);
            false_negatives += usize::from(case.expected);
            wrong
                .entry(&case.category)
                .or_default()
                .push(format!("{:?} {:?}: {verification:?}", case.gold, case.pred));
        }
    }
    let told = format!("{wrong:#?}");
    assert_eq!((equal, different), (cases.len() / 2, cases.len() / 2));
    assert!(
        100 * false_positives <= different,
        "{false_positives} false positives of {different}: {told}"
    );
    assert!(
        100 * false_negatives <= 5 * equal,
        "{false_negatives} false negatives of {equal}: {told}"
    );
}

#[test]
fn a_bare_answer_is_itself_and_order_of_sides_does_not_matter() {
    for case in &cases() {
        let there = verify(&case.gold, &case.gold);
        assert_ne!(there.equal, Some(false), "{:?}: {there:?}", case.gold);
        // What was found in the response, as a reference, against the reference as a response.
        let found = verify(&case.gold, &case.pred);
        if let ([gold], [pred]) = (&found.gold[..], &found.pred[..]) {
            let back = verify(pred, gold);
            let both = (found.equal, back.equal);
            assert!(
                !matches!(both, (Some(true), Some(false)) | (Some(false), Some(true))),
                "{gold:?} and {pred:?}: {found:?} {back:?}"
            );
        }
    }
}

#[test]
fn the_letter_a_announces_an_answer_unless_a_choice_is_asked_for() {
    let steps = "They sell 9 * 2 = $<<9*2=18>>18 of eggs a day.\n";
    let cases = [
        ("18", format!("{steps}A: 18"), true),
        ("18", steps.to_owned(), true),
        ("9", format!("{steps}A: 18"), false),
        ("18", "A: 18".to_owned(), true),
        ("-18", "A: 18".to_owned(), false),
        ("18", "The answer is 17.\nA: 18".to_owned(), true),
        ("A", "A: 18".to_owned(), true),
        ("B", "A: 18".to_owned(), false),
        ("C", "The answer is C.\nA: 18".to_owned(), true),
        ("A: 18", "A: 18".to_owned(), true),
    ];
    for (gold, pred, equal) in cases {
        let verification = verify(gold, &pred);
        assert_eq!(verification.equal, Some(equal), "{gold:?} {pred:?}");
    }
}
