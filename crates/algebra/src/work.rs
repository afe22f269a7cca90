//! The work that one verification may do.
//!
//! Everything that costs is charged here: evaluation through [`Budget`](super::Budget), copies of
//! expressions and terms by their `Clone`, walks over them, and exact arithmetic by the length of its numbers. The count
//! belongs to the thread and not to an argument, so that an operation is charged wherever it is called from; a
//! verification runs on one thread from beginning to end. It counts work and not time: the same pair ends at the same step on every machine.

use std::cell::Cell;

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Units of a step of a [`Budget`](super::Budget). A unit is about 10 ns of work, and stands for 16 new bytes at most.
pub(crate) const STEP: u64 = 10;
const UNITS: u64 = 1_800_000;
/// Units for each byte of its texts besides.
const PER_BYTE: u64 = 4;

/// Where no verification is under way.
const UNLIMITED: i64 = i64::MAX;

thread_local! {
    /// See [`left`].
    static LEFT: Cell<i64> = const { Cell::new(UNLIMITED) };
}

/// Takes away the limit at the end, also where a panic ends the verification.
struct Limited;

impl Drop for Limited {
    fn drop(&mut self) {
        LEFT.set(UNLIMITED);
    }
}

/// Runs a verification of texts of so many bytes within its limit: 1,800,000 units and four for each byte, after which
/// [`is_spent`] says so. Inside another the limit of the outer one holds.
///
/// ```
/// use juror_algebra::work;
///
/// assert!(work::limited(10, || !work::is_spent()));
/// assert!(work::limited(10, || !work::afford(10_000_000)));
/// ```
pub fn limited<T>(bytes: usize, run: impl FnOnce() -> T) -> T {
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
pub fn charge(units: u64) {
    let left = LEFT.get();
    if left != UNLIMITED {
        LEFT.set(left.saturating_sub_unsigned(units));
    }
}

/// Units left; below zero where something was charged that had been done already.
pub fn left() -> i64 {
    LEFT.get()
}

/// Is nothing left? Then nothing more is decided.
pub fn is_spent() -> bool {
    left() <= 0
}

/// Takes so many units, if there are as many.
#[must_use]
pub fn afford(units: u64) -> bool {
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
pub fn operation(a: &RBig, b: &RBig) -> u64 {
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
    #![allow(clippy::panic)]

    use super::*;

    #[test]
    fn a_limit_ends_with_its_verification() {
        limited(10, || charge(5));
        assert_eq!(left(), UNLIMITED);
        let panicked = std::panic::catch_unwind(|| limited(10, || panic!("inside")));
        assert!(panicked.is_err());
        assert_eq!(left(), UNLIMITED);
    }
}
