//! Weights quantised in blocks of 32 inputs, and their products with activations quantised the same way.
//!
//! Weights have the values of GGML's `Q8_0`, `Q4_K`, `Q5_K` and `Q6_K`
//! (<https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h>), in another order: panels of 16 outputs, in which
//! 64 consecutive bytes are four inputs of each output ([`Vector`]). Activations become signed bytes with one scale for
//! 32 of them ([`rows`]).
//!
//! `q4`, `q5`, `q6`, `q8` and `mx4` are the formats (`Q4_K`, `Q5_K`, `Q6_K`, `Q8_0`, MXFP4); `portable`, `avx2` and `avx512` multiply.
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

use super::panels::PANEL;
#[cfg(target_arch = "x86_64")]
use super::prefetch::Ahead;
use rows::RowBlock;

/// Inputs that share an activation's scale.
pub(crate) use crate::checkpoint::gguf::blocks::BLOCK;

/// Four inputs of 16 outputs: byte `4 · output + input`.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Vector(pub [u8; 64]);

/// 16 outputs of some blocks of inputs: the unit of a packed weight.
pub(crate) trait Group: Copy + Send + Sync {
    /// Blocks of inputs.
    const BLOCKS: usize;
    /// Bytes that the weights of one output are stored in.
    const STORED: usize;
    /// All weights zero.
    const ZERO: Self;

    /// Takes the weights of one output, as GGML lays out the group's inputs.
    fn set(&mut self, lane: usize, bytes: &[u8]);

    /// The weights of one output, `BLOCKS · 32` numbers.
    fn get(&self, lane: usize, out: &mut [f32]);

    /// The product.
    fn multiply(instructions: Instructions, product: &mut Product<'_, '_, Self>);
}

/// Groups of a type that weights can be quantised to.
pub(crate) trait Quantiser: Group {
    /// The type of GGML whose values these are.
    const DTYPE: GgmlDType;
}

/// Groups of nibbles, to which a fifth bit may be added.
pub(crate) trait Nibbles: Group {
    /// The nibbles with scales and minima.
    fn nibbles(&self) -> &Q4Group;

    /// The fifth bits of a block: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    fn fifth(&self, block: usize) -> Option<&Vector>;
}

/// What the processor can do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instructions {
    /// AVX-512 with VNNI.
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::Avx512),
    /// AVX2 with FMA and half-precision conversion.
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::Avx2),
    /// What the compiler makes of plain loops.
    Portable,
}

impl Instructions {
    /// The best of this processor.
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let level = fearless_simd::Level::new();
            if let Some(token) = level.as_avx512() {
                return Self::Avx512(token);
            }
            if let Some(token) = level.as_avx2() {
                return Self::Avx2(token);
            }
        }
        Self::Portable
    }
}

/// A weight `[outputs, inputs]` in panels of groups.
pub(crate) struct BlockMatrix<G> {
    /// `[ceil(outputs / 16), per_panel]`
    groups: Vec<G>,
    per_panel: usize,
    inputs: usize,
}

impl<G: Quantiser> BlockMatrix<G> {
    /// Quantises and packs a weight panel by panel. `read` gives rows of the weight from a first one on, each of `inputs`
    /// numbers, into a buffer of as many rows as are wanted.
    ///
    /// Inputs are padded with zeros to whole groups.
    ///
    /// # Errors
    /// When the quantiser fails.
    pub(crate) fn pack(
        outputs: usize,
        inputs: usize,
        read: impl Fn(usize, &mut [f32]) + Sync,
    ) -> Result<Self> {
        let group_inputs = G::BLOCKS * BLOCK;
        let per_panel = inputs.div_ceil(group_inputs);
        let width = per_panel * group_inputs;
        let mut groups = vec![G::ZERO; outputs.div_ceil(PANEL) * per_panel];
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

impl<G: Group> BlockMatrix<G> {
    /// Packs rows as they are stored, `row` bytes each.
    pub(crate) fn pack_blocks(inputs: usize, row: usize, bytes: &[u8]) -> Self {
        let per_panel = inputs.div_ceil(G::BLOCKS * BLOCK);
        let outputs = bytes.len() / row.max(1);
        let mut groups = vec![G::ZERO; outputs.div_ceil(PANEL) * per_panel];
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
        Self {
            groups,
            per_panel,
            inputs,
        }
    }

    /// Row `index` of the weight, `[inputs]`.
    pub(crate) fn row(&self, index: usize, out: &mut [f32]) {
        let panel = &self.groups[index / PANEL * self.per_panel..][..self.per_panel];
        let width = G::BLOCKS * BLOCK;
        let mut whole = vec![0.0; width];
        for (group, out) in panel.iter().zip(out[..self.inputs].chunks_mut(width)) {
            group.get(index % PANEL, &mut whole);
            out.copy_from_slice(&whole[..out.len()]);
        }
    }

    /// Blocks of a row of activations.
    pub(crate) fn blocks(&self) -> usize {
        self.per_panel * G::BLOCKS
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.groups.as_slice())
    }

    /// The product of quantised rows with the columns from `from` on, a multiple of 16, as many as the rows of `out` are
    /// wide.
    pub(crate) fn part(&self, x: &[RowBlock], from: usize, out: &mut [&mut [f32]]) {
        self.part_by(Instructions::best(), x, from, out);
    }

    fn part_by(
        &self,
        instructions: Instructions,
        x: &[RowBlock],
        from: usize,
        out: &mut [&mut [f32]],
    ) {
        let mut product = Product {
            weights: &self.groups[from / PANEL * self.per_panel..],
            groups: self.per_panel,
            x,
            out,
        };
        G::multiply(instructions, &mut product);
    }
}

/// Rows of activations times panels.
pub(crate) struct Product<'a, 'o, G> {
    weights: &'a [G],
    /// Groups of a panel.
    groups: usize,
    x: &'a [RowBlock],
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

    /// The groups of some panels.
    #[inline(always)]
    fn weights<const P: usize>(&self, panel: usize) -> [&'a [G]; P] {
        std::array::from_fn(|p| &self.weights[(panel + p) * self.groups..][..self.groups])
    }

    /// What to ask for in one of the passes over some panels.
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
            &self.x[(row + r) * blocks..][..blocks].as_chunks().0[..self.groups]
        })
    }

    /// Puts the outputs of a tile, `R` rows times `P` panels, into their rows; a `V` holds a panel's outputs.
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

    /// Puts a panel's outputs into a row.
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
