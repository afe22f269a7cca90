//! Which tokens go through the model next.
//!
//! There is one kind of step for everything: under a token budget, first one token for every sequence that is generating,
//! then chunks of prompts, then new sequences. Each sequence always needs the same, "put the pending tokens through the
//! model, then choose the next", whether that is a whole prompt, a chunk, a single generated token, or the recomputation of
//! a preempted sequence.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use super::block_pool::{BlockHash, BlockId, BlockPool};
use super::core::EngineConfig;
use super::drafts::{Drafting, Drafts};
use super::sampler::RowRequest;
use super::sequence::{Completion, FinishReason, LaunchedRow, Request, Sequence};
use super::state_pool::StatePool;
use super::step_model::Properties;
use super::windows::WindowedPool;
use crate::model::attention::WindowedCache;
use crate::model::batch::StepBatch;

/// With drafts a step has logits of this many places, or of as many as it may have sequences if these are more: memory is planned
/// for the sequences, and this many take little.
const CHOICES: usize = 32;

/// The fewest tokens that a step is limited to when memory runs out.
const SMALLEST_STEP: usize = 16;

#[derive(Debug)]
pub(super) enum Plan {
    Step(StepBatch),
    /// No step: no sequence has tokens that can go through the model now.
    Nothing,
    /// No step yet: a sequence must be preempted, which has to wait until no step is in flight.
    NeedsPreemption,
}

/// While there are other requests, those in the background have their next part in a step when the others have computed so many times
/// the tokens of the last.
const OTHERS_SHARE: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct StepSize {
    pub(super) rows: usize,
    /// Tokens of prompts, and of sequences that are recomputed.
    pub(super) prefill_tokens: usize,
    /// Generated tokens put through to get the next one, and the drafts after them.
    pub(super) decode_tokens: usize,
    /// Of these, drafts.
    pub(super) drafted_tokens: usize,
}

impl StepSize {
    pub(super) fn tokens(&self) -> usize {
        self.prefill_tokens + self.decode_tokens
    }
}

/// Waiting and running sequences, and the blocks they use.
///
/// Every block in use belongs to running sequences, to sequences in `leaving`, or is pinned. Running sequences are in the
/// order of their admission, and so are the rows of every step.
pub(super) struct Scheduler {
    /// Whether requests in the background stand back: the time of a step of the host grows with its rows, that of a device hardly does.
    rows_cost: bool,
    /// Tokens that others are to compute before requests in the background have a part again.
    owed: usize,
    /// The most tokens in a step; at least `max_sequences`, so that every running sequence gets its token.
    token_budget: usize,
    max_sequences: usize,
    max_prefill_chunk: usize,
    context_length: usize,
    short_context: Option<usize>,
    pool: BlockPool,
    /// The blocks of layers with windows, if these are others.
    windowed: Option<WindowedPool>,
    waiting: VecDeque<Sequence>,
    /// In order of admission: the newest is preempted first.
    running: Vec<Sequence>,
    /// Blocks of sequences that finished while a further step of theirs was in flight; freed when that is done.
    leaving: Vec<BlockId>,
    /// Hashes of blocks that stay in the cache once they are computed.
    pinned: HashSet<BlockHash>,
    /// Recurrent states, if the model has recurrent layers.
    states: Option<StatePool>,
    /// Hashes of the last pinned blocks, whose snapshots stay too.
    pinned_ends: Vec<BlockHash>,
    /// Blocks kept free when a sequence is admitted beside others, so that those can grow without preemption.
    watermark: usize,
    /// The most blocks that any request so far may need.
    largest_need: usize,
    admissions: u64,
    preemptions: u64,
    /// Tokens chosen for sequences that had already ended.
    discarded: u64,
    drafting: Drafting,
    accepted: u64,
}

