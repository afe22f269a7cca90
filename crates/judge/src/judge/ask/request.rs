//! From a sample to the engine's request: prompt tokens, random key, guide or stop rule.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::guide::{Decides, GuideOptions, VerdictGuide};
use crate::judge::read::completion::{Subject, VerdictBuilder};
use crate::judge::text::wants_of;
use crate::judge::{JudgeText, RunOptions, guarded};
use crate::protocol::{ScaffoldWants, StopMatcher};
use crate::runtime::{AnswerKey, Ask, GuideNotes, Guided};
use crate::wire::form::ServerForm;
use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};
use juror_engine::engine::guide::GuardedGuide;
use juror_engine::engine::{Guide, Next, RandomKey, Request};
use juror_engine::text::TextError;
use juror_engine::text::reasoning::AnswerStream;

/// A prompt's tokens, if the model is to be asked.
pub(crate) type Prompt = Result<Vec<u32>, NotAsked>;

pub(crate) enum Trial {
    /// The model is to be asked, unless it has answered the same: what the answer depends on.
    Ask(Box<Ask>, AnswerKey),
    Judged(Box<Verdict>),
}

/// Why no request is made of a sample.
pub(crate) enum NotAsked {
    Skipped,
    /// It cannot be: the status and the reason.
    Without(Status, String),
    Broken(String),
}

const SEVERAL: &str = "the judge knows samples with one reference, and the rules do not tell which of these the response gives";

pub(crate) struct RequestBuilder<'a> {
    text: &'a Arc<JudgeText>,
    options: &'a RunOptions,
    verdicts: &'a VerdictBuilder<'a>,
    /// What the answers of the run depend on beside their prompts.
    run: blake3::Hasher,
}

impl<'a> RequestBuilder<'a> {
    pub(crate) fn new(
        text: &'a Arc<JudgeText>,
        options: &'a RunOptions,
        verdicts: &'a VerdictBuilder<'a>,
    ) -> Self {
        Self {
            text,
            options,
            verdicts,
            run: hash_of_run(text, options),
        }
    }

    /// The prompt of a sample, or why the model is not asked.
    pub(crate) fn prompt(&self, subject: &Subject) -> Prompt {
        let prompt = || {
            if self.verdicts.is_skipped_by_rules(subject) {
                return Err(NotAsked::Skipped);
            }
            let max_new = self.options.max_new_tokens;
            let domain = self.text.judge.domain.as_ref();
            let outside = || NotAsked::Without(Status::OutOfDomain, SEVERAL.to_owned());
            let shown = self.verdicts.shown(domain, subject).ok_or_else(outside)?;
            let failed = |why: TextError| NotAsked::Without(Status::Failed, why.to_string());
            let prompt = self.text.prompt(&shown, max_new).map_err(failed)?;
            prompt.map_err(|tokens| {
                let error = format!(
                    "{tokens} prompt tokens and up to {max_new} new ones exceed the model's context of {}; a smaller \
                     --max-new-tokens leaves more room",
                    self.text.context
                );
                NotAsked::Without(Status::TooLong, error)
            })
        };
        guarded(prompt).unwrap_or_else(|why| Err(NotAsked::Broken(why)))
    }

    pub(crate) fn trial(&self, subject: &Subject, trial: u32, prompt: &Prompt) -> Trial {
        let made = guarded(|| match prompt {
            Ok(prompt) => self.ask(subject, trial, prompt),
            Err(why) => Trial::Judged(Box::new(match why {
                NotAsked::Skipped => self.verdicts.skipped_by_rules(subject, trial),
                NotAsked::Without(status, why) => {
                    (self.verdicts).without_completion(subject, trial, *status, why.clone())
                }
                NotAsked::Broken(why) => self.verdicts.broken(&subject.sample, trial, why.clone()),
            })),
        });
        made.unwrap_or_else(|why| {
            Trial::Judged(Box::new(self.verdicts.broken(&subject.sample, trial, why)))
        })
    }

