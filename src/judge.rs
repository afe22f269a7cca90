//! The whole way: samples through prompts, engine, parser, rules and reward to verdicts.
//!
//! This is the only place that knows all rooms. [`run`] keeps one promise to its caller: every trial that is not yet
//! finished is handed to the sink exactly once, as soon as it is known, in whatever order the engine finishes.

pub mod model;
pub mod prompt;
pub mod reading;
pub mod session;
pub mod sizing;
pub mod summary;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::Sample;
use crate::engine::{
    Engine, EngineError, EngineThread, RandomKey, Request, Sampling, Stats, StepModel, Stop,
};
use crate::model::tokenizer::TextStream;
use crate::protocol::StopMatcher;
use crate::reward::RewardPolicy;
use crate::rules::OutcomeRules;
use crate::verdict::{Status, Verdict};
pub use model::{EngineSizes, JudgeText, build_engine};
pub use reading::VerdictReading;
pub use session::{Session, SessionError};
pub use summary::Summary;

/// The part the rule-based verifier plays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RulesMode {
    /// It gives the outcome where the judge's verdict is unreadable.
    #[default]
    Fallback,
    /// It goes first: where it says wrong, the model is not asked. Otherwise as [`Self::Fallback`].
    First,
    /// It alone decides the outcome; no model is needed, and nothing is said of the process.
    Only,
    /// It is not used.
    Off,
}

impl RulesMode {
    /// The name on the command line and in a run's manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::First => "first",
            Self::Only => "only",
            Self::Off => "off",
        }
    }
}

/// What decides the verdicts of a run, beside the model and the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// The longest completion.
    pub max_new_tokens: usize,
    /// Generations for each sample.
    pub trials: u32,
    /// The seed of every draw.
    pub seed: u64,
    /// Generate the reason too.
    pub wants_reason: bool,
    /// Keep prompt and completion with every verdict.
    pub raw: bool,
    /// The part the rules play.
    pub rules: RulesMode,
    /// How the rules compare answers.
    pub outcome_rules: OutcomeRules,
    /// What a verdict is worth.
    pub reward: RewardPolicy,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Every trial was handed to the sink.
    Complete,
    /// It was asked to stop; what is missing can be judged later.
    Interrupted,
}

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine's thread could not be started.
    #[error("could not start the engine's thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The sink refused a verdict.
    #[error(transparent)]
    Sink(#[from] crate::dataset::journal::JournalError),
}

/// Takes finished verdicts and hears of the engine's progress.
pub trait Sink {
    /// Keeps a finished verdict.
    ///
    /// # Errors
    /// When it cannot be kept: the run then stops.
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError>;

    /// Called now and then, a few times a second at most when nothing finishes.
    fn progress(&mut self, stats: &Stats);
}

/// One generation to be run.
#[derive(Debug, Clone, Copy)]
struct Job<'s> {
    sample: &'s Sample,
    trial: u32,
}

/// Tokenise this many prompts at a time.
const PROMPTS_AHEAD: usize = 64;

/// Verdicts that needed no model and wait to be kept.
const DECIDED_AHEAD: usize = 1024;

/// Look for an interruption this often.
const PATIENCE: Duration = Duration::from_millis(100);

/// Judges with rules alone: every trial that is not in `finished`.
///
/// # Errors
/// When the sink refuses a verdict.
pub fn run_rules(
    samples: &[Sample],
    finished: &HashSet<(usize, u32)>,
    options: &RunOptions,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let reading = VerdictReading::new(None, options);
    let todo: Vec<Job> = jobs(samples, finished, options.trials);
    for chunk in todo.chunks(PROMPTS_AHEAD * 16) {
        let verdicts: Vec<Verdict> = chunk
            .par_iter()
            .map(|job| reading.by_rules(job.sample, job.trial))
            .collect();
        for verdict in verdicts {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(RunEnd::Interrupted);
            }
            sink.keep(verdict)?;
        }
        sink.progress(&Stats::default());
    }
    Ok(RunEnd::Complete)
}