impl Scheduler {
    /// A scheduler over an empty pool of `blocks` blocks; the full blocks of the pinned prefix are never evicted once
    /// computed. The rest depends on the model's `properties`.
    pub(super) fn new(config: &EngineConfig, blocks: usize, properties: Properties) -> Self {
        let Properties {
            short_context,
            lazy_cache,
            async_scheduling,
            states,
            windowed,
            ..
        } = properties;
        // How many drafts are accepted is not known yet when the next step is planned, and a recurrent state that has taken in
        // one which is not cannot go back.
        let drafts = if async_scheduling || states.is_some() {
            Drafts::Off
        } else {
            config.drafts
        };
        let pool = BlockPool::new(blocks, config.block_size, config.prefix_cache).lazy(lazy_cache);
        let pinned = if config.prefix_cache {
            config.pinned_prefix.as_slice()
        } else {
            &[]
        };
        // Long sequences have other keys and values, so the pinned prefix has blocks of its own for them.
        let long = short_context.map(|_| Some(BlockHash::LONG));
        let pinned: Vec<_> = std::iter::once(None)
            .chain(long)
            .map(|root| BlockHash::chain_all(root, pinned, config.block_size))
            .collect();
        Self {
            rows_cost: !async_scheduling,
            owed: 0,
            token_budget: config.token_budget.max(config.max_sequences),
            max_sequences: config.max_sequences,
            max_prefill_chunk: config.max_prefill_chunk,
            context_length: config.context_length,
            short_context,
            watermark: watermark(&pool),
            windowed: windowed.map(|cache| WindowedPool::new(cache, &pool, &pinned)),
            pool,
            waiting: VecDeque::new(),
            running: Vec::new(),
            leaving: Vec::new(),
            states: states.map(StatePool::new),
            pinned_ends: pinned
                .iter()
                .filter_map(|hashes| hashes.last().copied())
                .collect(),
            pinned: pinned.into_iter().flatten().collect(),
            largest_need: 0,
            admissions: 0,
            preemptions: 0,
            discarded: 0,
            drafting: Drafting::new(drafts),
            accepted: 0,
        }
    }

    /// Takes the first blocks for those of the pinned prefix, whose keys and values they hold already. Nothing was scheduled yet.
    pub(super) fn adopt_pinned(&mut self, prefix: &[u32]) {
        for name in BlockHash::chain_all(None, prefix, self.pool.block_size()) {
            // It stays in use: that pins it.
            if let Some(block) = self.pool.allocate() {
                self.pool.publish(block, name);
            }
        }
    }

    /// Queues a request; one that can never run is returned at once as rejected.
    pub(super) fn add(&mut self, request: Request) -> Option<Completion> {
        let (prompt, new) = (request.prompt.len(), request.max_new_tokens);
        let mut sequence = Sequence::new(request, self.pool.block_size(), self.short_context);
        if let Some(reason) = sequence.ended() {
            return Some(sequence.finish(reason));
        }
        let shared = sequence
            .hashes()
            .iter()
            .take_while(|hash| self.pinned.contains(hash))
            .count();
        let need = self.pool.blocks_for(prompt + new) + self.pinned.len() - shared;
        let windowed = self.windowed.as_ref();
        let windowed = windowed.map(|windowed| {
            let need = windowed.need(prompt + new, self.in_flight());
            (need, windowed.pool.len())
        });
        let context = self.context_length;
        let too_few = |need, place, there| {
            FinishReason::TooLong(format!(
                "the sequence needs up to {need} KV blocks{place} and there are {there}: give a larger --kv-blocks, or a \
                 smaller --max-new-tokens"
            ))
        };
        let refusal = if prompt == 0 {
            FinishReason::Rejected("the prompt is empty".to_owned())
        } else if new == 0 {
            FinishReason::Rejected("no token may be generated".to_owned())
        } else if prompt + new > context {
            FinishReason::TooLong(format!(
                "{prompt} prompt tokens and up to {new} new ones exceed the context of {context}"
            ))
        } else if need > self.pool.len() {
            too_few(need, "", self.pool.len())
        } else if let Some((need, there)) = windowed.filter(|(need, there)| need > there) {
            too_few(need, " in layers with windows", there)
        } else {
            self.largest_need = self.largest_need.max(need);
            self.waiting.push_back(sequence);
            return None;
        };
        Some(sequence.finish(refusal))
    }

    /// The most tokens of one sequence in flight: of two steps under asynchronous scheduling, where rows cost nothing.
    fn in_flight(&self) -> usize {
        let chunk = self.max_prefill_chunk.min(self.token_budget);
        if self.rows_cost { chunk } else { 2 * chunk }
    }

