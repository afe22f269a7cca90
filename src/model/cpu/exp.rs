//! The exponential, in a form that compilers vectorise, and in vectors.

use pulp::Simd;

// Adding and taking away 1.5·2²³ rounds to the nearest integer, and leaves it in the low bits of the sum.
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

/// [`exp`] of each lane.
#[inline(always)]
pub(crate) fn exp_lanes<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let splat = |x: f32| simd.splat_f32s(x);
    let shifted = simd.mul_add_e_f32s(x, splat(std::f32::consts::LOG2_E), splat(ROUND));
    let n = simd.sub_f32s(shifted, splat(ROUND));
    let r = simd.mul_add_e_f32s(n, splat(-LN_2_HIGH), x);
    let r = simd.mul_add_e_f32s(n, splat(-LN_2_LOW), r);
    let mut p = splat(COEFFICIENTS[0]);
    for coefficient in &COEFFICIENTS[1..] {
        p = simd.mul_add_e_f32s(p, r, splat(*coefficient));
    }
    let p = simd.add_f32s(simd.mul_add_e_f32s(simd.mul_f32s(r, r), p, r), splat(1.0));
    let bits = simd.transmute_u32s_f32s(shifted);
    let bits = simd.wrapping_dyn_shl_u32s(bits, simd.splat_u32s(23));
    let power = simd.transmute_f32s_u32s(simd.add_u32s(bits, simd.splat_u32s(0x3f80_0000)));
    let lowest = simd.less_than_f32s(x, splat(LOWEST));
    simd.select_f32s(lowest, splat(0.0), simd.mul_f32s(p, power))
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, Simd, WithSimd};

    use super::{exp, exp_lanes};

    struct Lanes([f32; 16]);

    impl WithSimd for Lanes {
        type Output = [f32; 16];

        #[inline(always)]
        fn with_simd<S: Simd>(mut self, simd: S) -> [f32; 16] {
            for lanes in S::as_mut_simd_f32s(&mut self.0).0 {
                *lanes = exp_lanes(simd, *lanes);
            }
            self.0
        }
    }

    #[test]
    fn lanes_are_as_close() {
        for i in 0..100_000 {
            let x: [f32; 16] = std::array::from_fn(|lane| -((i * 16 + lane) as f32) * 6e-5);
            for (x, y) in x.iter().zip(Arch::new().dispatch(Lanes(x))) {
                let exact = if *x < -87.0 { 0.0 } else { f64::from(*x).exp() };
                assert!(
                    (f64::from(y) - exact).abs() <= exact * 2.5e-7,
                    "e^{x} is not {y:e}"
                );
            }
        }
        let masked = Arch::new().dispatch(Lanes([f32::NEG_INFINITY; 16]));
        assert!(masked.iter().all(|weight| weight.to_bits() == 0));
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
