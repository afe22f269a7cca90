//! Which tokens go through the model next.
//!
//! One kind of step for everything: under a token budget, first one token for every sequence that is generating, then
//! chunks of prompts, then new sequences. A sequence is always "put `tokens[computed..]` through the model, then choose
//! the next", whether that is a whole prompt, a chunk, a single generated token, or the recomputation of a preempted
//! sequence.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use super::block_pool::{BlockHash, BlockId, BlockPool};
use super::sampler::RowRequest;
use super::sequence::{Completion, FinishReason, Request, Sequence};
use crate::model::batch::{BatchRow, StepBatch};

/// The scheduler's limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most tokens a step; at least `max_sequences`, so that every running sequence gets its token.
    pub token_budget: usize,
    /// Most sequences at once.
    pub max_sequences: usize,
    /// Most tokens of one prompt a step.
    pub max_prefill_chunk: usize,
    /// Most tokens of a sequence, prompt and completion together.
    pub context_length: usize,
    /// See [`Properties::short_context`](super::Properties::short_context).
    pub short_context: Option<usize>,
}

/// What a step could be planned to do.
#[derive(Debug)]
pub enum Plan {
    /// This.
    Step(StepBatch),
    /// Nothing: no sequence has tokens that could go through the model now.
    Nothing,
    /// Nothing yet: a sequence must be preempted, which cannot be while a step is under way.
    Short,
}

/// Waiting and running sequences, and the blocks they use.
pub struct Scheduler {
    pub(super) limits: Limits,
    pub(super) pool: BlockPool,
    pub(super) waiting: VecDeque<Sequence>,
    /// In order of admission: the newest is preempted first.
    pub(super) running: Vec<Sequence>,
    /// Blocks of sequences that finished while a further step with them was under way; free when it is done.
    pub(super) leaving: Vec<BlockId>,
    /// Content that stays in the cache whatever happens.
    pub(super) pinned: HashSet<BlockHash>,
    /// Blocks kept free when a sequence is admitted beside others, so that those can grow before anyone is preempted.
    pub(super) watermark: usize,
    /// Blocks that the largest of the requests so far may need.
    pub(super) largest_need: usize,
    admissions: u64,
    pub(super) preemptions: u64,
    /// Tokens chosen for sequences that had ended with the token before.
    pub(super) discarded: u64,
}

impl Scheduler {
    /// A scheduler over an empty pool; the full blocks of `pinned` are never evicted once computed.
    pub fn new(limits: Limits, pool: BlockPool, pinned: &[u32]) -> Self {
        // Long sequences have a template of their own.
        let long = limits.short_context.map(|_| Some(BlockHash::LONG));
        let pinned = std::iter::once(None)
            .chain(long)
            .flat_map(|root| BlockHash::chain_all(root, pinned, pool.block_size()))
            .collect();
        let watermark = watermark(&pool);
        Self {
            limits,
            pool,
            waiting: VecDeque::new(),
            running: Vec::new(),
            pinned,
            watermark,
            leaving: Vec::new(),
            largest_need: 0,
            admissions: 0,
            preemptions: 0,
            discarded: 0,
        }
    }

    /// Goes on with a pool of `blocks` blocks that holds nothing; no sequence is running.
    pub(super) fn replace_pool(&mut self, blocks: usize) {
        self.pool = BlockPool::new(blocks, self.pool.block_size(), self.pool.caching());
        self.watermark = watermark(&self.pool);
    }

    /// Queues a request; one that can never run comes straight back.
    pub fn add(&mut self, request: Request) -> Option<Completion> {
        let length = request.prompt.len() + request.max_new_tokens;
        let sequence = Sequence::new(request, self.pool.block_size(), self.limits.short_context);
        let shared = sequence
            .hashes
            .iter()
            .take_while(|hash| self.pinned.contains(hash))
            .count();
        let need = self.pool.blocks_for(length) + self.pinned.len() - shared;
        let refusal = if sequence.request.prompt.is_empty() {
            "the prompt is empty".to_owned()
        } else if sequence.request.max_new_tokens == 0 {
            "no token may be generated".to_owned()
        } else if length > self.limits.context_length {
            format!(
                "{} prompt tokens and up to {} new ones exceed the context of {}",
                sequence.request.prompt.len(),
                sequence.request.max_new_tokens,
                self.limits.context_length
            )
        } else if need > self.pool.len() {
            format!(
                "the sequence needs up to {need} KV blocks and there are {}",
                self.pool.len()
            )
        } else {
            self.largest_need = self.largest_need.max(need);
            self.waiting.push_back(sequence);
            return None;
        };
        Some(sequence.finish(FinishReason::Rejected(refusal)))
    }

