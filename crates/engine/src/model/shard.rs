//! Tensor parallel: the part of a model that one of several GPUs holds (Shoeybi et al. 2019, "Megatron-LM",
//! <https://arxiv.org/abs/1909.08053>).
//!
//! Each GPU has some of the heads, and a part of the width of every feed-forward layer or expert. What reads the residual stream
//! (queries, keys and values; gate and up) is divided by outputs, what adds to it (attention's output; down) by inputs, and the results
//! of the latter are summed over the GPUs. Embeddings, norms, routers and the head are whole on each.

use std::ops::Range;

use super::{ModelError, Result};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::families::HeadNorms;
use crate::checkpoint::tensors::MXFP4_BLOCK;

/// The most GPUs that are named as possible: those of one machine.
const MOST: usize = 16;

/// One GPU's part of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    rank: usize,
    count: usize,
}

/// How a linear layer is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Division<'a> {
    /// By outputs: of each of the layers side by side a GPU has so many.
    Outputs(&'a [usize]),
    /// By inputs: a GPU has so many, and the results are summed.
    Inputs(usize),
}

impl Shard {
    /// All of a model, on one device.
    pub const WHOLE: Self = Self { rank: 0, count: 1 };

    /// The part number `rank`, from 0, of `count`.
    pub fn new(rank: usize, count: usize) -> Self {
        debug_assert!(rank < count);
        Self { rank, count }
    }

    /// Whether it is all of the model.
    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// The parts of the model.
    pub fn count(self) -> usize {
        self.count
    }

    /// What a part of `size` is of the whole.
    pub(crate) fn range(self, size: usize) -> Range<usize> {
        self.rank * size..(self.rank + 1) * size
    }

    pub(crate) fn adds_biases(self) -> bool {
        self.rank == 0
    }

    /// The ranges of joined outputs of layers of which a GPU has `parts`.
    pub(crate) fn outputs(self, parts: &[usize]) -> Vec<Range<usize>> {
        let mut before = 0;
        let own = |&size: &usize| {
            let range = self.range(size);
            let first = before;
            before += size * self.count;
            first + range.start..first + range.end
        };
        parts.iter().map(own).collect()
    }

    /// Of each of `rows` that bytes are divided into, this GPU's part.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn part_of_each(self, bytes: &[u8], rows: usize) -> Vec<u8> {
        let row = bytes.len() / rows.max(1);
        let own = self.range(row / self.count);
        let rows = bytes.chunks_exact(row.max(1));
        rows.flat_map(|row| &row[own.clone()]).copied().collect()
    }

    /// Refuses experts in MXFP4 whose blocks do not divide.
    /// Errors: [`ModelError::Unsupported`] naming what is possible.
    pub(crate) fn check_mxfp4(self, own: &ModelConfig) -> Result<()> {
        let width = own
            .experts
            .map_or(own.intermediate, |experts| experts.intermediate);
        if self.is_whole() || width.is_multiple_of(MXFP4_BLOCK) {
            return Ok(());
        }
        let sizes = [own.heads, own.kv_heads, width].map(|size| size * self.count);
        let width = sizes[2];
        let blocks = format!("experts of {width} numbers in blocks of {MXFP4_BLOCK} (MXFP4)");
        Err(self.refuse(sizes, MXFP4_BLOCK, &blocks))
    }

    /// The sizes of what a GPU computes.
    /// Errors: [`ModelError::Unsupported`] where heads or widths do not divide; it names what is possible.
    pub fn config(self, whole: &ModelConfig) -> Result<ModelConfig> {
        let mut own = whole.clone();
        if self.is_whole() {
            return Ok(own);
        }
        let family = own.family;
        let together = own.head_norms && family.head_norms == HeadNorms::Together;
        let why = if own.recurrent.is_some() || family.gates_heads {
            "has recurrent layers or gates of heads, which are not divided among GPUs"
        } else if together {
            "norms the queries and keys of all heads together, which would need a sum over GPUs in every layer"
        } else if own.beside_experts() > 0 {
            "norms the results of experts and of a dense layer one by one, which would need sums over GPUs of each"
        } else {
            ""
        };
        if !why.is_empty() {
            let (count, name) = (self.count, family.name());
            return Err(ModelError::Unsupported(format!(
                "--tensor-parallel {count}: {name} {why}: leave it out"
            )));
        }
        if own.sharing.is_some() || own.layer_inputs.is_some() {
            return Err(ModelError::Unsupported(format!(
                "--tensor-parallel {}: {} has inputs of each layer, or layers with another's keys, which are not divided: leave it out",
                self.count,
                own.family.name()
            )));
        }
        let dense = (&mut own.intermediate, "numbers in a feed-forward layer");
        let mut widths = Vec::new();
        match &mut own.experts {
            Some(experts) => {
                widths.push((&mut experts.intermediate, "numbers in an expert"));
                if let Some(shared) = &mut experts.shared {
                    widths.push((shared, "numbers in the expert that works on every token"));
                }
                if experts.first > 0 {
                    widths.push(dense);
                }
            }
            None => widths.push(dense),
        }
        let width = widths.iter().fold(0, |all, (width, _)| gcd(all, **width));
        let full = own.full_layers.as_mut();
        let full = full.map(|full| {
            (
                &mut full.kv_heads,
                "heads of keys in layers without windows",
            )
        });
        let kv_heads = full
            .iter()
            .fold(own.kv_heads, |all, (heads, _)| gcd(all, **heads));
        let sizes = [own.heads, kv_heads, width];
        let heads = [
            (&mut own.heads, "attention heads"),
            (&mut own.kv_heads, "heads of keys and values"),
        ];
        for (size, what) in heads.into_iter().chain(full).chain(widths) {
            if *size == 0 || !size.is_multiple_of(self.count) {
                return Err(self.refuse(sizes, 1, &format!("{size} {what}")));
            }
            *size /= self.count;
        }
        if own.experts.is_some_and(|experts| experts.mxfp4) {
            self.check_mxfp4(&own)?;
        }
        Ok(own)
    }

    /// `sizes` are the whole model's heads, heads of keys and values, and width, of which `block` stay together.
    fn refuse(self, [heads, kv_heads, width]: [usize; 3], block: usize, has: &str) -> ModelError {
        let count = self.count;
        let divides = |count: &usize| {
            let sizes = [heads, kv_heads, width / block];
            sizes.iter().all(|size| size.is_multiple_of(*count))
        };
        let possible: Vec<String> = (1..=MOST)
            .filter(divides)
            .map(|count| count.to_string())
            .collect();
        ModelError::Unsupported(format!(
            "--tensor-parallel {count}: the model has {has}, which do not divide among {count} GPUs; it can be divided among {}",
            possible.join(", ")
        ))
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests;
