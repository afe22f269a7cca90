//! Requests, the sequences that the engine makes of them, and completions.

use std::sync::Arc;
use std::time::Instant;

use super::block_pool::{BlockHash, BlockId};
use super::drafts::{Depth, Draft, Lookup};
use super::guide::{Allowed, Guide, Next, Then};
use super::logprobs::TokenLogprobs;
use super::sampler::{Choices, Chosen, RowRequest, Sampling};
use super::state_pool::StateId;
use super::stats::Timing;
use super::windows::WindowTable;
use crate::model::batch::{BatchRow, RowState, StateStart, StepBatch};

/// The caller's id of a request, returned with its completion.
pub type RequestId = u64;

/// The key of a request's random draws; with the position it fixes every one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomKey {
    pub seed: u64,
    /// A hash of the sample's prompt: equal prompts have equal draws.
    pub sample: u64,
    pub trial: u32,
}

pub struct Request {
    pub id: RequestId,
    /// The prompt's token ids; at least one.
    pub prompt: Vec<u32>,
    /// The most tokens to generate, those included that the guide appends; at least one.
    pub max_new_tokens: usize,
    pub sampling: Sampling,
    pub random_key: RandomKey,
    pub eos: Arc<[u32]>,
    /// Appends known text, masks choices, ends the generation early.
    pub guide: Option<Box<dyn Guide>>,
    /// Tokens for which an expected number is recorded when one of them is chosen.
    pub choices: Option<Arc<Choices>>,
    /// How many of the likeliest tokens to report at each chosen token, with log-probabilities, at most 20; `None` reports nothing.
    pub logprobs: Option<usize>,
    /// Whether it stands back while others run: where the time of a step grows with its rows, it is computed in few steps then.
    pub background: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// An end-of-sequence token; it is the last of the completion's tokens.
    EndOfSequence,
    /// The request's guide ended it.
    Stop,
    /// `max_new_tokens` were generated.
    Length,
    /// The request could not be run; the text says why.
    Rejected(String),
    /// The same for its length: a larger engine may run it.
    TooLong(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    pub id: RequestId,
    /// The prompt, handed back.
    pub prompt: Vec<u32>,
    /// The generated token ids, including those that the guide appended.
    pub tokens: Vec<u32>,
    /// The expected number of [`Choices`] at every chosen token that is one of them: (index into `tokens`, expected number), in order.
    pub expected: Vec<(usize, f32)>,
    /// The log-probabilities of each of `tokens`, if the request asks for them: `None` for a token that the guide appended.
    /// Empty if it does not ask.
    pub logprobs: Vec<Option<TokenLogprobs>>,
    pub finish: FinishReason,
    /// Prompt tokens found in the prefix cache when the request was first admitted.
    pub cached_tokens: usize,
    /// Tokens of the prompt and of the completion as an engine elsewhere counts them, whose tokens are not those of `prompt` and `tokens`.
    pub counted: Option<(usize, usize)>,
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
    short_context: Option<usize>,
    tokens: Vec<u32>,
    /// Its number in the order of admissions, which ascends among running sequences; each admission gives a new one.
    admission: u64,
    /// Tokens whose keys and values are in the cache, or will be when the launched steps are done.
    computed: usize,
    /// Tokens of this sequence in the step that is being planned.
    scheduled: usize,
    /// Drafts that follow them in that step.
    draft: Draft,
    lookup: Lookup,
    /// Launched steps that hold tokens of this sequence and were not collected yet.
    launched: usize,
    /// Of these, the steps whose chosen token it still wants.
    awaiting: usize,
    /// The row of the last such step's `logits`.
    last_row: u32,
    /// Whether that step is told what to choose from only when the tokens of the step before are known.
    chooses_late: bool,
    /// Increased whenever the tokens that launched steps are choosing become unwanted.
    round: u32,
    /// The tokens that the next token is chosen from; all if `None`.
    allowed: Option<Arc<Allowed>>,
    /// The choices to record at the next token, instead of the request's.
    choices: Option<Arc<Choices>>,
    /// The reason if it ended before any step.
    ended: Option<FinishReason>,
    /// Blocks that hold `computed + scheduled` tokens, and the drafts.
    blocks: Vec<BlockId>,
    /// The same in layers with windows, while it runs, if these have blocks of their own.
    windowed: Option<WindowTable>,
    /// Its recurrent state while it runs, if the model has recurrent layers.
    state: Option<LiveState>,
    /// Whether its positions are encoded as those of a long sequence.
    long: bool,
    /// Names of the full blocks of `tokens`.
    hashes: Vec<BlockHash>,
    /// Full blocks whose content was published, or found, in the prefix cache.
    published: usize,
    /// See [`Completion::cached_tokens`]; `None` until first admitted.
    cached_tokens: Option<usize>,
    expected: Vec<(usize, f32)>,
    logprobs: Vec<Option<TokenLogprobs>>,
    timing: Timing,
}

pub(super) struct LiveState {
    pub(super) slot: StateId,
    /// Tokens that it has taken in, or will have when the launched steps are done. More than the sequence's `computed` where
    /// tokens were taken back: then the state is of no use any more.
    taken_in: usize,
    /// The snapshot it starts from, until a step with its first tokens was launched.
    pub(super) source: Option<StateId>,
    /// How many tokens it has taken in where a snapshot is wanted, ascending; ends of blocks.
    borders: Vec<usize>,
    /// The slot that the planned step copies it to.
    pub(super) save: Option<StateId>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchedRow {
    pub(super) admission: u64,
    /// [`Sequence::round`] when it was launched.
    round: u32,
    /// Tokens of the sequence whose keys and values are in the cache once the step is done.
    end: usize,
    /// How many tokens the step chooses: its next one, and one after each draft.
    pub(super) choices: usize,
    /// The slot that the step copies the sequence's recurrent state to, and the snapshot's name.
    pub(super) save: Option<(StateId, BlockHash)>,
}

impl Sequence {
    pub(super) fn new(request: Request, block_size: usize, short_context: Option<usize>) -> Self {
        let now = Instant::now();
        let mut sequence = Self {
            block_size,
            short_context,
            tokens: request.prompt.clone(),
            admission: 0,
            computed: 0,
            scheduled: 0,
            draft: Draft::default(),
            lookup: Lookup::default(),
            launched: 0,
            awaiting: 0,
            last_row: 0,
            chooses_late: false,
            round: 0,
            allowed: None,
            choices: None,
            ended: None,
            blocks: Vec::new(),
            windowed: None,
            state: None,
            long: false,
            hashes: Vec::new(),
            published: 0,
            cached_tokens: None,
            expected: Vec::new(),
            logprobs: Vec::new(),
            timing: Timing {
                queued: now,
                admitted: None,
                first_token: None,
                finished: now,
            },
            request,
        };
        if let Some(guide) = &mut sequence.request.guide {
            let next = guide.begin();
            sequence.ended = sequence.follow(next);
        }
        let length = sequence.tokens.len();
        sequence.long = short_context.is_some_and(|short| length > short);
        sequence.hashes = BlockHash::chain_all(root(sequence.long), &sequence.tokens, block_size);
        sequence
    }

