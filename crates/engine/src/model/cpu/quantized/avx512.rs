//! Products with quantised weights by AVX-512 VNNI: one instruction multiplies 64 pairs of bytes and adds them up in
//! fours, which is four inputs of 16 outputs.
//!
//! Registers of a tile of 6 rows × 2 panels: 12 integer sums, 12 sums, 2 weights, 1 activation.

use std::arch::x86_64::{
    __m512, __m512i, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi512_ps,
    _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps, _mm512_cvtepu8_epi32, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_mask_add_epi8, _mm512_mul_ps, _mm512_or_si512,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_slli_epi16, _mm512_slli_epi32, _mm512_srli_epi16,
    _mm512_test_epi8_mask,
};

use fearless_simd::kernel;
use pulp::cast;

use super::mx4::{NUMBERS, ZERO};
use super::{
    Mx4Group, Nibbles, Product, Q4Group, Q5Group, Q6Group, Q8Group, Q40Group, Q41Group, Q50Group,
    Q51Group, RowBlock, Vector, products,
};

/// Loops over panels outside and rows inside, so that a panel stays in the cache while all rows use it. Few rows leave
/// registers free: more panels at once hide the latency of the dot product.
macro_rules! tiles {
    ($tile:ident $(, $kind:ty, $blocks:expr)?; $product:ident) => {
        let (rows, panels) = ($product.rows(), $product.panels());
        let mut panel = 0;
        while panel < panels {
            let at_once = match (rows, panels - panel) {
                (1..=3, 4..) => 4,
                (_, 2..) => 2,
                _ => 1,
            };
            let mut row = 0;
            let passes = rows.div_ceil(6);
            for pass in 0..passes {
                // Even groups: 8 rows go as 4 + 4, not as 6 + 2.
                let take = (rows - row).div_ceil(passes - pass);
                let pass = (pass, passes);
                match (take, at_once) {
                    (1, 4) => $tile::<$($kind, { $blocks },)? 1, 4>($product, row, panel, pass),
                    (2, 4) => $tile::<$($kind, { $blocks },)? 2, 4>($product, row, panel, pass),
                    (_, 4) => $tile::<$($kind, { $blocks },)? 3, 4>($product, row, panel, pass),
                    (1, 2) => $tile::<$($kind, { $blocks },)? 1, 2>($product, row, panel, pass),
                    (2, 2) => $tile::<$($kind, { $blocks },)? 2, 2>($product, row, panel, pass),
                    (3, 2) => $tile::<$($kind, { $blocks },)? 3, 2>($product, row, panel, pass),
                    (4, 2) => $tile::<$($kind, { $blocks },)? 4, 2>($product, row, panel, pass),
                    (5, 2) => $tile::<$($kind, { $blocks },)? 5, 2>($product, row, panel, pass),
                    (_, 2) => $tile::<$($kind, { $blocks },)? 6, 2>($product, row, panel, pass),
                    (1, _) => $tile::<$($kind, { $blocks },)? 1, 1>($product, row, panel, pass),
                    (2, _) => $tile::<$($kind, { $blocks },)? 2, 1>($product, row, panel, pass),
                    (3, _) => $tile::<$($kind, { $blocks },)? 3, 1>($product, row, panel, pass),
                    (4, _) => $tile::<$($kind, { $blocks },)? 4, 1>($product, row, panel, pass),
                    (5, _) => $tile::<$($kind, { $blocks },)? 5, 1>($product, row, panel, pass),
                    _ => $tile::<$($kind, { $blocks },)? 6, 1>($product, row, panel, pass),
                }
                row += take;
            }
            panel += at_once;
        }
    };
}

products!(avx512: Avx512);

/// `R` rows times `P` panels, all inputs.
// Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_q8<const R: usize, const P: usize>(
    product: &mut Product<'_, '_, Q8Group>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let weights: [&[Q8Group]; P] = product.weights(panel);
    let x: [&[[RowBlock; 2]]; R] = product.activations(row);
    let mut out = [[_mm512_setzero_ps(); P]; R];
    let mut ahead = product.ahead(weights, passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of_val(&weights[0][g]));
        for half in 0..2 {
            let mut sums = [[_mm512_setzero_si512(); P]; R];
            for r in 0..R {
                sums[r] = [_mm512_set1_epi32(x[r][g][half].offset); P];
            }
            for i in 0..8 {
                let mut w = [_mm512_setzero_si512(); P];
                for p in 0..P {
                    w[p] = vector(&weights[p][g].weights[half][i]);
                }
                for r in 0..R {
                    let x = inputs(x[r][g][half].values[i]);
                    for p in 0..P {
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], w[p], x);
                    }
                }
            }
            let mut scales = [_mm512_setzero_ps(); P];
            for p in 0..P {
                scales[p] = halves(weights[p][g].scales[half]);
            }
            for r in 0..R {
                let scale = _mm512_set1_ps(x[r][g][half].scale);
                for p in 0..P {
                    let scale = _mm512_mul_ps(scales[p], scale);
                    out[r][p] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(sums[r][p]), out[r][p]);
                }
            }
        }
    }
    product.store_tile(row, panel, &out);
}

