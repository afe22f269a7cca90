//! Weights quantised in blocks of 32 inputs, and their products with activations quantised the same way.
//!
//! Weights have the values of GGML's `Q8_0`, `Q4_0`, `Q4_1`, `Q5_0`, `Q5_1`, `Q4_K`, `Q5_K` and `Q6_K`
//! (<https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h>), in another order: panels of 16 outputs, in which
//! 64 consecutive bytes are four inputs of each output ([`Vector`]). Activations become signed bytes with one scale for
//! 32 of them ([`rows`]).
//!
//! `q4`, `q5`, `q6`, `q8`, `q40`, `q41` and `mx4` are the formats (`Q4_K`, `Q5_K`, `Q6_K`, `Q8_0`, `Q4_0` and `Q5_0`, `Q4_1`
//! and `Q5_1`, MXFP4); `portable`, `avx2` and `avx512` multiply.
//!
//! A product of two blocks is a sum of integers, which is exact in whatever order it is taken. Blocks are added up in f32
//! one after the other. So an output is the same bits whatever the number of rows, threads or the instruction set
//! ([`Instructions`]).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod mx4;
mod portable;
mod q4;
mod q40;
mod q41;
mod q5;
mod q6;
mod q8;
pub(crate) mod rows;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Result, Tensor};
use rayon::prelude::*;

pub(crate) use mx4::Mx4Group;
pub(crate) use q4::Q4Group;
pub(crate) use q5::Q5Group;
pub(crate) use q6::Q6Group;
pub(crate) use q8::Q8Group;
pub(crate) use q40::{Q40Group, Q50Group};
pub(crate) use q41::{Q41Group, Q51Group};

use super::buffer::Buffer;
use super::instructions::Instructions;
use super::panels::PANEL;
#[cfg(target_arch = "x86_64")]
use super::prefetch::{Ahead, LINE, prefetch};
use rows::RowBlock;

/// Inputs that share an activation's scale.
pub(crate) use crate::checkpoint::gguf::blocks::BLOCK;

/// Four inputs of 16 outputs: byte `4 · output + input`.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Vector(pub(crate) [u8; 64]);

impl Vector {
    /// Sets the fifth bits of a block of one output: bit `i` of byte `4 · lane + j` belongs to input `4i + j`.
    fn set_fifths(&mut self, lane: usize, bit: impl Fn(usize) -> u8) {
        let own = &mut self.0[4 * lane..][..4];
        own.fill(0);
        for i in 0..BLOCK {
            own[i % 4] |= bit(i) << (i / 4);
        }
    }

    /// The fifth bit of an input, in its place above a nibble.
    fn fifth(&self, lane: usize, i: usize) -> u8 {
        (self.0[4 * lane + i % 4] >> (i / 4) & 1) << 4
    }
}

/// Sets the nibbles of a block of one output, which are the low four bits of its numbers ([`Nibbles::nibbles`]).
fn set_nibbles(block: &mut [Vector; BLOCK / 8], lane: usize, number: impl Fn(usize) -> u8) {
    for i in 0..BLOCK / 2 {
        block[i / 4].0[4 * lane + i % 4] = number(i) & 15 | (number(i + BLOCK / 2) & 15) << 4;
    }
}

fn nibble_of(block: &[Vector; BLOCK / 8], lane: usize, i: usize) -> u8 {
    let half = i % (BLOCK / 2);
    block[half / 4].0[4 * lane + half % 4] >> (4 * (i / (BLOCK / 2))) & 15
}

/// The unit of a packed weight: 16 outputs of some blocks of inputs. Where all bytes are zero all weights are, since their scales are.
pub(crate) trait Group: bytemuck::Pod + Send + Sync {
    const BLOCKS: usize;
    /// Bytes that the weights of one output take up in GGML's layout.
    const STORED: usize;

    /// Sets the weights of one output from the group's inputs in GGML's layout.
    fn set(&mut self, lane: usize, bytes: &[u8]);

    /// Reads the weights of one output, `BLOCKS · 32` numbers.
    fn get(&self, lane: usize, out: &mut [f32]);

    fn multiply(instructions: Instructions, product: &mut Product<'_, '_, Self>);
}

