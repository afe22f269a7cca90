//! Requests, the sequences that the engine makes of them, and completions.

use std::sync::Arc;
use std::time::Instant;

use super::block_pool::{BlockHash, BlockId};
use super::sampler::{Chosen, RowRequest, Sampling};
use super::stats::Timing;
use crate::model::batch::{BatchRow, StepBatch};

/// The caller's name for a request; comes back with the completion.
pub type RequestId = u64;

/// Decides, token by token, whether a generation may end.
///
/// Called once for each generated token in order; a preempted sequence is not replayed. The engine itself
/// ends a generation at end-of-sequence tokens.
pub trait Stop: Send {
    /// Takes the newest token; true ends the generation with this token.
    fn push(&mut self, token: u32) -> bool;
}

/// The key of a request's random draws; with the position it fixes every one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomKey {
    /// The run's seed.
    pub seed: u64,
    /// A hash of the sample's id.
    pub sample: u64,
    /// The trial's number.
    pub trial: u32,
}

/// Two sets of tokens whose odds are recorded wherever one of them is generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// Token variants that mean yes.
    pub yes: Vec<u32>,
    /// Token variants that mean no.
    pub no: Vec<u32>,
}

/// One generation to run.
pub struct Request {
    /// The caller's name for it.
    pub id: RequestId,
    /// The prompt's token ids; at least one.
    pub prompt: Vec<u32>,
    /// The most tokens to generate; at least one.
    pub max_new_tokens: usize,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// What the draws depend on.
    pub random_key: RandomKey,
    /// Tokens that end the generation.
    pub eos: Arc<[u32]>,
    /// Ends the generation early.
    pub stop: Option<Box<dyn Stop>>,
    /// Odds to record.
    pub choices: Option<Arc<Choices>>,
}

/// Why a generation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// An end-of-sequence token; it is the last of the completion's tokens.
    EndOfSequence,
    /// The request's stop rule.
    Stop,
    /// `max_new_tokens` were generated.
    Length,
    /// The request could not be run; the text says why.
    Rejected(String),
}

/// One finished generation.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The request's name.
    pub id: RequestId,
    /// The prompt, handed back.
    pub prompt: Vec<u32>,
    /// The generated token ids.
    pub tokens: Vec<u32>,
    /// Odds of yes, `p(yes) / (p(yes) + p(no))` under the model's untempered distribution, for every generated token
    /// that is one of the request's choices: (index into `tokens`, odds), in order.
    pub odds: Vec<(usize, f32)>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Prompt tokens found in the prefix cache when the request was first admitted.
    pub cached_tokens: usize,
    /// When it was queued, admitted and answered.
    pub timing: Timing,
}

/// A request the engine is working on: its tokens, how far they are computed, and the KV blocks that hold them.
///
/// Of its `length()` tokens the first `computed` are in the cache or in a launched step, the next `scheduled` in the step
/// that is being planned, and the last `awaiting` are not known yet: launched steps are choosing them.
pub(super) struct Sequence {
    request: Request,
    block_size: usize,
    /// See [`Properties::short_context`](super::Properties::short_context).
    short_context: Option<usize>,
    /// Prompt and generated tokens.
    tokens: Vec<u32>,
    /// Its place in the order of admissions, ascending among the running; a new one each time it is admitted.
    admission: u64,
    /// Tokens whose keys and values are in the cache, or will be when the launched steps are done.
    computed: usize,
    /// Tokens of this sequence in the step that is being planned.
    scheduled: usize,
    /// Launched steps that were not booked yet and hold tokens of this sequence.
    launched: usize,
    /// Of these, steps that choose a token of it.
    awaiting: usize,
    /// The row of the last such step's `logits`.
    last_row: u32,
    /// Blocks that hold `computed + scheduled` tokens.
    blocks: Vec<BlockId>,
    /// Whether its positions are encoded as those of a long sequence.
    long: bool,
    /// Names of the full blocks of `tokens`.
    hashes: Vec<BlockHash>,
    /// Full blocks whose content was published, or found, in the prefix cache.
    published: usize,
    /// See [`Completion::cached_tokens`]; `None` until first admitted.
    cached_tokens: Option<usize>,
    odds: Vec<(usize, f32)>,
    timing: Timing,
}

/// A sequence's part in a launched step.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchedRow {
    /// Which sequence: [`Sequence::admission`].
    pub(super) admission: u64,
    /// Tokens of the sequence that are in the cache when the step is done.
    end: usize,
    /// Whether the step chooses its next token.
    pub(super) chooses: bool,
}

