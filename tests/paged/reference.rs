//! Reference attention: plain loops with sums in f64, on the CPU, for comparison. The inner ones count by themselves: iterators take up to five times
//! as long where nothing is inlined, as in tests.

use candle_core::{DType, Device, Tensor};
use juror_engine::model::attention::{Attention, AttentionOutput, AttentionShape};
use juror_engine::model::{ModelError, StepBatch};

struct Reference {
    shape: AttentionShape,
    blocks: usize,
    block_size: usize,
    /// The type that keys and values are rounded to.
    dtype: DType,
    /// For each layer keys and values, rounded, `[slots, kv_heads, head_dim]`.
    cache: Vec<(Vec<f32>, Vec<f32>)>,
    batch: StepBatch,
}

/// The reference and its cache.
pub(crate) fn reference(
    shape: AttentionShape,
    blocks: usize,
    block_size: usize,
    dtype: DType,
) -> Box<dyn Attention> {
    let size = blocks * block_size * shape.kv_heads * shape.head_dim;
    Box::new(Reference {
        shape,
        blocks,
        block_size,
        dtype,
        cache: vec![(vec![0.0; size], vec![0.0; size]); shape.layers],
        batch: StepBatch::default(),
    })
}

/// The numbers of a tensor in their order.
fn numbers(tensor: &Tensor) -> Result<Vec<f32>, ModelError> {
    Ok(tensor.flatten_all()?.to_vec1()?)
}

impl Attention for Reference {
    fn block_size(&self) -> usize {
        self.block_size
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        batch.validate(self.block_size, self.blocks)?;
        self.batch = batch.clone();
        Ok(())
    }

    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.shape;
        let n = self.batch.tokens.len();
        let width = kv_heads * head_dim;
        let (keys, values) = &mut self.cache[layer];
        for (new, cache) in [(k, &mut *keys), (v, &mut *values)] {
            let rounded = new.to_dtype(self.dtype)?.to_dtype(DType::F32)?;
            let new = numbers(&rounded)?;
            for (row, &slot) in new.chunks_exact(width).zip(&self.batch.slots) {
                cache[slot as usize * width..][..width].copy_from_slice(row);
            }
        }
        let mut output = vec![0.0f32; n * heads * head_dim];
        let mut lse = vec![0.0f32; n * heads];
        let q = numbers(q)?;
        for row in &self.batch.rows {
            for i in 0..row.query_len {
                let seen = row.context_len - row.query_len + i + 1;
                let first = window.map_or(0, |window| seen.saturating_sub(window));
                for head in 0..heads {
                    let query = (row.query_start + i) * heads + head;
                    let kv_head = head / (heads / kv_heads);
                    let entry = |position: usize| {
                        let block = row.blocks[position / self.block_size] as usize;
                        let slot = block * self.block_size + position % self.block_size;
                        (slot * kv_heads + kv_head) * head_dim
                    };
                    let scores: Vec<f64> = (first..seen)
                        .map(|position| {
                            let key = &keys[entry(position)..][..head_dim];
                            let query = &q[query * head_dim..][..head_dim];
                            let (mut dot, mut at) = (0.0, 0);
                            while at < head_dim {
                                dot += query[at] as f64 * key[at] as f64;
                                at += 1;
                            }
                            let score = dot / (head_dim as f64).sqrt();
                            match self.shape.softcap.map(f64::from) {
                                Some(bound) => bound * (score / bound).tanh(),
                                None => score,
                            }
                        })
                        .collect();
                    let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let weights: Vec<f64> =
                        scores.iter().map(|score| (score - high).exp()).collect();
                    let sum: f64 = weights.iter().sum();
                    lse[query] = (high + sum.ln()) as f32;
                    let mut weighted = vec![0.0; head_dim];
                    for (position, weight) in (first..seen).zip(weights) {
                        let value = &values[entry(position)..][..head_dim];
                        let (total, mut at) = (&mut weighted[..], 0);
                        while at < head_dim {
                            total[at] += weight * value[at] as f64;
                            at += 1;
                        }
                    }
                    let output = &mut output[query * head_dim..][..head_dim];
                    for (output, weighted) in output.iter_mut().zip(weighted) {
                        *output = (weighted / sum) as f32;
                    }
                }
            }
        }
        Ok(AttentionOutput {
            output: Tensor::from_vec(output, (n, heads, head_dim), &Device::Cpu)?,
            lse: Tensor::from_vec(lse, (n, heads), &Device::Cpu)?,
        })
    }
}