    /// Token positions a block.
    pub fn block_size(&self) -> usize {
        self.pool.block_size()
    }

    /// Sequences that wait to be admitted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Sequences that hold blocks.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// KV blocks there are, and of these in use.
    pub fn blocks(&self) -> (usize, usize) {
        (self.pool.len(), self.pool.len() - self.pool.free())
    }

    /// Plans a step. Sequences whose next token a launched step is still choosing go on as if it were known and not
    /// their last. While a step is under way nobody may be preempted.
    pub fn schedule(&mut self, may_preempt: bool) -> Plan {
        for sequence in &mut self.running {
            sequence.scheduled = 0;
        }
        if let Some(short) = self.limits.short_context {
            self.restart_outgrown(short);
        }
        let preemptions = self.preemptions;
        let mut budget = self.limits.token_budget;
        for decoding in [true, false] {
            if !self.schedule_running(&mut budget, decoding, may_preempt) {
                return Plan::Short;
            }
        }
        // Who was just preempted would be let in again only to be thrown out again.
        if self.preemptions == preemptions {
            self.admit(&mut budget);
        }
        let batch = self.batch();
        if batch.tokens.is_empty() {
            Plan::Nothing
        } else {
            Plan::Step(batch)
        }
    }

    /// Has running sequences computed again that outgrew the short context: they wait in front. One whose token is still
    /// being chosen waits for it first.
    fn restart_outgrown(&mut self, short: usize) {
        for index in (0..self.running.len()).rev() {
            let sequence = &self.running[index];
            if sequence.launched == 0 && sequence.has_outgrown(short) {
                let sequence = self.running.remove(index);
                self.requeue(sequence);
            }
        }
    }

    /// Takes a sequence's blocks and puts it in front of those that wait.
    fn requeue(&mut self, mut sequence: Sequence) {
        Self::release_blocks(&mut self.pool, &mut sequence);
        sequence.restart(self.pool.block_size(), self.limits.short_context);
        self.waiting.push_front(sequence);
    }

    /// Gives tokens to the running sequences, oldest first: to those with one token pending, or to those with more.
    /// False if one of them lacks a block and nobody may be preempted for it.
    fn schedule_running(&mut self, budget: &mut usize, decoding: bool, may_preempt: bool) -> bool {
        let mut index = 0;
        while index < self.running.len() {
            let sequence = &self.running[index];
            let pending = sequence.pending();
            let tokens = pending.min(*budget).min(self.limits.max_prefill_chunk);
            let outgrown = |short| sequence.has_outgrown(short);
            let wanted = (pending == 1) == decoding
                && !sequence.is_complete()
                && !self.limits.short_context.is_some_and(outgrown);
            if sequence.scheduled > 0 || !wanted || tokens == 0 {
                index += 1;
                continue;
            }
            let blocks = self.pool.blocks_for(sequence.computed + tokens);
            let mut preempted_itself = false;
            while self.running[index].blocks.len() < blocks {
                if let Some(block) = self.pool.allocate() {
                    self.running[index].blocks.push(block);
                } else if !may_preempt {
                    return false;
                } else {
                    *budget += self.preempt_newest();
                    if index == self.running.len() {
                        preempted_itself = true;
                        break;
                    }
                }
            }
            if !preempted_itself {
                self.running[index].scheduled = tokens;
                *budget -= tokens;
                index += 1;
            }
        }
        true
    }

    /// Takes the blocks of the newest running sequence, which then waits in front. Returns the tokens it had in this step.
    pub(super) fn preempt_newest(&mut self) -> usize {
        let Some(mut sequence) = self.running.pop() else {
            return 0;
        };
        let scheduled = std::mem::take(&mut sequence.scheduled);
        debug_assert_eq!(sequence.launched, 0, "preempted while a step is under way");
        self.preemptions += 1;
        self.requeue(sequence);
        scheduled
    }

    /// Tail first, so that of equally old blocks the beginning, which others may share, is evicted last.
    pub(super) fn release_blocks(pool: &mut BlockPool, sequence: &mut Sequence) {
        while let Some(block) = sequence.blocks.pop() {
            pool.release(block);
        }
    }

