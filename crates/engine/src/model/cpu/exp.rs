//! The exponential, in a form that compilers vectorise, and in vectors.

use pulp::Simd;

// Adding and subtracting 1.5·2²³ rounds to the nearest integer, and leaves it in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// Coefficients of `(e^r - 1 - r) / r²`, highest first.
const COEFFICIENTS: [f32; 6] = [
    1.987_569_1e-4,
    1.398_199_9e-3,
    8.333_452e-3,
    4.166_579_6e-2,
    1.666_666_5e-1,
    0.5,
];
/// Below this the result is zero.
const LOWEST: f32 = -87.0;

/// `e^x` for `x ≤ 0` within 2 units in the last place; exactly 0 below −87, so that a masked score of −∞ weighs nothing.
///
/// Splits `x = n·ln 2 + r` with `|r| ≤ ln 2 / 2`, takes a polynomial for `e^r` (the coefficients are those of Cephes'
/// `expf`), and puts `n` into the exponent.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let mut p = COEFFICIENTS[0];
    for coefficient in &COEFFICIENTS[1..] {
        p = p.mul_add(r, *coefficient);
    }
    let p = (r * r).mul_add(p, r) + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    if x < LOWEST { 0.0 } else { p * power }
}

/// The hyperbolic tangent, within 1e-7.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let e = exp(-2.0 * x.abs());
    let size = (1.0 - e) / (1.0 + e);
    if x < 0.0 { -size } else { size }
}

#[inline(always)]
pub(crate) fn exp_lanes<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (log_2, round) = (
        simd.splat_f32s(std::f32::consts::LOG2_E),
        simd.splat_f32s(ROUND),
    );
    let shifted = simd.mul_add_e_f32s(x, log_2, round);
    let n = simd.sub_f32s(shifted, round);
    let r = simd.mul_add_e_f32s(n, simd.splat_f32s(-LN_2_HIGH), x);
    let r = simd.mul_add_e_f32s(n, simd.splat_f32s(-LN_2_LOW), r);
    let mut p = simd.splat_f32s(COEFFICIENTS[0]);
    for coefficient in &COEFFICIENTS[1..] {
        p = simd.mul_add_e_f32s(p, r, simd.splat_f32s(*coefficient));
    }
    let p = simd.mul_add_e_f32s(simd.mul_f32s(r, r), p, r);
    let p = simd.add_f32s(p, simd.splat_f32s(1.0));
    let bits = simd.transmute_u32s_f32s(shifted);
    let bits = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(23));
    let power = simd.transmute_f32s_u32s(simd.add_u32s(bits, simd.splat_u32s(0x3f80_0000)));
    let lowest = simd.less_than_f32s(x, simd.splat_f32s(LOWEST));
    simd.select_f32s(lowest, simd.splat_f32s(0.0), simd.mul_f32s(p, power))
}

#[cfg(test)]
mod tests {
    use pulp::Simd;

    use super::{exp, exp_lanes, tanh};
    use crate::model::cpu::instructions::{Instructions, Kernel, Vectors};

    struct Lanes([f32; 16]);

    impl Kernel for Lanes {
        type Output = [f32; 16];

        #[inline(always)]
        fn run<V: Vectors>(mut self, vectors: V) -> [f32; 16] {
            for lanes in V::Simd::as_mut_simd_f32s(&mut self.0).0 {
                *lanes = exp_lanes(vectors.simd(), *lanes);
            }
            self.0
        }
    }

    #[test]
    fn tangents_are_close_on_both_sides() {
        for i in -200_000..200_000 {
            let x = i as f32 * 1e-4;
            let exact = f64::from(x).tanh();
            assert!((f64::from(tanh(x)) - exact).abs() < 1.5e-7, "tanh {x}");
        }
        assert!((tanh(f32::INFINITY) - 1.0).abs() < 1e-7 && (tanh(-200.0) + 1.0).abs() < 1e-7);
    }

    #[test]
    fn lanes_are_as_close() {
        for instructions in Instructions::all() {
            for i in 0..100_000 {
                let x: [f32; 16] = std::array::from_fn(|lane| -((i * 16 + lane) as f32) * 6e-5);
                for (x, y) in x.iter().zip(instructions.run(Lanes(x))) {
                    let exact = if *x < -87.0 { 0.0 } else { f64::from(*x).exp() };
                    assert!(
                        (f64::from(y) - exact).abs() <= exact * 2.5e-7,
                        "{instructions:?}: e^{x} is not {y:e}"
                    );
                }
            }
            let masked = instructions.run(Lanes([f32::NEG_INFINITY; 16]));
            assert!(masked.iter().all(|weight| weight.to_bits() == 0));
        }
    }

    #[test]
    fn close_to_the_exact_exponential() {
        let mut worst = 0.0f64;
        for i in 0..=870_000 {
            let x = -(i as f32) * 1e-4;
            let exact = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - exact).abs() / exact);
        }
        assert!(
            worst < 2.0 * f64::from(f32::EPSILON),
            "relative error {worst:e}"
        );
        assert_eq!(exp(0.0).to_bits(), 1.0f32.to_bits());
    }

    #[test]
    fn masked_scores_weigh_nothing() {
        for x in [f32::NEG_INFINITY, f32::MIN, -1e4, -88.0] {
            assert_eq!(exp(x).to_bits(), 0);
        }
    }
}
