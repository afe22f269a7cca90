//! Numbers without rounding.
//!
//! Answers are compared as the decimals that were written: no float artefacts, and no two huge integers that happen to
//! share a float.

use std::cmp::Ordering;

/// A decimal number: sign, digits and a power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// From the most significant on, each 0 to 9, neither beginning nor ending with 0; empty for zero.
    digits: Vec<u8>,
    /// The power of ten of the last digit.
    exponent: i64,
}

/// The largest power of ten that is read, either way.
const MAX_EXPONENT: i64 = 1_000_000_000;

/// Two numbers are equal when they differ by less than ten to this power.
const TOLERANCE: i64 = -10;

impl Decimal {
    /// Reads `digits` with at most one point, times ten to the power of `exponent`; commas must be gone.
    ///
    /// `None` for anything else, and for powers beyond 10^±1,000,000,000.
    pub(crate) fn new(negative: bool, digits: &str, exponent: i64) -> Option<Self> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = || whole.bytes().chain(fraction.bytes());
        if all().next().is_none() || !all().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if exponent.unsigned_abs() > MAX_EXPONENT.unsigned_abs() {
            return None;
        }
        let mut digits: Vec<u8> = all()
            .map(|byte| byte - b'0')
            .skip_while(|&digit| digit == 0)
            .collect();
        let kept = digits
            .iter()
            .rposition(|&digit| digit != 0)
            .map_or(0, |last| last + 1);
        let dropped = digits.len() - kept;
        digits.truncate(kept);
        let exponent = exponent - places(fraction.len()) + places(dropped);
        let zero = digits.is_empty();
        Some(Self {
            negative: negative && !zero,
            exponent: if zero { 0 } else { exponent },
            digits,
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
        // What lies far below the tolerance decides nothing; without it, the digits to align are few.
        let floor = TOLERANCE - 40;
        let scale = self.exponent.min(other.exponent).max(floor);
        let (a, b) = (self.aligned(scale, top), other.aligned(scale, top));
        let difference = if self.negative == other.negative {
            subtract(&a, &b)
        } else {
            add(&a, &b)
        };
        match difference.iter().position(|&digit| digit != 0) {
            None => true,
            Some(leading) => {
                let power = scale + places(difference.len() - 1 - leading);
                power < TOLERANCE
            }
        }
    }

    /// The power of ten of the first digit; of zero, as low as can be.
    fn top(&self) -> i64 {
        if self.digits.is_empty() {
            return -2 * MAX_EXPONENT;
        }
        self.exponent + places(self.digits.len()) - 1
    }

    /// The digits from ten to the power of `top` down to ten to the power of `scale`.
    fn aligned(&self, scale: i64, top: i64) -> Vec<u8> {
        (scale..=top)
            .rev()
            .map(|power| {
                let place = self.top() - power;
                usize::try_from(place)
                    .ok()
                    .and_then(|place| self.digits.get(place))
                    .copied()
                    .unwrap_or(0)
            })
            .collect()
    }
}

/// A count of digits as a power of ten; no text in memory has more digits than that holds.
fn places(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX / 4)
}

/// |a − b| of two numbers with as many digits.
fn subtract(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (larger, smaller) = match a.cmp(b) {
        Ordering::Less => (b, a),
        Ordering::Equal | Ordering::Greater => (a, b),
    };
    let mut difference = larger.to_vec();
    let mut borrow = 0;
    for (digit, &taken) in difference.iter_mut().zip(smaller).rev() {
        let taken = taken + borrow;
        borrow = u8::from(*digit < taken);
        *digit = *digit + 10 * borrow - taken;
    }
    difference
}

/// a + b of two numbers with as many digits, with one digit more.
fn add(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut sum = Vec::with_capacity(a.len() + 1);
    sum.push(0);
    sum.extend_from_slice(a);
    let mut carry = 0;
    for (digit, &added) in sum[1..].iter_mut().zip(b).rev() {
        let total = *digit + added + carry;
        (*digit, carry) = (total % 10, total / 10);
    }
    sum[0] = carry;
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Decimal {
        let (text, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let negative = text.starts_with('-');
        Decimal::new(
            negative,
            text.trim_start_matches('-'),
            exponent.parse().unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn equal_means_closer_than_1e_minus_10() {
        for (a, b, equal) in [
            ("72", "72.00", true),
            ("0072", "72", true),
            ("72", "72.1", false),
            ("0.75", "0.750", true),
            ("0.75", "0.751", false),
            ("-5", "-5.0", true),
            ("-5", "5", false),
            ("-0", "0", true),
            ("0", "1e-10", false),
            ("0", "0.99e-10", true),
            ("0", "-1e-11", true),
            ("1e-11", "-9e-11", false),
            ("1e-11", "-8.9e-11", true),
            ("42", "41.99999999999", true),
            ("42", "41.9999999999", false),
            ("42", "41.99999999990001", true),
            ("100", "99.99999999999", true),
            ("12345678901234567890123", "12345678901234567890124", false),
            ("9007199254740993", "9007199254740992", false),
            ("1e3", "1000", true),
            ("12e999999999", "1.2e1000000000", true),
            ("1e1000000000", "2e1000000000", false),
            ("1e1000000000", "1e-1000000000", false),
            ("1e-1000000000", "2e-1000000000", true),
            ("1e-10", "1e-1000000000", false),
            ("10", "9", false),
            ("1", "0", false),
        ] {
            assert_eq!(number(a).equals(&number(b)), equal, "{a} {b}");
            assert_eq!(number(b).equals(&number(a)), equal, "{b} {a}");
        }
        for text in ["", ".", "1.2.3", "1,2", "-1", "1e5", "１"] {
            assert_eq!(Decimal::new(false, text, 0), None);
        }
        for exponent in [MAX_EXPONENT + 1, i64::MAX, i64::MIN] {
            assert_eq!(Decimal::new(false, "1", exponent), None);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_exact_integers(a: i64, near in -300i64..300, scale in 0usize..14) {
            let b = a.saturating_add(near);
            let text = |value: i64| {
                let digits = format!("{:0>20}", value.unsigned_abs());
                let (whole, fraction) = digits.split_at(20 - scale);
                Decimal::new(value < 0, &format!("{whole}.{fraction}"), 0).unwrap()
            };
            let difference = i128::from(a).abs_diff(i128::from(b)) * 10u128.pow(14 - scale as u32);
            prop_assert_eq!(text(a).equals(&text(b)), difference < 10_000);
        }
    }
}
