//! How weights, keys and values are stored: f32, f16 or bf16, rounded to nearest even when written and widened in
//! registers when read. Widening is exact, so a product does not depend on whether it widens its numbers on the way or
//! beforehand.

use pulp::Simd;

use super::instructions::{F32s, Vectors};
use super::panels::PANEL;

pub(crate) trait Format: Sized + Send + Sync + 'static {
    type Bits: bytemuck::Pod + Default + Send + Sync;

    /// The nearest number that can be stored; ties go to the even one.
    fn round(x: f32) -> Self::Bits;

    /// The number that stored bits stand for.
    fn to_f32(bits: Self::Bits) -> f32;

    /// The 16 numbers of a panel's row in `W` vectors.
    fn widen<V: Vectors, const W: usize>(vectors: V, row: &[Self::Bits; PANEL]) -> [F32s<V>; W];

    /// Converts whole rows of panels to f32. `to` may be longer.
    #[inline(always)]
    fn widen_all<V: Vectors>(vectors: V, from: &[Self::Bits], to: &mut [f32]) {
        let rows = from.as_chunks::<PANEL>().0;
        for (from, to) in rows.iter().zip(to.chunks_exact_mut(PANEL)) {
            let to = V::Simd::as_mut_simd_f32s(to).0;
            match V::Simd::F32_LANES {
                16 => to.copy_from_slice(&Self::widen::<V, 1>(vectors, from)),
                8 => to.copy_from_slice(&Self::widen::<V, 2>(vectors, from)),
                4 => to.copy_from_slice(&Self::widen::<V, 4>(vectors, from)),
                _ => to.copy_from_slice(&Self::widen::<V, PANEL>(vectors, from)),
            }
        }
    }

    /// The stored numbers themselves, if they are f32 and need no widening.
    fn plain(_: &[Self::Bits]) -> Option<&[f32]> {
        None
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct F32;

/// IEEE 754 binary16. Numbers beyond 65504 become infinite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct F16;

/// The upper half of binary32.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bf16;

impl Format for F32 {
    type Bits = f32;

    #[inline(always)]
    fn round(x: f32) -> f32 {
        x
    }

    #[inline(always)]
    fn to_f32(bits: f32) -> f32 {
        bits
    }

    #[inline(always)]
    fn widen<V: Vectors, const W: usize>(vectors: V, row: &[f32; PANEL]) -> [F32s<V>; W] {
        let mut out = [vectors.simd().splat_f32s(0.0); W];
        for (to, from) in out.iter_mut().zip(V::Simd::as_simd_f32s(row).0) {
            *to = *from;
        }
        out
    }

    #[inline(always)]
    fn plain(bits: &[f32]) -> Option<&[f32]> {
        Some(bits)
    }
}

impl Format for F16 {
    type Bits = u16;

    #[inline(always)]
    fn round(x: f32) -> u16 {
        let bits = x.to_bits();
        let (sign, size) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
        // The lowest bit that is kept decides ties; then the exponent's bias changes from 127 to 15.
        let normal = size.wrapping_add(0xfff + (size >> 13 & 1)) >> 13;
        let normal = normal.wrapping_sub(112 << 10).min(0x7c00);
        // Below 2⁻¹⁴ the last place is 2⁻²⁴, as for 0.5 in f32.
        let small = (f32::from_bits(size) + 0.5)
            .to_bits()
            .wrapping_sub(0x3f00_0000);
        let number = if size < 0x3880_0000 { small } else { normal };
        let number = if size > 0x7f80_0000 { 0x7e00 } else { number };
        (sign | number) as u16
    }

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        let size = u32::from(bits & 0x7fff) << 13;
        // Changes the exponent's bias from 15 to 127; numbers below 2⁻¹⁴ become normal in doing so.
        let number = f32::from_bits(size) * f32::from_bits((127 + 112) << 23);
        let number = if number < 65536.0 {
            number.to_bits()
        } else {
            number.to_bits() | 0x7f80_0000
        };
        f32::from_bits(number | u32::from(bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn widen<V: Vectors, const W: usize>(vectors: V, row: &[u16; PANEL]) -> [F32s<V>; W] {
        vectors.widen_halves(row)
    }
}

impl Format for Bf16 {
    type Bits = u16;

    #[inline(always)]
    fn round(x: f32) -> u16 {
        let bits = x.to_bits();
        let number = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        let number = if x.is_nan() {
            bits >> 16 | 0x40
        } else {
            number
        };
        number as u16
    }

    #[inline(always)]
    fn to_f32(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[inline(always)]
    fn widen<V: Vectors, const W: usize>(vectors: V, row: &[u16; PANEL]) -> [F32s<V>; W] {
        let simd = vectors.simd();
        let mut out = [simd.splat_f32s(0.0); W];
        let integers = vectors.widen_integers::<W>(row);
        for (to, bits) in out.iter_mut().zip(&integers) {
            let bits = simd.wrapping_dyn_shl_u32s(*bits, simd.splat_u32s(16));
            *to = simd.transmute_f32s_u32s(bits);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Bf16, F16, Format, Vectors};
    use crate::model::cpu::instructions::{Instructions, Kernel, run};
    use candle_core::{DType, Device, Tensor};

    struct Widen<F: Format>(Vec<F::Bits>);

    impl<F: Format> Kernel for Widen<F> {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run<V: Vectors>(self, vectors: V) -> Vec<f32> {
            let mut out = vec![0.0; self.0.len()];
            F::widen_all(vectors, &self.0, &mut out);
            out
        }
    }

    /// Every 16-bit number, on each instruction set available.
    fn widened<F: Format<Bits = u16>>(to_f32: impl Fn(u16) -> f32) {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        for instructions in Instructions::all() {
            let way = instructions.run(Widen::<F>(all.clone()));
            for (bits, x) in all.iter().zip(way) {
                let expected = to_f32(*bits);
                let same = x.to_bits() == expected.to_bits() || x.is_nan() && expected.is_nan();
                assert!(same, "{bits:#06x} is {x:e}, not {expected:e}");
                let alone = F::to_f32(*bits);
                assert!(alone.to_bits() == x.to_bits() || alone.is_nan() && x.is_nan());
                if !x.is_nan() {
                    assert_eq!(F::round(x), *bits);
                }
            }
        }
    }

    fn as_candle_rounds<F: Format<Bits = u16>>(dtype: DType) {
        // A sample of all bit patterns, and those around every boundary between two 16-bit numbers.
        let mut values: Vec<f32> = (0..1 << 17)
            .map(|i: u32| f32::from_bits(i.wrapping_mul(0x9e37_79b1)))
            .collect();
        for i in 0..1u32 << 16 {
            for shift in [12, 13, 15, 16] {
                values
                    .extend([0, 1, u32::MAX].map(|d| f32::from_bits((i << shift).wrapping_add(d))));
                values.push(f32::from_bits(0x3800_0000u32.wrapping_add(i << shift)));
            }
        }
        let ours: Vec<f32> = run(Widen::<F>(values.iter().map(|x| F::round(*x)).collect()));
        let count = values.len();
        let theirs = Tensor::from_vec(values.clone(), count, &Device::Cpu)
            .and_then(|x| x.to_dtype(dtype)?.to_dtype(DType::F32)?.to_vec1::<f32>())
            .unwrap();
        for ((x, a), b) in values.iter().zip(ours).zip(theirs) {
            let same = a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same, "{x:e} is stored as {a:e}, not {b:e}");
        }
    }

    #[test]
    fn f16_is_ieee_binary16() {
        widened::<F16>(|bits| {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
            let size = match exponent {
                31 if fraction > 0.0 => f32::NAN,
                31 => f32::INFINITY,
                0 => fraction * 2f32.powi(-24),
                _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
            };
            if bits >> 15 == 1 { -size } else { size }
        });
        as_candle_rounds::<F16>(DType::F16);
    }

    #[test]
    fn bf16_is_the_upper_half() {
        widened::<Bf16>(|bits| f32::from_bits(u32::from(bits) << 16));
        as_candle_rounds::<Bf16>(DType::BF16);
    }
}