    /// Why no token could be chosen for it.
    pub(super) fn why_none(&self) -> &'static str {
        let allowed = self.allowed.as_ref();
        if allowed.is_some_and(|allowed| allowed.tokens().iter().next().is_none()) {
            return "the form of the answer allows no token here";
        }
        "the model's logits are not numbers (NaN): if its keys and values, or what it computes, are beyond the numbers of \
         their type, --kv-dtype f32 and --dtype f32 hold them"
    }

    /// The reason if it ended before any step.
    pub(super) fn ended(&mut self) -> Option<FinishReason> {
        self.ended.take()
    }

    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Names of the full blocks of the known tokens.
    pub(super) fn hashes(&self) -> &[BlockHash] {
        &self.hashes
    }

    /// Hashes of the blocks that need not be computed if the prefix cache has them. The last token is always computed,
    /// because its logits are wanted.
    pub(super) fn reusable(&self) -> &[BlockHash] {
        &self.hashes[..(self.tokens.len() - 1) / self.block_size]
    }

    pub(super) fn known(&self) -> usize {
        self.tokens.len()
    }

    /// Generated and appended tokens that are known.
    fn generated(&self) -> usize {
        self.tokens.len() - self.request.prompt.len()
    }

    pub(super) fn has_chosen(&self) -> bool {
        self.timing.first_token.is_some()
    }

