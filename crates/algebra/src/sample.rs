//! Points at which expressions are compared.

use dashu_int::IBig;

use super::ball::PointValue;
use super::features::Features;
use super::rational::signed;
use crate::expr::Rational;

/// How many points are looked at in any case.
pub(super) const POINTS: usize = 18;
/// How many there are, for expressions that few points have a value of.
pub(super) const MOST_POINTS: usize = 72;

/// Point number `index`: the same on every machine. Positive and negative ones, between −1 and 1 and far out, integers
/// and fractions, so that what is defined somewhere is likely defined at some of them, and a piece that differs is met.
pub(super) fn point<'v>(
    index: usize,
    variables: &'v [Box<str>],
    features: &Features<'_>,
) -> Vec<(&'v str, PointValue)> {
    variables
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let integral = features.integral.contains(&&**name);
            let real = if integral {
                natural(index, place)
            } else {
                coordinate(index, place)
            };
            let imaginary = if features.complex && !integral {
                coordinate(index + 5, place + 3)
            } else {
                Rational::ZERO
            };
            (&**name, PointValue { real, imaginary })
        })
        .collect()
}

fn fraction(numerator: i64, denominator: u64) -> Rational {
    Rational::from_parts(IBig::from(numerator), denominator.into())
}

/// A small natural number.
fn natural(index: usize, place: usize) -> Rational {
    const STEPS: [[i64; 3]; 6] = [
        [7, 3, 5],
        [4, 2, 1],
        [5, 9, 2],
        [11, 4, 6],
        [2, 1, 3],
        [6, 6, 1],
    ];
    let row = STEPS[index % STEPS.len()];
    Rational::from(row[place % 3] + signed(place / 3 + index / STEPS.len()))
}

fn coordinate(index: usize, place: usize) -> Rational {
    let k = signed(place);
    // A denominator that differs by place, so that no two coordinates stand in a simple ratio.
    let odd = 7 + 4 * (place as u64 % 50);
    let alternating = |value: Rational, first: i64| {
        if (k + first) % 2 == 0 { value } else { -value }
    };
    match index {
        0 => fraction(23 + 9 * k, odd),
        1 => -fraction(16 + 5 * k, odd + 2),
        2 => fraction(1 + 2 * (k % 3), odd),
        3 => alternating(fraction(31 + 3 * k, odd + 6), 0),
        4 => Rational::from(5 + 2 * k),
        5 => fraction(611 + 57 * k, odd),
        6 => alternating(fraction(19 + 11 * k, odd + 4), 1),
        7 => -fraction(3 + k % 4, odd + 4),
        8 => Rational::from(2 + (5 * k + 1) % 11),
        9 => -fraction(799 - 31 * (k % 20), odd + 2),
        10 => -Rational::from(3 + k),
        11 => fraction(5 + k % 2, odd),
        12 => fraction(47 + 2 * k, 3),
        13 => fraction(40_009 + 1_013 * k, odd + 6),
        14 => fraction(2 + k % 5, odd + 4),
        15 => Rational::from(12 + (7 * k) % 13),
        16 => alternating(fraction(5 + k % 3, odd + 3), 0),
        17 => -fraction(30_011 + 997 * k, odd),
        _ => scattered(index, place),
    }
}

/// Of no pattern: small and large, positive and negative.
fn scattered(index: usize, place: usize) -> Rational {
    let mut word = (index as u64 * 64 + place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word ^= word >> 32;
    let numerator = 1 + signed((word % 97) as usize);
    let denominator = 2 + (word >> 8) % 11 * ((word >> 13) % 5);
    let value = fraction(numerator, denominator.max(1));
    if word >> 20 & 1 == 1 { -value } else { value }
}