    fn ask(&self, subject: &Subject, trial: u32, prompt: &[u32]) -> Trial {
        let options = self.options;
        let sample = &subject.sample;
        let bytes = prompt.iter().flat_map(|token| token.to_le_bytes());
        let prompt_hash = blake3::hash(&bytes.collect::<Vec<u8>>());
        let drawn = prompt_hash.as_bytes().first_chunk().copied();
        let key = self.key(&prompt_hash, &wants_of(sample), trial);
        let cached = options.cache.as_ref().and_then(|cache| cache.get(&key));
        if let Some(mut answer) = cached {
            prompt.clone_into(&mut answer.completion.prompt);
            let (by, text) = (&self.verdicts, self.text);
            let verdict = by.of_answer(text, subject, trial, &answer, true);
            return Trial::Judged(Box::new(verdict));
        }
        let notes = GuideNotes::default();
        let form = self.form(sample);
        let guide = match self.guide(sample, prompt, Arc::clone(&notes.guided)) {
            Ok(guide) => guide,
            Err(why) => {
                let verdict = self.verdicts.broken(sample, trial, why.to_string());
                return Trial::Judged(Box::new(verdict));
            }
        };
        let guide = guide.map(|guide| GuardedGuide::boxed(guide, Arc::clone(&notes.failure)));
        let request = Request {
            id: 0,
            prompt: prompt.to_vec(),
            max_new_tokens: options.max_new_tokens,
            sampling: options.sampling,
            random_key: RandomKey {
                seed: options.seed,
                sample: u64::from_le_bytes(drawn.unwrap_or_default()),
                trial,
            },
            eos: self.text.eos.clone(),
            guide,
            choices: Some(self.text.choices.clone()),
            logprobs: self.text.wants_probabilities().then_some(0),
            background: false,
        };
        let ask = Ask {
            request,
            form,
            notes,
        };
        Trial::Ask(Box::new(ask), key)
    }