/// Groups of a type that weights can be quantised to.
pub(crate) trait Quantiser: Group {
    /// The type of GGML whose values these are.
    const DTYPE: GgmlDType;
}

/// Groups of nibbles, to which bits may be added: `weight = scale · (number − ADDED) − min`.
// Other processors' loops ask for less.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) trait Nibbles: Group {
    const BITS: usize = 4;
    /// What was added to the numbers to make them unsigned, a multiple of 4.
    const ADDED: i32 = 0;
    /// Scales of a block: one, or one for each half.
    const SCALES: usize = 1;
    const MINS: bool = false;
    /// Whether the nibbles are places in [`mx4::NUMBERS`].
    const CODES: bool = false;

    /// The nibbles of a block: vector `i` holds inputs `4i` to `4i + 3` in its low nibbles, and those 16 further on in its
    /// high ones.
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8];

    /// The fifth bits of a block, if there are any: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    #[inline(always)]
    fn fifth(&self, _block: usize) -> Option<&Vector> {
        None
    }

    /// The fifth and sixth bits of a block's half, if there are any: the `i`th pair of byte `4 · output + j` belongs to its input
    /// `4i + j`.
    #[inline(always)]
    fn pairs(&self, _block: usize, _half: usize) -> Option<&Vector> {
        None
    }

    /// The scales of a block, in half precision, but for [`Self::powers`].
    #[inline(always)]
    fn scale(&self, _block: usize) -> &[u16; PANEL] {
        &[0; PANEL]
    }

    /// Exponents of a block's scales, which are half the powers of two with these.
    #[inline(always)]
    fn powers(&self, _block: usize) -> Option<&[u8; PANEL]> {
        None
    }

    /// The factor of a block's scales, if each half has its own.
    #[inline(always)]
    fn signed(&self, _block: usize, _half: usize) -> Option<&[i8; PANEL]> {
        None
    }

    /// The minima of the group, in half precision, if there are any.
    #[inline(always)]
    fn min(&self) -> Option<&[u16; PANEL]> {
        None
    }

    /// The factors of a block's scales and minima, if several blocks share these.
    #[inline(always)]
    fn factors(&self, _block: usize) -> Option<(&[u8; PANEL], &[u8; PANEL])> {
        None
    }

    /// Minus what was added to the numbers, times the sum of the inputs that share a scale.
    #[inline(always)]
    fn offset(x: &RowBlock, part: usize) -> i32 {
        match Self::SCALES {
            1 => x.offset_of(Self::ADDED),
            _ => x.halves[part],
        }
    }

    /// The `k`th vector of inputs that share a scale: such as have their nibbles in the same bytes follow each other.
    #[inline(always)]
    fn order(part: usize, k: usize) -> usize {
        match Self::SCALES {
            1 => k / 2 + k % 2 * (BLOCK / 8),
            _ => part * (BLOCK / 8) + k,
        }
    }
}

/// Blocks that are unpacked at a time: they stay in the first-level cache while all rows use them.
#[cfg(target_arch = "x86_64")]
const PIECE: usize = 8;

/// Sums of a panel and a row, which go on from piece to piece. Those of all rows lie side by side: in the result they are so
/// far apart that they may push each other out of the cache.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Outputs([f32; PANEL]);

/// A block of a panel as products with many rows use it, which would else unpack it for every few rows.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Unpacked {
    /// The numbers, unsigned: vector `i` holds inputs `4i` to `4i + 3`.
    numbers: [Vector; BLOCK / 4],
    scales: [[f32; PANEL]; 2],
    mins: [f32; PANEL],
}

#[cfg(target_arch = "x86_64")]
impl Unpacked {
    const ZERO: Self = Self {
        numbers: [Vector([0; 64]); BLOCK / 4],
        scales: [[0.0; PANEL]; 2],
        mins: [0.0; PANEL],
    };
}

