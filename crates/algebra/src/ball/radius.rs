//! Radii: upper bounds of errors, of any size.

use dashu_int::IBig;

use crate::rational::{magnitude_bits, signed};

/// An upper bound: `value`·2^`exponent`, `value` 0 or in [1, 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Radius {
    value: f64,
    exponent: i64,
}

/// Covers the rounding of one operation on radii.
const SLACK: f64 = 1.0 + 1e-14;

impl Radius {
    pub(super) const ZERO: Self = Self {
        value: 0.0,
        exponent: 0,
    };

    /// 2^exponent.
    pub(super) fn power_of_two(exponent: i64) -> Self {
        Self {
            value: 1.0,
            exponent,
        }
    }

    fn new(value: f64, exponent: i64) -> Self {
        if value == 0.0 {
            return Self::ZERO;
        }
        // `value` stays near 1, so that its exponent is found by few steps.
        let shift = value.log2().floor();
        Self {
            value: value * (-shift).exp2(),
            exponent: exponent.saturating_add(shift as i64),
        }
    }

    /// A bound of |mantissa·2^exponent|.
    pub(super) fn of(mantissa: &IBig, exponent: i64) -> Self {
        if mantissa.is_zero() {
            return Self::ZERO;
        }
        let length = magnitude_bits(mantissa);
        let words = mantissa.as_sign_words().1;
        let top = words.last().map_or(0.0, |word| *word as f64);
        let top_length = words.last().map_or(0, |word| 64 - word.leading_zeros());
        // The words below are worth less than one unit of the highest.
        let value = (top + 1.0) * (-f64::from(top_length) + 1.0).exp2() * SLACK;
        Self::new(value, exponent.saturating_add(signed(length) - 1))
    }

    pub(super) fn is_zero(self) -> bool {
        self.value == 0.0
    }

    pub(super) fn add(self, other: Self) -> Self {
        if self.is_zero() {
            return other;
        }
        if other.is_zero() {
            return self;
        }
        let (large, small) = if self.exponent >= other.exponent {
            (self, other)
        } else {
            (other, self)
        };
        let apart = (large.exponent.saturating_sub(small.exponent)).min(60);
        let value = large.value + small.value * (-(apart as f64)).exp2();
        Self::new(value * SLACK, large.exponent)
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        Self::new(
            self.value * other.value * SLACK,
            self.exponent.saturating_add(other.exponent),
        )
    }

    /// Times 2^by.
    pub(super) fn scaled(self, by: i64) -> Self {
        Self {
            value: self.value,
            exponent: self.exponent.saturating_add(by),
        }
    }

    /// A bound of the square root.
    pub(super) fn sqrt(self) -> Self {
        let odd = self.exponent.rem_euclid(2);
        Self::new(
            (self.value * (odd as f64).exp2()).sqrt() * SLACK,
            (self.exponent - odd) / 2,
        )
    }

    /// The smallest e with radius < 2^e; 0 has none.
    pub(super) fn top(self) -> Option<i64> {
        (!self.is_zero()).then_some(self.exponent.saturating_add(1))
    }

    /// An integer that is not below radius / 2^scale; `None` where it is enormous.
    pub(super) fn integer(self, scale: i64) -> Option<IBig> {
        if self.is_zero() {
            return Some(IBig::ZERO);
        }
        let shift = self.exponent.saturating_sub(scale);
        if shift < 0 {
            return Some(2.into());
        }
        let shift = usize::try_from(shift)
            .ok()
            .filter(|shift| *shift < 1 << 16)?;
        Some(IBig::from(2u8) << shift)
    }
}
