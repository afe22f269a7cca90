//! From a sample to the engine's request: prompt tokens, sampling key, stop rule.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::completion::VerdictBuilder;
use super::guide::{Decides, GuideOptions, Guided, VerdictGuide};
use super::prompt::TooLong;
use super::{JudgeText, RunOptions, guarded};
use crate::dataset::Sample;
use crate::engine::{Guide, Next, RandomKey, Request};
use crate::protocol::view::paragraphs;
use crate::protocol::{ScaffoldWants, StopMatcher};
use crate::text::TextError;
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
    /// Why the guide failed, if it did.
    pub(super) failure: Arc<OnceLock<String>>,
    /// What a constrained generation has chosen.
    pub(super) guided: Arc<Mutex<Guided>>,
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
    text: &'a Arc<JudgeText>,
    options: &'a RunOptions,
    verdicts: &'a VerdictBuilder<'a>,
    in_flight: &'a InFlight,
}

impl<'a> RequestBuilder<'a> {
    pub(super) fn new(
        text: &'a Arc<JudgeText>,
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
        let options = self.options;
        let failure = Arc::new(OnceLock::new());
        let guided = Arc::new(Mutex::new(Guided::default()));
        let id = self.in_flight.add(Asked {
            sample: Arc::clone(sample),
            trial,
            failure: Arc::clone(&failure),
            guided: Arc::clone(&guided),
        });
        let guide = match self.guide(sample, &prompt, guided) {
            Ok(guide) => guide,
            Err(error) => {
                let _ = failure.set(error.to_string());
                None
            }
        };
        Request {
            id,
            prompt,
            max_new_tokens: options.max_new_tokens,
            sampling: options.sampling,
            random_key: RandomKey {
                seed: options.seed,
                // Draws follow the sample's id, not its place.
                sample: sample.id_hash(),
                trial,
            },
            eos: self.text.eos.clone(),
            guide: guide.map(|guide| Box::new(Guarded { guide, failure }) as Box<dyn Guide>),
            choices: Some(self.text.choices.clone()),
        }
    }

    /// What steers the generation: the protocol's scaffold, or what ends it once all that is wanted was written.
    fn guide(
        &self,
        sample: &Sample,
        prompt: &[u32],
        result: Arc<Mutex<Guided>>,
    ) -> Result<Option<Box<dyn Guide>>, TextError> {
        let options = self.options;
        if options.constrained {
            let options = GuideOptions {
                wants: ScaffoldWants {
                    reason: options.wants_reason,
                    ..wants_of(sample)
                },
                decides: options.decide_only.then_some(Decides {
                    policy: options.reward,
                    require_process: options.require_process,
                }),
                thinking_budget: options.thinking_budget,
                most: options.max_new_tokens,
            };
            if let Some(guide) = VerdictGuide::new(self.text, prompt, options, result)? {
                return Ok(Some(Box::new(guide)));
            }
        }
        let stop = TextStop::new(self.text, options.wants_reason);
        Ok(stop.map(|stop| Box::new(stop) as Box<dyn Guide>))
    }
}

/// What an answer must fit: the steps of the sample's response, and its rubric.
pub(super) fn wants_of(sample: &Sample) -> ScaffoldWants {
    ScaffoldWants {
        reason: false,
        steps: match sample.steps.len() {
            0 => paragraphs(&sample.student_answer).count(),
            steps => steps,
        },
        rubric: sample.rubric.clone(),
    }
}

/// The protocol's stop rule, which reads text, for tokens.
pub(super) struct TextStop {
    text: Arc<JudgeText>,
    wants_reason: bool,
    stream: AnswerStream,
    matcher: Box<dyn StopMatcher>,
}

impl TextStop {
    /// `None` where only the model ends its answers.
    pub(super) fn new(text: &Arc<JudgeText>, wants_reason: bool) -> Option<Self> {
        let thinking = text.prompts.thinking();
        let matcher = text
            .protocol
            .stop(thinking.starts_in_thinking(), wants_reason)?;
        Some(Self {
            text: Arc::clone(text),
            wants_reason,
            stream: thinking.stream(Arc::clone(text.prompts.tokenizer())),
            matcher,
        })
    }

    /// Takes a token; whether the generation may end with it.
    pub(super) fn push(&mut self, token: u32) -> bool {
        let added = self.stream.push(token);
        if added.restart
            && let Some(matcher) = self.text.protocol.stop(false, self.wants_reason)
        {
            // An answer that begins only now.
            self.matcher = matcher;
        }
        !added.text.is_empty() && self.matcher.push(&added.text)
    }
}

impl Guide for TextStop {
    fn push(&mut self, token: u32) -> Next {
        if TextStop::push(self, token) {
            Next::END
        } else {
            Next::FREE
        }
    }
}

/// Has a panic of a guide cost its sample alone: it would end every sample's generation on the engine's thread.
struct Guarded {
    guide: Box<dyn Guide>,
    failure: Arc<OnceLock<String>>,
}

impl Guarded {
    fn ask<T>(&mut self, ask: impl FnOnce(&mut dyn Guide) -> T, otherwise: T) -> T {
        guarded(|| ask(self.guide.as_mut())).unwrap_or_else(|why| {
            let _ = self.failure.set(why);
            otherwise
        })
    }
}

impl Guide for Guarded {
    fn begin(&mut self) -> Next {
        self.ask(|guide| guide.begin(), Next::END)
    }

    fn push(&mut self, token: u32) -> Next {
        self.ask(|guide| guide.push(token), Next::END)
    }

    fn end(&mut self) -> Option<Next> {
        self.ask(|guide| guide.end(), None)
    }
}
