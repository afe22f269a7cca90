//! A stand-in for the engine: sequences with block tables, and the steps made of them.

use std::collections::VecDeque;

use juror_engine::model::attention::Attention;
use juror_engine::model::{BatchRow, Decoder, RowState, StateStart, StepBatch};

/// A sequence whose first `cached` tokens are in the cache.
#[derive(Clone, Default)]
pub(crate) struct Sequence {
    pub(crate) tokens: Vec<u32>,
    pub(crate) cached: usize,
    pub(crate) blocks: Vec<u32>,
    /// See [`BatchRow::long`].
    pub(crate) long: bool,
    /// The slot of its recurrent state, if the model has recurrent layers.
    pub(crate) state: Option<u32>,
}

/// Blocks to hand out, in an order that is not the natural one.
pub(crate) struct Blocks {
    pub(crate) size: usize,
    free: VecDeque<u32>,
}

impl Blocks {
    pub(crate) fn new(count: u32, size: usize) -> Self {
        let mut free: Vec<u32> = (0..count).collect();
        free.sort_by_key(|id| (id.wrapping_mul(2_654_435_761), *id));
        Self {
            size,
            free: free.into(),
        }
    }

    pub(crate) fn sequence(&mut self, tokens: &[u32]) -> Sequence {
        let mut sequence = Sequence {
            tokens: tokens.to_vec(),
            ..Sequence::default()
        };
        self.grow(&mut sequence);
        sequence
    }

    /// Enough blocks for all of the sequence's tokens.
    pub(crate) fn grow(&mut self, sequence: &mut Sequence) {
        while sequence.blocks.len() * self.size < sequence.tokens.len() {
            sequence.blocks.push(self.free.pop_front().expect("blocks"));
        }
    }
}

/// A step of the next `count` tokens of each sequence, which then count as cached. Logits of every token are wanted.
pub(crate) fn step(parts: &mut [(&mut Sequence, usize)], block_size: usize) -> StepBatch {
    let mut batch = StepBatch::default();
    for (sequence, count) in parts {
        let end = sequence.cached + *count;
        batch.rows.push(BatchRow {
            query_start: batch.tokens.len(),
            query_len: *count,
            context_len: end,
            blocks: sequence.blocks[..end.div_ceil(block_size)].to_vec(),
            long: sequence.long,
            state: sequence.state.map(|slot| RowState {
                slot,
                start: match sequence.cached {
                    0 => StateStart::Zero,
                    _ => StateStart::Continue,
                },
                save: None,
            }),
        });
        for position in sequence.cached..end {
            batch.logits.push(batch.tokens.len() as u32);
            batch.tokens.push(sequence.tokens[position]);
            batch.positions.push(position as u32);
            let block = sequence.blocks[position / block_size] as usize;
            batch
                .slots
                .push((block * block_size + position % block_size) as u32);
        }
        sequence.cached = end;
    }
    batch
}

/// The logits of every token, for each sequence `[tokens, vocab]`: all sequences go up to `chunk` tokens a step, in the same
/// steps.
pub(crate) fn logits_in_chunks(
    decoder: &Decoder,
    attention: &mut dyn Attention,
    sequences: &mut [Sequence],
    chunk: usize,
    block_size: usize,
) -> Vec<Vec<Vec<f32>>> {
    let mut all = vec![Vec::new(); sequences.len()];
    loop {
        let mut owners = Vec::new();
        let mut parts = Vec::new();
        for (index, sequence) in sequences.iter_mut().enumerate() {
            let count = chunk.min(sequence.tokens.len() - sequence.cached);
            if count > 0 {
                owners.extend(std::iter::repeat_n(index, count));
                parts.push((sequence, count));
            }
        }
        if parts.is_empty() {
            return all;
        }
        let batch = step(&mut parts, block_size);
        let logits = decoder.forward(&batch, attention).expect("a step");
        let logits = logits.to_vec2().expect("[tokens, vocab]");
        assert_eq!(logits.len(), owners.len());
        for (owner, row) in owners.into_iter().zip(logits) {
            all[owner].push(row);
        }
    }
}