/// `R` rows times `P` panels, all inputs, in groups of `B` blocks.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_nibbles<G: Nibbles, const B: usize, const R: usize, const P: usize>(
    product: &mut Product<'_, '_, G>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let weights: [&[G]; P] = product.weights(panel);
    let x: [&[[RowBlock; B]]; R] = product.activations(row);
    let (low, fifth) = (_mm512_set1_epi8(15), _mm512_set1_epi8(16));
    let mut out = [[_mm512_setzero_ps(); P]; R];
    let mut ahead = product.ahead(weights, passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of_val(&weights[0][g]));
        for part in 0..B {
            let mut sums = [[_mm512_setzero_si512(); P]; R];
            for r in 0..R {
                sums[r] = [_mm512_set1_epi32(x[r][g][part].offset_of(G::ADDED)); P];
            }
            for i in 0..4 {
                let (mut first, mut second) =
                    ([_mm512_setzero_si512(); P], [_mm512_setzero_si512(); P]);
                for p in 0..P {
                    let both = vector(&weights[p][g].nibbles(part)[i]);
                    first[p] = _mm512_and_si512(both, low);
                    second[p] = _mm512_and_si512(_mm512_srli_epi16::<4>(both), low);
                    if let Some(bits) = weights[p][g].fifth(part) {
                        let bits = vector(bits);
                        let a = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(1 << i));
                        let b = _mm512_test_epi8_mask(bits, _mm512_set1_epi8(16 << i));
                        first[p] = _mm512_mask_add_epi8(first[p], a, first[p], fifth);
                        second[p] = _mm512_mask_add_epi8(second[p], b, second[p], fifth);
                    }
                }
                for r in 0..R {
                    let x = inputs(x[r][g][part].values[i]);
                    for p in 0..P {
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], first[p], x);
                    }
                }
                for r in 0..R {
                    let x = inputs(x[r][g][part].values[i + 4]);
                    for p in 0..P {
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], second[p], x);
                    }
                }
            }
            let mut scales = [_mm512_setzero_ps(); P];
            let mut mins = [_mm512_setzero_ps(); P];
            for p in 0..P {
                let group = &weights[p][g];
                scales[p] = halves(*group.scale(part));
                if let Some(min) = group.min() {
                    mins[p] = halves(*min);
                }
                if let Some((of_scale, of_min)) = group.factors(part) {
                    scales[p] = _mm512_mul_ps(scales[p], bytes(*of_scale));
                    mins[p] = _mm512_mul_ps(mins[p], bytes(*of_min));
                }
            }
            for r in 0..R {
                let scale = _mm512_set1_ps(x[r][g][part].scale);
                let negative_sum = _mm512_set1_ps(x[r][g][part].negative_sum);
                for p in 0..P {
                    let scale = _mm512_mul_ps(scales[p], scale);
                    let sum = _mm512_cvtepi32_ps(sums[r][p]);
                    out[r][p] = _mm512_fmadd_ps(scale, sum, out[r][p]);
                    if weights[p][g].min().is_some() {
                        out[r][p] = _mm512_fmadd_ps(mins[p], negative_sum, out[r][p]);
                    }
                }
            }
        }
    }
    product.store_tile(row, panel, &out);
}