    /// Admits waiting sequences in order while there is room.
    ///
    /// A sequence whose next uncached block is being computed by another one steps aside until that block can be
    /// shared: a common prefix is computed once even when all its users arrive together.
    fn admit(&mut self, budget: &mut usize) {
        if self.waiting.is_empty()
            || *budget == 0
            || self.running.len() >= self.limits.max_sequences
        {
            return;
        }
        let mut computing: HashSet<BlockHash> = HashSet::new();
        for sequence in self
            .running
            .iter()
            .filter(|sequence| sequence.pending() > 1 || sequence.launched > 0)
        {
            computing.extend(&sequence.hashes[sequence.published..]);
        }
        let mut index = 0;
        while index < self.waiting.len()
            && index < self.limits.max_sequences
            && *budget > 0
            && self.running.len() < self.limits.max_sequences
        {
            let sequence = &self.waiting[index];
            // The last token always goes through the model: its logits are wanted.
            let reusable = (sequence.tokens.len() - 1) / self.pool.block_size();
            let found: Vec<_> = sequence.hashes[..reusable]
                .iter()
                .map_while(|&hash| self.pool.find(hash))
                .collect();
            // Without a cache there is nothing to wait for.
            if self.pool.caching()
                && found.len() < reusable
                && computing.contains(&sequence.hashes[found.len()])
            {
                index += 1;
                continue;
            }
            let need = self.pool.blocks_for(sequence.tokens.len()) - found.len();
            let found_free = found
                .iter()
                .filter(|&&block| self.pool.is_free(block))
                .count();
            let reserve = if self.running.is_empty() {
                0
            } else {
                self.watermark
            };
            if self.pool.free() - found_free < need + reserve {
                return;
            }
            let Some(mut sequence) = self.waiting.remove(index) else {
                return;
            };
            for &block in &found {
                self.pool.retain(block);
            }
            sequence.computed = found.len() * self.pool.block_size();
            sequence.published = found.len();
            sequence.blocks = found;
            // `need` blocks are free: counted above, after taking the found ones out.
            sequence
                .blocks
                .extend((0..need).map_while(|_| self.pool.allocate()));
            debug_assert_eq!(
                sequence.blocks.len(),
                self.pool.blocks_for(sequence.tokens.len())
            );
            sequence.cached_tokens.get_or_insert(sequence.computed);
            sequence.timing.admitted.get_or_insert_with(Instant::now);
            sequence.scheduled = sequence
                .pending()
                .min(*budget)
                .min(self.limits.max_prefill_chunk);
            *budget -= sequence.scheduled;
            computing.extend(&sequence.hashes[sequence.published..]);
            sequence.admission = self.admissions;
            self.admissions += 1;
            self.running.push(sequence);
        }
    }

    /// Packs the scheduled tokens.
    fn batch(&self) -> StepBatch {
        let mut batch = StepBatch::default();
        let block_size = self.pool.block_size();
        for sequence in self
            .running
            .iter()
            .filter(|sequence| sequence.scheduled > 0)
        {
            let end = sequence.computed + sequence.scheduled;
            let blocks = &sequence.blocks[..self.pool.blocks_for(end)];
            batch.rows.push(BatchRow {
                query_start: batch.tokens.len(),
                query_len: sequence.scheduled,
                context_len: end,
                blocks: blocks.to_vec(),
                long: sequence.long,
            });
            for position in sequence.computed..end {
                let token = sequence.tokens.get(position).copied();
                if token.is_none() {
                    let index = batch.tokens.len() as u32;
                    batch.from_previous.push((index, sequence.last_row));
                }
                batch.tokens.push(token.unwrap_or(0));
                batch.positions.push(position as u32);
                batch.slots.push(
                    blocks[position / block_size] * block_size as u32
                        + (position % block_size) as u32,
                );
            }
            if end == sequence.length() {
                batch.logits.push(batch.tokens.len() as u32 - 1);
            }
        }
        batch
    }

    /// What the planned step is to choose, in the order of the batch's `logits`.
    pub(super) fn row_requests(&self) -> Vec<RowRequest<'_>> {
        self.running
            .iter()
            .filter(|sequence| sequence.scheduled > 0 && sequence.scheduled == sequence.pending())
            .map(|sequence| RowRequest {
                sampling: sequence.request.sampling,
                key: sequence.request.random_key,
                position: sequence.position(),
                choices: sequence.request.choices.as_deref(),
            })
            .collect()
    }

    /// Tokens of the planned step: of prompts and recomputation, and of sequences that are generating.
    pub(super) fn prefill_and_decode_tokens(&self) -> (usize, usize) {
        let (mut prefill, mut decode) = (0, 0);
        for sequence in &self.running {
            if sequence.position() > 0 && sequence.pending() == 1 {
                decode += sequence.scheduled;
            } else {
                prefill += sequence.scheduled;
            }
        }
        (prefill, decode)
    }
}

fn watermark(pool: &BlockPool) -> usize {
    (pool.len() / 100).max(1)
}
