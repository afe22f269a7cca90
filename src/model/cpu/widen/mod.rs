//! Weights of 16 bits in panels, widened to f32 in registers, or piece by piece on the way through the f32 kernel.
//!
//! A widened weight is exact, and sums are the chains that the f32 kernel takes: outputs are bitwise those
//! of the same weights packed as f32.

#[cfg(target_arch = "x86_64")]
mod avx512;

use pulp::{Arch, Simd, WithSimd};

use super::panels::{Multiply, PANEL, Split, Uniform};

/// The types of 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfType {
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    BF16,
}

/// The number that 16 bits stand for in IEEE half precision.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = u32::from(bits & 0x7fff) << 13;
    let sign = u32::from(bits & 0x8000) << 16;
    // The exponent moves from its bias of 15 to one of 127; what has no leading 1 is normalised on the way.
    let scaled = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
    let special = magnitude | 0x7f80_0000;
    let widened = if magnitude >= 0x0f80_0000 {
        special
    } else {
        scaled
    };
    f32::from_bits(widened | sign)
}

/// The number that 16 bits stand for as the upper half of an f32.
#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Rows of activations times panels.
pub struct HalfProduct<'a, 'o> {
    /// `[inputs, 16]` each, as many as the columns need.
    pub panels: &'a [u16],
    /// `[rows, inputs]`; rows beyond those of `out` are not read.
    pub x: &'a [f32],
    /// Length of the sums.
    pub inputs: usize,
    /// The columns wanted of each row.
    pub out: &'a mut [&'o mut [f32]],
}

impl HalfProduct<'_, '_> {
    fn columns(&self) -> usize {
        self.out.first().map_or(0, |row| row.len())
    }

    /// Takes the product.
    pub fn multiply(&mut self, kind: HalfType) {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = fearless_simd::Level::new().as_avx512() {
            return avx512::multiply(token, kind, self);
        }
        self.by_pieces(kind);
    }

    /// Widens pieces that stay in the first-level cache, and goes on with the f32 kernel's sums from piece to piece.
    fn by_pieces(&mut self, kind: HalfType) {
        /// Inputs and panels of a piece.
        const PIECE: usize = 128;
        const WIDE: usize = 4;
        let (n, inputs) = (self.columns(), self.inputs);
        let stride = inputs * PANEL;
        let mut piece = vec![0.0; WIDE * PIECE * PANEL];
        for (group, from) in (0..n).step_by(WIDE * PANEL).enumerate() {
            let to = n.min(from + WIDE * PANEL);
            let mut columns: Vec<&mut [f32]> =
                self.out.iter_mut().map(|row| &mut row[from..to]).collect();
            let panels = &self.panels[group * WIDE * stride..];
            for first in (0..inputs).step_by(PIECE) {
                let k = PIECE.min(inputs - first);
                for (panel, piece) in panels
                    .chunks_exact(stride)
                    .zip(piece.chunks_exact_mut(PIECE * PANEL))
                    .take((to - from).div_ceil(PANEL))
                {
                    widen(kind, &panel[first * PANEL..][..k * PANEL], piece);
                }
                Arch::new().dispatch(Multiply {
                    a: &self.x[first..],
                    a_stride: inputs,
                    rows: columns.len(),
                    k,
                    b: Uniform {
                        data: &piece,
                        stride: PIECE * PANEL,
                    },
                    n: to - from,
                    out: Split(&mut columns),
                    accumulate: first > 0,
                });
            }
        }
    }
}

/// Widens numbers; `out` may be longer.
pub fn widen(kind: HalfType, bits: &[u16], out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if kind == HalfType::F16
        && let Some(token) = fearless_simd::Level::new().as_avx512()
    {
        return avx512::widen(token, bits, out);
    }
    Arch::new().dispatch(Widen { kind, bits, out });
}

struct Widen<'a> {
    kind: HalfType,
    bits: &'a [u16],
    out: &'a mut [f32],
}

impl WithSimd for Widen<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let pairs = self.out.iter_mut().zip(self.bits);
        match self.kind {
            HalfType::F16 => pairs.for_each(|(out, &bits)| *out = f16_to_f32(bits)),
            HalfType::BF16 => {
                pairs.for_each(|(out, &bits)| *out = bf16_to_f32(bits));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor};
    use half::{bf16, f16};

    use super::{HalfProduct, HalfType, PANEL, f16_to_f32, widen};

    #[test]
    fn pieces_and_registers_give_the_same_bits() {
        for (rows, columns, inputs) in [
            (1usize, 70usize, 300),
            (3, 16, 5),
            (5, 90, 257),
            (21, 48, 640),
        ] {
            let number = |i: usize| (i * 7919 % 10_007) as f32 / 10_007.0 - 0.5;
            let x: Vec<f32> = (0..rows * inputs).map(number).collect();
            let numbers = (0..columns.div_ceil(PANEL) * inputs * PANEL).map(number);
            for kind in [HalfType::F16, HalfType::BF16] {
                let panels: Vec<u16> = match kind {
                    HalfType::F16 => numbers
                        .clone()
                        .map(|x| f16::from_f32(x).to_bits())
                        .collect(),
                    HalfType::BF16 => numbers
                        .clone()
                        .map(|x| bf16::from_f32(x).to_bits())
                        .collect(),
                };
                let product = |pieces: bool| {
                    let mut out = vec![f32::NAN; rows * columns];
                    let mut split: Vec<&mut [f32]> = out.chunks_mut(columns).collect();
                    let mut product = HalfProduct {
                        panels: &panels,
                        x: &x,
                        inputs,
                        out: &mut split,
                    };
                    if pieces {
                        product.by_pieces(kind);
                    } else {
                        product.multiply(kind);
                    }
                    out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
                };
                assert_eq!(product(false), product(true));
            }
        }
    }

    #[test]
    fn every_half_is_widened_exactly() {
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        // What the numbers are, from an independent implementation.
        let mut expected = Vec::new();
        for chunk in bits.chunks(1 << 10) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|bits| bits.to_le_bytes()).collect();
            let halves = Tensor::from_raw_buffer(&bytes, DType::F16, &[chunk.len()], &Device::Cpu);
            let wide = halves.unwrap().to_dtype(DType::F32).unwrap();
            expected.extend(wide.to_vec1::<f32>().unwrap());
        }
        let mut widened = vec![0.0; bits.len()];
        widen(HalfType::F16, &bits, &mut widened);
        for ((bits, expected), widened) in bits.iter().zip(expected).zip(widened) {
            let portable = f16_to_f32(*bits);
            if expected.is_nan() {
                assert!(portable.is_nan() && widened.is_nan());
            } else {
                assert_eq!(portable.to_bits(), expected.to_bits());
                assert_eq!(widened.to_bits(), expected.to_bits());
            }
        }
    }
}
