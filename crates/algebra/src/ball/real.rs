//! The operations of an enclosure of a real number.

use std::cmp::Ordering;

use dashu_int::IBig;

use crate::budget::Outcome;
use crate::expr::Rational;

/// An enclosure of a real number: an interval that holds the true value, all errors of rounding included.
///
/// [`Failure::Unknown`](crate::budget::Failure) means that the enclosure is too wide for the operation (a divisor
/// that may be 0, say) or too large.
pub(crate) trait Real: Clone {
    /// Enclosures of numbers of `bits` bits.
    fn rational(value: &Rational, bits: u32) -> Self;
    /// ± `width`.
    fn interval(width: i32, bits: u32) -> Self;
    fn pi(bits: u32) -> Self;
    fn add(&self, other: &Self) -> Self;
    fn negate(&self) -> Self;
    fn multiply(&self, other: &Self) -> Self;
    fn divide(&self, other: &Self) -> Outcome<Self>;
    /// Of a number that is known not to be negative.
    fn sqrt(&self) -> Outcome<Self>;
    fn exp(&self) -> Outcome<Self>;
    /// Of a positive number.
    fn ln(&self) -> Outcome<Self>;
    fn sin_cos(&self) -> Outcome<(Self, Self)>;
    fn arctan(&self) -> Outcome<Self>;
    /// The sign, where it is certain; never `Equal`.
    fn sign(&self) -> Option<Ordering>;
    /// |x|.
    fn absolute(&self) -> Self;
    /// The smallest enclosure that has both in it.
    fn hull(&self, other: &Self) -> Self;
    /// The floor, where it is certain.
    fn floor(&self) -> Option<IBig>;
    fn middle(&self) -> f64;
    /// Is the radius below 2^−`bits` times max(1, |`scale`|)?
    fn within(&self, bits: u32, scale: &Self) -> bool;
    /// What an operation of this precision costs, in steps.
    fn cost(bits: u32) -> u64;
    /// What a logarithm or a sine costs.
    fn function_cost(bits: u32) -> u64;
}
