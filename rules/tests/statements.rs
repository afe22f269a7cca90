//! An announced answer is read whole: it equals itself in every dress, and words that change it never leave it equal.

#![allow(clippy::unwrap_used)]

use juror_rules::{Config, Profile, Verifier};
use serde_json::Value;

/// The reference answers of the labelled pairs, those that are no whole solutions.
fn golds() -> Vec<String> {
    include_str!("cases/pairs.jsonl")
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            row["gold"].as_str().unwrap().to_owned()
        })
        .filter(|gold| !gold.contains("####"))
        .collect()
}

fn equal(gold: &str, pred: &str) -> Option<bool> {
    Verifier::new(Profile::Strict, Config::default())
        .verify(gold, pred)
        .equal
}

/// In each frame, `{}` is the answer.
fn violations(frames: &[&str], allowed: impl Fn(Option<bool>) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for gold in golds() {
        for frame in frames {
            let pred = frame.replace("{}", &gold);
            let verdict = equal(&gold, &pred);
            if !allowed(verdict) {
                wrong.push(format!("{gold:?} {pred:?}: {verdict:?}"));
            }
        }
    }
    wrong
}

#[test]
fn an_answer_is_itself_in_every_dress() {
    let frames = [
        "{}",
        "**{}**",
        "{}.",
        "Answer: {}",
        "The answer is {}",
        "The answer is {}.",
        "The final answer is: {}",
        "We add them up.\n#### {}",
        "We add them up.\nAnswer: **{}**",
        "| answer | {} |",
    ];
    let wrong = violations(&frames, |verdict| verdict == Some(true));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn words_that_change_an_answer_do_not_leave_it_equal() {
    let frames = [
        "The answer is not {}.",
        "The answer cannot be {}.",
        "The answer is at least {}.",
        "The answer is more than {}.",
        "The answer is minus {}.",
        "The answer is half of {}.",
        "The answer is {} or more.",
        "The answer is {} or perhaps 6041.",
        "The answer is {} times 6041.",
        "The answer is neither {} nor 6041.",
    ];
    let mut wrong = violations(&frames, |verdict| verdict != Some(true));
    // What is its own negative; an exclamation mark may end the sentence.
    let own_negative =
        |it: &str| it.contains("is minus") && (it.contains("\\pm") || it.contains('0'));
    wrong.retain(|it| !own_negative(it) && !it.contains('!'));
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_stands_beside_a_number_is_part_of_the_answer() {
    let table = concat!(
        include_str!("cases/statements.jsonl"),
        include_str!("cases/choices.jsonl"),
        include_str!("cases/parts.jsonl"),
        include_str!("cases/beside.jsonl"),
        include_str!("cases/languages.jsonl"),
        include_str!("cases/near.jsonl"),
    );
    let mut wrong = Vec::new();
    for line in table.lines() {
        let (gold, pred, expected): (String, String, bool) = serde_json::from_str(line).unwrap();
        let verdict = equal(&gold, &pred);
        if (verdict == Some(true)) != expected {
            wrong.push(format!("{gold:?} {pred:?}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