/// [`Nibbles`] of a group that has the fifth bits of its blocks beside those of another.
macro_rules! with_fifths {
    ($group:ty, $low:ty, $added:expr) => {
        impl Nibbles for $group {
            const BITS: usize = 5;
            const ADDED: i32 = $added;
            const MINS: bool = <$low as Nibbles>::MINS;

            #[inline(always)]
            fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
                self.low.nibbles(block)
            }

            #[inline(always)]
            fn fifth(&self, block: usize) -> Option<&Vector> {
                Some(&self.high[block])
            }

            #[inline(always)]
            fn scale(&self, block: usize) -> &[u16; PANEL] {
                self.low.scale(block)
            }

            #[inline(always)]
            fn min(&self) -> Option<&[u16; PANEL]> {
                self.low.min()
            }

            #[inline(always)]
            fn factors(&self, block: usize) -> Option<(&[u8; PANEL], &[u8; PANEL])> {
                self.low.factors(block)
            }
        }
    };
}
use with_fifths;

/// [`Group::multiply`] by the function of this name for each instruction set, and in plain loops by `$plain` for each group.
macro_rules! multiply {
    ($name:ident, $plain:ident) => {
        fn multiply(
            instructions: $crate::model::cpu::instructions::Instructions,
            product: &mut $crate::model::cpu::quantized::Product<'_, '_, Self>,
        ) {
            use $crate::model::cpu::quantized::portable;
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::model::cpu::instructions::Instructions;
                use $crate::model::cpu::quantized::{avx2, avx512};
                match instructions {
                    Instructions::Avx512(set) => match set.vnni {
                        Some(token) => avx512::$name(token, product),
                        None => avx2::$name(set.avx2, product),
                    },
                    Instructions::Avx2(set) => avx2::$name(set.token, product),
                    Instructions::Plain => {
                        portable::multiply(instructions, product, portable::$plain)
                    }
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            portable::multiply(instructions, product, portable::$plain);
        }
    };
}
use multiply;

/// The products of an instruction set with every kind of weights, by its own `tiles!`, and what unpacks the weights.
#[cfg(target_arch = "x86_64")]
macro_rules! products {
    ($token:ident: $set:ident, $features:tt) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn unpack<G: Nibbles>(group: &G, block: usize, to: &mut Unpacked) {
            for i in 0..BLOCK / 4 {
                to.numbers[i] = Vector(cast!(numbers(group, block, i)));
            }
            for part in 0..G::SCALES {
                let (scales, mins) = factors(group, block, part);
                to.scales[part] = cast!(scales);
                to.mins = cast!(mins);
            }
        }

        kernel!(
            pub(super) fn q8($token: $set, product: &mut Product<'_, '_, Q8Group>) {
                tiles!(tile_q8; product);
            }
        );
        products!($token: $set, q4 Q4Group);
        products!($token: $set, q40 Q40Group);
        products!($token: $set, q41 Q41Group);
        products!($token: $set, q5 Q5Group);
        products!($token: $set, q50 Q50Group);
        products!($token: $set, q51 Q51Group);
        products!($token: $set, q6 Q6Group);
        products!($token: $set, mx4 Mx4Group);
    };
    ($token:ident: $set:ident, $name:ident $group:ident) => {
        kernel!(
            pub(super) fn $name($token: $set, product: &mut Product<'_, '_, $group>) {
                if product.rows() <= few(<$group as Nibbles>::BITS) {
                    tiles!(tile, $group, $group::BLOCKS; product);
                } else {
                    pieces!($group::BLOCKS; product);
                }
            }
        );
    };
}

