//! Decimal numbers without rounding.

use dashu_int::{IBig, Sign, UBig};

/// A decimal number: sign, digits and a power of ten.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Decimal {
    negative: bool,
    /// From the most significant on, neither beginning nor ending with 0; empty for zero.
    digits: String,
    /// The power of ten of the last digit.
    exponent: i64,
}

/// The largest power of ten that is read, either way.
const MAX_EXPONENT: i64 = 1_000_000_000;

/// Two numbers are equal when they differ by less than ten to this power.
const TOLERANCE: i64 = -10;

/// Digits below ten to this power decide nothing about two numbers of the size of [`TOLERANCE`].
const FLOOR: i64 = TOLERANCE - 40;

impl Decimal {
    /// Reads `digits` with at most one point, times ten to the power of `exponent`; commas must be gone.
    ///
    /// `None` for anything else, and for powers beyond 10^±1,000,000,000.
    pub(crate) fn new(negative: bool, digits: &str, exponent: i64) -> Option<Self> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty()
            || !digits.bytes().all(|byte| byte.is_ascii_digit())
            || exponent.unsigned_abs() > MAX_EXPONENT.unsigned_abs()
        {
            return None;
        }
        let kept = digits.trim_end_matches('0');
        let dropped = digits.len() - kept.len();
        let kept = kept.trim_start_matches('0');
        let zero = kept.is_empty();
        Some(Self {
            negative: negative && !zero,
            digits: kept.to_owned(),
            exponent: if zero {
                0
            } else {
                exponent - places(fraction.len()) + places(dropped)
            },
        })
    }

    /// |a − b| < 1e-10, exactly.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let top = self.top().max(other.top());
        if top < TOLERANCE - 1 {
            // Each is below 1e-11, so their difference is below 2e-11.
            return true;
        }
        if self.top().abs_diff(other.top()) > 1 && top > TOLERANCE {
            // The smaller is below a tenth of the larger, which is at least 1e-9.
            return false;
        }
        let scale = self.exponent.min(other.exponent).max(FLOOR);
        let difference = self.scaled(scale) - other.scaled(scale);
        let tolerance = power_of_ten(TOLERANCE - scale).max(UBig::ONE);
        difference.into_parts().1 < tolerance
    }

    /// The power of ten of the first digit; of zero, as low as can be.
    fn top(&self) -> i64 {
        if self.digits.is_empty() {
            return -2 * MAX_EXPONENT;
        }
        self.exponent + places(self.digits.len()) - 1
    }

    /// The number over ten to the power of `scale`, without what stands after the point.
    fn scaled(&self, scale: i64) -> IBig {
        let below = usize::try_from(scale - self.exponent).unwrap_or(0);
        let kept = self.digits.len().saturating_sub(below);
        let digits = UBig::from_str_radix(&self.digits[..kept], 10).unwrap_or(UBig::ZERO);
        IBig::from_parts(
            Sign::from(self.negative),
            digits * power_of_ten(self.exponent - scale),
        )
    }
}

/// Ten to the power of `exponent`, 1 for negative ones.
fn power_of_ten(exponent: i64) -> UBig {
    UBig::from(10_u8).pow(usize::try_from(exponent).unwrap_or(0))
}

/// A count of digits as a power of ten; no text in memory has more digits than that holds.
fn places(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX / 4)
}
