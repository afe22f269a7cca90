//! A model that sees through the engine, requests for it, and what must come of them.

use std::collections::HashMap;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use juror_engine::engine::{
    Choices, Completion, Drafts, Engine, EngineConfig, Guide, LogitsModel, Next, Properties,
    RandomKey, Request, Sampling, Then, TokenSet,
};
use juror_engine::model::ModelError;
use juror_engine::model::batch::{BatchRow, StepBatch};

pub(crate) const VOCAB: usize = 50;
pub(crate) const EOS: u32 = 49;

pub(crate) struct Reader {
    block_size: usize,
    /// What each slot holds, at which position, and whether as a part of a long sequence.
    slots: HashMap<u32, (u32, u32, bool)>,
    /// See [`Properties::short_context`].
    pub(crate) short_context: Option<usize>,
    /// See [`Properties::lazy_cache`].
    pub(crate) lazy_cache: bool,
    /// Can the cache be built anew?
    pub(crate) rebuilds: bool,
}

pub(crate) fn reader(block_size: usize) -> Reader {
    Reader {
        block_size,
        slots: HashMap::new(),
        short_context: None,
        lazy_cache: false,
        rebuilds: false,
    }
}

/// Logits that depend on every token of the context, in order, and on how the positions are encoded. Mostly what last followed the
/// newest token is the likeliest, so that texts repeat themselves.
pub(crate) fn logits_after(context: &[u32], long: bool) -> Vec<f32> {
    let mut state = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(long);
    for &token in context {
        state = (state ^ u64::from(token))
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(23);
    }
    let quoted = context.split_last().and_then(|(newest, before)| {
        let last = before.iter().rposition(|token| token == newest)?;
        (!state.is_multiple_of(5)).then(|| u64::from(context[last + 1]))
    });
    (0..VOCAB as u64)
        .map(|token| {
            let mixed = (state ^ token)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(31)
                .wrapping_mul(0xbf58_476d_1ce4_e5b9);
            // The end-of-sequence token is made a little rarer, so that completions have some length.
            let rare = if token == u64::from(EOS) { 0.02 } else { 0.0 };
            let likely = if quoted == Some(token) { 5.0 } else { 0.0 };
            (mixed >> 40) as f32 / 4e6 - rare + likely
        })
        .collect()
}

impl Reader {
    pub(crate) fn block_size(&self) -> usize {
        self.block_size
    }

    /// The first `length` tokens of a row's sequence, as its blocks hold them.
    pub(crate) fn context(&self, row: &BatchRow, length: usize) -> Vec<u32> {
        (0..length)
            .map(|position| {
                let slot = row.blocks[position / self.block_size] * self.block_size as u32
                    + (position % self.block_size) as u32;
                let (token, written_at, long) = self.slots[&slot];
                assert_eq!(
                    (written_at as usize, long),
                    (position, row.long),
                    "a slot holds another position's token, or one encoded in the other way"
                );
                token
            })
            .collect()
    }
}

impl LogitsModel for Reader {
    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: false,
            blocks: None,
            lazy_cache: self.lazy_cache,
            short_context: self.short_context,
            states: None,
            windowed: None,
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        if self.rebuilds {
            self.slots.clear();
        }
        Ok(self.rebuilds.then_some(blocks))
    }

    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        batch.validate(self.block_size, usize::MAX >> 8)?;
        for row in &batch.rows {
            let outgrown = self
                .short_context
                .is_some_and(|short| row.context_len > short);
            assert!(
                row.long || !outgrown,
                "a long sequence computed as a short one"
            );
            for index in row.query_start..row.query_start + row.query_len {
                let written = (batch.tokens[index], batch.positions[index], row.long);
                self.slots.insert(batch.slots[index], written);
            }
        }
        let mut rows = Vec::new();
        for &index in &batch.logits {
            let row = batch
                .rows
                .iter()
                .rfind(|row| row.query_start <= index as usize)
                .unwrap();
            let behind = row.query_start + row.query_len - 1 - index as usize;
            let context = self.context(row, row.context_len - behind);
            rows.extend(logits_after(&context, row.long));
        }
        Ok(Tensor::from_vec(
            rows,
            (batch.logits.len(), VOCAB),
            &Device::Cpu,
        )?)
    }
}

pub(crate) fn request(
    id: u64,
    prompt: Vec<u32>,
    max_new_tokens: usize,
    sampling: Sampling,
) -> Request {
    Request {
        id,
        prompt,
        max_new_tokens,
        sampling,
        random_key: RandomKey {
            seed: 11,
            sample: id,
            trial: 0,
        },
        eos: Arc::from([EOS]),
        guide: None,
        choices: None,
        logprobs: None,
        background: false,
    }
}

/// What must come out, computed without any engine.
pub(crate) fn expected(prompt: &[u32], max_new_tokens: usize) -> Vec<u32> {
    expected_with(None, prompt, max_new_tokens)
}