/// Judges with a model: every trial that is not in `finished`.
///
/// # Errors
/// When the engine fails or the sink refuses a verdict. What the sink took before is valid.
pub fn run<M: StepModel + 'static>(
    samples: &[Sample],
    finished: &HashSet<(usize, u32)>,
    options: &RunOptions,
    text: &JudgeText,
    engine: Engine<M>,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let reading = VerdictReading::new(Some(text), options);
    let jobs = jobs(samples, finished, options.trials);
    let mut left = jobs.len();
    std::thread::scope(|scope| {
        // The engine lives inside the scope: dropped on any way out, it lets the feeder go.
        let mut engine =
            EngineThread::spawn(engine, 2 * PROMPTS_AHEAD).map_err(JudgeError::Thread)?;
        let Some(requests) = engine.requests() else {
            return Err(EngineError::Stopped.into());
        };
        engine.close();
        let (decided, without_model) = sync_channel(DECIDED_AHEAD);
        let feeder = Feeder {
            jobs: &jobs,
            options,
            text,
            reading: &reading,
        };
        scope.spawn(move || feeder.feed(&requests, &decided));
        while left > 0 {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(RunEnd::Interrupted);
            }
            for verdict in without_model.try_iter().take(DECIDED_AHEAD) {
                sink.keep(verdict)?;
                left -= 1;
            }
            if left == 0 {
                break;
            }
            match engine.recv(PATIENCE) {
                Ok(Some(completion)) => {
                    let job = jobs[completion.id as usize];
                    sink.keep(reading.of_completion(job.sample, job.trial, completion))?;
                    left -= 1;
                }
                Ok(None) => {}
                // The feeder has sent all it had and the engine has nothing left: the rest needs no model.
                Err(EngineError::Stopped) => {
                    let mut any = false;
                    while let Ok(verdict) = without_model.recv_timeout(PATIENCE) {
                        sink.keep(verdict)?;
                        left -= 1;
                        any = true;
                    }
                    if left > 0 && !any {
                        return Err(EngineError::Stopped.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
            sink.progress(&engine.stats());
        }
        sink.progress(&engine.stats());
        Ok(RunEnd::Complete)
    })
}

/// The trials still to be run, in the order that suits the engine: samples of one question together (they share more
/// than the template), the longest first (so that no long one is left to run alone at the end).
fn jobs<'s>(samples: &'s [Sample], finished: &HashSet<(usize, u32)>, trials: u32) -> Vec<Job<'s>> {
    let size = |sample: &Sample| {
        sample.question.len() + sample.student_answer.len() + sample.reference_answer.len()
    };
    let mut longest: HashMap<&str, usize> = HashMap::new();
    for sample in samples {
        let of_question = longest.entry(&sample.question).or_default();
        *of_question = size(sample).max(*of_question);
    }
    let mut ordered: Vec<&Sample> = samples.iter().collect();
    ordered.sort_by_cached_key(|sample| {
        let of_question = longest[sample.question.as_str()];
        (
            std::cmp::Reverse(of_question),
            &sample.question,
            std::cmp::Reverse(size(sample)),
            sample.index,
        )
    });
    ordered
        .into_iter()
        .flat_map(|sample| (0..trials).map(move |trial| Job { sample, trial }))
        .filter(|job| !finished.contains(&(job.sample.index, job.trial)))
        .collect()
}

/// Tokenises ahead of the engine.
struct Feeder<'a> {
    jobs: &'a [Job<'a>],
    options: &'a RunOptions,
    text: &'a JudgeText,
    reading: &'a VerdictReading<'a>,
}

impl Feeder<'_> {
    /// Sends every job on its way, to the engine or as a verdict that needs no model. Ends early when nobody listens.
    fn feed(&self, requests: &SyncSender<Request>, decided: &SyncSender<Verdict>) {
        for (chunk, jobs) in self.jobs.chunks(PROMPTS_AHEAD).enumerate() {
            let prepared: Vec<Result<Request, Box<Verdict>>> = jobs
                .par_iter()
                .enumerate()
                .map(|(at, job)| self.prepare(*job, chunk * PROMPTS_AHEAD + at))
                .collect();
            for request in prepared {
                let sent = match request {
                    Ok(request) => requests.send(request).is_ok(),
                    Err(verdict) => decided.send(*verdict).is_ok(),
                };
                if !sent {
                    return;
                }
            }
        }
    }

    /// The request for a job, or its verdict where no model is needed or could help.
    fn prepare(&self, job: Job, id: usize) -> Result<Request, Box<Verdict>> {
        let Job { sample, trial } = job;
        if self.options.rules == RulesMode::First
            && let Some(verdict) = self.reading.skipped_by_rules(sample, trial)
        {
            return Err(Box::new(verdict));
        }
        let prompt = match self.text.prompts.tokens(sample) {
            Ok(prompt) => prompt,
            Err(error) => {
                return Err(Box::new(self.reading.without_completion(
                    sample,
                    trial,
                    Status::Failed,
                    error.to_string(),
                )));
            }
        };
        let context = self.text.config.max_positions;
        if prompt.len().saturating_add(self.options.max_new_tokens) > context {
            let error = format!(
                "{} prompt tokens and up to {} new ones exceed the model's context of {context}; a smaller \
                 --max-new-tokens leaves more room",
                prompt.len(),
                self.options.max_new_tokens
            );
            return Err(Box::new(self.reading.without_completion(
                sample,
                trial,
                Status::TooLong,
                error,
            )));
        }
        let prompts = &self.text.prompts;
        let matcher = self
            .text
            .protocol
            .stop(prompts.starts_in_thinking(), self.options.wants_reason);
        Ok(Request {
            id: id as u64,
            prompt,
            max_new_tokens: self.options.max_new_tokens,
            sampling: self.options.sampling,
            random_key: RandomKey {
                seed: self.options.seed,
                sample: sample_key(&sample.id),
                trial,
            },
            eos: self.text.eos.clone(),
            stop: Some(Box::new(TextStop {
                stream: TextStream::new(prompts.tokenizer().clone()),
                matcher,
            })),
            choices: Some(self.text.choices.clone()),
        })
    }
}

/// A sample's part of the random key: draws follow its id, not its place.
fn sample_key(id: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(id.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// The protocol's stop rule, which reads text, behind the engine's, which sees tokens.
struct TextStop {
    stream: TextStream,
    matcher: Box<dyn StopMatcher>,
}

impl Stop for TextStop {
    fn push(&mut self, token: u32) -> bool {
        let piece = self.stream.push(token);
        !piece.is_empty() && self.matcher.push(&piece)
    }
}
