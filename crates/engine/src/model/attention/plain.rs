//! Attention made of candle's tensor operations: runs on any device, and is what CUDA and Metal use until they have kernels of their own.
//!
//! Rows, long ones in pieces, are put together into rectangles of similar size, their keys and values gathered by block table,
//! scores masked, and the softmax taken in f32.

use candle_core::{D, DType, Device, Tensor};

use super::{Attention, AttentionOutput, AttentionShape, ModelError};
use crate::model::{StepBatch, ops};

/// The most scores of a rectangle, so that memory stays bounded: of 16 Mi numbers the five copies that live at a time are
/// 320 MiB.
const MAX_SCORES: usize = 1 << 24;
/// The most numbers of gathered keys in a rectangle.
const MAX_GATHERED: usize = 1 << 27;
/// A rectangle may be this many times as large as its rows need.
const MAX_WASTE: f64 = 1.3;

pub(super) struct Plain {
    shape: AttentionShape,
    blocks: usize,
    block_size: usize,
    device: Device,
    dtype: DType,
    /// For each layer keys and values, `[blocks · block_size, kv_heads · head_dim]`.
    layers: Vec<(Tensor, Tensor)>,
    /// [`MAX_SCORES`], but in tests.
    most_scores: usize,
    step: Option<Step>,
}

struct Step {
    tokens: usize,
    /// `[N, kv_heads · head_dim]`: each token's slot, repeated.
    slots: Tensor,
    rectangles: Vec<Rectangle>,
    /// For each token of the step, the index of its row in the queries of all rectangles, concatenated.
    order: Tensor,
}

/// Consecutive queries of a row, and the keys that the last of them sees.
struct Piece<'a> {
    query_start: usize,
    query_len: usize,
    context_len: usize,
    blocks: &'a [u32],
}

/// Pieces of a step's rows padded to the same number of queries and of blocks.
struct Rectangle {
    rows: usize,
    queries: usize,
    blocks: usize,
    /// Tokens, `[rows · queries]`; padding repeats a row's last.
    tokens: Tensor,
    /// Blocks, `[rows · blocks]`; padding repeats the first.
    table: Tensor,
    /// For each query the keys it sees without a window.
    seen: Vec<usize>,
    /// The masks for the windows used so far: 0 where a query sees a key and −∞ elsewhere, `[rows, 1, queries, keys]`, f32.
    masks: Vec<(Option<usize>, Tensor)>,
}

impl Rectangle {
    fn mask(
        &mut self,
        window: Option<usize>,
        block_size: usize,
        device: &Device,
    ) -> Result<Tensor, ModelError> {
        if let Some((_, mask)) = self.masks.iter().find(|(known, _)| *known == window) {
            return Ok(mask.clone());
        }
        let keys = self.blocks * block_size;
        let mut mask = Vec::with_capacity(self.seen.len() * keys);
        for &seen in &self.seen {
            let first = window.map_or(0, |window| seen.saturating_sub(window));
            let sees = |key| (first..seen).contains(&key);
            mask.extend((0..keys).map(|key| if sees(key) { 0.0 } else { f32::NEG_INFINITY }));
        }
        let mask = Tensor::from_vec(mask, (self.rows, 1, self.queries, keys), device)?;
        self.masks.push((window, mask.clone()));
        Ok(mask)
    }
}

impl Plain {
    pub(super) fn new(
        shape: AttentionShape,
        blocks: usize,
        block_size: usize,
        device: &Device,
        dtype: DType,
    ) -> Result<Self, ModelError> {
        let size = (blocks * block_size, shape.kv_heads * shape.head_dim);
        let layers = (0..shape.layers)
            .map(|_| {
                Ok((
                    Tensor::zeros(size, dtype, device)?,
                    Tensor::zeros(size, dtype, device)?,
                ))
            })
            .collect::<Result<_, ModelError>>()?;
        Ok(Self {
            shape,
            blocks,
            block_size,
            device: device.clone(),
            dtype,
            layers,
            most_scores: MAX_SCORES,
            step: None,
        })
    }

