//! Euler's constant.

use super::big::Big;
use super::real::Real;
use crate::rules::expr::Rational;

/// By Brent and McMillan: a quotient of two series that converges like e^(−4n).
pub(super) fn euler_gamma(bits: u32) -> Big {
    let work = bits + 64;
    let n = bits / 5 + 10;
    let number = |value: u32| Big::rational(&Rational::from(value), work);
    let wide = || Big::interval(1, bits);
    let Some(logarithm) = number(n).ln() else {
        return wide();
    };
    let square = number(n).multiply(&number(n));
    let mut weight = number(1);
    let mut term = logarithm.negate();
    let (mut above, mut below) = (term.clone(), weight.clone());
    for index in 1..=n * 5 {
        let divisor = number(index);
        let Some(next) = weight.multiply(&square).divide(&divisor.multiply(&divisor)) else {
            return wide();
        };
        weight = next;
        let Some(next) = term
            .multiply(&square)
            .divide(&divisor)
            .and_then(|value| value.add(&weight).divide(&divisor))
        else {
            return wide();
        };
        term = next;
        above = above.add(&term);
        below = below.add(&weight);
    }
    let width = -(i64::from(n) * 5).min(i64::from(bits));
    match above.divide(&below) {
        Some(value) => value.add(&Big::interval(width as i32, work)),
        None => wide(),
    }
}
