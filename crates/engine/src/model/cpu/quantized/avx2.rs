//! Products with quantised weights by AVX2: one instruction multiplies 32 pairs of bytes, unsigned weights with signed
//! activations, and adds neighbours to 16 bits, which it would cut off at. So it is given what fits, and sums are widened
//! before they do not ([`Sums`]).

// Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably, and `map` of an array calls its
// closure from a function without these instructions.
#![allow(clippy::needless_range_loop)]

use std::arch::x86_64::{
    __m256, __m256i, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_ps, _mm256_cvtepi8_epi32, _mm256_cvtepi32_ps,
    _mm256_cvtepu8_epi32, _mm256_cvtph_ps, _mm256_fmadd_ps, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_sign_epi8, _mm256_slli_epi16, _mm256_slli_epi32, _mm256_srli_epi16,
    _mm256_xor_si256,
};

use fearless_simd::kernel;
use pulp::cast;

use super::mx4::NUMBERS;
use super::{
    BLOCK, Group, Mx4Group, Nibbles, Outputs, PANEL, PIECE, Product, Q4Group, Q5Group, Q6Group,
    Q8Group, Q40Group, Q41Group, Q50Group, Q51Group, RowBlock, Unpacked, Vector, pieces, products,
};

/// Loops over panels outside and rows inside, so that a panel stays in the cache while all rows use it. One panel at a time fills the
/// registers, and memory that is read in one place is prefetched best.
macro_rules! tiles {
    ($tile:ident $(, $kind:ty, $blocks:expr)?; $product:ident) => {
        let (rows, passes) = ($product.rows(), $product.rows().div_ceil(4));
        for panel in 0..$product.panels() {
            let mut row = 0;
            for pass in 0..passes {
                // Even groups: 6 rows go as 3 + 3, not as 4 + 2.
                let take = (rows - row).div_ceil(passes - pass);
                let pass = (pass, passes);
                match take {
                    1 => $tile::<$($kind, { $blocks },)? 1>($product, row, panel, pass),
                    2 => $tile::<$($kind, { $blocks },)? 2>($product, row, panel, pass),
                    3 => $tile::<$($kind, { $blocks },)? 3>($product, row, panel, pass),
                    _ => $tile::<$($kind, { $blocks },)? 4>($product, row, panel, pass),
                }
                row += take;
            }
        }
    };
}

const ROWS: usize = 4;
/// So many rows are products of tiles where the numbers have so many bits; more pay for weights that are unpacked once.
const fn few(bits: usize) -> usize {
    match bits {
        4 => 24,
        5 => 8,
        _ => 32,
    }
}
const PANELS: usize = 1;

products!(avx2: Avx2, "avx2,f16c");

/// [`rows_unpacked`] for a number of rows.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
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
        _ => rows_unpacked::<G, 4>(product, row, first, piece, sums),
    }
}

/// `R` rows times a piece of a panel, whose blocks are those from `first` on.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn rows_unpacked<G: Nibbles, const R: usize>(
    product: &Product<'_, '_, G>,
    row: usize,
    first: usize,
    piece: &[[Unpacked; PANELS]],
    sums: &mut [[Outputs; PANELS]],
) {
    let x: [&[RowBlock]; R] = product.blocks(row, first, piece.len());
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    if first > 0 {
        for r in 0..R {
            out[r] = cast!(sums[row + r][0].0);
        }
    }
    for (b, [block]) in piece.iter().enumerate() {
        let mins: [__m256; 2] = cast!(block.mins);
        for part in 0..G::SCALES {
            let mut sums = [Sums::new(); R];
            let vectors_of = BLOCK / 4 / G::SCALES;
            for i in 0..vectors_of {
                let weights = vectors(&block.numbers[part * vectors_of + i]);
                for r in 0..R {
                    sums[r].add(weights, inputs(x[r][b].values[part * vectors_of + i]));
                    if (i + 1) % Sums::fit(G::BITS) == 0 {
                        sums[r].widen();
                    }
                }
            }
            let scales: [__m256; 2] = cast!(block.scales[part]);
            for r in 0..R {
                let x = &x[r][b];
                let (scale, sum) = (_mm256_set1_ps(x.scale), _mm256_set1_ps(x.negative_sum));
                let sums = sums[r].plus(G::offset(x, part));
                for v in 0..2 {
                    let scale = _mm256_mul_ps(scales[v], scale);
                    out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                    if G::MINS {
                        out[r][v] = _mm256_fmadd_ps(mins[v], sum, out[r][v]);
                    }
                }
            }
        }
    }
    for r in 0..R {
        sums[row + r][0].0 = cast!(out[r]);
    }
}

/// Sums of a row's products with a panel, of outputs 0 to 7 and 8 to 15.
///
/// Activations are at most 127 in size. Two weights of 4, 5 and 6 bits times such make 3,810, 7,874 and 16,002, those of
/// MXFP4 6,096. As many additions as [`Self::fit`] says fit 16 bits, whose greatest number is 32,767.
#[derive(Clone, Copy)]
struct Sums {
    /// In 16 bits, two for each output.
    narrow: [__m256i; 2],
    /// In 32 bits, one for each output.
    wide: [__m256i; 2],
}