    /// Prompt tokens that the prefix cache held when the sequence was first admitted.
    pub(super) fn cached_tokens(&self) -> usize {
        // Tokens that the guide appended after the prompt may have been found in the cache too.
        let prompt = self.request.prompt.len();
        self.cached_tokens.map_or(0, |cached| cached.min(prompt))
    }

    /// Its length in tokens, including those that launched steps are choosing.
    fn length(&self) -> usize {
        self.tokens.len() + self.awaiting
    }

    /// The index of the token to be chosen next, counted from the first generated one.
    pub(super) fn position(&self) -> usize {
        self.length() - self.request.prompt.len()
    }

    /// Whether the launched steps will have chosen the last token that may be generated.
    pub(super) fn is_complete(&self) -> bool {
        self.position() >= self.request.max_new_tokens
    }

    /// Tokens that still have to go through the model before the next one can be chosen.
    pub(super) fn pending(&self) -> usize {
        self.length() - self.computed
    }

    /// Whether the tokens that its planned step may choose from depend on one that a launched step is choosing.
    pub(super) fn waits_for_mask(&self) -> bool {
        self.scheduled > 0 && self.awaiting > 0 && self.allowed.is_some()
    }

    /// Whether its next token needs the positions of a long sequence, while it was computed with those of a short one.
    pub(super) fn has_outgrown(&self) -> bool {
        let short = |short| self.length() > short;
        !self.long && self.short_context.is_some_and(short) && !self.is_complete()
    }

    /// Whether it has to be computed anew, as it has outgrown its encoding or its recurrent state has taken in too much.
    pub(super) fn must_restart(&self) -> bool {
        let rewound = |state: &LiveState| state.taken_in > self.computed;
        self.has_outgrown() || (self.state.as_ref().is_some_and(rewound) && !self.is_complete())
    }

    /// Its place in the order of admissions.
    pub(super) fn admission(&self) -> u64 {
        self.admission
    }

    /// Whether it has tokens in a launched step that was not collected yet.
    pub(super) fn is_launched(&self) -> bool {
        self.launched > 0
    }

    /// Forgets its rows in the launched steps, whose tokens will not be collected.
    pub(super) fn forget_launched(&mut self) {
        (self.launched, self.awaiting) = (0, 0);
    }

    /// Admits it to the batch; `found` are its first blocks, from the prefix cache, and `windowed` those of layers with windows.
    pub(super) fn admit(
        &mut self,
        admission: u64,
        found: Vec<BlockId>,
        windowed: Option<WindowTable>,
    ) {
        self.admission = admission;
        self.computed = found.len() * self.block_size;
        self.published = found.len();
        self.blocks = found;
        self.windowed = windowed;
        self.cached_tokens.get_or_insert(self.computed);
        self.timing.admitted.get_or_insert_with(Instant::now);
    }

    /// Gives an admitted sequence the slot of its recurrent state, which starts as a copy of `source`. Snapshots are wanted at
    /// the end of its last pinned block, at `junction`, where others went on otherwise, and at the end of its prompt's last
    /// block, for sequences with the same prompt; none unless prefixes are `cached`.
    pub(super) fn admit_state(
        &mut self,
        slot: StateId,
        source: Option<StateId>,
        pinned_end: impl Fn(&BlockHash) -> bool,
        junction: Option<usize>,
        cached: bool,
    ) {
        let pinned = self.hashes.iter().position(pinned_end).map(|at| at + 1);
        let prompt = (self.request.prompt.len() - 1) / self.block_size;
        let borders = [pinned, junction, Some(prompt)].into_iter().flatten();
        let mut borders: Vec<usize> = borders
            .map(|blocks| blocks * self.block_size)
            .filter(|&border| cached && border > self.computed)
            .collect();
        borders.sort_unstable();
        borders.dedup();
        self.state = Some(LiveState {
            slot,
            taken_in: self.computed,
            source,
            borders,
            save: None,
        });
    }