/// Products of many rows: a piece of some panels is unpacked once, and then used by all rows. The sums go on from piece to
/// piece, in the same order.
#[cfg(target_arch = "x86_64")]
macro_rules! pieces {
    ($blocks:expr; $product:ident) => {
        let (rows, panels) = ($product.rows(), $product.panels());
        let mut unpacked = [[Unpacked::ZERO; PANELS]; PIECE];
        let mut sums = vec![[Outputs([0.0; PANEL]); PANELS]; rows];
        for panel in (0..panels).step_by(PANELS) {
            let at_once = PANELS.min(panels - panel);
            for first in (0..$product.groups).step_by(PIECE / $blocks) {
                let last = $product.groups.min(first + PIECE / $blocks);
                for p in 0..at_once {
                    let [weights] = $product.weights(panel + p);
                    for (g, group) in weights[first..last].iter().enumerate() {
                        for block in 0..$blocks {
                            unpack(group, block, &mut unpacked[g * $blocks + block][p]);
                        }
                    }
                    $product.prefetch_after(panel + p, first..last);
                }
                let piece = &unpacked[..(last - first) * $blocks];
                let passes = rows.div_ceil(ROWS);
                let mut row = 0;
                for pass in 0..passes {
                    let take = (rows - row).div_ceil(passes - pass);
                    tile_unpacked($product, (row, take), first * $blocks, piece, &mut sums);
                    row += take;
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                for (p, sums) in sums[..at_once].iter().enumerate() {
                    $product.store(row, panel + p, &sums.0);
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
use pieces;
#[cfg(target_arch = "x86_64")]
use products;

/// A weight `[outputs, inputs]` in panels of groups.
pub(crate) struct BlockMatrix<G> {
    /// `[ceil(outputs / 16), per_panel]`
    groups: Buffer<G>,
    per_panel: usize,
    inputs: usize,
}

impl<G: Quantiser> BlockMatrix<G> {
    /// Quantises and packs a weight panel by panel. `read` gives rows of the weight from a first one on, each of `inputs`
    /// numbers, into a buffer of as many rows as are wanted.
    ///
    /// Inputs are padded with zeros to whole groups.
    pub(crate) fn pack(
        outputs: usize,
        inputs: usize,
        read: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Result<Self> {
        let group_inputs = G::BLOCKS * BLOCK;
        let per_panel = inputs.div_ceil(group_inputs);
        let width = per_panel * group_inputs;
        let mut groups = Buffer::<G>::whole(outputs.div_ceil(PANEL) * per_panel)?;
        if per_panel > 0 {
            groups
                .par_chunks_exact_mut(per_panel)
                .enumerate()
                .try_for_each(|(p, panel)| {
                    let lanes = PANEL.min(outputs - p * PANEL);
                    let mut rows = vec![0.0; lanes * inputs];
                    read(p * PANEL, &mut rows);
                    if width > inputs {
                        let mut padded = vec![0.0; lanes * width];
                        for (to, from) in padded
                            .chunks_exact_mut(width)
                            .zip(rows.chunks_exact(inputs))
                        {
                            to[..inputs].copy_from_slice(from);
                        }
                        rows = padded;
                    }
                    let rows = Tensor::from_vec(rows, (lanes, width), &Device::Cpu)?;
                    let quantised = QTensor::quantize(&rows, G::DTYPE)?;
                    let bytes = quantised.data()?;
                    let size = bytes.len() / (lanes * per_panel);
                    for (lane, row) in bytes.chunks_exact(per_panel * size).enumerate() {
                        for (group, bytes) in panel.iter_mut().zip(row.chunks_exact(size)) {
                            group.set(lane, bytes);
                        }
                    }
                    Ok::<_, candle_core::Error>(())
                })?;
        }
        Ok(Self {
            groups,
            per_panel,
            inputs,
        })
    }
}

pub(crate) trait Blocks: Send + Sync {
    /// Row `index` of the weight, `[inputs]`.
    fn row(&self, index: usize, out: &mut [f32]);

    fn blocks(&self) -> usize;

    #[cfg(test)]
    fn bytes(&self) -> usize;

    /// The product of quantised rows, `stride` blocks apart, with columns of the weight: from column `from` on, a multiple of
    /// 16, as many as the rows of `out` are wide.
    fn part(&self, x: &[RowBlock], stride: usize, from: usize, out: &mut [&mut [f32]]);
}

impl<G: Group> BlockMatrix<G> {
    /// Packs rows as they are stored, of `row` bytes each.
    pub(crate) fn pack_blocks(inputs: usize, row: usize, bytes: &[u8]) -> Result<Self> {
        let per_panel = inputs.div_ceil(G::BLOCKS * BLOCK);
        let outputs = bytes.len() / row.max(1);
        let mut groups = Buffer::<G>::whole(outputs.div_ceil(PANEL) * per_panel)?;
        if per_panel > 0 && row > 0 {
            groups
                .par_chunks_exact_mut(per_panel)
                .zip(bytes.par_chunks(PANEL * row))
                .for_each(|(panel, rows)| {
                    for (lane, row) in rows.chunks_exact(row).enumerate() {
                        for (group, bytes) in panel.iter_mut().zip(row.chunks(G::STORED)) {
                            group.set(lane, bytes);
                        }
                    }
                });
        }
        Ok(Self {
            groups,
            per_panel,
            inputs,
        })
    }

    fn part_by(
        &self,
        instructions: Instructions,
        (x, stride): (&[RowBlock], usize),
        from: usize,
        out: &mut [&mut [f32]],
    ) {
        let mut product = Product {
            weights: &self.groups[from / PANEL * self.per_panel..],
            groups: self.per_panel,
            x,
            stride,
            out,
        };
        G::multiply(instructions, &mut product);
    }
}

impl<G: Group> Blocks for BlockMatrix<G> {
    fn row(&self, index: usize, out: &mut [f32]) {
        let panel = &self.groups[index / PANEL * self.per_panel..][..self.per_panel];
        let width = G::BLOCKS * BLOCK;
        let mut whole = vec![0.0; width];
        for (group, out) in panel.iter().zip(out[..self.inputs].chunks_mut(width)) {
            group.get(index % PANEL, &mut whole);
            out.copy_from_slice(&whole[..out.len()]);
        }
    }

    fn blocks(&self) -> usize {
        self.per_panel * G::BLOCKS
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of_val(&*self.groups)
    }

    fn part(&self, x: &[RowBlock], stride: usize, from: usize, out: &mut [&mut [f32]]) {
        self.part_by(Instructions::chosen(), (x, stride), from, out);
    }
}

/// Rows of activations times panels.
pub(crate) struct Product<'a, 'o, G> {
    weights: &'a [G],
    groups: usize,
    x: &'a [RowBlock],
    /// From a row of `x` to the next, in blocks.
    stride: usize,
    out: &'a mut [&'o mut [f32]],
}

impl<'a, G: Group> Product<'a, '_, G> {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn panels(&self) -> usize {
        self.out.first().map_or(0, |row| row.len().div_ceil(PANEL))
    }

    #[inline(always)]
    fn weights<const P: usize>(&self, panel: usize) -> [&'a [G]; P] {
        std::array::from_fn(|p| &self.weights[(panel + p) * self.groups..][..self.groups])
    }

    /// The prefetching for one of the passes over some panels.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn ahead<const P: usize>(&self, weights: [&[G]; P], passes: (usize, usize)) -> Ahead<P> {
        Ahead::new(weights, self.groups, passes)
    }

    /// The blocks of some rows, by groups.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn activations<const R: usize, const BLOCKS: usize>(
        &self,
        row: usize,
    ) -> [&'a [[RowBlock; BLOCKS]]; R] {
        let blocks = self.groups * BLOCKS;
        std::array::from_fn(|r| {
            &self.x[(row + r) * self.stride..][..blocks].as_chunks().0[..self.groups]
        })
    }

    /// The blocks of some rows from a first one on.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn blocks<const R: usize>(
        &self,
        row: usize,
        first: usize,
        count: usize,
    ) -> [&'a [RowBlock]; R] {
        std::array::from_fn(|r| &self.x[(row + r) * self.stride + first..][..count])
    }

    /// Prefetches as many groups as were read, which are read after them.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn prefetch_after(&self, panel: usize, read: std::ops::Range<usize>) {
        let next = self.weights[panel * self.groups..]
            .as_ptr()
            .wrapping_add(read.end);
        for line in 0..(read.end - read.start) * size_of::<G>() / LINE {
            prefetch(next.cast::<u8>().wrapping_add(line * LINE));
        }
    }

    /// Writes the outputs of a tile, `R` rows times `P` panels, to their rows; a `V` holds a panel's outputs.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn store_tile<V: bytemuck::NoUninit, const R: usize, const P: usize>(
        &mut self,
        row: usize,
        panel: usize,
        out: &[[V; P]; R],
    ) {
        for (r, panels) in out.iter().enumerate() {
            for (p, values) in panels.iter().enumerate() {
                self.store(row + r, panel + p, &pulp::cast(*values));
            }
        }
    }

    #[inline(always)]
    fn store(&mut self, row: usize, panel: usize, values: &[f32; PANEL]) {
        let out = &mut self.out[row][panel * PANEL..];
        match out.first_chunk_mut() {
            Some(out) => *out = *values,
            None => out.copy_from_slice(&values[..out.len()]),
        }
    }
}

#[cfg(test)]
mod tests;
