//! One step's work: packed tokens, the rows they belong to, and the blocks that hold each row's keys and values.

use std::borrow::Cow;

use super::{ModelError, Result};

/// One step's packed tokens: decode rows and prefill chunks side by side, no padding. `N` is `tokens.len()`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepBatch {
    /// Token ids, `[N]`, row after row.
    pub tokens: Vec<u32>,
    /// Absolute position of each token in its sequence, `[N]`.
    pub positions: Vec<u32>,
    /// The slot of each token's keys and values, `[N]`: `block * block_size + offset`.
    pub slots: Vec<u32>,
    /// The rows, in the order of their tokens.
    pub rows: Vec<BatchRow>,
    /// Indices into `tokens` whose logits are wanted: they ascend.
    pub logits: Vec<u32>,
    /// Tokens that the previous step is still choosing: (index into `tokens`, index into that step's `logits`). `tokens`
    /// holds zeros in their places until the model fills them in.
    pub from_previous: Vec<(u32, u32)>,
    /// Blocks and slots of layers with windows, where they have a cache of their own; else those of the other layers are theirs too.
    pub windowed: Option<WindowedTables>,
}

/// The cache of layers with windows in a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowedTables {
    /// For each row, as [`BatchRow::blocks`]. Blocks that lie behind the window of the row's first token may be any.
    pub blocks: Vec<Vec<u32>>,
    pub slots: Vec<u32>,
}

/// A sequence's part in a step: consecutive tokens at consecutive positions, and the cache they attend to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchRow {
    /// Index of the row's first token in [`StepBatch::tokens`].
    pub query_start: usize,
    /// Tokens of this row in this step, at least one.
    pub query_len: usize,
    /// Keys that the row's last token sees: those cached before, and this step's. Token `i` of the row sees `context_len - query_len + i + 1` keys.
    pub context_len: usize,
    /// Block table: block `j` holds the positions `j * block_size ..`. Covers `context_len` at least.
    pub blocks: Vec<u32>,
    /// Whether the sequence, with its known tokens of later steps, is longer than the model's original context, if that changes how its positions are encoded.
    pub long: bool,
    /// The sequence's recurrent state, if the model has recurrent layers.
    pub state: Option<RowState>,
}

/// What a row does with recurrent states; slots are numbered from 0 in each recurrent layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowState {
    /// The slot of the sequence's state, which has taken in the tokens before the row's first once [`Self::start`] was done,
    /// and all of the row's after the step.
    pub slot: u32,
    pub start: StateStart,
    /// A slot that gets a copy of the state after the row's last token.
    pub save: Option<u32>,
}

/// What is in a row's slot of recurrent state before its first token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateStart {
    Zero,
    /// A copy of this slot, a snapshot.
    Copy(u32),
    /// What the step before left there.
    Continue,
}

impl StepBatch {
    /// The last `new` of a prompt's tokens, which lies in the first blocks; no logits are wanted.
    pub fn in_first_blocks(tokens: &[u32], new: usize, block_size: usize) -> Self {
        let (end, start) = (tokens.len(), tokens.len().saturating_sub(new));
        let positions: Vec<u32> = (start as u32..end as u32).collect();
        Self {
            tokens: tokens[start..].to_vec(),
            slots: positions.clone(),
            positions,
            rows: vec![BatchRow {
                query_len: end - start,
                context_len: end,
                blocks: (0..end.div_ceil(block_size) as u32).collect(),
                ..BatchRow::default()
            }],
            ..Self::default()
        }
    }

