//! Constants and elementary functions of fixed-point numbers: integers in units of 2^−w.
//!
//! Arguments are made small by halving, a short Taylor series is summed, and the halving is undone by doubling formulas.
//! Guard bits cover what the doublings multiply the errors by; every function is off by less than two units.

use std::sync::OnceLock;

use dashu_base::UnsignedAbs;
use dashu_int::IBig;

use crate::rational::magnitude_bits;

/// Constants are kept with so many bits, or with more where more are asked for: few values take that many.
const KEPT: [usize; 2] = [1 << 10, 1 << 12];

/// π in units of 2^−bits.
pub(super) fn pi(bits: usize) -> IBig {
    static PI: [OnceLock<IBig>; 2] = [const { OnceLock::new() }; 2];
    let compute = |bits: usize| {
        let work = bits + 32;
        // Machin: π = 16·arctan(1/5) − 4·arctan(1/239).
        let value: IBig = inverse_series(5, work, true) * 16 - inverse_series(239, work, true) * 4;
        value >> 32
    };
    kept(&PI, compute, bits)
}

/// ln 2 in units of 2^−bits.
pub(super) fn ln_2(bits: usize) -> IBig {
    static LN_2: [OnceLock<IBig>; 2] = [const { OnceLock::new() }; 2];
    let compute = |bits: usize| {
        let work = bits + 32;
        let value: IBig = inverse_series(26, work, false) * 18
            - inverse_series(4801, work, false) * 2
            + inverse_series(8749, work, false) * 8;
        value >> 32
    };
    kept(&LN_2, compute, bits)
}

fn kept(cells: &[OnceLock<IBig>], compute: impl Fn(usize) -> IBig, bits: usize) -> IBig {
    match cells.iter().zip(KEPT).find(|it| bits <= it.1) {
        Some((cell, kept)) => cell.get_or_init(|| compute(kept)) >> (kept - bits),
        None => compute(bits),
    }
}

/// arctan(1/n), or artanh(1/n).
fn inverse_series(n: u64, bits: usize, alternating: bool) -> IBig {
    let mut power = (IBig::ONE << bits) / n;
    let square = n * n;
    let mut sum = power.clone();
    let mut odd = 1u64;
    let mut negative = false;
    loop {
        power /= square;
        odd += 2;
        if power.is_zero() {
            return sum;
        }
        negative ^= alternating;
        let term: IBig = &power / odd;
        if negative {
            sum -= term;
        } else {
            sum += term;
        }
    }
}

/// e^x for |x| < 1.
pub(super) fn exp(x: &IBig, bits: usize) -> IBig {
    let halvings = bits.isqrt();
    let work = bits + halvings + 16;
    let small: IBig = (x << (work - bits)) >> halvings;
    let one = IBig::ONE << work;
    let mut sum = &one + &small;
    let mut term = small.clone();
    let mut index = 2u64;
    loop {
        term = (&term * &small) >> work;
        term /= index;
        if term.is_zero() || term == IBig::NEG_ONE {
            break;
        }
        sum += &term;
        index += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> work;
    }
    sum >> (work - bits)
}

/// (sin x, cos x) for 0 ≤ x < 2.
pub(super) fn sin_cos(x: &IBig, bits: usize) -> (IBig, IBig) {
    // The sine comes from the cosine: the smaller it is, the more bits that takes.
    let small = bits.saturating_sub(magnitude_bits(x));
    let halvings = (bits.isqrt() / 2 + 2).saturating_sub(small);
    let work = bits + small + 2 * halvings + 16;
    let halved: IBig = (x << (work - bits)) >> halvings;
    let square: IBig = (&halved * &halved) >> work;
    // 1 − cos, which keeps its precision where cos is near 1.
    let mut rest = IBig::ZERO;
    let mut term = &square >> 1;
    let mut index = 3u64;
    while !term.is_zero() {
        rest += &term;
        term = -((term * &square) >> work) / (index * (index + 1));
        index += 2;
    }
    let two = IBig::ONE << (work + 1);
    for _ in 0..halvings {
        rest = (&rest * (&two - &rest)) >> (work - 1);
    }
    let square = (&rest * (&two - &rest)).unsigned_abs();
    let sin = IBig::from(dashu_base::SquareRoot::sqrt(&square));
    let shift = work - bits;
    (sin >> shift, ((two >> 1) - rest) >> shift)
}