impl Sums {
    /// How many additions of weights with `bits` bits fit 16 bits.
    const fn fit(bits: usize) -> usize {
        match bits {
            4 => 8,
            5 => 4,
            _ => 2,
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        Self {
            narrow: [_mm256_setzero_si256(); 2],
            wide: [_mm256_setzero_si256(); 2],
        }
    }

    /// Adds products of four inputs; `weights` are unsigned, `x` the inputs for each lane.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, weights: [__m256i; 2], x: __m256i) {
        for v in 0..2 {
            let products = _mm256_maddubs_epi16(weights[v], x);
            self.narrow[v] = _mm256_add_epi16(self.narrow[v], products);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn widen(&mut self) {
        for v in 0..2 {
            let pairs = _mm256_madd_epi16(self.narrow[v], _mm256_set1_epi16(1));
            self.wide[v] = _mm256_add_epi32(self.wide[v], pairs);
            self.narrow[v] = _mm256_setzero_si256();
        }
    }

    /// The sums, all of them widened, plus `offset`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn plus(&self, offset: i32) -> [__m256; 2] {
        let offset = _mm256_set1_epi32(offset);
        [
            _mm256_cvtepi32_ps(_mm256_add_epi32(self.wide[0], offset)),
            _mm256_cvtepi32_ps(_mm256_add_epi32(self.wide[1], offset)),
        ]
    }
}

/// `R` rows times a panel, all inputs.
///
/// Weights of eight bits fit if their sign is moved to the activation: twice 128 · 127 is 32,512.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile_q8<const R: usize>(
    product: &mut Product<'_, '_, Q8Group>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; 2]]; R] = product.activations(row);
    let top = _mm256_set1_epi8(-128);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    let mut ahead = product.ahead([weights], passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of::<Q8Group>());
        let group = &weights[g];
        for half in 0..2 {
            let mut sums = [Sums::new(); R];
            for i in 0..8 {
                let [a, b] = vectors(&group.weights[half][i]);
                let w = [_mm256_xor_si256(a, top), _mm256_xor_si256(b, top)];
                let size = [_mm256_abs_epi8(w[0]), _mm256_abs_epi8(w[1])];
                for r in 0..R {
                    let x = inputs(x[r][g][half].values[i]);
                    for v in 0..2 {
                        let pairs = _mm256_maddubs_epi16(size[v], _mm256_sign_epi8(x, w[v]));
                        let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
                        sums[r].wide[v] = _mm256_add_epi32(sums[r].wide[v], fours);
                    }
                }
            }
            let scales = halves(&group.scales[half]);
            for r in 0..R {
                let scale = _mm256_set1_ps(x[r][g][half].scale);
                let sums = sums[r].plus(0);
                for v in 0..2 {
                    let scale = _mm256_mul_ps(scales[v], scale);
                    out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                }
            }
        }
    }
    for r in 0..R {
        product.store(row + r, panel, &cast!(out[r]));
    }
}

/// `R` rows times a panel, all inputs, in groups of `B` blocks.
#[inline]
#[target_feature(enable = "avx2,f16c,fma")]
fn tile<G: Nibbles, const B: usize, const R: usize>(
    product: &mut Product<'_, '_, G>,
    row: usize,
    panel: usize,
    passes: (usize, usize),
) {
    let [weights] = product.weights(panel);
    let x: [&[[RowBlock; B]]; R] = product.activations(row);
    let mut out = [[_mm256_setzero_ps(); 2]; R];
    let mut ahead = product.ahead([weights], passes);
    for g in 0..product.groups {
        ahead.until((g + 1) * size_of::<G>());
        let group = &weights[g];
        for block in 0..B {
            for part in 0..G::SCALES {
                let mut sums = [Sums::new(); R];
                // Two for each row: its sums are fetched half as often.
                for k in (0..BLOCK / 4 / G::SCALES).step_by(2) {
                    let (i, j) = (G::order(part, k), G::order(part, k + 1));
                    let (a, b) = (numbers(group, block, i), numbers(group, block, j));
                    for r in 0..R {
                        let x = &x[r][g][block].values;
                        sums[r].add(a, inputs(x[i]));
                        sums[r].add(b, inputs(x[j]));
                        if (k + 2) % Sums::fit(G::BITS) == 0 {
                            sums[r].widen();
                        }
                    }
                }
                let (scales, mins) = factors(group, block, part);
                for r in 0..R {
                    let x = &x[r][g][block];
                    let scale = _mm256_set1_ps(x.scale);
                    let sums = sums[r].plus(G::offset(x, part));
                    for v in 0..2 {
                        let scale = _mm256_mul_ps(scales[v], scale);
                        out[r][v] = _mm256_fmadd_ps(scale, sums[v], out[r][v]);
                        if G::MINS {
                            let sum = _mm256_set1_ps(x.negative_sum);
                            out[r][v] = _mm256_fmadd_ps(mins[v], sum, out[r][v]);
                        }
                    }
                }
            }
        }
    }
    for r in 0..R {
        product.store(row + r, panel, &cast!(out[r]));
    }
}