/// What must come out of a model with two ways of encoding positions: every token is chosen by all of the context in the way
/// that its length asks for, as in transformers.
pub(crate) fn expected_with(
    short_context: Option<usize>,
    prompt: &[u32],
    max_new_tokens: usize,
) -> Vec<u32> {
    let mut tokens = prompt.to_vec();
    while tokens.len() < prompt.len() + max_new_tokens {
        let long = short_context.is_some_and(|short| tokens.len() > short);
        let logits = logits_after(&tokens, long);
        let best = (0..VOCAB)
            .rev()
            .max_by(|&a, &b| logits[a].total_cmp(&logits[b]))
            .unwrap() as u32;
        tokens.push(best);
        if best == EOS {
            break;
        }
    }
    tokens.split_off(prompt.len())
}

pub(crate) fn config(blocks: usize) -> EngineConfig {
    EngineConfig {
        blocks,
        least_blocks: 1,
        block_size: 4,
        max_sequences: 64,
        token_budget: 128,
        max_prefill_chunk: 64,
        context_length: 200,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    }
}

pub(crate) fn run(engine: &mut Engine) -> Vec<Completion> {
    let mut completions = Vec::new();
    while engine.has_work() {
        completions.extend(engine.step().unwrap());
    }
    completions.sort_by_key(|completion| completion.id);
    completions
}

pub(crate) fn template(length: usize) -> Vec<u32> {
    (0..length as u32).map(|index| index * 7 % 48).collect()
}

/// Prompts of three groups that share a template and, within the group, a question.
pub(crate) fn prompts(count: usize, shared: usize) -> Vec<Vec<u32>> {
    (0..count)
        .map(|index| {
            let mut prompt = template(shared);
            prompt.extend([(index % 3) as u32; 6]);
            prompt.extend((0..=index * 5 % 17).map(|at| ((index * 13 + at * 3) % 48) as u32));
            prompt
        })
        .collect()
}

/// Stops a generation with its n-th token.
pub(crate) struct After(pub(crate) usize);

impl Guide for After {
    fn push(&mut self, _token: u32) -> Next {
        self.0 -= 1;
        if self.0 == 0 { Next::END } else { Next::FREE }
    }
}

/// Steers as a number says and the tokens so far: appends, masks, leaves free, goes on behind an end of sequence, ends.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    state: u64,
}

impl Scripted {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self, token: u64) -> Next {
        self.state = (self.state ^ token).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let number = |at: u32| (self.state >> at) as u32;
        let append = match number(60) % 4 {
            0 => (0..=number(50) % 7)
                .map(|at| (number(40) + at) % EOS)
                .collect(),
            _ => Vec::new(),
        };
        let then = match number(30) % 8 {
            0..=3 => Then::Free,
            4 if number(20) % 4 == 0 => Then::End,
            _ => {
                let tokens: TokenSet = (0..=number(10) % 5)
                    .map(|at| (number(5) + at * 3) % EOS)
                    .collect();
                let choices = Choices {
                    tokens: tokens.iter().collect(),
                    numbers: tokens.iter().map(|token| token as f32).collect(),
                };
                Then::OneOf {
                    tokens: Arc::new(tokens.into()),
                    choices: (number(25) % 2 == 0).then(|| Arc::new(choices)),
                }
            }
        };
        Next { append, then }
    }
}

impl Guide for Scripted {
    fn begin(&mut self) -> Next {
        self.next(1000)
    }

    fn push(&mut self, token: u32) -> Next {
        self.next(u64::from(token))
    }

    fn end(&mut self) -> Option<Next> {
        let next = self.next(2000);
        let is_free = next.append.is_empty() && matches!(next.then, Then::Free);
        (!is_free && !self.state.is_multiple_of(3)).then_some(next)
    }
}

pub(crate) fn tokens_of(tokens: &[(u32, bool)]) -> Vec<u32> {
    tokens.iter().map(|(token, _)| *token).collect()
}

/// What must come out under a guide, greedily, computed without any engine: each token, and whether it was chosen.
pub(crate) fn expected_guided(
    prompt: &[u32],
    max_new_tokens: usize,
    mut guide: Scripted,
) -> Vec<(u32, bool)> {
    let mut tokens: Vec<(u32, bool)> = prompt.iter().map(|token| (*token, false)).collect();
    let most = prompt.len() + max_new_tokens;
    let mut next = guide.begin();
    loop {
        tokens.extend(next.append.iter().map(|token| (*token, false)));
        tokens.truncate(most);
        if tokens.len() == most || matches!(next.then, Then::End) {
            break;
        }
        let logits = logits_after(&tokens_of(&tokens), false);
        let allowed = |token: u32| match &next.then {
            Then::OneOf { tokens, .. } => tokens.tokens().contains(token),
            _ => true,
        };
        let best = (0..VOCAB as u32)
            .rev()
            .filter(|token| allowed(*token))
            .max_by(|&a, &b| logits[a as usize].total_cmp(&logits[b as usize]))
            .unwrap();
        if best == EOS {
            if let Some(on) = guide.end() {
                next = on;
                continue;
            }
            tokens.push((best, true));
            break;
        }
        tokens.push((best, true));
        next = guide.push(best);
        if tokens.len() == most {
            break;
        }
    }
    tokens.split_off(prompt.len())
}
