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

use super::mx4::NUMBERS;
use super::{
    BLOCK, Group, Mx4Group, Nibbles, Outputs, PANEL, PIECE, Product, Q4Group, Q5Group, Q6Group,
    Q8Group, Q40Group, Q41Group, Q50Group, Q51Group, RowBlock, Unpacked, Vector, pieces, products,
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

const ROWS: usize = 6;
/// So many rows are products of tiles where the numbers have so many bits; more pay for weights that are unpacked once.
const fn few(bits: usize) -> usize {
    match bits {
        4 => usize::MAX,
        5 => 48,
        _ => 12,
    }
}
const PANELS: usize = 2;

products!(avx512: Avx512, "avx512f,avx512bw");

/// [`rows_unpacked`] for a number of rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile_unpacked<G: Nibbles>(
    product: &Product<'_, '_, G>,
    (row, rows): (usize, usize),
    first: usize,
    piece: &[[Unpacked; PANELS]],
    sums: &mut [[Outputs; PANELS]],
) {
    match rows {
        1 => rows_unpacked::<G, 1>(product, row, first, piece, sums),
        2 => rows_unpacked::<G, 2>(product, row, first, piece, sums),
        3 => rows_unpacked::<G, 3>(product, row, first, piece, sums),
        4 => rows_unpacked::<G, 4>(product, row, first, piece, sums),
        5 => rows_unpacked::<G, 5>(product, row, first, piece, sums),
        _ => rows_unpacked::<G, 6>(product, row, first, piece, sums),
    }
}

/// `R` rows times a piece of two panels, whose blocks are those from `first` on; if there is one panel, what the second gives
/// is left out later.
#[allow(clippy::needless_range_loop)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn rows_unpacked<G: Nibbles, const R: usize>(
    product: &Product<'_, '_, G>,
    row: usize,
    first: usize,
    piece: &[[Unpacked; PANELS]],
    outputs: &mut [[Outputs; PANELS]],
) {
    let x: [&[RowBlock]; R] = product.blocks(row, first, piece.len());
    let mut out = [[_mm512_setzero_ps(); PANELS]; R];
    if first > 0 {
        for r in 0..R {
            for p in 0..PANELS {
                out[r][p] = cast!(outputs[row + r][p].0);
            }
        }
    }
    for (b, blocks) in piece.iter().enumerate() {
        for part in 0..G::SCALES {
            let mut sums = [[_mm512_setzero_si512(); PANELS]; R];
            for r in 0..R {
                sums[r] = [_mm512_set1_epi32(G::offset(&x[r][b], part)); PANELS];
            }
            let vectors_of = BLOCK / 4 / G::SCALES;
            for i in part * vectors_of..(part + 1) * vectors_of {
                for r in 0..R {
                    let x = inputs(x[r][b].values[i]);
                    for p in 0..PANELS {
                        let weights = vector(&blocks[p].numbers[i]);
                        sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], weights, x);
                    }
                }
            }
            for r in 0..R {
                let scale = _mm512_set1_ps(x[r][b].scale);
                let negative_sum = _mm512_set1_ps(x[r][b].negative_sum);
                for p in 0..PANELS {
                    let scale = _mm512_mul_ps(cast!(blocks[p].scales[part]), scale);
                    out[r][p] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(sums[r][p]), out[r][p]);
                    if G::MINS {
                        let mins = cast!(blocks[p].mins);
                        out[r][p] = _mm512_fmadd_ps(mins, negative_sum, out[r][p]);
                    }
                }
            }
        }
    }
    for r in 0..R {
        for p in 0..PANELS {
            outputs[row + r][p].0 = cast!(out[r][p]);
        }
    }
}

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
fn tile<G: Nibbles, const B: usize, const R: usize, const P: usize>(
    product: &mut Product<'_, '_, G>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let weights: [&[G]; P] = product.weights(panel);
    let x: [&[[RowBlock; B]]; R] = product.activations(row);
    let mut out = [[_mm512_setzero_ps(); P]; R];
    let mut ahead = product.ahead(weights, passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of_val(&weights[0][g]));
        for block in 0..B {
            for part in 0..G::SCALES {
                let mut sums = [[_mm512_setzero_si512(); P]; R];
                for r in 0..R {
                    sums[r] = [_mm512_set1_epi32(G::offset(&x[r][g][block], part)); P];
                }
                for k in 0..BLOCK / 4 / G::SCALES {
                    let i = G::order(part, k);
                    let mut w = [_mm512_setzero_si512(); P];
                    for p in 0..P {
                        w[p] = numbers(&weights[p][g], block, i);
                    }
                    for r in 0..R {
                        let x = inputs(x[r][g][block].values[i]);
                        for p in 0..P {
                            sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], w[p], x);
                        }
                    }
                }
                let mut scales = [_mm512_setzero_ps(); P];
                let mut mins = [_mm512_setzero_ps(); P];
                for p in 0..P {
                    (scales[p], mins[p]) = factors(&weights[p][g], block, part);
                }
                for r in 0..R {
                    let scale = _mm512_set1_ps(x[r][g][block].scale);
                    let negative_sum = _mm512_set1_ps(x[r][g][block].negative_sum);
                    for p in 0..P {
                        let scale = _mm512_mul_ps(scales[p], scale);
                        let sum = _mm512_cvtepi32_ps(sums[r][p]);
                        out[r][p] = _mm512_fmadd_ps(scale, sum, out[r][p]);
                        if G::MINS {
                            out[r][p] = _mm512_fmadd_ps(mins[p], negative_sum, out[r][p]);
                        }
                    }
                }
            }
        }
    }
    product.store_tile(row, panel, &out);
}

