//! What is asked of the engine, what it is working on, and what it gives back.

use std::sync::Arc;
use std::time::Instant;

use super::block_pool::{BlockHash, BlockId};
use super::sampler::Sampling;
use super::stats::Timing;

/// The caller's name for a request; comes back with the completion.
pub type RequestId = u64;

/// Decides, token by token, whether a generation has said all that is wanted.
///
/// Called once for each generated token in order; a preempted sequence is not replayed. End-of-sequence tokens are
/// the engine's own business.
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

/// A request the engine is working on.
pub(crate) struct Sequence {
    pub(crate) request: Request,
    /// Prompt and generated tokens.
    pub(crate) tokens: Vec<u32>,
    /// Its place in the order of admissions, ascending among the running; a new one each time it is admitted.
    pub(crate) admission: u64,
    /// Tokens whose keys and values are in the cache, or will be when the launched steps are done.
    pub(crate) computed: usize,
    /// Tokens of this sequence in the step that is being planned.
    pub(crate) scheduled: usize,
    /// Launched steps that were not booked yet and hold tokens of this sequence.
    pub(crate) launched: usize,
    /// Of these, steps that choose a token: known to exist, but not by name.
    pub(crate) awaiting: usize,
    /// The row of the last such step's `logits`.
    pub(crate) last_row: u32,
    /// Blocks that hold `computed + scheduled` tokens.
    pub(crate) blocks: Vec<BlockId>,
    /// Whether it has outgrown the context that the model was first trained with.
    pub(crate) long: bool,
    /// Names of the full blocks of `tokens`.
    pub(crate) hashes: Vec<BlockHash>,
    /// Full blocks whose content was published, or found, in the prefix cache.
    pub(crate) published: usize,
    /// See [`Completion::cached_tokens`]; `None` until first admitted.
    pub(crate) cached_tokens: Option<usize>,
    pub(crate) odds: Vec<(usize, f32)>,
    pub(crate) timing: Timing,
}

impl Sequence {
    /// See [`Properties::short_context`](super::Properties::short_context).
    pub(crate) fn new(request: Request, block_size: usize, short_context: Option<usize>) -> Self {
        let now = Instant::now();
        let long = short_context.is_some_and(|short| request.prompt.len() > short);
        Self {
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

    /// Generated tokens that are known.
    pub(crate) fn generated(&self) -> usize {
        self.tokens.len() - self.request.prompt.len()
    }

    /// Tokens, those included that launched steps are choosing.
    pub(crate) fn length(&self) -> usize {
        self.tokens.len() + self.awaiting
    }

    /// The place of the token to be chosen next, counted from the first generated one.
    pub(crate) fn position(&self) -> usize {
        self.length() - self.request.prompt.len()
    }

    /// True once the launched steps will have chosen all that may be generated.
    pub(crate) fn is_complete(&self) -> bool {
        self.position() >= self.request.max_new_tokens
    }

    /// Tokens that still have to go through the model before the next one can be chosen.
    pub(crate) fn pending(&self) -> usize {
        self.length() - self.computed
    }

    /// Appends a generated token and names the block it may have filled.
    pub(crate) fn push(&mut self, token: u32, block_size: usize) {
        self.tokens.push(token);
        if self.tokens.len().is_multiple_of(block_size) {
            let block = &self.tokens[self.tokens.len() - block_size..];
            let parent = self.hashes.last().copied().or(root(self.long));
            self.hashes.push(BlockHash::chain(parent, block));
        }
    }

    /// Whether its next token is to be chosen with positions that are encoded in another way than those that were computed.
    pub(crate) fn has_outgrown(&self, short_context: usize) -> bool {
        !self.long && self.length() > short_context && !self.is_complete()
    }

    /// Has everything computed again, as a long sequence if it has become one. It holds no blocks.
    pub(crate) fn restart(&mut self, block_size: usize, short_context: Option<usize>) {
        (self.computed, self.published) = (0, 0);
        if short_context.is_some_and(|short| self.has_outgrown(short)) {
            self.long = true;
            self.hashes = BlockHash::chain_all(root(true), &self.tokens, block_size);
        }
    }

    pub(crate) fn finish(mut self, finish: FinishReason) -> Completion {
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