    /// The rows, each in as many pieces as keep a piece's scores below [`MAX_SCORES`].
    fn pieces<'a>(&self, batch: &'a StepBatch) -> Vec<Piece<'a>> {
        let mut pieces = Vec::with_capacity(batch.rows.len());
        for row in &batch.rows {
            let most = (self.most_scores / (row.context_len * self.shape.heads).max(1)).max(1);
            let first = row.context_len - row.query_len;
            for start in (0..row.query_len).step_by(most) {
                let end = row.query_len.min(start + most);
                pieces.push(Piece {
                    query_start: row.query_start + start,
                    query_len: end - start,
                    context_len: first + end,
                    blocks: &row.blocks,
                });
            }
        }
        pieces
    }

    /// Groups pieces of similar lengths.
    fn rectangles<'p, 'a>(&self, pieces: &'p [Piece<'a>]) -> Vec<Vec<&'p Piece<'a>>> {
        let mut order: Vec<&Piece> = pieces.iter().collect();
        order.sort_by_key(|piece| (piece.query_len, piece.context_len, piece.query_start));
        let width = self.shape.kv_heads * self.shape.head_dim;
        let mut groups: Vec<Vec<&Piece>> = Vec::new();
        let mut needed = 0;
        for piece in order {
            let (queries, keys) = (piece.query_len, piece.context_len);
            let area = queries * keys;
            if let Some(group) = groups.last_mut() {
                // Queries are sorted in ascending order, contexts are not.
                let longest = group.iter().map(|piece| piece.context_len).max();
                let longest = longest.unwrap_or(0).max(keys);
                let padded = (group.len() + 1) * queries * longest;
                if padded as f64 <= MAX_WASTE * (needed + area) as f64
                    && padded * self.shape.heads <= self.most_scores
                    && (group.len() + 1) * longest * width <= MAX_GATHERED
                {
                    group.push(piece);
                    needed += area;
                    continue;
                }
            }
            groups.push(vec![piece]);
            needed = area;
        }
        groups
    }

    fn rectangle(&self, group: &[&Piece]) -> Result<Rectangle, ModelError> {
        let queries = group.iter().map(|piece| piece.query_len).max();
        let keys = group.iter().map(|piece| piece.context_len).max();
        let (queries, keys) = (queries.unwrap_or(0), keys.unwrap_or(0));
        let blocks = keys.div_ceil(self.block_size);
        let mut tokens = Vec::with_capacity(group.len() * queries);
        let mut table = Vec::with_capacity(group.len() * blocks);
        let mut seen = Vec::with_capacity(group.len() * queries);
        for piece in group {
            for i in 0..queries {
                let i = i.min(piece.query_len - 1);
                tokens.push((piece.query_start + i) as u32);
                seen.push(piece.context_len - piece.query_len + i + 1);
            }
            table.extend((0..blocks).map(|j| {
                let block = piece.blocks.get(j).or(piece.blocks.first());
                block.copied().unwrap_or(0)
            }));
        }
        Ok(Rectangle {
            rows: group.len(),
            queries,
            blocks,
            tokens: Tensor::new(tokens, &self.device)?,
            table: Tensor::new(table, &self.device)?,
            seen,
            masks: Vec::new(),
        })
    }

    /// A rectangle's keys or values, `[rows, kv_heads, keys, head_dim]`.
    fn gather(&self, cache: &Tensor, rectangle: &Rectangle) -> Result<Tensor, ModelError> {
        let AttentionShape {
            kv_heads, head_dim, ..
        } = self.shape;
        let keys = rectangle.blocks * self.block_size;
        Ok(cache
            .reshape((self.blocks, self.block_size * kv_heads * head_dim))?
            .index_select(&rectangle.table, 0)?
            .reshape((rectangle.rows, keys, kv_heads, head_dim))?
            .transpose(1, 2)?
            .contiguous()?)
    }

    /// Output `[rows · queries, heads, head_dim]` and log-sum-exp `[rows · queries, heads]` of a rectangle.
    fn attend(
        &self,
        layer: usize,
        q: &Tensor,
        rectangle: &Rectangle,
        mask: &Tensor,
    ) -> Result<(Tensor, Tensor), ModelError> {
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.shape;
        let group = self.shape.group();
        let Rectangle { rows, queries, .. } = *rectangle;
        let (keys, values) = &self.layers[layer];
        let keys = self.gather(keys, rectangle)?;
        let values = self.gather(values, rectangle)?;
        // The query heads of a group are treated as further queries of their key head.
        let q = q
            .index_select(&rectangle.tokens, 0)?
            .reshape((rows, queries, kv_heads, group, head_dim))?
            .permute((0, 2, 3, 1, 4))?
            .reshape((rows, kv_heads, group * queries, head_dim))?
            .contiguous()?;
        let q = (q * f64::from(self.shape.scale()))?;
        let scores = q.matmul(&keys.t()?)?.to_dtype(DType::F32)?;
        let scores = match self.shape.softcap {
            Some(bound) => ops::softcap(&scores, f64::from(bound))?,
            None => scores,
        };
        let count = scores.dim(D::Minus1)?;
        let scores = scores
            .reshape((rows, kv_heads * group, queries, count))?
            .broadcast_add(mask)?
            .reshape((rows, kv_heads, group * queries, count))?;
        let high = scores.max_keepdim(D::Minus1)?;
        let weights = scores.broadcast_sub(&high)?.exp()?;
        let sum = weights.sum_keepdim(D::Minus1)?;
        let output = weights
            .broadcast_div(&sum)?
            .to_dtype(self.dtype)?
            .matmul(&values)?;
        let lse = (high + sum.log()?)?;
        let restore = |x: Tensor, width: usize| {
            x.reshape((rows, kv_heads, group, queries, width))?
                .permute((0, 3, 1, 2, 4))?
                .contiguous()?
                .reshape((rows * queries, heads, width))
        };
        Ok((restore(output, head_dim)?, restore(lse, 1)?.squeeze(2)?))
    }
}