impl Sequence {
    pub(super) fn new(request: Request, block_size: usize, short_context: Option<usize>) -> Self {
        let now = Instant::now();
        let long = short_context.is_some_and(|short| request.prompt.len() > short);
        Self {
            block_size,
            short_context,
            tokens: request.prompt.clone(),
            admission: 0,
            computed: 0,
            scheduled: 0,
            launched: 0,
            awaiting: 0,
            last_row: 0,
            blocks: Vec::new(),
            long,
            hashes: BlockHash::chain_all(root(long), &request.prompt, block_size),
            published: 0,
            cached_tokens: None,
            odds: Vec::new(),
            timing: Timing {
                queued: now,
                admitted: None,
                first_token: None,
                finished: now,
            },
            request,
        }
    }

    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Names of the full blocks of the known tokens.
    pub(super) fn hashes(&self) -> &[BlockHash] {
        &self.hashes
    }

    /// Of these, those that are not in the prefix cache yet.
    pub(super) fn unpublished(&self) -> &[BlockHash] {
        &self.hashes[self.published..]
    }

    /// Names of the blocks that need not be computed if the prefix cache has them. The last token always goes through the
    /// model: its logits are wanted.
    pub(super) fn reusable(&self) -> &[BlockHash] {
        &self.hashes[..(self.tokens.len() - 1) / self.block_size]
    }

    /// Tokens that are known.
    pub(super) fn known(&self) -> usize {
        self.tokens.len()
    }

    /// Generated tokens that are known.
    pub(super) fn generated(&self) -> usize {
        self.tokens.len() - self.request.prompt.len()
    }

    /// Prompt tokens that the prefix cache held when the sequence was first admitted.
    pub(super) fn cached_tokens(&self) -> usize {
        self.cached_tokens.unwrap_or(0)
    }

    /// Tokens, those included that launched steps are choosing.
    fn length(&self) -> usize {
        self.tokens.len() + self.awaiting
    }

    /// The place of the token to be chosen next, counted from the first generated one.
    pub(super) fn position(&self) -> usize {
        self.length() - self.request.prompt.len()
    }

    /// True once the launched steps will have chosen all that may be generated.
    pub(super) fn is_complete(&self) -> bool {
        self.position() >= self.request.max_new_tokens
    }

    /// Tokens that still have to go through the model before the next one can be chosen.
    pub(super) fn pending(&self) -> usize {
        self.length() - self.computed
    }

    /// Whether its next token is to be chosen with positions that are encoded in another way than those that were computed.
    pub(super) fn has_outgrown(&self) -> bool {
        let short = |short| self.length() > short;
        !self.long && self.short_context.is_some_and(short) && !self.is_complete()
    }

    /// Its place in the order of admissions.
    pub(super) fn admission(&self) -> u64 {
        self.admission
    }

    /// Whether a launched step that was not booked yet holds tokens of it.
    pub(super) fn is_launched(&self) -> bool {
        self.launched > 0
    }

    /// Drops its part in the launched steps: they will not be booked.
    pub(super) fn forget_launched(&mut self) {
        (self.launched, self.awaiting) = (0, 0);
    }

    /// Admits it to the batch; the prefix cache held its first blocks, `found`.
    pub(super) fn admit(&mut self, admission: u64, found: Vec<BlockId>) {
        self.admission = admission;
        self.computed = found.len() * self.block_size;
        self.published = found.len();
        self.blocks = found;
        self.cached_tokens.get_or_insert(self.computed);
        self.timing.admitted.get_or_insert_with(Instant::now);
    }

    /// KV blocks it lacks for `tokens` more computed tokens.
    pub(super) fn missing_blocks(&self, tokens: usize) -> usize {
        let all = (self.computed + tokens).div_ceil(self.block_size);
        all.saturating_sub(self.blocks.len())
    }

    pub(super) fn add_block(&mut self, block: BlockId) {
        self.blocks.push(block);
    }

    /// Takes all its blocks, the last first: of equally old blocks the beginning, which others may share, is then evicted
    /// last.
    pub(super) fn take_blocks(&mut self) -> impl Iterator<Item = BlockId> {
        std::mem::take(&mut self.blocks).into_iter().rev()
    }

    /// Tokens in the step that is being planned.
    pub(super) fn scheduled(&self) -> usize {
        self.scheduled
    }

    /// Puts so many of its pending tokens into the step that is being planned.
    pub(super) fn schedule(&mut self, tokens: usize) {
        debug_assert_eq!(self.missing_blocks(tokens), 0);
        self.scheduled = tokens;
    }