/// The `i`th vector of a block's numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers<G: Nibbles>(group: &G, block: usize, i: usize) -> [__m256i; 2] {
    let mut w = vectors(&group.nibbles(block)[i % 4]);
    for v in 0..2 {
        if i >= 4 {
            w[v] = _mm256_srli_epi16::<4>(w[v]);
        }
        w[v] = _mm256_and_si256(w[v], _mm256_set1_epi8(15));
    }
    if let Some(bits) = group.fifth(block) {
        w = fifth(w, bits, i);
    }
    if let Some(bits) = group.pairs(block, i / 4) {
        w = pair(w, bits, i % 4);
    }
    if G::CODES {
        let numbers = _mm256_broadcastsi128_si256(cast!(NUMBERS));
        for v in 0..2 {
            w[v] = _mm256_shuffle_epi8(numbers, w[v]);
        }
    }
    w
}

/// The scales and minima of a block, or the scales of one half of it.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn factors<G: Nibbles>(group: &G, block: usize, half: usize) -> ([__m256; 2], [__m256; 2]) {
    let mut scales = group
        .powers(block)
        .map_or(halves(group.scale(block)), |it| powers(it));
    let mut mins = [_mm256_setzero_ps(); 2];
    if let Some(min) = group.min() {
        mins = halves(min);
    }
    if let Some(own) = group.signed(block, half) {
        scales = times(scales, signed_bytes(own));
    }
    if let Some((of_scale, of_min)) = group.factors(block) {
        scales = times(scales, bytes(of_scale));
        mins = times(mins, bytes(of_min));
    }
    (scales, mins)
}

#[inline]
#[target_feature(enable = "avx2")]
fn times(a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
    [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])]
}

/// Adds to nibbles their fifth bits, the `i`th of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn fifth(mut w: [__m256i; 2], bits: &Vector, i: usize) -> [__m256i; 2] {
    let bits = vectors(bits);
    for v in 0..2 {
        let moved = match i {
            0 => _mm256_slli_epi16::<4>(bits[v]),
            1 => _mm256_slli_epi16::<3>(bits[v]),
            2 => _mm256_slli_epi16::<2>(bits[v]),
            3 => _mm256_slli_epi16::<1>(bits[v]),
            4 => bits[v],
            5 => _mm256_srli_epi16::<1>(bits[v]),
            6 => _mm256_srli_epi16::<2>(bits[v]),
            _ => _mm256_srli_epi16::<3>(bits[v]),
        };
        w[v] = _mm256_or_si256(w[v], _mm256_and_si256(moved, _mm256_set1_epi8(16)));
    }
    w
}

/// Adds to nibbles the `i`th pairs of bits.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(mut w: [__m256i; 2], bits: &Vector, i: usize) -> [__m256i; 2] {
    let bits = vectors(bits);
    for v in 0..2 {
        let moved = match i {
            0 => _mm256_slli_epi16::<4>(bits[v]),
            1 => _mm256_slli_epi16::<2>(bits[v]),
            2 => bits[v],
            _ => _mm256_srli_epi16::<2>(bits[v]),
        };
        w[v] = _mm256_or_si256(w[v], _mm256_and_si256(moved, _mm256_set1_epi8(48)));
    }
    w
}

#[inline]
#[target_feature(enable = "avx2")]
fn vectors(bytes: &Vector) -> [__m256i; 2] {
    cast!(bytes.0)
}

/// Four inputs of a row, for each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn inputs(values: [i8; 4]) -> __m256i {
    _mm256_set1_epi32(cast!(values))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn halves(bits: &[u16; 16]) -> [__m256; 2] {
    let [a, b] = cast!(*bits);
    [_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn bytes(bytes: &[u8; 16]) -> [__m256; 2] {
    let [a, b]: [u64; 2] = cast!(*bytes);
    [
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(cast!([a, 0]))),
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(cast!([b, 0]))),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn signed_bytes(bytes: &[i8; 16]) -> [__m256; 2] {
    let [a, b]: [u64; 2] = cast!(*bytes);
    [
        _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(cast!([a, 0]))),
        _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(cast!([b, 0]))),
    ]
}

/// Half the powers of two with these exponents.
#[inline]
#[target_feature(enable = "avx2")]
fn powers(exponents: &[u8; 16]) -> [__m256; 2] {
    let [a, b]: [u64; 2] = cast!(*exponents);
    let a = _mm256_slli_epi32::<23>(_mm256_cvtepu8_epi32(cast!([a, 0])));
    let b = _mm256_slli_epi32::<23>(_mm256_cvtepu8_epi32(cast!([b, 0])));
    let half = _mm256_set1_ps(0.5);
    [
        _mm256_mul_ps(_mm256_castsi256_ps(a), half),
        _mm256_mul_ps(_mm256_castsi256_ps(b), half),
    ]
}
