//! Products with quantised weights by AVX2: bytes are widened to 16 bits, whose products in pairs fit 32 bits. (The
//! instruction that multiplies bytes would cut sums off at 16 bits.)

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _mm_set1_epi32, _mm256_add_epi32, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi8, _mm256_cvtepi8_epi16,
    _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi16, _mm256_cvtepu8_epi32,
    _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_hadd_epi32, _mm256_madd_epi16, _mm256_mul_ps,
    _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16,
    _mm256_slli_epi32, _mm256_srli_epi16,
};

use fearless_simd::kernel;
use pulp::cast;

use super::mx4::{NUMBERS, ZERO};
use super::{Mx4Group, Nibbles, Product, Q4Group, Q5Group, Q6Group, Q8Group, RowBlock, Vector};

macro_rules! tiles {
    ($tile:ident $(, $kind:ty)?; $product:ident) => {
        for panel in 0..$product.panels() {
            let rows = $product.rows();
            for row in (0..rows - rows % 2).step_by(2) {
                $tile::<$($kind,)? 2>($product, row, panel);
            }
            if rows % 2 == 1 {
                $tile::<$($kind,)? 1>($product, rows - 1, panel);
            }
        }
    };
}

kernel!(
    /// The product with weights of a byte.
    pub(super) fn q8(avx2: Avx2, product: &mut Product<'_, '_, Q8Group>) {
        tiles!(tile_q8; product);
    }
);

kernel!(
    /// The product with weights of half a byte.
    pub(super) fn q4(avx2: Avx2, product: &mut Product<'_, '_, Q4Group>) {
        tiles!(tile_nibbles, Q4Group; product);
    }
);

kernel!(
    /// The product with weights of five bits.
    pub(super) fn q5(avx2: Avx2, product: &mut Product<'_, '_, Q5Group>) {
        tiles!(tile_nibbles, Q5Group; product);
    }
);

kernel!(
    /// The product with weights of six bits.
    pub(super) fn q6(avx2: Avx2, product: &mut Product<'_, '_, Q6Group>) {
        tiles!(tile_q6; product);
    }
);

kernel!(
    /// The product with weights in MXFP4.
    pub(super) fn mx4(avx2: Avx2, product: &mut Product<'_, '_, Mx4Group>) {
        tiles!(tile_mx4; product);
    }
);

/// Sums of a panel: vector `q` holds two for each of the outputs `4q` to `4q + 3`, which [`fold`] adds.
type Sums = [__m256i; 4];

/// `R` rows times a panel, all inputs.
// Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile_q8<const R: usize>(product: &mut Product<'_, '_, Q8Group>, row: usize, panel: usize) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; 2]]; R] = product.activations(row);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    for (g, group) in weights.iter().enumerate() {
        for half in 0..2 {
            let mut sums = [[_mm256_setzero_si256(); 4]; R];
            for (i, w) in group.weights[half].iter().enumerate() {
                let w = quarters(w);
                for r in 0..R {
                    let x = inputs(x[r][g][half].values[i]);
                    for q in 0..4 {
                        let w = _mm256_cvtepu8_epi16(w[q]);
                        sums[r][q] = _mm256_add_epi32(sums[r][q], _mm256_madd_epi16(w, x));
                    }
                }
            }
            let scales = halves(&group.scales[half]);
            for r in 0..R {
                let x = &x[r][g][half];
                let scale = _mm256_set1_ps(x.scale);
                let sums = fold(&sums[r], _mm256_set1_epi32(x.offset));
                for v in 0..2 {
                    let scale = _mm256_mul_ps(scales[v], scale);
                    out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                }
            }
        }
    }
    product.store_tile(row, panel, &out.map(|sums| [sums]));
}