    /// The most tokens that its next step may take: up to where a snapshot of its recurrent state is wanted.
    pub(super) fn to_border(&self) -> usize {
        self.state
            .as_ref()
            .and_then(|state| state.borders.iter().find(|&&border| border > self.computed))
            .map_or(usize::MAX, |border| border - self.computed)
    }

    /// The name of the snapshot that is wanted where the planned step ends.
    pub(super) fn wanted_snapshot(&self) -> Option<BlockHash> {
        let (state, end) = (self.state.as_ref()?, self.computed + self.scheduled);
        let wanted = self.scheduled > 0 && state.borders.contains(&end);
        wanted.then(|| self.hashes[end / self.block_size - 1])
    }

    /// Has the planned step copy its recurrent state to `slot`.
    pub(super) fn save_to(&mut self, slot: StateId) {
        if let Some(state) = &mut self.state {
            state.save = Some(slot);
        }
    }

    /// The slot that a planned step, which was not launched, would have saved to.
    pub(super) fn take_save(&mut self) -> Option<StateId> {
        self.state.as_mut()?.save.take()
    }

    /// The snapshot that it started from, now that its first step was launched.
    pub(super) fn take_source(&mut self) -> Option<StateId> {
        self.state.as_mut()?.source.take()
    }

    /// Gives up its recurrent state: a step that failed may have changed it.
    pub(super) fn lose_state(&mut self) {
        if let Some(state) = &mut self.state {
            state.taken_in = usize::MAX;
        }
    }

    /// Takes its recurrent state, whose slots are to be given back.
    pub(super) fn take_state(&mut self) -> Option<LiveState> {
        self.state.take()
    }

    /// Names of what is being computed for it that others may go on from: blocks, or with a recurrent state the snapshots.
    pub(super) fn shareable(&self) -> impl Iterator<Item = BlockHash> {
        let borders = self.state.iter().flat_map(|state| &state.borders);
        let snapshots = borders.map(|border| self.hashes[border / self.block_size - 1]);
        let from = self
            .state
            .as_ref()
            .map_or(self.published, |_| self.hashes.len());
        self.hashes[from..].iter().copied().chain(snapshots)
    }

    /// KV blocks it lacks for `tokens` more computed tokens.
    pub(super) fn missing_blocks(&self, tokens: usize) -> usize {
        let all = (self.computed + tokens).div_ceil(self.block_size);
        all.saturating_sub(self.blocks.len())
    }

    pub(super) fn add_block(&mut self, block: BlockId) {
        self.blocks.push(block);
    }

    /// Blocks that it lacks for `tokens` more computed tokens in layers with windows, if these have blocks of their own.
    pub(super) fn missing_windowed(&self, tokens: usize) -> usize {
        let all = (self.computed + tokens).div_ceil(self.block_size);
        let held = |table: &WindowTable| all.saturating_sub(table.blocks().len());
        self.windowed.as_ref().map_or(0, held)
    }

    pub(super) fn windowed(&mut self) -> Option<&mut WindowTable> {
        self.windowed.as_mut()
    }

    /// Takes its blocks in layers with windows, which are to be given back.
    pub(super) fn take_windowed(&mut self) -> Option<WindowTable> {
        self.windowed.take()
    }

    /// Tokens whose keys and values are in the cache after a step that is done.
    pub(super) fn computed_by(&self, row: &LaunchedRow) -> usize {
        row.end.min(self.computed)
    }

    /// Takes all its blocks, the last first. Of equally old blocks those at the beginning, which others may share, are then evicted last.
    pub(super) fn take_blocks(&mut self) -> impl Iterator<Item = BlockId> {
        std::mem::take(&mut self.blocks).into_iter().rev()
    }

    /// Its tokens in the step that is being planned, without drafts.
    pub(super) fn scheduled(&self) -> usize {
        self.scheduled
    }

    pub(super) fn drafted(&self) -> usize {
        self.draft.tokens.len()
    }

