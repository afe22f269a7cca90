//! What verifications are charged: within their limit, in proportion to what they do.

#![allow(clippy::unwrap_used, missing_docs)]

use juror_algebra::work;
use juror_rules::{Config, Profile, Verifier};

/// What a verification was charged, and its limit.
fn charged(profile: Profile, gold: &str, pred: &str) -> (i64, i64) {
    work::limited(gold.len() + pred.len(), || {
        let limit = work::left();
        Verifier::new(profile, Config::default()).verify(gold, pred);
        (limit - work::left(), limit)
    })
}

const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

#[test]
fn nothing_goes_far_beyond_its_limit() {
    let mut spent = 0;
    for row in include_str!("cases/costly.jsonl").lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let (gold, pred) = (row["gold"].as_str().unwrap(), row["pred"].as_str().unwrap());
        for profile in PROFILES {
            let (charged, limit) = charged(profile, gold, pred);
            spent += usize::from(charged >= limit);
            // What is under way when the limit is reached is finished, and what is refused was charged too.
            assert!(
                charged <= 2 * limit,
                "{charged} units of {limit}: {profile:?} {gold} {pred}"
            );
        }
    }
    assert!(spent > 0, "the table holds pairs that reach the limit");
}

#[test]
fn copies_and_digits_are_charged() {
    let of = |pred: &str| charged(Profile::Strict, "5", pred).0;
    let product = |to: usize| format!(r"\boxed{{\prod_{{i=1}}^{{{to}}} i}}");
    assert!(of(&product(200)) > of(&product(20)) + 180 * 16);
    let number = |digits: usize| format!("{0}/7+{0}/13", "3".repeat(digits));
    assert!(of(&number(1500)) > of(&number(20)) + 1000);
}

#[test]
fn what_people_write_costs_little() {
    for (gold, pred) in [
        (r"\frac{17}{23}", r"So it is $\frac{34}{46}$."),
        (r"\sum_{k=1}^{100} k", "5050"),
        (r"\{1, 2, 3, 4\}", r"\boxed{\{4, 3, 2, 1\}}"),
        (r"x^2 - 5x + 6 = 0", r"(x-2)(x-3) = 0"),
    ] {
        for profile in PROFILES {
            let (charged, limit) = charged(profile, gold, pred);
            assert!(charged < limit / 10, "{charged} of {limit}: {gold}");
        }
    }
}
