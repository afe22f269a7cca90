//! The gamma function, and Euler's constant.

use dashu_int::IBig;

use super::real::Real;
use crate::budget::Outcome;
use crate::expr::Rational;
use crate::rational::half;

/// The method of Brent and `McMillan`: a quotient of two series that converges like e^(−4n).
pub(super) fn euler_gamma<R: Real>(bits: u32) -> Outcome<R> {
    let work = bits + 64;
    let n = bits / 5 + 10;
    let number = |value: u32| R::rational(&Rational::from(value), work);
    let square = number(n).multiply(&number(n));
    let mut weight = number(1);
    let mut term = number(n).ln()?.negate();
    let (mut above, mut below) = (term.clone(), weight.clone());
    for index in 1..=n * 5 {
        let divisor = number(index);
        weight = weight
            .multiply(&square)
            .divide(&divisor.multiply(&divisor))?;
        term = term.multiply(&square).divide(&divisor)?;
        term = term.add(&weight).divide(&divisor)?;
        above = above.add(&term);
        below = below.add(&weight);
    }
    let width = -(i64::from(n) * 5).min(i64::from(bits));
    Ok(above.divide(&below)?.add(&R::interval(width as i32, work)))
}

/// B₂ⱼ / (2j(2j − 1)), from j = 1.
#[rustfmt::skip]
const STIRLING: [(i64, u64); 15] = [
    (1, 12), (-1, 360), (1, 1_260), (-1, 1_680), (1, 1_188), (-691, 360_360), (1, 156), (-3_617, 122_400),
    (43_867, 244_188), (-174_611, 125_400), (77_683, 5_796), (-236_364_091, 1_506_960), (657_931, 300),
    (-3_392_780_147, 93_960), (1_723_168_255_201, 2_492_028),
];
/// The series is used from here on; below, Γ(x) = Γ(x + 1)/x.
const FROM: f64 = 64.0;

/// ln Γ(x) of a positive x by Stirling's series, which is off by less than the first term left out.
pub(super) fn ln_gamma<R: Real>(argument: &R, bits: u32) -> Outcome<R> {
    let number = |value: i64| R::rational(&Rational::from(value), bits);
    let half = R::rational(&half(), bits);
    let mut x = argument.clone();
    let mut passed: Option<R> = None;
    while x.middle() < FROM {
        passed = Some(passed.map_or_else(|| x.clone(), |product| product.multiply(&x)));
        x = x.add(&number(1));
    }
    // (x − 1/2)·ln x − x + ln(2π)/2 + Σ Bⱼ/x^{2j − 1}.
    let logarithm = x.ln()?;
    let circle = R::pi(bits).multiply(&number(2)).ln()?.multiply(&half);
    let mut sum = x
        .add(&half.negate())
        .multiply(&logarithm)
        .add(&x.negate())
        .add(&circle);
    let inverse = number(1).divide(&x)?;
    let square = inverse.multiply(&inverse);
    let mut power = inverse;
    for (place, (numerator, denominator)) in STIRLING.iter().enumerate() {
        let factor = Rational::from_parts(IBig::from(*numerator), (*denominator).into());
        let term = R::rational(&factor, bits).multiply(&power);
        power = power.multiply(&square);
        if place + 1 == STIRLING.len() {
            sum = sum.hull(&sum.add(&term)).hull(&sum.add(&term.negate()));
        } else {
            sum = sum.add(&term);
        }
    }
    match passed {
        Some(product) => Ok(sum.add(&product.ln()?.negate())),
        None => Ok(sum),
    }
}
