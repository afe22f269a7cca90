//! The work that one verification may do.
//!
//! Everything that costs is charged here: evaluation through [`Budget`](super::Budget), copies of
//! expressions and terms by their `Clone`, walks over them, and exact arithmetic by the length of its numbers. The count
//! belongs to the thread and not to an argument, so that an operation is charged wherever it is called from; a
//! verification runs on one thread from beginning to end. It counts work and not time: the same pair ends at the same
//! step on every machine.

use std::cell::Cell;

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Units of a step of a [`Budget`](super::Budget). A unit is about 10 ns of work, and stands for 16 new
/// bytes at most.
pub(crate) const STEP: u64 = 10;
const UNITS: u64 = 1_800_000;
/// Units for each byte of its texts besides.
const PER_BYTE: u64 = 4;

/// Where no verification is under way.
const UNLIMITED: i64 = i64::MAX;

thread_local! {
    /// Units left; below zero where something was charged that had been done already.
    static LEFT: Cell<i64> = const { Cell::new(UNLIMITED) };
}

/// Takes away the limit at the end, also where a panic ends the verification.
struct Limited;

impl Drop for Limited {
    fn drop(&mut self) {
        LEFT.set(UNLIMITED);
    }
}

/// Runs a verification of texts of so many bytes within its limit. Inside another the limit of the outer one holds.
pub(crate) fn limited<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
    if LEFT.get() != UNLIMITED {
        return run();
    }
    LEFT.set(limit(bytes));
    let _limited = Limited;
    run()
}

fn limit(bytes: usize) -> i64 {
    i64::try_from(UNITS + PER_BYTE * bytes as u64).unwrap_or(UNLIMITED - 1)
}

/// Takes so many units.
pub(crate) fn charge(units: u64) {
    let left = LEFT.get();
    if left != UNLIMITED {
        LEFT.set(left.saturating_sub_unsigned(units));
    }
}

/// Is nothing left? Then nothing more is decided.
pub(crate) fn is_spent() -> bool {
    LEFT.get() <= 0
}

/// Takes so many units, if there are as many.
#[must_use]
pub(crate) fn afford(units: u64) -> bool {
    charge(units);
    !is_spent()
}

/// What a copy of an expression's node costs, without its parts, and its release.
pub(crate) const NODE: u64 = 16;

/// What a copy of a number costs.
pub(crate) fn copy(value: &RBig) -> u64 {
    u64::midpoint(integer_words(value.numerator()), words(value.denominator()))
}

/// What an operation on two rational numbers costs, division among them: multiplication where both are integers, with
/// a greatest common divisor to cancel where they are not.
pub(crate) fn operation(a: &RBig, b: &RBig) -> u64 {
    let (left, right) = (longest(a), longest(b));
    let product = 2 + left * right / 16 + u64::midpoint(left, right);
    if a.is_int() && b.is_int() {
        product
    } else {
        // Both parts of the result are as long as both operands together.
        product + 16 + (left + right) * (left + right) / 4
    }
}

/// What a sum or a difference costs.
pub(crate) fn addition(a: &RBig, b: &RBig) -> u64 {
    if a.is_int() && b.is_int() {
        2 + u64::midpoint(longest(a), longest(b))
    } else {
        operation(a, b)
    }
}

/// Words of the longer part.
pub(crate) fn longest(value: &RBig) -> u64 {
    integer_words(value.numerator()).max(words(value.denominator()))
}

pub(crate) fn integer_words(value: &IBig) -> u64 {
    value.as_sign_words().1.len() as u64
}

/// Words of a natural number.
pub(crate) fn words(value: &UBig) -> u64 {
    value.bit_len() as u64 / 64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{Config, Profile, Verifier};

    /// What a verification was charged, and its limit.
    fn charged(profile: Profile, gold: &str, pred: &str) -> (i64, i64) {
        let limit = limit(gold.len() + pred.len());
        LEFT.set(limit);
        let _limited = Limited;
        Verifier::new(profile, Config::default()).verify(gold, pred);
        (limit - LEFT.get(), limit)
    }

    const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

    #[test]
    fn nothing_goes_far_beyond_its_limit() {
        let mut spent = 0;
        for row in include_str!("../../tests/cases/costly.jsonl").lines() {
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
        assert!(of(&product(200)) > of(&product(20)) + 180 * NODE.cast_signed());
        let number = |digits: usize| format!("{0}/7+{0}/13", "3".repeat(digits));
        assert!(of(&number(1500)) > of(&number(20)) + 1000);
    }

    #[test]
    fn a_limit_ends_with_its_verification() {
        limited(10, || charge(5));
        assert_eq!(LEFT.get(), UNLIMITED);
        let panicked = std::panic::catch_unwind(|| limited(10, || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(LEFT.get(), UNLIMITED);
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
}
