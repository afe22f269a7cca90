//! The exponential, in a form that compilers vectorise.

/// `e^x` for `x ≤ 0` within 2 units in the last place; exactly 0 below −87, so that a masked score of −∞ weighs nothing.
///
/// Splits `x = n·ln 2 + r` with `|r| ≤ ln 2 / 2`, takes a polynomial for `e^r` (the coefficients are those of Cephes'
/// `expf`), and puts `n` into the exponent.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5·2²³ rounds to the nearest integer, and leaves it in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN_2_LOW, n.mul_add(-LN_2_HIGH, x));
    let mut p = 1.987_569_1e-4f32;
    p = p.mul_add(r, 1.398_199_9e-3);
    p = p.mul_add(r, 8.333_452e-3);
    p = p.mul_add(r, 4.166_579_6e-2);
    p = p.mul_add(r, 1.666_666_5e-1);
    p = p.mul_add(r, 0.5);
    let p = (r * r).mul_add(p, r) + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    if x < -87.0 { 0.0 } else { p * power }
}

#[cfg(test)]
mod tests {
    use super::exp;

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
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn masked_scores_weigh_nothing() {
        for x in [f32::NEG_INFINITY, f32::MIN, -1e4, -88.0] {
            assert_eq!(exp(x).to_bits(), 0);
        }
    }
}