    /// Puts `tokens` of its pending tokens into the step that is being planned.
    pub(super) fn schedule(&mut self, tokens: usize) {
        debug_assert_eq!(self.missing_blocks(tokens), 0);
        debug_assert_eq!(self.missing_windowed(tokens), 0);
        self.scheduled = tokens;
        self.draft.tokens.clear();
    }

    /// Drafts up to `most` tokens after the one in the step that is being planned, if all tokens may be chosen after it. They
    /// take no block, and none of them would be chosen beyond the sequence's end, or by another encoding of its positions.
    pub(super) fn draft(&mut self, depth: Depth, most: usize) {
        let length = self.length();
        if self.chooses() && self.allowed.is_none() {
            let end = self.request.prompt.len() + self.request.max_new_tokens;
            let short = self.short_context.filter(|_| !self.long);
            let windowed = self.windowed.as_ref();
            let windowed = windowed.map(|table| table.blocks().len() * self.block_size);
            let room = [end - 1, self.blocks.len() * self.block_size].into_iter();
            let room = room
                .chain(short)
                .chain(windowed)
                .fold(length + most, usize::min)
                - length;
            self.draft = self.lookup.draft(&self.tokens, depth, room);
        }
    }

    pub(super) fn pack(&self, batch: &mut StepBatch) {
        let end = self.computed + self.scheduled + self.drafted();
        let blocks = &self.blocks[..end.div_ceil(self.block_size)];
        let windowed = self.windowed.as_ref();
        let windowed = windowed.map(|table| &table.blocks()[..blocks.len()]);
        if let Some(blocks) = windowed {
            let tables = batch.windowed.get_or_insert_default();
            tables.blocks.push(blocks.to_vec());
        }
        batch.rows.push(BatchRow {
            query_start: batch.tokens.len(),
            query_len: end - self.computed,
            context_len: end,
            blocks: blocks.to_vec(),
            long: self.long,
            state: self.state.as_ref().map(|state| RowState {
                slot: state.slot,
                start: match state.source {
                    Some(source) => StateStart::Copy(source),
                    None if self.computed == 0 => StateStart::Zero,
                    None => StateStart::Continue,
                },
                save: state.save,
            }),
        });
        for position in self.computed..end {
            let draft = || self.draft.tokens.get(position - self.tokens.len());
            let token = self.tokens.get(position).or_else(draft).copied();
            if token.is_none() {
                let index = batch.tokens.len() as u32;
                batch.from_previous.push((index, self.last_row));
            }
            batch.tokens.push(token.unwrap_or(0));
            batch.positions.push(position as u32);
            let (block, slot) = (position / self.block_size, position % self.block_size);
            let slot_in = |blocks: &[BlockId]| blocks[block] * self.block_size as u32 + slot as u32;
            batch.slots.push(slot_in(blocks));
            if let (Some(tables), Some(blocks)) = (&mut batch.windowed, windowed) {
                tables.slots.push(slot_in(blocks));
            }
        }
        let end = batch.tokens.len() as u32;
        batch.logits.extend(end - self.choices() as u32..end);
    }

    /// Whether the planned step chooses its next token.
    fn chooses(&self) -> bool {
        self.scheduled > 0 && self.scheduled == self.pending()
    }

    /// How many tokens the planned step chooses: its next one, and one after each draft.
    fn choices(&self) -> usize {
        usize::from(self.chooses()) + self.drafted()
    }

    /// How they are to be chosen.
    pub(super) fn row_requests(&self) -> impl Iterator<Item = RowRequest<'_>> {
        let first = self.position();
        (first..first + self.choices()).map(|position| self.request_at(position))
    }

