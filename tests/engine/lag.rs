//! A model that lags: the step after is launched before a step's tokens are known, and nothing comes out differently.

use std::collections::VecDeque;
use std::sync::Arc;

use candle_core::{DType, Device};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{
    Allowed, Choices, Chosen, Completion, Drafts, Engine, EngineConfig, FinishReason, Forward,
    Guide, Next, Properties, RandomKey, Request, RequestId, RowRequest, Sampling, StepModel, Then,
    Ticket, TokenLogprobs, TokenSet,
};
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_engine::model::batch::StepBatch;
use juror_engine::model::precision::Precision;
use juror_engine::model::{Decoder, ModelError};
use juror_judge::judge::build::PagedDecoder;
use juror_judge::judge::build::plain::BuildCache;
use proptest::prelude::*;

use crate::reader::{After, EOS, Scripted, config, prompts, reader, request, run, template};

/// A model that behaves as on a device: launches are computed later, one after the other, and the tokens of the step
/// before are put in only then.
pub(crate) struct Lagging<M> {
    model: M,
    /// Compute a step only when it is collected; otherwise as soon as it is launched.
    late: bool,
    pending: VecDeque<(StepBatch, Option<Asked>)>,
    done: VecDeque<(u64, Result<Choice, ModelError>)>,
    /// What the step computed last chose; none if it failed, and then what was launched since fails too.
    last: Option<Choice>,
    launches: u64,
}

type Choice = Vec<Option<Chosen>>;

/// The name of a step, and what it is to choose.
type Asked = (u64, Vec<OwnedRow>);

struct OwnedRow {
    sampling: Sampling,
    key: RandomKey,
    position: usize,
    allowed: Option<Allowed>,
    choices: Option<Choices>,
    logprobs: Option<usize>,
}

impl<M> Lagging<M> {
    pub(crate) fn new(model: M, late: bool) -> Self {
        Self {
            model,
            late,
            pending: VecDeque::new(),
            done: VecDeque::new(),
            last: Some(Vec::new()),
            launches: 0,
        }
    }
}

impl<M: StepModel> Lagging<M> {
    fn compute(&mut self) {
        let Some((mut batch, asked)) = self.pending.pop_front() else {
            return;
        };
        let (name, rows) = asked.unwrap();
        let Some(last) = self.last.take() else {
            let failure = ModelError::Batch("the step before failed".into());
            self.done.push_back((name, Err(failure)));
            return;
        };
        for (index, row) in std::mem::take(&mut batch.from_previous) {
            assert_eq!(batch.tokens[index as usize], 0);
            batch.tokens[index as usize] =
                last[row as usize].as_ref().map_or(0, |chosen| chosen.token);
        }
        let rows: Vec<RowRequest> = rows
            .iter()
            .map(|row| RowRequest {
                sampling: row.sampling,
                key: row.key,
                position: row.position,
                allowed: row.allowed.as_ref(),
                choices: row.choices.as_ref(),
                logprobs: row.logprobs,
            })
            .collect();
        let chosen = self
            .model
            .launch(&batch)
            .and_then(|forward| self.model.choose(forward, &rows))
            .and_then(|ticket| self.model.collect(ticket));
        self.last = chosen.as_ref().ok().cloned();
        self.done.push_back((name, chosen));
    }
}

impl<M: StepModel> StepModel for Lagging<M> {
    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: true,
            ..self.model.properties()
        }
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        self.pending.retain(|(_, asked)| asked.is_some());
        assert!(
            self.pending.len() + self.done.len() <= 1,
            "two steps are under way"
        );
        if self.pending.is_empty() && self.done.is_empty() {
            self.last.get_or_insert_default();
        }
        self.pending.push_back((batch.clone(), None));
        Ok(Forward::Queued)
    }

    fn choose(&mut self, _: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        self.launches += 1;
        let rows = rows.iter().map(|row| OwnedRow {
            sampling: row.sampling,
            key: row.key,
            position: row.position,
            allowed: row.allowed.map(|allowed| allowed.tokens().clone().into()),
            choices: row.choices.cloned(),
            logprobs: row.logprobs,
        });
        let (batch, asked) = self.pending.back_mut().unwrap();
        assert!(asked.is_none(), "no step was launched");
        assert_eq!(batch.logits.len(), rows.len());
        *asked = Some((self.launches, rows.collect()));
        if !self.late {
            self.compute();
        }
        Ok(Ticket::Launched(self.launches))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        if self.late {
            self.compute();
        }
        let Ticket::Launched(wanted) = ticket else {
            panic!("no ticket of this model")
        };
        let (name, chosen) = self.done.pop_front().unwrap();
        assert_eq!(name, wanted, "steps are collected in order");
        chosen
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        self.pending.retain(|(_, asked)| asked.is_some());
        assert!(self.pending.is_empty() && self.done.is_empty());
        self.model.shrink(blocks)
    }
}

/// Everything about a completion that must not depend on how it was computed.
#[derive(Debug, PartialEq)]
pub(crate) struct Essence {
    id: RequestId,
    tokens: Vec<u32>,
    finish: FinishReason,
    expected: Vec<(usize, f32)>,
    logprobs: Vec<Option<TokenLogprobs>>,
}

