//! From a sample to the engine's request: prompt tokens, sampling key, stop rule.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::completion::VerdictBuilder;
use super::prompt::TooLong;
use super::{JudgeText, RunOptions, guarded};
use crate::dataset::Sample;
use crate::engine::{Guide, Next, RandomKey, Request};
use crate::protocol::StopMatcher;
use crate::text::reasoning::AnswerStream;
use crate::verdict::{Status, Verdict};

/// The requests that the engines have, by their ids: as many as the engines hold, and no more.
#[derive(Default)]
pub(super) struct InFlight {
    jobs: Mutex<HashMap<u64, Asked>>,
    next: AtomicU64,
}

/// The sample and trial of a request that an engine has.
pub(super) struct Asked {
    pub(super) sample: Arc<Sample>,
    pub(super) trial: u32,
    /// Why the stop rule failed, if it did.
    pub(super) failure: Arc<OnceLock<String>>,
}

impl InFlight {
    fn jobs(&self) -> MutexGuard<'_, HashMap<u64, Asked>> {
        // Nothing panics while it holds the lock.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, asked: Asked) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.jobs().insert(id, asked);
        id
    }

    pub(super) fn take(&self, id: u64) -> Option<Asked> {
        self.jobs().remove(&id)
    }
}

/// A prompt's tokens, if the model is to be asked.
pub(super) type Prompt = Result<Vec<u32>, NotAsked>;

/// Why no request is made of a sample.
pub(super) enum NotAsked {
    /// The rules have decided.
    Skipped,
    /// It cannot be: the status and the reason.
    Without(Status, String),
    /// An error of our own.
    Broken(String),
}

/// Makes requests of samples.
pub(super) struct RequestBuilder<'a> {
    text: &'a JudgeText,
    options: &'a RunOptions,
    verdicts: &'a VerdictBuilder<'a>,
    in_flight: &'a InFlight,
}

impl<'a> RequestBuilder<'a> {
    pub(super) fn new(
        text: &'a JudgeText,
        options: &'a RunOptions,
        verdicts: &'a VerdictBuilder<'a>,
        in_flight: &'a InFlight,
    ) -> Self {
        Self {
            text,
            options,
            verdicts,
            in_flight,
        }
    }

    /// The prompt of a sample, or why the model is not asked.
    pub(super) fn prompt(&self, sample: &Sample) -> Prompt {
        let prompt = || {
            if self.verdicts.is_skipped_by_rules(sample) {
                return Err(NotAsked::Skipped);
            }
            let max_new = self.options.max_new_tokens;
            let prompt = self
                .text
                .prompt(sample, max_new)
                .map_err(|error| NotAsked::Without(Status::Failed, error.to_string()))?;
            prompt.map_err(|TooLong { tokens }| {
                let error = format!(
                    "{tokens} prompt tokens and up to {max_new} new ones exceed the model's context of {}; a smaller \
                     --max-new-tokens leaves more room",
                    self.text.config.max_positions
                );
                NotAsked::Without(Status::TooLong, error)
            })
        };
        guarded(prompt).unwrap_or_else(|why| Err(NotAsked::Broken(why)))
    }

    /// The request of a trial.
    ///
    /// # Errors
    /// The verdict, where the model is not asked.
    pub(super) fn request(
        &self,
        sample: &Arc<Sample>,
        trial: u32,
        prompt: &Prompt,
    ) -> Result<Request, Box<Verdict>> {
        let made = guarded(|| match prompt {
            Ok(prompt) => Ok(self.asking(sample, trial, prompt.clone())),
            Err(why) => Err(Box::new(self.not_asked(sample, trial, why))),
        });
        made.unwrap_or_else(|why| Err(Box::new(self.verdicts.broken(sample, trial, why))))
    }

    fn not_asked(&self, sample: &Sample, trial: u32, why: &NotAsked) -> Verdict {
        let verdicts = self.verdicts;
        match why {
            NotAsked::Skipped => verdicts.skipped_by_rules(sample, trial),
            NotAsked::Without(status, why) => {
                verdicts.without_completion(sample, trial, *status, why.clone())
            }
            NotAsked::Broken(why) => verdicts.broken(sample, trial, why.clone()),
        }
    }

    fn asking(&self, sample: &Arc<Sample>, trial: u32, prompt: Vec<u32>) -> Request {
        let prompts = &self.text.prompts;
        let (protocol, wants_reason) = (&self.text.protocol, self.options.wants_reason);
        let starts_in_thinking = prompts.thinking().starts_in_thinking();
        let failure = Arc::new(OnceLock::new());
        let id = self.in_flight.add(Asked {
            sample: Arc::clone(sample),
            trial,
            failure: Arc::clone(&failure),
        });
        Request {
            id,
            prompt,
            max_new_tokens: self.options.max_new_tokens,
            sampling: self.options.sampling,
            random_key: RandomKey {
                seed: self.options.seed,
                // Draws follow the sample's id, not its place.
                sample: sample.id_hash(),
                trial,
            },
            eos: self.text.eos.clone(),
            guide: protocol
                .stop(starts_in_thinking, wants_reason)
                .map(|matcher| {
                    let protocol = Arc::clone(protocol);
                    Box::new(TextStop {
                        stream: prompts.thinking().stream(prompts.tokenizer().clone()),
                        matcher,
                        restarted: Box::new(move || protocol.stop(false, wants_reason)),
                        failure,
                    }) as Box<dyn Guide>
                }),
            choices: Some(self.text.choices.clone()),
        }
    }
}

/// The protocol's stop rule, which reads text, behind the engine's, which sees tokens.
struct TextStop {
    stream: AnswerStream,
    matcher: Box<dyn StopMatcher>,
    /// Makes a matcher that has read nothing, for an answer that begins only now.
    restarted: Box<dyn Fn() -> Option<Box<dyn StopMatcher>> + Send>,
    failure: Arc<OnceLock<String>>,
}

impl Guide for TextStop {
    fn push(&mut self, token: u32) -> Next {
        // On the engine's thread, where a panic would end every sample's generation.
        let is_over = guarded(|| {
            let added = self.stream.push(token);
            if added.restart
                && let Some(matcher) = (self.restarted)()
            {
                self.matcher = matcher;
            }
            !added.text.is_empty() && self.matcher.push(&added.text)
        })
        .unwrap_or_else(|why| {
            let _ = self.failure.set(why);
            true
        });
        if is_over { Next::END } else { Next::FREE }
    }
}