    /// The step as layers with windows see it.
    pub fn in_windows(&self) -> Cow<'_, Self> {
        let Some(tables) = &self.windowed else {
            return Cow::Borrowed(self);
        };
        let mut own = Self {
            slots: tables.slots.clone(),
            windowed: None,
            ..self.clone()
        };
        // One table too few or too many is found when the step is checked.
        let mut blocks = tables.blocks.iter().cloned();
        for row in &mut own.rows {
            row.blocks = blocks.next().unwrap_or_default();
        }
        Cow::Owned(own)
    }

    /// The tokens whose logits are wanted, each as a row of its own.
    pub(crate) fn wanted(&self) -> Self {
        let mut own = Self {
            logits: (0..self.logits.len() as u32).collect(),
            windowed: self.windowed.as_ref().map(|_| WindowedTables::default()),
            ..Self::default()
        };
        for (query_start, &token) in self.logits.iter().enumerate() {
            let token = token as usize;
            let after = self.rows.partition_point(|row| row.query_start <= token);
            let row = after.saturating_sub(1);
            own.tokens.push(self.tokens[token]);
            own.positions.push(self.positions[token]);
            own.slots.push(self.slots[token]);
            own.rows.push(BatchRow {
                query_start,
                query_len: 1,
                context_len: self.positions[token] as usize + 1,
                state: None,
                ..self.rows[row].clone()
            });
            if let (Some(own), Some(tables)) = (&mut own.windowed, &self.windowed) {
                own.blocks.push(tables.blocks[row].clone());
                own.slots.push(tables.slots[token]);
            }
        }
        own
    }

    /// Checks the step against a cache of `blocks` blocks of `block_size` tokens, so that no later loop can run out of bounds: lengths agree, rows cover the
    /// tokens without gaps, positions and slots follow from the rows and their block tables.
    pub fn validate(&self, block_size: usize, blocks: usize) -> Result<()> {
        let n = self.tokens.len();
        let refuse = |message: String| Err(ModelError::Batch(message));
        if self.positions.len() != n || self.slots.len() != n {
            return refuse(format!(
                "{n} tokens, {} positions, {} slots",
                self.positions.len(),
                self.slots.len()
            ));
        }
        let mut next = 0;
        for (index, row) in self.rows.iter().enumerate() {
            if row.query_start != next || row.query_len == 0 || row.query_len > n - next {
                return refuse(format!(
                    "row {index} takes tokens {}+{}, but {next} of {n} are taken before it",
                    row.query_start, row.query_len
                ));
            }
            if row.context_len < row.query_len
                || row.blocks.len().saturating_mul(block_size) < row.context_len
            {
                return refuse(format!(
                    "row {index}: {} tokens see {} keys in {} blocks of {block_size}",
                    row.query_len,
                    row.context_len,
                    row.blocks.len()
                ));
            }
            if let Some(block) = row.blocks.iter().find(|&&block| block as usize >= blocks) {
                return refuse(format!("row {index} names block {block} of {blocks}"));
            }
            for i in 0..row.query_len {
                let position = row.context_len - row.query_len + i;
                let slot =
                    row.blocks[position / block_size] as usize * block_size + position % block_size;
                let token = row.query_start + i;
                if self.positions[token] as usize != position || self.slots[token] as usize != slot
                {
                    return refuse(format!(
                        "token {token} (row {index}) is at position {} slot {}, its row says {position} and {slot}",
                        self.positions[token], self.slots[token]
                    ));
                }
            }
            next += row.query_len;
        }
        if next != n {
            return refuse(format!("rows cover {next} of {n} tokens"));
        }
        let beyond = self.logits.last().is_some_and(|&last| last as usize >= n);
        if beyond || !self.logits.is_sorted_by(|a, b| a < b) {
            return refuse(format!("logits wanted of {:?} of {n} tokens", self.logits));
        }
        let indices = self.from_previous.iter().map(|&(index, _)| index);
        if let Some(index) = indices.into_iter().find(|&index| index as usize >= n) {
            return refuse(format!(
                "token {index} of {n} is to come from the step before"
            ));
        }
        Ok(())
    }

    /// Checks what rows do with recurrent states against a model that has `slots` of them: each row has a slot, of its own,
    /// and begins with the state before any token exactly if it has a sequence's first token.
    pub fn validate_states(&self, slots: usize) -> Result<()> {
        let mut written = vec![false; slots];
        for (index, row) in self.rows.iter().enumerate() {
            let Some(state) = row.state else {
                return Err(ModelError::Batch(format!("row {index} has no state")));
            };
            let source = match state.start {
                StateStart::Copy(source) => Some(source),
                StateStart::Zero | StateStart::Continue => None,
            };
            let fresh = row.context_len == row.query_len;
            let in_range = |slot: u32| (slot as usize) < slots;
            let targets = [Some(state.slot), state.save].into_iter().flatten();
            let fits = source.into_iter().chain(targets.clone()).all(in_range)
                && fresh == (state.start == StateStart::Zero)
                && targets
                    .clone()
                    .all(|slot| !std::mem::replace(&mut written[slot as usize], true));
            if !fits {
                return Err(ModelError::Batch(format!(
                    "row {index} with {} tokens before it does not fit {slots} states: {state:?}",
                    row.context_len.saturating_sub(row.query_len)
                )));
            }
        }
        let sources = self.rows.iter().filter_map(|row| match row.state?.start {
            StateStart::Copy(source) => Some(source),
            StateStart::Zero | StateStart::Continue => None,
        });
        match sources.into_iter().find(|&source| written[source as usize]) {
            Some(source) => Err(ModelError::Batch(format!(
                "state {source} is read and written in one step"
            ))),
            None => Ok(()),
        }
    }
}