/// `R` rows times a panel, all inputs.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile_nibbles<G: Nibbles, const R: usize>(
    product: &mut Product<'_, '_, G>,
    row: usize,
    panel: usize,
) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; 8]]; R] = product.activations(row);
    let low = _mm256_set1_epi8(15);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    for (g, whole) in weights.iter().enumerate() {
        let group = whole.nibbles();
        let (scale, min) = (halves(&group.scale), halves(&group.min));
        for part in 0..8 {
            let mut sums = [[_mm256_setzero_si256(); 4]; R];
            for (i, w) in group.weights[part].iter().enumerate() {
                let w: [__m256i; 2] = cast(w.0);
                let first = w.map(|w| _mm256_and_si256(w, low));
                let second = w.map(|w| _mm256_and_si256(_mm256_srli_epi16::<4>(w), low));
                for (i, mut w) in [(i, first), (i + 4, second)] {
                    if let Some(bits) = whole.fifth(part) {
                        w = fifth(w, bits, i);
                    }
                    let w: [__m128i; 4] = cast(w);
                    for r in 0..R {
                        let x = inputs(x[r][g][part].values[i]);
                        for q in 0..4 {
                            let w = _mm256_cvtepu8_epi16(w[q]);
                            sums[r][q] = _mm256_add_epi32(sums[r][q], _mm256_madd_epi16(w, x));
                        }
                    }
                }
            }
            let (scales, mins) = (bytes(&group.scales[part]), bytes(&group.mins[part]));
            for r in 0..R {
                let x = &x[r][g][part];
                let sums = fold(&sums[r], _mm256_setzero_si256());
                for v in 0..2 {
                    let scale = _mm256_mul_ps(scale[v], scales[v]);
                    let scale = _mm256_mul_ps(scale, _mm256_set1_ps(x.scale));
                    let min = _mm256_mul_ps(min[v], mins[v]);
                    out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                    out[r][v] = _mm256_fmadd_ps(min, _mm256_set1_ps(x.negative_sum), out[r][v]);
                }
            }
        }
    }
    product.store_tile(row, panel, &out.map(|sums| [sums]));
}

/// `R` rows times a panel, all inputs.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile_q6<const R: usize>(product: &mut Product<'_, '_, Q6Group>, row: usize, panel: usize) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; 8]]; R] = product.activations(row);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    for (g, group) in weights.iter().enumerate() {
        let scale = halves(&group.scale);
        for part in 0..8 {
            for half in 0..2 {
                let mut sums = [[_mm256_setzero_si256(); 4]; R];
                for i in 0..4 {
                    let w = six_bits(&group.low[part][i], half, &group.high[part][half], i);
                    for r in 0..R {
                        let x = inputs(x[r][g][part].values[4 * half + i]);
                        for q in 0..4 {
                            let w = _mm256_cvtepu8_epi16(w[q]);
                            sums[r][q] = _mm256_add_epi32(sums[r][q], _mm256_madd_epi16(w, x));
                        }
                    }
                }
                let scales = signed_bytes(&group.scales[2 * part + half]);
                for r in 0..R {
                    let x = &x[r][g][part];
                    let sums = fold(&sums[r], _mm256_set1_epi32(x.halves[half]));
                    for v in 0..2 {
                        let scale = _mm256_mul_ps(scale[v], scales[v]);
                        let scale = _mm256_mul_ps(scale, _mm256_set1_ps(x.scale));
                        out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                    }
                }
            }
        }
    }
    product.store_tile(row, panel, &out.map(|sums| [sums]));
}

/// `R` rows times a panel, all inputs.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile_mx4<const R: usize>(product: &mut Product<'_, '_, Mx4Group>, row: usize, panel: usize) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; 4]]; R] = product.activations(row);
    let (low, numbers) = (
        _mm256_set1_epi8(15),
        _mm256_broadcastsi128_si256(cast(NUMBERS)),
    );
    let half = _mm256_set1_ps(0.5);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    for (g, group) in weights.iter().enumerate() {
        for part in 0..4 {
            let mut sums = [[_mm256_setzero_si256(); 4]; R];
            for (i, w) in group.weights[part].iter().enumerate() {
                let w: [__m256i; 2] = cast(w.0);
                let of = |w| _mm256_shuffle_epi8(numbers, _mm256_and_si256(w, low));
                let first = [of(w[0]), of(w[1])];
                let second = w.map(|w| _mm256_srli_epi16::<4>(w));
                let second = [of(second[0]), of(second[1])];
                for (i, w) in [(i, first), (i + 4, second)] {
                    let w: [__m128i; 4] = cast(w);
                    for r in 0..R {
                        let x = inputs(x[r][g][part].values[i]);
                        for q in 0..4 {
                            let w = _mm256_cvtepu8_epi16(w[q]);
                            sums[r][q] = _mm256_add_epi32(sums[r][q], _mm256_madd_epi16(w, x));
                        }
                    }
                }
            }
            let exponents: [u64; 2] = cast(group.scales[part]);
            let scales = exponents.map(|exponents| {
                let exponents = _mm256_cvtepu8_epi32(cast([exponents, 0]));
                let powers = _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponents));
                _mm256_mul_ps(powers, half)
            });
            for r in 0..R {
                let x = &x[r][g][part];
                let sums = fold(&sums[r], _mm256_set1_epi32(x.offset_of(ZERO)));
                for v in 0..2 {
                    let scale = _mm256_mul_ps(scales[v], _mm256_set1_ps(x.scale));
                    out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                }
            }
        }
    }
    product.store_tile(row, panel, &out.map(|sums| [sums]));
}