    /// Packs its part of the planned step.
    pub(super) fn pack(&self, batch: &mut StepBatch) {
        let end = self.computed + self.scheduled;
        let blocks = &self.blocks[..end.div_ceil(self.block_size)];
        batch.rows.push(BatchRow {
            query_start: batch.tokens.len(),
            query_len: self.scheduled,
            context_len: end,
            blocks: blocks.to_vec(),
            long: self.long,
        });
        for position in self.computed..end {
            let token = self.tokens.get(position).copied();
            if token.is_none() {
                let index = batch.tokens.len() as u32;
                batch.from_previous.push((index, self.last_row));
            }
            batch.tokens.push(token.unwrap_or(0));
            batch.positions.push(position as u32);
            let (block, slot) = (position / self.block_size, position % self.block_size);
            batch
                .slots
                .push(blocks[block] * self.block_size as u32 + slot as u32);
        }
        if end == self.length() {
            batch.logits.push(batch.tokens.len() as u32 - 1);
        }
    }

    /// How its next token is to be chosen, if the planned step chooses it.
    pub(super) fn row_request(&self) -> Option<RowRequest<'_>> {
        let chooses = self.scheduled > 0 && self.scheduled == self.pending();
        chooses.then(|| RowRequest {
            sampling: self.request.sampling,
            key: self.request.random_key,
            position: self.position(),
            choices: self.request.choices.as_deref(),
        })
    }

    /// The planned step was launched: its tokens count as computed from here on. `row` is the row of the step's `logits` that
    /// would be its own. `None` if it has no part in the step.
    pub(super) fn launch(&mut self, row: u32) -> Option<LaunchedRow> {
        if self.scheduled == 0 {
            return None;
        }
        self.computed += std::mem::take(&mut self.scheduled);
        self.launched += 1;
        let chooses = self.pending() == 0;
        if chooses {
            self.awaiting += 1;
            self.last_row = row;
        }
        Some(LaunchedRow {
            admission: self.admission,
            end: self.computed,
            chooses,
        })
    }

    /// A launched step is done: `publish` is called with each block that it has filled.
    pub(super) fn book(&mut self, row: &LaunchedRow, mut publish: impl FnMut(BlockId, BlockHash)) {
        self.launched -= 1;
        self.awaiting -= usize::from(row.chooses);
        for full in self.published..row.end / self.block_size {
            publish(self.blocks[full], self.hashes[full]);
            self.published = full + 1;
        }
    }

    /// Appends the token that a step has chosen, known since `now`; returns why the sequence ends with it, if it does.
    pub(super) fn push(&mut self, chosen: Chosen, now: Instant) -> Option<FinishReason> {
        let Chosen { token, odds } = chosen;
        self.timing.first_token.get_or_insert(now);
        self.odds.extend(odds.map(|odds| (self.generated(), odds)));
        self.tokens.push(token);
        if self.tokens.len().is_multiple_of(self.block_size) {
            let block = &self.tokens[self.tokens.len() - self.block_size..];
            let parent = self.hashes.last().copied().or(root(self.long));
            self.hashes.push(BlockHash::chain(parent, block));
        }
        if self.request.eos.contains(&token) {
            return Some(FinishReason::EndOfSequence);
        }
        if let Some(stop) = &mut self.request.stop
            && stop.push(token)
        {
            return Some(FinishReason::Stop);
        }
        (self.generated() >= self.request.max_new_tokens).then_some(FinishReason::Length)
    }

    /// Has everything computed again, as a long sequence if it has become one. It holds no blocks.
    pub(super) fn restart(&mut self) {
        debug_assert!(self.blocks.is_empty() && !self.is_launched());
        (self.computed, self.scheduled, self.published) = (0, 0, 0);
        if self.has_outgrown() {
            self.long = true;
            self.hashes = BlockHash::chain_all(root(true), &self.tokens, self.block_size);
        }
    }

    pub(super) fn finish(mut self, finish: FinishReason) -> Completion {
        let tokens = self.tokens.split_off(self.request.prompt.len());
        Completion {
            id: self.request.id,
            prompt: self.request.prompt,
            tokens,
            odds: self.odds,
            finish,
            cached_tokens: self.cached_tokens.unwrap_or(0),
            timing: Timing {
                finished: Instant::now(),
                ..self.timing
            },
        }
    }
}

/// What the names of a sequence's blocks begin from.
fn root(long: bool) -> Option<BlockHash> {
    long.then_some(BlockHash::LONG)
}