    /// How its next token is to be chosen by a step that was launched, now that all before it are known. For one that it does not
    /// want any more this asks for any token.
    pub(super) fn late_request(&self, row: &LaunchedRow) -> RowRequest<'_> {
        if row.round == self.round && self.awaiting == 1 {
            self.request_at(self.generated())
        } else {
            RowRequest::ANY
        }
    }

    fn request_at(&self, position: usize) -> RowRequest<'_> {
        RowRequest {
            sampling: self.request.sampling,
            key: self.request.random_key,
            position,
            allowed: self.allowed.as_deref(),
            choices: self.choices.as_deref().or(self.request.choices.as_deref()),
            logprobs: self.request.logprobs,
        }
    }

    /// Counts its tokens in the planned step as computed, now that it was launched; `row` is its row of the step's `logits`
    /// if it has one, and `late` says whether what it may choose from is told later. `None` if the step holds no tokens of it.
    pub(super) fn launch(&mut self, row: u32, late: bool) -> Option<LaunchedRow> {
        if self.scheduled == 0 {
            return None;
        }
        let choices = self.choices();
        let name = self.wanted_snapshot();
        self.computed += std::mem::take(&mut self.scheduled);
        self.launched += 1;
        let save = self.take_save().zip(name);
        if let Some(state) = &mut self.state {
            state.taken_in = self.computed;
        }
        if choices > 0 {
            self.awaiting += 1;
            self.last_row = row;
            self.chooses_late = late;
        }
        Some(LaunchedRow {
            admission: self.admission,
            round: self.round,
            end: self.computed,
            choices,
            save,
        })
    }

    /// Takes in a launched step that is done, calling `publish` with each block that it filled. Returns whether the step
    /// chose a token that is the sequence's next.
    pub(super) fn update(
        &mut self,
        row: &LaunchedRow,
        publish: impl FnMut(BlockId, Option<BlockId>, BlockHash),
    ) -> bool {
        let is_wanted = row.choices > 0 && row.round == self.round;
        self.launched -= 1;
        if let Some(state) = &mut self.state {
            state.borders.retain(|&border| border > row.end);
        }
        self.awaiting -= usize::from(is_wanted);
        // Fewer than were launched if a token was taken back meanwhile.
        self.publish(self.computed_by(row), publish);
        is_wanted
    }

    /// Calls `publish` with each block that the first `end` tokens fill and that was not published yet, and with that of layers
    /// with windows.
    fn publish(
        &mut self,
        end: usize,
        mut publish: impl FnMut(BlockId, Option<BlockId>, BlockHash),
    ) {
        for full in self.published..end / self.block_size {
            let windowed = self.windowed.as_ref();
            let windowed = windowed.map(|table| table.blocks()[full]);
            publish(self.blocks[full], windowed, self.hashes[full]);
            self.published = full + 1;
        }
    }

    /// Whether the token just taken is the `index`-th draft, and all tokens could be chosen after it: then what the step chose
    /// after that draft is the next token.
    pub(super) fn accepts(&mut self, index: usize) -> bool {
        let draft = self.draft.tokens.get(index);
        let accepts = draft.is_some_and(|draft| self.tokens.last() == Some(draft))
            && self.pending() == 1
            && self.allowed.is_none();
        self.computed += usize::from(accepts);
        accepts
    }

    /// Ends a step with drafts: the blocks that accepted ones filled are published. The slots of the others are written again.
    pub(super) fn end_draft(
        &mut self,
        publish: impl FnMut(BlockId, Option<BlockId>, BlockHash),
    ) -> Draft {
        self.publish(self.computed, publish);
        std::mem::take(&mut self.draft)
    }

    /// Takes the token that a step chose, known since `now`; returns the reason if the sequence ends with it.
    pub(super) fn push(&mut self, chosen: Chosen, now: Instant) -> Option<FinishReason> {
        let Chosen {
            token,
            expected,
            logprobs,
        } = chosen;
        self.timing.first_token.get_or_insert(now);
        let is_end = self.request.eos.contains(&token);
        let guide = self.request.guide.as_mut();
        if is_end && let Some(next) = guide.and_then(|guide| guide.end()) {
            debug_assert!(!next.is_free(), "it would be chosen again");
            return self.follow(next);
        }
        let place = self.generated();
        self.expected.extend(expected.map(|number| (place, number)));
        self.append(token, logprobs);
        if is_end {
            return Some(FinishReason::EndOfSequence);
        }
        let next = match &mut self.request.guide {
            Some(guide) => guide.push(token),
            None => Next::FREE,
        };
        self.follow(next)
    }

    fn append(&mut self, token: u32, logprobs: Option<TokenLogprobs>) {
        self.tokens.push(token);
        if self.request.logprobs.is_some() {
            self.logprobs.push(logprobs);
        }
        if self.tokens.len().is_multiple_of(self.block_size) {
            let block = &self.tokens[self.tokens.len() - self.block_size..];
            let parent = self.hashes.last().copied().or(root(self.long));
            self.hashes.push(BlockHash::chain(parent, block));
        }
    }

    /// Goes on as the guide says; returns the reason if the sequence ends.
    fn follow(&mut self, next: Next) -> Option<FinishReason> {
        let known = self.tokens.len();
        let room = self.request.max_new_tokens - self.generated();
        let fits = next.append.len() <= room;
        for token in next.append.into_iter().take(room) {
            self.append(token, None);
        }
        (self.allowed, self.choices) = match next.then {
            Then::OneOf { tokens, choices } => (Some(tokens), choices),
            Then::End if fits => return Some(FinishReason::Stop),
            Then::Free | Then::End => (None, None),
        };
        if self.generated() >= self.request.max_new_tokens {
            return Some(FinishReason::Length);
        }
        // A step launched before this was known chose among all tokens, unless that is told later, and may have computed a
        // token that the guide then left out.
        let told_later = self.chooses_late && self.awaiting > 0;
        let free = self.allowed.is_none() || told_later;
        let is_foreseen = self.tokens.len() == known && free;
        if !is_foreseen || self.computed > known {
            if self.awaiting > 0 {
                self.awaiting = 0;
                self.round += 1;
            }
            // At least the last token is computed again: its logits choose the next.
            self.computed = self.computed.min(known).min(self.tokens.len() - 1);
        }
        None
    }

    /// Resets it so that everything is recomputed, as a long sequence if it has become one. It must hold no blocks.
    pub(super) fn restart(&mut self) {
        debug_assert!(self.blocks.is_empty() && self.windowed.is_none());
        debug_assert!(self.state.is_none() && !self.is_launched());
        (self.computed, self.scheduled, self.published) = (0, 0, 0);
        self.draft.tokens.clear();
        if self.has_outgrown() {
            self.long = true;
            self.hashes = BlockHash::chain_all(root(true), &self.tokens, self.block_size);
        }
    }

    pub(super) fn finish(mut self, finish: FinishReason) -> Completion {
        let cached_tokens = self.cached_tokens();
        let tokens = self.tokens.split_off(self.request.prompt.len());
        Completion {
            id: self.request.id,
            prompt: self.request.prompt,
            tokens,
            expected: self.expected,
            logprobs: self.logprobs,
            finish,
            cached_tokens,
            counted: None,
            timing: Timing {
                finished: Instant::now(),
                ..self.timing
            },
        }
    }
}