/// Adds to nibbles their fifth bits, the `i`th of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn fifth(w: [__m256i; 2], bits: &Vector, i: usize) -> [__m256i; 2] {
    let bits: [__m256i; 2] = cast(bits.0);
    let (bit, sixteen) = (
        _mm256_set1_epi8((1u8 << i).cast_signed()),
        _mm256_set1_epi8(16),
    );
    let add = |w, bits| {
        let set = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
        _mm256_or_si256(w, _mm256_and_si256(set, sixteen))
    };
    [add(w[0], bits[0]), add(w[1], bits[1])]
}

/// Nibbles of a half and, above them, the `i`th pairs of bits.
#[inline]
#[target_feature(enable = "avx2")]
fn six_bits(both: &Vector, half: usize, bits: &Vector, i: usize) -> [__m128i; 4] {
    let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(48));
    let (both, bits): ([__m256i; 2], [__m256i; 2]) = (cast(both.0), cast(bits.0));
    let join = |both, bits| {
        let nibbles = if half == 0 {
            both
        } else {
            _mm256_srli_epi16::<4>(both)
        };
        let bits = match i {
            0 => _mm256_slli_epi16::<4>(bits),
            1 => _mm256_slli_epi16::<2>(bits),
            2 => bits,
            _ => _mm256_srli_epi16::<2>(bits),
        };
        _mm256_or_si256(_mm256_and_si256(nibbles, low), _mm256_and_si256(bits, high))
    };
    cast([join(both[0], bits[0]), join(both[1], bits[1])])
}

#[inline]
#[target_feature(enable = "avx2")]
fn quarters(bytes: &Vector) -> [__m128i; 4] {
    cast(bytes.0)
}

/// Four inputs of a row, for each output.
#[inline]
#[target_feature(enable = "avx2")]
fn inputs(values: [i8; 4]) -> __m256i {
    _mm256_cvtepi8_epi16(_mm_set1_epi32(cast(values)))
}

/// The sums of outputs 0 to 7, and of 8 to 15, each plus `offset`.
#[inline]
#[target_feature(enable = "avx2")]
fn fold(sums: &Sums, offset: __m256i) -> [__m256; 2] {
    let [a, b, c, d] = *sums;
    [(a, b), (c, d)].map(|(a, b)| {
        // Adjacent pairs are added within halves of the vectors: a0 a1 b0 b1 | a2 a3 b2 b3.
        let sums = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(a, b));
        _mm256_cvtepi32_ps(_mm256_add_epi32(sums, offset))
    })
}

/// Numbers in half precision.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn halves(bits: &[u16; 16]) -> [__m256; 2] {
    let bits: [__m128i; 2] = cast(*bits);
    bits.map(|bits| _mm256_cvtph_ps(bits))
}

#[inline]
#[target_feature(enable = "avx2")]
fn bytes(bytes: &[u8; 16]) -> [__m256; 2] {
    let halves: [u64; 2] = cast(*bytes);
    halves.map(|half| _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(cast([half, 0]))))
}

#[inline]
#[target_feature(enable = "avx2")]
fn signed_bytes(bytes: &[i8; 16]) -> [__m256; 2] {
    let halves: [u64; 2] = cast(*bytes);
    halves.map(|half| _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(cast([half, 0]))))
}
