//! Products with weights of 16 bits by AVX-512: each vector of weights is widened in registers as often as it is used,
//! which the multiplications hide, and is read from memory at half the width of f32.
//!
//! Registers of a tile of 8 rows × 2 panels: 16 sums, 2 weights, 1 activation.

use std::arch::x86_64::{
    __m512, _mm512_castsi512_ps, _mm512_cvtepu16_epi32, _mm512_cvtph_ps, _mm512_fmadd_ps,
    _mm512_set1_ps, _mm512_setzero_ps, _mm512_slli_epi32,
};

use fearless_simd::kernel;
use pulp::cast;

use super::{HalfProduct, HalfType, PANEL, f16_to_f32};

/// Panels outside, rows inside, so that a panel stays in the cache while all rows pass over it.
macro_rules! tiles {
    ($kind:literal, $product:ident) => {
        let (rows, columns) = ($product.out.len(), $product.columns());
        let panels = columns.div_ceil(PANEL);
        let mut panel = 0;
        while panel < panels {
            let at_once = match (rows, panels - panel) {
                (1..=2, 4..) => 4,
                (_, 2..) => 2,
                _ => 1,
            };
            let mut row = 0;
            while row < rows {
                let left = rows - row;
                let take = left.div_ceil(left.div_ceil(8));
                match (take, at_once) {
                    (1, 4) => tile::<$kind, 1, 4>($product, row, panel),
                    (_, 4) => tile::<$kind, 2, 4>($product, row, panel),
                    (1, 2) => tile::<$kind, 1, 2>($product, row, panel),
                    (2, 2) => tile::<$kind, 2, 2>($product, row, panel),
                    (3, 2) => tile::<$kind, 3, 2>($product, row, panel),
                    (4, 2) => tile::<$kind, 4, 2>($product, row, panel),
                    (5, 2) => tile::<$kind, 5, 2>($product, row, panel),
                    (6, 2) => tile::<$kind, 6, 2>($product, row, panel),
                    (7, 2) => tile::<$kind, 7, 2>($product, row, panel),
                    (_, 2) => tile::<$kind, 8, 2>($product, row, panel),
                    // The last of an odd number of panels.
                    (1, _) => tile::<$kind, 1, 1>($product, row, panel),
                    (2 | 3, _) => {
                        tile::<$kind, 2, 1>($product, row, panel);
                        if take == 3 {
                            tile::<$kind, 1, 1>($product, row + 2, panel);
                        }
                    }
                    _ => {
                        tile::<$kind, 4, 1>($product, row, panel);
                        for row in row + 4..row + take {
                            tile::<$kind, 1, 1>($product, row, panel);
                        }
                    }
                }
                row += take;
            }
            panel += at_once;
        }
    };
}

kernel!(
    /// The product.
    pub(super) fn multiply(avx512: Avx512, kind: HalfType, product: &mut HalfProduct<'_, '_>) {
        match kind {
            HalfType::F16 => {
                tiles!(true, product);
            }
            HalfType::BF16 => {
                tiles!(false, product);
            }
        }
    }
);

kernel!(
    /// Widens IEEE half precision.
    pub(super) fn widen(avx512: Avx512, bits: &[u16], out: &mut [f32]) {
        let (whole, rest) = bits.as_chunks::<16>();
        let (out, out_rest) = out[..bits.len()].as_chunks_mut::<16>();
        for (out, bits) in out.iter_mut().zip(whole) {
            *out = cast(widened::<true>(bits));
        }
        for (out, bits) in out_rest.iter_mut().zip(rest) {
            *out = f16_to_f32(*bits);
        }
    }
);

/// `R` rows times `P` panels, all inputs.
// Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f")]
fn tile<const IEEE: bool, const R: usize, const P: usize>(
    product: &mut HalfProduct<'_, '_>,
    row: usize,
    panel: usize,
) {
    let k = product.inputs;
    let no_inputs: &[f32] = &[];
    let mut x = [no_inputs; R];
    for r in 0..R {
        x[r] = &product.x[(row + r) * k..][..k];
    }
    let no_vectors: &[[u16; PANEL]] = &[];
    let mut weights = [no_vectors; P];
    for p in 0..P {
        weights[p] = &product.panels[(panel + p) * k * PANEL..].as_chunks().0[..k];
    }
    let mut sums = [[_mm512_setzero_ps(); P]; R];
    for i in 0..k {
        let mut w = [_mm512_setzero_ps(); P];
        for p in 0..P {
            w[p] = widened::<IEEE>(&weights[p][i]);
        }
        for r in 0..R {
            let x = _mm512_set1_ps(x[r][i]);
            for p in 0..P {
                sums[r][p] = _mm512_fmadd_ps(x, w[p], sums[r][p]);
            }
        }
    }
    for r in 0..R {
        for p in 0..P {
            let sums: [f32; PANEL] = cast(sums[r][p]);
            let out = &mut product.out[row + r][(panel + p) * PANEL..];
            match out.first_chunk_mut() {
                Some(out) => *out = sums,
                None => out.copy_from_slice(&sums[..out.len()]),
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn widened<const IEEE: bool>(bits: &[u16; PANEL]) -> __m512 {
    if IEEE {
        _mm512_cvtph_ps(cast(*bits))
    } else {
        _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(cast(*bits))))
    }
}