/// `R` rows times `P` panels, all inputs.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_q6<const R: usize, const P: usize>(
    product: &mut Product<'_, '_, Q6Group>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let weights: [&[Q6Group]; P] = product.weights(panel);
    let x: [&[[RowBlock; 8]]; R] = product.activations(row);
    let mut out = [[_mm512_setzero_ps(); P]; R];
    let mut ahead = product.ahead(weights, passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of_val(&weights[0][g]));
        for part in 0..8 {
            for half in 0..2 {
                let mut sums = [[_mm512_setzero_si512(); P]; R];
                for r in 0..R {
                    sums[r] = [_mm512_set1_epi32(x[r][g][part].halves[half]); P];
                }
                for i in 0..4 {
                    let mut w = [_mm512_setzero_si512(); P];
                    for p in 0..P {
                        let group = &weights[p][g];
                        let both = vector(&group.low[part][i]);
                        let bits = vector(&group.high[part][half]);
                        w[p] = six_bits(both, half, bits, i);
                    }
                    for r in 0..R {
                        let x = inputs(x[r][g][part].values[4 * half + i]);
                        for p in 0..P {
                            sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], w[p], x);
                        }
                    }
                }
                let mut scales = [_mm512_setzero_ps(); P];
                for p in 0..P {
                    let group = &weights[p][g];
                    let own = signed_bytes(group.scales[2 * part + half]);
                    scales[p] = _mm512_mul_ps(halves(group.scale), own);
                }
                for r in 0..R {
                    let scale = _mm512_set1_ps(x[r][g][part].scale);
                    for p in 0..P {
                        let scale = _mm512_mul_ps(scales[p], scale);
                        let sum = _mm512_cvtepi32_ps(sums[r][p]);
                        out[r][p] = _mm512_fmadd_ps(scale, sum, out[r][p]);
                    }
                }
            }
        }
    }
    product.store_tile(row, panel, &out);
}

/// `R` rows times `P` panels, all inputs.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_mx4<const R: usize, const P: usize>(
    product: &mut Product<'_, '_, Mx4Group>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let weights: [&[Mx4Group]; P] = product.weights(panel);
    let x: [&[[RowBlock; 4]]; R] = product.activations(row);
    let (low, numbers) = (_mm512_set1_epi8(15), _mm512_broadcast_i32x4(cast(NUMBERS)));
    let half = _mm512_set1_ps(0.5);
    let mut out = [[_mm512_setzero_ps(); P]; R];
    let mut ahead = product.ahead(weights, passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of_val(&weights[0][g]));
        for part in 0..4 {
            let mut sums = [[_mm512_setzero_si512(); P]; R];
            for r in 0..R {
                sums[r] = [_mm512_set1_epi32(x[r][g][part].offset_of(ZERO)); P];
            }
            for i in 0..4 {
                let (mut first, mut second) =
                    ([_mm512_setzero_si512(); P], [_mm512_setzero_si512(); P]);
                for p in 0..P {
                    let both = vector(&weights[p][g].weights[part][i]);
                    let upper = _mm512_srli_epi16::<4>(both);
                    first[p] = _mm512_shuffle_epi8(numbers, _mm512_and_si512(both, low));
                    second[p] = _mm512_shuffle_epi8(numbers, _mm512_and_si512(upper, low));
                }
                for r in 0..R {
                    let x = inputs(x[r][g][part].values[i]);
                    for p in 0..P {
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], first[p], x);
                    }
                }
                for r in 0..R {
                    let x = inputs(x[r][g][part].values[i + 4]);
                    for p in 0..P {
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], second[p], x);
                    }
                }
            }
            let mut scales = [_mm512_setzero_ps(); P];
            for p in 0..P {
                let exponents = _mm512_cvtepu8_epi32(cast(weights[p][g].scales[part]));
                let powers = _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponents));
                scales[p] = _mm512_mul_ps(powers, half);
            }
            for r in 0..R {
                let scale = _mm512_set1_ps(x[r][g][part].scale);
                for p in 0..P {
                    let scale = _mm512_mul_ps(scales[p], scale);
                    out[r][p] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(sums[r][p]), out[r][p]);
                }
            }
        }
    }
    product.store_tile(row, panel, &out);
}

/// Nibbles of a half and, above them, the `i`th pairs of bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn six_bits(both: __m512i, half: usize, bits: __m512i, i: usize) -> __m512i {
    let nibbles = if half == 0 {
        both
    } else {
        _mm512_srli_epi16::<4>(both)
    };
    let bits = match i {
        0 => _mm512_slli_epi16::<4>(bits),
        1 => _mm512_slli_epi16::<2>(bits),
        2 => bits,
        _ => _mm512_srli_epi16::<2>(bits),
    };
    let (low, high) = (_mm512_set1_epi8(15), _mm512_set1_epi8(48));
    _mm512_or_si512(_mm512_and_si512(nibbles, low), _mm512_and_si512(bits, high))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &Vector) -> __m512i {
    cast(bytes.0)
}

/// Four inputs of a row, for each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn inputs(values: [i8; 4]) -> __m512i {
    _mm512_set1_epi32(cast(values))
}

/// Converts numbers in half precision.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(bits: [u16; 16]) -> __m512 {
    _mm512_cvtph_ps(cast(bits))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bytes(bytes: [u8; 16]) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(cast(bytes)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn signed_bytes(bytes: [i8; 16]) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(cast(bytes)))
}