    /// The number of sequences that wait to be admitted.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn blocks(&self) -> usize {
        self.pool.len()
    }

    /// KV blocks that were ever used.
    pub(super) fn touched_blocks(&self) -> usize {
        self.pool.touched()
    }

    pub(super) fn used_blocks(&self) -> usize {
        self.pool.len() - self.pool.free()
    }

    /// The most blocks that any request so far may need.
    pub(super) fn largest_need(&self) -> usize {
        self.largest_need
    }

    pub(super) fn preemptions(&self) -> u64 {
        self.preemptions
    }

    /// Tokens chosen so far for sequences that had already ended.
    pub(super) fn discarded(&self) -> u64 {
        self.discarded
    }

    pub(super) fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Takes in how long the model took for a step.
    pub(super) fn measured(&mut self, size: StepSize, model: Duration) {
        self.drafting.measured(size, model);
    }

    /// Plans a step. A sequence whose next token a launched step is still choosing is planned as if that token were known
    /// and not its last. While a step is in flight, `may_preempt` must be false.
    pub(super) fn schedule(&mut self, may_preempt: bool) -> Plan {
        let stands_back = self.rows_cost && self.owed > 0 && self.has_others();
        let plan = match self.plan(may_preempt, stands_back) {
            // For want of memory the others could have no part.
            Plan::Nothing if stands_back => self.plan(may_preempt, false),
            plan => plan,
        };
        let [mut others, mut background] = [0, 0];
        for sequence in self.scheduled() {
            let tokens = if sequence.request().background {
                &mut background
            } else {
                &mut others
            };
            *tokens += sequence.scheduled();
        }
        self.owed = match background {
            0 => self.owed.saturating_sub(others),
            tokens => OTHERS_SHARE * tokens,
        };
        plan
    }

    /// Plans a step; requests in the background have a part in it, and are admitted, unless they stand back.
    fn plan(&mut self, may_preempt: bool, stands_back: bool) -> Plan {
        for sequence in &mut self.running {
            sequence.schedule(0);
            if let (Some(states), Some(slot)) = (&mut self.states, sequence.take_save()) {
                states.free(slot);
            }
        }
        self.restart();
        let preemptions = self.preemptions;
        let mut budget = self.token_budget;
        for decoding in [true, false] {
            if !self.schedule_running(
                |sequence| stands_back && sequence.request().background,
                &mut budget,
                decoding,
                may_preempt,
            ) {
                return Plan::NeedsPreemption;
            }
        }
        // After a preemption nothing is admitted: it would be preempted in turn.
        if self.preemptions == preemptions {
            self.admit(&mut budget, stands_back);
        }
        self.draft(budget);
        self.plan_snapshots();
        let mut batch = StepBatch::default();
        for sequence in self.scheduled() {
            sequence.pack(&mut batch);
        }
        if batch.tokens.is_empty() {
            Plan::Nothing
        } else {
            Plan::Step(batch)
        }
    }

    fn scheduled(&self) -> impl Iterator<Item = &Sequence> {
        let running = self.running.iter();
        running.filter(|sequence| sequence.scheduled() > 0)
    }

    /// The rows that the planned step is to choose tokens for, in the order of the batch's `logits`; `None` if a row depends on a
    /// token that a launched step is choosing.
    pub(super) fn row_requests(&self) -> Option<Vec<RowRequest<'_>>> {
        if self.running.iter().any(Sequence::waits_for_mask) {
            return None;
        }
        let running = self.running.iter();
        Some(running.flat_map(Sequence::row_requests).collect())
    }

    /// The rows that a launched step is to choose tokens for, now that those of the steps before it are known.
    pub(super) fn late_requests(&self, rows: &[LaunchedRow]) -> Vec<RowRequest<'_>> {
        let mut running = self.running.iter().peekable();
        let choosing = rows.iter().filter(|row| row.choices > 0);
        let request = |row: &LaunchedRow| {
            // Rows and running sequences are both in the order of admission.
            while running
                .next_if(|sequence| sequence.admission() < row.admission)
                .is_some()
            {}
            match running.peek() {
                Some(sequence) if sequence.admission() == row.admission => {
                    sequence.late_request(row)
                }
                _ => RowRequest::ANY,
            }
        };
        choosing.map(request).collect()
    }

    pub(super) fn step_size(&self) -> StepSize {
        let mut size = StepSize {
            rows: 0,
            prefill_tokens: 0,
            decode_tokens: 0,
            drafted_tokens: 0,
        };
        for sequence in self.scheduled() {
            size.rows += 1;
            if sequence.position() > 0 && sequence.pending() == 1 {
                size.decode_tokens += sequence.scheduled() + sequence.drafted();
                size.drafted_tokens += sequence.drafted();
            } else {
                size.prefill_tokens += sequence.scheduled();
            }
        }
        size
    }

    /// Has the planned step save the states that are wanted where its rows end, as far as there are slots.
    fn plan_snapshots(&mut self) {
        let Some(states) = &mut self.states else {
            return;
        };
        for sequence in &mut self.running {
            let wanted = sequence.wanted_snapshot();
            if let Some(slot) = wanted.and_then(|name| states.take_saving(name)) {
                sequence.save_to(slot);
            }
        }
    }

    /// Gives up the recurrent states of the sequences in the planned step, which failed.
    pub(super) fn lose_states(&mut self) {
        for sequence in &mut self.running {
            if sequence.scheduled() > 0 {
                sequence.lose_state();
            }
        }
    }

    /// Requeues running sequences that must be computed anew: that have outgrown the short context, to be recomputed as long
    /// ones, or whose recurrent state has taken in too much. They go to the front of the queue. One with a step in flight waits
    /// for that first.
    fn restart(&mut self) {
        for index in (0..self.running.len()).rev() {
            let sequence = &self.running[index];
            if !sequence.is_launched() && sequence.must_restart() {
                let sequence = self.running.remove(index);
                self.requeue(sequence);
            }
        }
    }

    /// Releases a sequence's blocks and puts it at the front of the queue.
    fn requeue(&mut self, mut sequence: Sequence) {
        self.pool.release_all(sequence.take_blocks());
        if let Some((windowed, table)) = self.windowed.as_mut().zip(sequence.take_windowed()) {
            windowed.take_back(table, false);
        }
        give_back(&mut self.states, &mut sequence);
        sequence.restart();
        self.waiting.push_front(sequence);
    }

    /// Whether a request that is not in the background waits, or can go on.
    fn has_others(&self) -> bool {
        let running = self.running.iter();
        let mut others = running
            .filter(|sequence| !sequence.is_complete() && !sequence.must_restart())
            .chain(&self.waiting);
        others.any(|sequence| !sequence.request().background)
    }

    /// Gives tokens to the running sequences, oldest first: to those with one pending token if `decoding`, else to those
    /// with more; `left_out` says of which to none. Returns false if one of them lacks a block and preemption is not allowed.
    fn schedule_running(
        &mut self,
        left_out: impl Fn(&Sequence) -> bool,
        budget: &mut usize,
        decoding: bool,
        may_preempt: bool,
    ) -> bool {
        let mut index = 0;
        while let Some(sequence) = self.running.get(index) {
            let pending = sequence.pending();
            let tokens = pending
                .min(*budget)
                .min(self.max_prefill_chunk)
                .min(sequence.to_border());
            let wanted =
                (pending == 1) == decoding && !sequence.is_complete() && !sequence.must_restart();
            if sequence.scheduled() > 0 || !wanted || tokens == 0 || left_out(sequence) {
                index += 1;
                continue;
            }
            // If the sequence is itself the newest, it is the one preempted, and the loop ends.
            while let Some(sequence) = self.running.get_mut(index) {
                let lacks = sequence.missing_blocks(tokens) > 0;
                if !lacks && sequence.missing_windowed(tokens) == 0 {
                    sequence.schedule(tokens);
                    *budget -= tokens;
                    index += 1;
                    break;
                }
                let found = if lacks {
                    let block = self.pool.allocate();
                    block.map(|block| sequence.add_block(block))
                } else {
                    let windowed = self.windowed.as_mut();
                    windowed.and_then(|windowed| windowed.extend(sequence))
                };
                if found.is_some() {
                    continue;
                }
                if may_preempt {
                    *budget += self.preempt_newest();
                } else {
                    return false;
                }
            }
        }
        true
    }

    /// Preempts the newest running sequence: its blocks are released, and it goes to the front of the queue. Returns the
    /// tokens it had in this step.
    fn preempt_newest(&mut self) -> usize {
        let Some(sequence) = self.running.pop() else {
            return 0;
        };
        let scheduled = sequence.scheduled();
        self.preemptions += 1;
        self.requeue(sequence);
        scheduled
    }

    /// Admits waiting sequences in order while there is room.
    ///
    /// A sequence whose next uncached block is being computed by another one steps aside until that block can be
    /// shared: a common prefix is computed once even when all its users arrive together. Those in the background step aside while they
    /// stand back.
    fn admit(&mut self, budget: &mut usize, stands_back: bool) {
        if self.waiting.is_empty() || *budget == 0 || self.running.len() >= self.max_sequences {
            return;
        }
        let left_out = |sequence: &Sequence| stands_back && sequence.request().background;
        let mut computing: HashSet<BlockHash> = HashSet::new();
        for sequence in self.running.iter().filter(|sequence| !left_out(sequence)) {
            if sequence.pending() > 1 || sequence.is_launched() {
                computing.extend(sequence.shareable());
            }
        }
        let mut index = 0;
        while index < self.waiting.len().min(self.max_sequences)
            && *budget > 0
            && self.running.len() < self.max_sequences
        {
            let sequence = &self.waiting[index];
            if left_out(sequence) {
                index += 1;
                continue;
            }
            let reusable = sequence.reusable();
            let mut found: Vec<_> = reusable
                .iter()
                .map_while(|&hash| self.pool.find(hash))
                .collect();
            if let Some(windowed) = &self.windowed {
                found.truncate(windowed.reusable(&reusable[..found.len()]));
            }
            let cached = found.len();
            let mut source = None;
            // What it would go on from: the next block, or with a recurrent state any snapshot after the last that there is.
            let mut next = cached..reusable.len().min(cached + 1);
            if let Some(states) = &self.states {
                let snapshot = |blocks: &usize| states.find(reusable[blocks - 1]);
                let blocks = (1..=cached).rev().find(|blocks| snapshot(blocks).is_some());
                source = blocks.as_ref().and_then(snapshot);
                found.truncate(blocks.unwrap_or(0));
                next = found.len()..reusable.len();
            }
            // Without a prefix cache there is nothing to wait for.
            let mut next = reusable[next].iter();
            if self.pool.caching() && next.any(|hash| computing.contains(hash)) {
                index += 1;
                continue;
            }
            let need = self.pool.blocks_for(sequence.known()) - found.len();
            let free = |block: &&BlockId| self.pool.is_free(**block);
            let found_free = found.iter().filter(free).count();
            let reserve = if self.running.is_empty() {
                0
            } else {
                self.watermark
            };
            if self.pool.free() - found_free < need + reserve {
                return;
            }
            let names = reusable[..found.len()].to_vec();
            if let Some(windowed) = &self.windowed {
                let need = windowed.most_used(sequence.known(), self.in_flight());
                if windowed.pool.free() < need + reserve.min(1) {
                    return;
                }
            }
            let mut slot = None;
            if let Some(states) = &mut self.states {
                if let Some(source) = source {
                    states.retain(source);
                }
                slot = states.take_live();
                if slot.is_none() {
                    if let Some(source) = source {
                        states.release(source);
                    }
                    return;
                }
            }
            let Some(mut sequence) = self.waiting.remove(index) else {
                return;
            };
            for &block in &found {
                self.pool.retain(block);
            }
            let junction = (cached > found.len()).then_some(cached);
            let table = self.windowed.as_mut();
            let table = table.map(|windowed| windowed.table(&names));
            sequence.admit(self.admissions, found, table);
            if let Some(slot) = slot {
                let pinned_end = |hash: &BlockHash| self.pinned_ends.contains(hash);
                let caching = self.pool.caching();
                sequence.admit_state(slot, source, pinned_end, junction, caching);
            }
            self.admissions += 1;
            // `need` blocks are free: counted above, after taking the found ones out.
            for block in (0..need).map_while(|_| self.pool.allocate()) {
                sequence.add_block(block);
            }
            let tokens = sequence.pending().min(*budget).min(self.max_prefill_chunk);
            let tokens = tokens.min(sequence.to_border());
            if let Some(windowed) = &mut self.windowed {
                // So many are free, as above.
                while sequence.missing_windowed(tokens) > 0
                    && windowed.extend(&mut sequence).is_some()
                {}
            }
            sequence.schedule(tokens);
            *budget -= sequence.scheduled();
            computing.extend(sequence.shareable());
            self.running.push(sequence);
        }
    }

    /// Adds drafts to a step of generated tokens alone, as far as the token budget reaches. They take no block, so no sequence is
    /// preempted and no prefix evicted for them, and no prompt is in the step, so none waits for them.
    fn draft(&mut self, budget: usize) {
        let size = self.step_size();
        if size.rows == 0 || size.prefill_tokens > 0 {
            return;
        }
        let depth = self.drafting.depth(size.rows);
        let choices = self.max_sequences.max(CHOICES);
        let mut most = budget.min(choices.saturating_sub(size.rows));
        let scheduled = self.running.iter_mut();
        for sequence in scheduled.filter(|sequence| sequence.scheduled() > 0) {
            if most == 0 || depth == [0; 2] {
                break;
            }
            sequence.draft(depth, most);
            most -= sequence.drafted();
        }
    }

    /// Counts the tokens of the planned step as computed, now that it was launched; `late` says whether it is told later what to
    /// choose from. Returns its rows, for [`Self::update`].
    pub(super) fn launched(&mut self, late: bool) -> Vec<LaunchedRow> {
        let mut rows = Vec::with_capacity(self.running.len());
        let mut choosing = 0;
        for sequence in &mut self.running {
            if let Some(row) = sequence.launch(choosing, late) {
                choosing += row.choices as u32;
                rows.push(row);
                // Steps are computed in order, so what later ones write is no concern of this one.
                if let (Some(states), Some(source)) = (&mut self.states, sequence.take_source()) {
                    states.release(source);
                }
            }
        }
        rows
    }

    /// Updates sequences with a step that is done; steps are taken in the order of their launches. `next` appends the token
    /// chosen in row `n` of the step's `logits` and decides whether the sequence ends with it. Returns the sequences that
    /// ended. After a draft it is called only if that was accepted.
    ///
    /// Tokens chosen for a sequence that had ended before the step was done are dropped.
    pub(super) fn update(
        &mut self,
        rows: &[LaunchedRow],
        mut next: impl FnMut(&mut Sequence, usize) -> Option<FinishReason>,
    ) -> Vec<Completion> {
        // Blocks of sequences that ended while this step was in flight: it was their last.
        let leaving = std::mem::take(&mut self.leaving);
        let windowed = self.windowed.as_mut();
        let leaving_windowed = windowed.map(WindowedPool::take_leaving);
        let mut finished = Vec::new();
        let mut chosen = 0;
        let mut index = 0;
        for row in rows {
            let number = chosen;
            chosen += row.choices;
            if let (Some(states), Some((slot, name))) = (&mut self.states, row.save) {
                states.publish(slot, name, self.pinned_ends.contains(&name));
            }
            // Rows and running sequences are both in the order of admission.
            let before = |sequence: &Sequence| sequence.admission() < row.admission;
            while self.running.get(index).is_some_and(before) {
                index += 1;
            }
            let Some(sequence) = self
                .running
                .get_mut(index)
                .filter(|sequence| sequence.admission() == row.admission)
            else {
                self.discarded += 1;
                continue;
            };
            let mut publish = |block, windowed: Option<BlockId>, hash| {
                if self.pool.publish(block, hash) && self.pinned.contains(&hash) {
                    self.pool.retain(block);
                }
                if let Some((pool, block)) = self.windowed.as_mut().zip(windowed) {
                    pool.publish(block, hash);
                }
            };
            let is_wanted = sequence.update(row, &mut publish);
            let computed = sequence.computed_by(row);
            if !is_wanted {
                self.discarded += row.choices as u64;
                if let Some((windowed, table)) = self.windowed.as_mut().zip(sequence.windowed()) {
                    windowed.give_back(table, computed);
                }
                continue;
            }
            let mut accepted = 0;
            let ended = loop {
                let ended = next(sequence, number + accepted);
                if ended.is_some() || !sequence.accepts(accepted) {
                    break ended;
                }
                accepted += 1;
            };
            if row.choices > 1 {
                let draft = sequence.end_draft(publish);
                self.drafting.accepted(&draft, accepted);
                self.accepted += accepted as u64;
            }
            if let Some((windowed, table)) = self.windowed.as_mut().zip(sequence.windowed()) {
                windowed.give_back(table, computed);
            }
            if let Some(reason) = ended {
                let mut sequence = self.running.remove(index);
                give_back(&mut self.states, &mut sequence);
                let table = sequence.take_windowed();
                if let Some((windowed, table)) = self.windowed.as_mut().zip(table) {
                    windowed.take_back(table, sequence.is_launched());
                }
                if sequence.is_launched() {
                    self.leaving.extend(sequence.take_blocks());
                } else {
                    self.pool.release_all(sequence.take_blocks());
                }
                finished.push(sequence.finish(reason));
            }
        }
        self.pool.release_all(leaving);
        if let Some((windowed, leaving)) = self.windowed.as_mut().zip(leaving_windowed) {
            windowed.pool.release_all(leaving);
        }
        finished
    }

    /// Preempts all running sequences; the results of launched steps are given up.
    pub(super) fn preempt_all(&mut self) {
        for sequence in &mut self.running {
            sequence.forget_launched();
        }
        while !self.running.is_empty() {
            self.preempt_newest();
        }
        if let Some(states) = &mut self.states {
            states.free_saving();
        }
        let leaving = std::mem::take(&mut self.leaving);
        self.pool.release_all(leaving);
        if let Some(windowed) = &mut self.windowed {
            let leaving = windowed.take_leaving();
            windowed.pool.release_all(leaving);
        }
    }

    /// Drops every sequence. No step may be in flight.
    pub(super) fn drop_all(&mut self) {
        self.preempt_all();
        self.waiting.clear();
    }

    /// Continues with an empty cache of `blocks` blocks, and of layers with windows as `windowed` says.
    pub(super) fn rebuild(&mut self, blocks: usize, windowed: Option<WindowedCache>) {
        self.preempt_all();
        let pool = BlockPool::new(blocks, self.pool.block_size(), self.pool.caching());
        self.pool = pool.lazy(self.pool.is_lazy());
        let pools = self.windowed.as_ref().zip(windowed);
        self.windowed = pools.map(|(pool, cache)| pool.emptied(cache.blocks));
        let slots = self.states.as_ref().map(StatePool::len);
        self.states = slots.map(StatePool::new);
        self.watermark = watermark(&self.pool);
    }

    /// Has steps go without drafts, if the one that failed had any; else limits them to half its tokens, and when steps are as
    /// short as they may be, to half its sequences. Returns false if it had only one.
    pub(super) fn lower_limits(&mut self, failed: StepSize) -> bool {
        if failed.drafted_tokens > 0 {
            self.drafting.give_up();
        } else if failed.tokens() > SMALLEST_STEP {
            self.token_budget = (failed.tokens() / 2).max(SMALLEST_STEP);
            self.max_prefill_chunk = self.max_prefill_chunk.min(self.token_budget);
            self.max_sequences = self.max_sequences.min(self.token_budget);
        } else if failed.rows > 1 {
            self.max_sequences = failed.rows / 2;
        } else {
            return false;
        }
        while self.running.len() > self.max_sequences {
            self.preempt_newest();
        }
        true
    }

    /// Takes a quarter of the blocks out of use but leaves at least `least`, preempting the newest sequences to free them.
    pub(super) fn retire_blocks(&mut self, least: usize) {
        let surplus =
            |blocks: usize, least: usize| blocks - (blocks / 4 * 3).max(least).min(blocks);
        let own = surplus(self.blocks(), least);
        let windows = self.windowed.as_ref().map_or(0, |layers| {
            // What any one sequence needs there.
            let least = layers.need(self.context_length, self.in_flight());
            surplus(layers.pool.len(), least)
        });
        while !self.running.is_empty()
            && (self.pool.free() < own
                || self
                    .windowed
                    .as_ref()
                    .is_some_and(|of| of.pool.free() < windows))
        {
            self.preempt_newest();
        }
        self.pool.retire(own);
        if let Some(layers) = &mut self.windowed {
            layers.pool.retire(windows);
        }
    }
}

/// Takes back the slots of a sequence's recurrent state. A step in flight that still writes to one of them is computed before
/// whatever is launched next.
fn give_back(states: &mut Option<StatePool>, sequence: &mut Sequence) {
    let Some((states, state)) = states.as_mut().zip(sequence.take_state()) else {
        return;
    };
    states.free(state.slot);
    if let Some(slot) = state.save {
        states.free(slot);
    }
    if let Some(source) = state.source {
        states.release(source);
    }
}

fn watermark(pool: &BlockPool) -> usize {
    (pool.len() / 100).max(1)
}