fn root(long: bool) -> Option<BlockHash> {
    long.then_some(BlockHash::LONG)
}

#[cfg(test)]
mod tests {
    use super::super::guide::TokenSet;
    use super::*;

    #[test]
    fn a_choice_of_nothing_is_told_from_logits_that_are_no_numbers() {
        let random_key = RandomKey {
            seed: 1,
            sample: 2,
            trial: 0,
        };
        let request = Request {
            id: 0,
            prompt: vec![1, 2, 3],
            max_new_tokens: 4,
            sampling: Sampling::GREEDY,
            random_key,
            eos: Arc::from([]),
            guide: None,
            choices: None,
            logprobs: None,
            background: false,
        };
        let mut sequence = Sequence::new(request, 2, None);
        assert_eq!(
            sequence.hashes,
            BlockHash::chain_all(None, &[1, 2, 3], 2),
            "hashed to its end"
        );
        assert!(sequence.why_none().contains("--kv-dtype f32"));
        let tokens = |tokens: &[u32]| {
            let tokens: TokenSet = tokens.iter().copied().collect();
            Some(Arc::new(Allowed::from(tokens)))
        };
        sequence.allowed = tokens(&[7]);
        assert!(sequence.why_none().contains("--kv-dtype f32"));
        sequence.allowed = tokens(&[]);
        assert!(sequence.why_none().contains("allows no token"));
    }
}