pub(crate) fn essence(completions: &[Completion]) -> Vec<Essence> {
    completions
        .iter()
        .map(|completion| Essence {
            id: completion.id,
            tokens: completion.tokens.clone(),
            finish: completion.finish.clone(),
            expected: completion.expected.clone(),
            logprobs: completion.logprobs.clone(),
        })
        .collect()
}

/// Requests of every kind: greedy and sampled, with and without a guide, what their choices stand for recorded, and how likely
/// their tokens were, of all lengths.
pub(crate) fn mixed_requests(count: usize, shared: usize, longest: usize) -> Vec<Request> {
    let hot = Sampling {
        temperature: 0.8,
        top_k: 12,
        top_p: 0.95,
        min_p: 0.0,
    };
    let choices = Arc::new(Choices::yes_or_no(
        &[1, 2, 3, 4, 5, 6, 7, 8],
        &[9, 10, 11, 12],
    ));
    prompts(count, shared)
        .into_iter()
        .enumerate()
        .map(|(id, prompt)| {
            let sampling = if id % 3 == 1 { hot } else { Sampling::GREEDY };
            Request {
                guide: match id % 8 {
                    2 => Some(Box::new(After(1 + id % 7))),
                    3 | 6 => Some(Box::new(Scripted::new(id as u64))),
                    _ => None,
                },
                choices: (id % 2 == 0).then(|| Arc::clone(&choices)),
                logprobs: (id % 5 < 3).then_some(id % 5),
                ..request(id as u64, prompt, 1 + id * 7 % longest, sampling)
            }
        })
        .collect()
}

/// Runs the requests, every `late`-th of them and those before it only after a step.
pub(crate) fn run_requests(
    engine: &mut Engine,
    requests: Vec<Request>,
    late: usize,
) -> Vec<Completion> {
    let mut completions = Vec::new();
    for (at, request) in requests.into_iter().enumerate() {
        engine.add(request);
        if at % late == 0 {
            completions.extend(engine.step().unwrap());
        }
    }
    completions.extend(run(engine));
    completions.sort_by_key(|completion| completion.id);
    completions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn lag_changes_nothing(
        count in 1..40usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        max_sequences in 1..40usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, late: bool, arrivals in 1..12usize, drafts in 0..6usize,
    ) {
        let longest = shared + 6 + 18 + 20;
        let config = EngineConfig {
            // From barely enough for one sequence (and the pinned template) up.
            blocks: longest.div_ceil(block_size) + shared.div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200,
            prefix_cache, pinned_prefix: if pin { template(shared) } else { Vec::new() }, drafts: Drafts::Most(drafts),
        };
        let mut plain = Engine::new(Box::new(reader(block_size)), &config).unwrap();
        let expected = run_requests(&mut plain, mixed_requests(count, shared, 20), usize::MAX);
        let mut lagging = Engine::new(Box::new(Lagging::new(reader(block_size), late)), &config).unwrap();
        let completions = run_requests(&mut lagging, mixed_requests(count, shared, 20), arrivals);
        prop_assert_eq!(essence(&completions), essence(&expected));
        let stats = lagging.stats();
        prop_assert_eq!(stats.generated_tokens, plain.stats().generated_tokens);
        prop_assert_eq!(stats.prefill_tokens + stats.decode_tokens, stats.computed_tokens);
    }
}

#[test]
fn with_room_for_all_only_the_ends_cost_a_row() {
    let requests = || {
        let mut requests = mixed_requests(64, 12, 40);
        for request in &mut requests {
            // A guide that goes on with other tokens costs rows too.
            if request.guide.is_some() && request.id % 8 != 2 {
                request.guide = None;
            }
        }
        requests
    };
    let mut plain = Engine::new(Box::new(reader(4)), &config(2000)).unwrap();
    let expected = run_requests(&mut plain, requests(), usize::MAX);
    let mut lagging = Engine::new(Box::new(Lagging::new(reader(4), true)), &config(2000)).unwrap();
    let completions = run_requests(&mut lagging, requests(), usize::MAX);
    assert_eq!(essence(&completions), essence(&expected));
    // A length is known beforehand; an end-of-sequence token or a stop rule costs the row after it.
    let unforeseen = completions
        .iter()
        .zip(requests())
        .filter(|(completion, request)| {
            let ended = completion.tokens.last() == Some(&EOS);
            (ended || request.guide.is_some()) && completion.tokens.len() < request.max_new_tokens
        })
        .count();
    let stats = lagging.stats();
    assert!(unforeseen > 10, "{unforeseen}");
    assert_eq!(stats.discarded_tokens as usize, unforeseen);
    assert_eq!(plain.stats().discarded_tokens, 0);
}

/// Allows some tokens at every place, so that no choice is known before the one before it.
struct Masks;

impl Guide for Masks {
    fn begin(&mut self) -> Next {
        self.push(0)
    }

