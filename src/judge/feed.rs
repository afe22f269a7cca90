//! From samples to requests, ahead of the engines.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use super::devices::{Dispatch, Event};
use super::jobs::{self, Job};
use super::prompt::TooLong;
use super::{JudgeText, RulesMode, RunOptions, VerdictReading};
use crate::dataset::{Sample, Samples};
use crate::engine::{RandomKey, Request, Stop};
use crate::panics;
use crate::protocol::StopMatcher;
use crate::text::reasoning::AnswerStream;
use crate::verdict::{Status, Verdict};

/// Read and tokenise this many jobs at a time.
pub(super) const JOBS_AHEAD: usize = 64;

/// Runs `work`; a panic becomes a message. Whatever is wrong with one sample, or with our reading of it, costs that
/// sample and not the run.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panics::guarded(work)
        .map_err(|why| format!("an error of juror itself ({why}); please report this sample"))
}

/// What the engines are working on, by the requests' ids: as much as they hold, and no more.
#[derive(Default)]
pub(super) struct InFlight {
    jobs: Mutex<HashMap<u64, Pending>>,
    next: AtomicU64,
}

/// A request on its way, and what its verdict will need.
pub(super) struct Pending {
    pub(super) sample: Arc<Sample>,
    pub(super) trial: u32,
    /// Why the stop rule failed, if it did.
    pub(super) failure: Arc<OnceLock<String>>,
}

impl InFlight {
    fn jobs(&self) -> MutexGuard<'_, HashMap<u64, Pending>> {
        // Nothing panics while it holds the lock.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, pending: Pending) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.jobs().insert(id, pending);
        id
    }

    pub(super) fn take(&self, id: u64) -> Option<Pending> {
        self.jobs().remove(&id)
    }
}

/// Reads and tokenises ahead of the engines.
pub(super) struct Feeder<'a, S: ?Sized> {
    pub(super) samples: &'a S,
    pub(super) jobs: &'a [Job],
    pub(super) options: &'a RunOptions,
    pub(super) text: &'a JudgeText,
    pub(super) reading: &'a VerdictReading<'a>,
    pub(super) in_flight: &'a InFlight,
    pub(super) stop: &'a AtomicBool,
}

/// A prompt's tokens, if there is one.
type Prompt = Result<Vec<u32>, NotAsked>;

/// Why the model is not asked about a sample.
enum NotAsked {
    /// The rules have decided.
    Skipped,
    /// It cannot be: the status and the reason.
    Without(Status, String),
    /// An error of our own.
    Broken(String),
}

impl<S: Samples + ?Sized> Feeder<'_, S> {
    /// Sends every job on its way, to an engine or as a verdict that needs no model. Ends early when nobody listens.
    pub(super) fn feed(&self, mut engines: Dispatch, events: &SyncSender<Event>) {
        let mut rest = self.jobs;
        while !rest.is_empty() {
            let jobs = jobs::cut(&mut rest, self.samples, JOBS_AHEAD);
            if !self.feed_some(jobs, &mut engines, events) {
                return;
            }
        }
    }

    /// False when it is time to end.
    fn feed_some(&self, jobs: &[Job], engines: &mut Dispatch, events: &SyncSender<Event>) -> bool {
        let (positions, own) = jobs::positions(jobs);
        let samples = match self.samples.fetch(&positions) {
            Ok(samples) => samples,
            Err(error) => {
                let _ = events.send(Event::Input(error));
                return false;
            }
        };
        // Trials of one sample have one prompt.
        let prompts: Vec<(Arc<Sample>, Prompt)> = samples
            .into_par_iter()
            .map(|sample| {
                let prompt = guarded(|| self.prompt(&sample))
                    .unwrap_or_else(|why| Err(NotAsked::Broken(why)));
                (Arc::new(sample), prompt)
            })
            .collect();
        for (job, own) in jobs.iter().zip(own) {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let (sample, prompt) = &prompts[own];
            let request = match prompt {
                Ok(prompt) => guarded(|| self.request(sample, job.trial, prompt.clone()))
                    .map_err(|why| self.reading.broken(sample, job.trial, why)),
                Err(why) => Err(self.verdict(sample, job.trial, why)),
            };
            let sent = match request {
                Ok(request) => engines.send(request, self.samples.outline(job.position()).question),
                Err(verdict) => events.send(Event::Verdict(Box::new(verdict))).is_ok(),
            };
            if !sent {
                return false;
            }
        }
        true
    }

    /// What the model is asked about a sample.
    fn prompt(&self, sample: &Sample) -> Prompt {
        if self.options.rules == RulesMode::First && self.reading.is_skipped_by_rules(sample) {
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
    }

    /// The verdict on a sample that the model is not asked about.
    fn verdict(&self, sample: &Sample, trial: u32, why: &NotAsked) -> Verdict {
        let reading = self.reading;
        guarded(|| match why {
            NotAsked::Skipped => reading.skipped_by_rules(sample, trial),
            NotAsked::Without(status, why) => {
                reading.without_completion(sample, trial, *status, why.clone())
            }
            NotAsked::Broken(why) => reading.broken(sample, trial, why.clone()),
        })
        .unwrap_or_else(|why| reading.broken(sample, trial, why))
    }

    fn request(&self, sample: &Arc<Sample>, trial: u32, prompt: Vec<u32>) -> Request {
        let prompts = &self.text.prompts;
        let (protocol, wants_reason) = (self.text.protocol, self.options.wants_reason);
        let starts_in_thinking = prompts.thinking().starts_in_thinking();
        let failure = Arc::new(OnceLock::new());
        let id = self.in_flight.add(Pending {
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
            stop: Some(Box::new(TextStop {
                stream: prompts.thinking().stream(prompts.tokenizer().clone()),
                matcher: protocol.stop(starts_in_thinking, wants_reason),
                anew: Box::new(move || protocol.stop(false, wants_reason)),
                failure,
            })),
            choices: Some(self.text.choices.clone()),
        }
    }
}

/// The protocol's stop rule, which reads text, behind the engine's, which sees tokens.
struct TextStop {
    stream: AnswerStream,
    matcher: Box<dyn StopMatcher>,
    /// A matcher that has read nothing, for an answer that begins only now.
    anew: Box<dyn Fn() -> Box<dyn StopMatcher> + Send>,
    failure: Arc<OnceLock<String>>,
}

impl Stop for TextStop {
    fn push(&mut self, token: u32) -> bool {
        // On the engine's thread, where a panic would end every sample's generation.
        guarded(|| {
            let added = self.stream.push(token);
            if added.restart {
                self.matcher = (self.anew)();
            }
            !added.text.is_empty() && self.matcher.push(&added.text)
        })
        .unwrap_or_else(|why| {
            let _ = self.failure.set(why);
            true
        })
    }
}
