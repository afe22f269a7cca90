//! What the engine is asked for a request: a generation for each of its prompts and each of the `n` answers to it.

use std::sync::{Arc, OnceLock};

use super::conversation::{ChatModel, Prompt};
use super::echo::Echo;
use super::form::FormedAnswer;
use super::request::GenerationRequest;
use super::stop::StopTexts;
use super::{TOO_LONG, guarded};
use crate::judge::WorkloadLengths;
use crate::runtime::{Ask, GuideNotes};
use crate::wire::BYTES_PER_TOKEN;
use juror_engine::engine::guide::GuardedGuide;
use juror_engine::engine::{Guide, RandomKey, Request};
use juror_engine::grammar::Grammar;

/// Tokens of chat markup, at most.
const MARKUP: usize = 512;

#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// The longest completion, where the prompt leaves the context room for it.
    pub max_new_tokens: usize,
    pub seed: u64,
}

/// A request that can be answered.
pub(crate) struct Generation {
    pub(crate) prompts: Vec<Prompt>,
    grammar: Option<Arc<Grammar>>,
}

/// How long prompts and completions of these requests will be.
pub(crate) fn lengths<'r>(
    model: &ChatModel,
    requests: impl Iterator<Item = &'r GenerationRequest> + Clone,
    defaults: Defaults,
) -> WorkloadLengths {
    let context = model.config.max_positions;
    let bytes = requests.clone().map(GenerationRequest::bytes);
    let longest = bytes.clone().max().unwrap_or(0);
    let count = requests.clone().count().max(1);
    let sequences = requests.clone().map(|request| request.n as usize).sum();
    let max_new = requests.map(|request| request.max_tokens.unwrap_or(defaults.max_new_tokens));
    WorkloadLengths {
        shared: 0,
        typical: bytes.sum::<usize>() / count / BYTES_PER_TOKEN + MARKUP / 4,
        // No token is shorter than a byte.
        longest: longest.saturating_add(MARKUP).min(context),
        least: longest.saturating_add(MARKUP).min(context),
        max_new: max_new.max().unwrap_or(1).min(context),
        context,
        sequences,
    }
}

impl Generation {
    /// The prompts of a request and the form of its answers.
    pub(crate) fn new(model: &ChatModel, request: &GenerationRequest) -> Result<Self, String> {
        let context = model.config.max_positions;
        // Without a bound of its own an answer has what the prompt leaves.
        let max_new = request.max_tokens.unwrap_or(1);
        if max_new >= context {
            return Err(format!(
                "{TOO_LONG} {context} tokens, and {max_new} new ones leave no room for a prompt: ask for fewer"
            ));
        }
        guarded(|| {
            let grammar = request.form.as_ref().map(|form| model.grammar(form));
            let grammar = grammar.transpose();
            let grammar = grammar.map_err(|why| format!("the form that is asked for: {why}"))?;
            let prompts = model.prompts(request, context - max_new)?;
            Ok(Self { prompts, grammar })
        })
    }

    /// What the engine is asked, in the order of the answers; `name` is what draws depend on where the request has no seed.
    pub(crate) fn answers(
        &self,
        model: &Arc<ChatModel>,
        request: &GenerationRequest,
        defaults: Defaults,
        name: u64,
    ) -> impl Iterator<Item = Ask> {
        (0..).zip(&self.prompts).flat_map(move |(at, prompt)| {
            (0..request.n).map(move |answer| {
                let notes = GuideNotes::default();
                // Equal requests with equal seeds have equal answers; without one, equal prompts of a request have others.
                let (seed, sample, before) = match request.seed {
                    Some(seed) => (seed, 0, 0),
                    None => (defaults.seed, name, at * request.n),
                };
                let new = request.max_tokens.unwrap_or(defaults.max_new_tokens);
                let room = model.config.max_positions - prompt.tokens.len();
                let guide = self.guide(model, request, prompt, &notes.failure);
                let asked = Request {
                    id: 0,
                    prompt: prompt.tokens.clone(),
                    max_new_tokens: new.min(room),
                    // What the request leaves out is as the model's makers recommend.
                    sampling: request.sampling(model.generation.sampling_for(1)),
                    random_key: RandomKey {
                        seed,
                        sample,
                        trial: before + answer,
                    },
                    eos: Arc::clone(&model.eos),
                    guide,
                    choices: None,
                    logprobs: request.logprobs,
                    background: false,
                };
                let request = if request.echo {
                    Echo::wrap(asked)
                } else {
                    asked
                };
                Ask {
                    request,
                    form: None,
                    notes,
                }
            })
        })
    }

    /// What keeps an answer to its form and ends it at the request's stop texts.
    fn guide(
        &self,
        model: &Arc<ChatModel>,
        request: &GenerationRequest,
        prompt: &Prompt,
        failure: &Arc<OnceLock<String>>,
    ) -> Option<Box<dyn Guide>> {
        let stop = StopTexts::for_texts(model.tokenizer(), &request.stop);
        match &self.grammar {
            Some(grammar) => {
                let thinking = prompt.thinking.as_deref();
                let grammar = Arc::clone(grammar);
                let formed = FormedAnswer::new(model, thinking, grammar, stop, failure);
                Some(GuardedGuide::boxed(Box::new(formed), Arc::clone(failure)))
            }
            None => stop.map(|stop| GuardedGuide::boxed(Box::new(stop), Arc::clone(failure))),
        }
    }
}