    fn push(&mut self, token: u32) -> Next {
        let fits = |other: &u32| *other != EOS && !(other + token).is_multiple_of(3);
        let allowed: TokenSet = (1..40).filter(fits).collect();
        Next {
            append: Vec::new(),
            then: Then::OneOf {
                tokens: Arc::new(allowed.into()),
                choices: None,
            },
        }
    }
}

#[test]
fn masks_cost_no_step() {
    let requests = || {
        let prompts = prompts(6, 12).into_iter().enumerate();
        let request = prompts.map(|(id, prompt)| Request {
            guide: Some(Box::new(Masks) as Box<dyn Guide>),
            ..request(id as u64, prompt, 20 + id, Sampling::GREEDY)
        });
        request.collect::<Vec<_>>()
    };
    let mut plain = Engine::new(Box::new(reader(4)), &config(2000)).unwrap();
    let expected = run_requests(&mut plain, requests(), usize::MAX);
    for late in [false, true] {
        let model = Lagging::new(reader(4), late);
        let mut lagging = Engine::new(Box::new(model), &config(2000)).unwrap();
        let completions = run_requests(&mut lagging, requests(), usize::MAX);
        assert_eq!(essence(&completions), essence(&expected));
        let (stats, plain) = (lagging.stats(), plain.stats());
        assert_eq!(stats.discarded_tokens, 0);
        // Who shares a beginning that a step computes is admitted a step later.
        assert!(stats.steps <= plain.steps + 2, "{stats:?}");
    }
}

#[test]
fn a_lagging_engine_preempts_only_between_steps_and_changes_nothing() {
    let run = |late: Option<bool>| {
        let requests = mixed_requests(64, 12, 40);
        let config = config(30);
        match late {
            None => {
                let mut engine = Engine::new(Box::new(reader(4)), &config).unwrap();
                (
                    run_requests(&mut engine, requests, usize::MAX),
                    engine.stats(),
                )
            }
            Some(late) => {
                let mut engine =
                    Engine::new(Box::new(Lagging::new(reader(4), late)), &config).unwrap();
                (
                    run_requests(&mut engine, requests, usize::MAX),
                    engine.stats(),
                )
            }
        }
    };
    let (expected, _) = run(None);
    for late in [false, true] {
        let (completions, stats) = run(Some(late));
        assert_eq!(essence(&completions), essence(&expected));
        assert!(
            stats.preemptions > 0,
            "the pool was meant to be too small: {stats:?}"
        );
    }
}

/// The built-in judge's decoder, its vocabulary, and what builds a cache for it unless that is larger than `most`.
pub(crate) fn tiny(most: usize) -> (Decoder, usize, Box<BuildCache>) {
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let precision = Precision::all(DType::F32);
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    let shape = AttentionShape::from(&config);
    let build = move |blocks| {
        if blocks > most {
            return Err(ModelError::OutOfMemory(format!("{blocks} blocks")));
        }
        let kind = AttentionKind::Tiled;
        attention::build(kind, &shape, blocks, 16, &Device::Cpu, DType::F32)
    };
    (decoder, config.vocab, Box::new(build))
}

/// A shared beginning of 40 tokens, then something of their own; some are stopped.
pub(crate) fn tiny_requests(vocab: usize) -> Vec<Request> {
    let hot = Sampling {
        temperature: 1.0,
        ..Sampling::GREEDY
    };
    (0..24)
        .map(|id| Request {
            prompt: (0..40 + id % 11)
                .map(|at| ((at * 31 + at / 40 * id * 7) as usize % vocab) as u32)
                .collect(),
            max_new_tokens: 20 + id as usize % 5,
            guide: (id % 3 == 0).then(|| Box::new(After(5 + id as usize % 4)) as _),
            sampling: if id % 2 == 0 { hot } else { Sampling::GREEDY },
            logprobs: (id % 4 < 2).then_some(3),
            ..request(id, Vec::new(), 1, hot)
        })
        .collect()
}

pub(crate) fn tiny_config(blocks: usize) -> EngineConfig {
    EngineConfig {
        blocks,
        least_blocks: 8,
        block_size: 16,
        max_sequences: 16,
        token_budget: 64,
        max_prefill_chunk: 64,
        context_length: 200,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    }
}

#[test]
fn the_real_model_says_the_same_with_lag() {
    let run = |lag: bool, blocks: usize| {
        let (decoder, vocab, build) = tiny(blocks);
        let model = PagedDecoder::with_cache(decoder, blocks, blocks, build).unwrap();
        let (requests, config) = (tiny_requests(vocab), tiny_config(blocks));
        if lag {
            let mut engine = Engine::new(Box::new(Lagging::new(model, true)), &config).unwrap();
            (run_requests(&mut engine, requests, 5), engine.stats())
        } else {
            let mut engine = Engine::new(Box::new(model), &config).unwrap();
            (run_requests(&mut engine, requests, 5), engine.stats())
        }
    };
    let (expected, _) = run(false, 100);
    let (completions, stats) = run(true, 100);
    assert_eq!(essence(&completions), essence(&expected));
    assert!(stats.discarded_tokens > 0, "{stats:?}");
    let (completions, stats) = run(true, 20);
    assert_eq!(essence(&completions), essence(&expected));
    assert!(stats.preemptions > 0, "{stats:?}");
}