impl Attention for Plain {
    fn block_size(&self) -> usize {
        self.block_size
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        self.step = None;
        batch.validate(self.block_size, self.blocks)?;
        let n = batch.tokens.len();
        let mut order = vec![0u32; n];
        let mut rectangles = Vec::new();
        let mut next = 0;
        let pieces = self.pieces(batch);
        for group in self.rectangles(&pieces) {
            let rectangle = self.rectangle(&group)?;
            for (index, piece) in group.iter().enumerate() {
                for i in 0..piece.query_len {
                    order[piece.query_start + i] = (next + index * rectangle.queries + i) as u32;
                }
            }
            next += rectangle.rows * rectangle.queries;
            rectangles.push(rectangle);
        }
        let width = self.shape.kv_heads * self.shape.head_dim;
        let slots = Tensor::new(batch.slots.as_slice(), &self.device)?;
        self.step = Some(Step {
            tokens: n,
            slots: slots.unsqueeze(1)?.broadcast_as((n, width))?.contiguous()?,
            rectangles,
            order: Tensor::new(order, &self.device)?,
        });
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
        let mut step = self
            .step
            .take()
            .ok_or_else(|| ModelError::Batch("no step was prepared".into()))?;
        let output = self.attend_all(&mut step, layer, window, (q, k, v));
        self.step = Some(step);
        output
    }
}

impl Plain {
    fn attend_all(
        &self,
        step: &mut Step,
        layer: usize,
        window: Option<usize>,
        (q, k, v): (&Tensor, &Tensor, &Tensor),
    ) -> Result<AttentionOutput, ModelError> {
        let n = step.tokens;
        self.shape.check_step(n, layer, q, k, v)?;
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.shape;
        let (keys, values) = &self.layers[layer];
        let written = [(keys, k), (values, v)].into_iter();
        for (cache, new) in written.filter(|(_, new)| new.elem_count() > 0) {
            let new = new
                .to_dtype(self.dtype)?
                .reshape((n, kv_heads * head_dim))?
                .contiguous()?;
            cache.scatter_set(&step.slots, &new, 0)?;
        }
        let q = q.to_dtype(self.dtype)?.contiguous()?;
        let parts = step
            .rectangles
            .iter_mut()
            .map(|rectangle| {
                let mask = rectangle.mask(window, self.block_size, &self.device)?;
                self.attend(layer, &q, rectangle, &mask)
            })
            .collect::<Result<Vec<_>, _>>()?;
        if parts.is_empty() {
            return Ok(AttentionOutput {
                output: Tensor::zeros((0, heads, head_dim), self.dtype, &self.device)?,
                lse: Tensor::zeros((0, heads), DType::F32, &self.device)?,
            });
        }
        let (outputs, lses): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Ok(AttentionOutput {
            output: Tensor::cat(&outputs, 0)?.index_select(&step.order, 0)?,
            lse: Tensor::cat(&lses, 0)?.index_select(&step.order, 0)?,
        })
    }
}

#[cfg(test)]
mod tests;