/// The `i`th vector of a block's numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn numbers<G: Nibbles>(group: &G, block: usize, i: usize) -> __m512i {
    let mut w = vector(&group.nibbles(block)[i % 4]);
    if i >= 4 {
        w = _mm512_srli_epi16::<4>(w);
    }
    w = _mm512_and_si512(w, _mm512_set1_epi8(15));
    if let Some(bits) = group.fifth(block) {
        let is_set = _mm512_test_epi8_mask(vector(bits), _mm512_set1_epi8(1 << i));
        w = _mm512_mask_add_epi8(w, is_set, w, _mm512_set1_epi8(16));
    }
    if let Some(bits) = group.pairs(block, i / 4) {
        let bits = match i % 4 {
            0 => _mm512_slli_epi16::<4>(vector(bits)),
            1 => _mm512_slli_epi16::<2>(vector(bits)),
            2 => vector(bits),
            _ => _mm512_srli_epi16::<2>(vector(bits)),
        };
        w = _mm512_or_si512(w, _mm512_and_si512(bits, _mm512_set1_epi8(48)));
    }
    if G::CODES {
        w = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(cast!(NUMBERS)), w);
    }
    w
}

/// The scales and minima of a block, or the scales of one half of it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn factors<G: Nibbles>(group: &G, block: usize, half: usize) -> (__m512, __m512) {
    let mut scale = group
        .powers(block)
        .map_or(halves(*group.scale(block)), |it| powers(it));
    let mut min = _mm512_setzero_ps();
    if let Some(bits) = group.min() {
        min = halves(*bits);
    }
    if let Some(own) = group.signed(block, half) {
        scale = _mm512_mul_ps(scale, signed_bytes(*own));
    }
    if let Some((of_scale, of_min)) = group.factors(block) {
        scale = _mm512_mul_ps(scale, bytes(*of_scale));
        min = _mm512_mul_ps(min, bytes(*of_min));
    }
    (scale, min)
}

/// Half the powers of two with these exponents.
#[inline]
#[target_feature(enable = "avx512f")]
fn powers(exponents: &[u8; 16]) -> __m512 {
    let exponents = _mm512_slli_epi32::<23>(_mm512_cvtepu8_epi32(cast!(*exponents)));
    _mm512_mul_ps(_mm512_castsi512_ps(exponents), _mm512_set1_ps(0.5))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(bytes: &Vector) -> __m512i {
    cast!(bytes.0)
}

/// Four inputs of a row, for each lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn inputs(values: [i8; 4]) -> __m512i {
    _mm512_set1_epi32(cast!(values))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn halves(bits: [u16; 16]) -> __m512 {
    _mm512_cvtph_ps(cast!(bits))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn bytes(bytes: [u8; 16]) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(cast!(bytes)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn signed_bytes(bytes: [i8; 16]) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(cast!(bytes)))
}