    /// What an answer depends on: the run's settings, the prompt, what may be chosen, and where chance decides, the trial.
    fn key(&self, prompt: &blake3::Hash, wants: &ScaffoldWants, trial: u32) -> AnswerKey {
        let mut hasher = self.run.clone();
        hasher.update(prompt.as_bytes());
        hasher.update(&(wants.steps as u64).to_le_bytes());
        for criterion in wants.rubric.iter().flat_map(|rubric| rubric.criteria()) {
            let [low, high] = criterion.scale.unwrap_or_default();
            hasher.update(&low.to_le_bytes());
            hasher.update(&high.to_le_bytes());
        }
        let served = self.text.endpoint.as_ref();
        if self.options.sampling.temperature > 0.0 || served.is_some_and(|one| one.draws_anyway) {
            hasher.update(&trial.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// The form that a server is asked to keep the answer to.
    fn form(&self, sample: &Sample) -> Option<Arc<ServerForm>> {
        let is_asked = self.options.constrained && self.text.endpoint.is_some();
        let wants = ScaffoldWants {
            reason: self.options.wants_reason,
            ..wants_of(sample)
        };
        let scaffold = self.text.protocol.scaffold(&wants);
        let scaffold = scaffold.filter(|_| is_asked && self.text.has_scaffold())?;
        ServerForm::from_scaffold(&scaffold).map(Arc::new)
    }

    /// What steers the generation: the protocol's scaffold, or what ends it once all that is wanted was written.
    fn guide(
        &self,
        sample: &Sample,
        prompt: &[u32],
        result: Arc<Mutex<Guided>>,
    ) -> Result<Option<Box<dyn Guide>>, TextError> {
        let options = self.options;
        if self.text.endpoint.is_some() {
            return Ok(None);
        }
        if let Some(guide) = verdict_guide(self.text, options, sample, prompt, result)? {
            return Ok(Some(Box::new(guide)));
        }
        let stop = TextStop::new(self.text, options.wants_reason);
        Ok(stop.map(|stop| Box::new(stop) as Box<dyn Guide>))
    }
}

/// Whether the judge's own limits may take back a refusal, by the outcome beside it.
fn needs_outcome(text: &JudgeText, options: &RunOptions) -> bool {
    let judge = &text.judge;
    let must_agree = (judge.domain.as_ref()).is_some_and(|domain| domain.rules_must_agree);
    must_agree || options.min_confidence.is_none() && judge.unsure_refusals_below.is_some()
}

/// What constrains the answer to a prompt, where it is to be.
fn verdict_guide(
    text: &Arc<JudgeText>,
    options: &RunOptions,
    sample: &Sample,
    prompt: &[u32],
    result: Arc<Mutex<Guided>>,
) -> Result<Option<VerdictGuide>, TextError> {
    if !options.constrained {
        return Ok(None);
    }
    let options = GuideOptions {
        wants: ScaffoldWants {
            reason: options.wants_reason,
            ..wants_of(sample)
        },
        decides: options.decide_only.then_some(Decides {
            policy: options.reward,
            require_process: options.require_process,
            needs_outcome: needs_outcome(text, options),
        }),
        thinking_budget: options.thinking_budget,
        most: options.max_new_tokens,
    };
    VerdictGuide::new(text, prompt, options, result)
}

impl JudgeText {
    /// A sample as the judge is shown it in a run with these options; `None` where it is not asked, since the rules do not tell which reference to show.
    pub fn shown(&self, sample: &Sample, options: &RunOptions) -> Option<Sample> {
        let subject = Subject::new(sample.clone());
        let verdicts = VerdictBuilder::new(options, Some(self));
        let shown = verdicts.shown(self.judge.domain.as_ref(), &subject);
        shown.map(Cow::into_owned)
    }

    /// The most tokens that may be written after a prompt, the known text of a constrained answer included.
    pub fn longest_completion(
        self: &Arc<Self>,
        sample: &Sample,
        prompt: &[u32],
        options: &RunOptions,
    ) -> usize {
        let guide = guarded(|| verdict_guide(self, options, sample, prompt, Arc::default()));
        let longest = guide.ok().and_then(Result::ok).flatten();
        let longest = longest.and_then(|guide| guide.longest());
        longest.map_or(options.max_new_tokens, |most| {
            most.min(options.max_new_tokens)
        })
    }
}

/// What answers depend on beside their prompts. Another version may steer a generation otherwise.
fn hash_of_run(text: &JudgeText, options: &RunOptions) -> blake3::Hasher {
    // All are named, so that the compiler asks of a new option whether answers depend on it.
    let RunOptions {
        sampling,
        max_new_tokens,
        seed,
        constrained,
        decide_only,
        thinking_budget,
        wants_reason,
        reward,
        require_process,
        cache,
        trials: _,
        raw: _,
        rules: _,
        audit: _,
        outcome_rules: _,
        min_confidence: _,
        own: _,
    } = options;
    let chance = (sampling.temperature > 0.0).then_some(seed);
    let outcome = " true".repeat(needs_outcome(text, options).into());
    let settings = json!({
        "juror": env!("CARGO_PKG_VERSION"),
        "model": cache.as_ref().map(|cache| cache.model()),
        "protocol": [text.protocol.name, text.protocol.hash.as_deref().unwrap_or_default()],
        "chat": text.chat,
        "sampling": [sampling.temperature, sampling.top_k as f64, sampling.top_p, sampling.min_p],
        "seed": chance,
        "max_new_tokens": max_new_tokens,
        "constrained": constrained,
        "decides": decide_only.then(|| format!("{reward} {require_process}{outcome}")),
        "thinking_budget": thinking_budget,
        "reason": wants_reason,
    });
    let is_weighed = text.wants_probabilities();
    let weighed = if is_weighed { " weighed" } else { "" };
    let mut hasher = blake3::Hasher::new();
    hasher.update(settings.to_string().as_bytes());
    // A judge that needs probabilities has keys of its own, as has one that needs the outcome; other keys are as they were.
    hasher.update(weighed.as_bytes());
    if let Some(served) = &text.endpoint {
        hasher.update(served.key.as_bytes());
    }
    hasher
}

/// Applies the protocol's stop rule for text to tokens.
pub(crate) struct TextStop {
    text: Arc<JudgeText>,
    wants_reason: bool,
    stream: AnswerStream,
    matcher: Box<dyn StopMatcher>,
}

impl TextStop {
    /// `None` where only the model ends its answers.
    pub(crate) fn new(text: &Arc<JudgeText>, wants_reason: bool) -> Option<Self> {
        let thinking = text.prompts.thinking();
        let (protocol, starts) = (&text.protocol, thinking.starts_in_thinking());
        let matcher = protocol.stop(starts, wants_reason)?;
        Some(Self {
            text: Arc::clone(text),
            wants_reason,
            stream: thinking.stream(Arc::clone(text.prompts.tokenizer())),
            matcher,
        })
    }

    /// Takes a token; whether the generation may end with it.
    pub(crate) fn push(&mut self, token: u32) -> bool {
        let added = self.stream.push(token);
        if added.restart
            && let Some(matcher) = self.text.protocol.stop(false, self.wants_reason)
        {
            // The answer begins only now.
            self.matcher = matcher;
        }
        !added.text.is_empty() && self.matcher.push(&added.text)
    }
}

impl Guide for TextStop {
    fn push(&mut self, token: u32) -> Next {
        let is_end = TextStop::push(self, token);
        if is_end { Next::END } else { Next::FREE }
    }
}
