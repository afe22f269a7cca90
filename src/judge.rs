//! The whole way: samples through prompts, engine, parser, rules and reward to verdicts.
//!
//! This is the only place that knows all rooms. [`run`] keeps one promise to its caller: every trial that is not yet
//! finished is handed to the sink exactly once, as soon as it is known, in whatever order the engine finishes.

mod devices;
mod feed;
mod field_text;
mod generation;
pub mod jobs;
pub mod model;
pub mod prompt;
pub mod reading;
pub mod session;
mod sizing;
pub mod summary;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::{DatasetError, Samples};
use crate::engine::{EngineError, EngineThread, Sampling, Stats};
use crate::panics;
use crate::reward::RewardPolicy;
use crate::rules::OutcomeRules;
use crate::threads::{self, ThreadError};
use crate::verdict::Verdict;
pub use devices::{DeviceEngine, DeviceStats};
use devices::{DeviceRun, Dispatch, Event, Room, requests_ahead};
use feed::{Feeder, InFlight, JOBS_AHEAD, guarded};
pub use generation::GenerationDefaults;
pub use jobs::Job;
pub use model::{ChatSettings, EngineSizes, JudgeText, OWN_HEAD, build_engine};
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
    /// One of several engines failed.
    #[error(
        "{device}: {source}. The same command goes on from the journal, also without this device"
    )]
    Device {
        /// The device it ran on.
        device: String,
        /// What went wrong there.
        source: Box<EngineError>,
    },
    /// A sample could not be read again.
    #[error(transparent)]
    Input(#[from] DatasetError),
    /// A thread could not be started.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// An error of our own, outside any one sample.
    #[error(
        "an error of juror itself ({0}); please report it. Finished verdicts are in the journal, run the same command again \
         to go on"
    )]
    Panicked(String),
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

    /// Called now and then, some twenty times a second at most, and at the end: what all engines did together.
    fn progress(&mut self, stats: &Stats);

    /// Called with [`Self::progress`] of a run with a model: what each device did.
    fn devices(&mut self, devices: &[DeviceStats]) {
        let _ = devices;
    }
}

/// Verdicts that wait to be kept.
const VERDICTS_AHEAD: usize = 1024;

/// Look for an interruption this often.
const PATIENCE: Duration = Duration::from_millis(100);

/// Tell of progress this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Judges with rules alone. Memory does not depend on the number of jobs.
///
/// # Errors
/// When a sample cannot be read again, or the sink refuses a verdict.
pub fn run_rules<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    options: &RunOptions,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let reading = VerdictReading::new(None, options);
    let mut rest = jobs;
    while !rest.is_empty() {
        let now = jobs::cut(&mut rest, samples, JOBS_AHEAD * 16);
        let (positions, own) = jobs::positions(now);
        let fetched = samples.fetch(&positions)?;
        let verdicts: Vec<Verdict> = now
            .par_iter()
            .zip(own)
            .map(|(job, own)| {
                let sample = &fetched[own];
                guarded(|| reading.by_rules(sample, job.trial))
                    .unwrap_or_else(|why| reading.broken(sample, job.trial, why))
            })
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

/// Judges with a model on one or more engines, which take their work from one queue. What a verdict says does not
/// depend on the engine. Memory does not depend on the number of jobs.
///
/// # Errors
/// When an engine fails, a sample cannot be read again, or the sink refuses a verdict. What the sink took before is
/// valid.
pub fn run<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    options: &RunOptions,
    text: &JudgeText,
    engines: Vec<DeviceEngine>,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let reading = VerdictReading::new(Some(text), options);
    let in_flight = InFlight::default();
    let stop = AtomicBool::new(false);
    let several = engines.len() > 1;
    let ahead = requests_ahead(engines.len());
    let mut devices = Vec::with_capacity(engines.len());
    let mut threads = Vec::with_capacity(engines.len());
    let mut requests = Vec::with_capacity(engines.len());
    for DeviceEngine { device, engine } in engines {
        let mut thread = EngineThread::spawn(engine, ahead)?;
        requests.extend(thread.requests());
        thread.close();
        threads.push(thread);
        devices.push(DeviceRun::new(device, &reading, &in_flight, &stop));
    }
    let room = Room::default();
    std::thread::scope(|scope| {
        // Whatever ends the run, everyone else is told.
        let _stop = Stopping(&stop);
        let (events_in, events) = sync_channel(VERDICTS_AHEAD);
        for (device, thread) in devices.iter().zip(threads) {
            let (room, events_in) = (&room, events_in.clone());
            std::thread::Builder::new()
                .name("collect".into())
                .spawn_scoped(scope, move || {
                    let collected = panics::guarded(|| device.collect(thread, room, &events_in));
                    if let Err(why) = collected {
                        let _ = events_in.send(Event::Panicked(why));
                    }
                })
                .map_err(threads::refused("an engine's verdicts"))?;
        }
        let feeder = Feeder {
            samples,
            jobs,
            options,
            text,
            reading: &reading,
            in_flight: &in_flight,
            stop: &stop,
        };
        let dispatch = Dispatch {
            devices: &devices,
            requests,
            room: &room,
            stop: &stop,
            last: None,
        };
        std::thread::Builder::new()
            .name("feed".into())
            .spawn_scoped(scope, move || {
                if let Err(why) = panics::guarded(|| feeder.feed(dispatch, &events_in)) {
                    let _ = events_in.send(Event::Panicked(why));
                }
            })
            .map_err(threads::refused("prompts"))?;
        let mut told = Instant::now();
        let progress = |sink: &mut dyn Sink| {
            let stats: Vec<DeviceStats> = devices.iter().map(DeviceRun::stats).collect();
            sink.devices(&stats);
            sink.progress(&stats.iter().map(|device| &device.stats).sum());
        };
        let mut left = jobs.len();
        while left > 0 {
            if interrupted.load(Ordering::Relaxed) {
                keep_rest(&events, sink)?;
                return Ok(RunEnd::Interrupted);
            }
            match events.recv_timeout(PATIENCE) {
                Ok(Event::Verdict(verdict)) => {
                    sink.keep(*verdict)?;
                    left -= 1;
                }
                Ok(Event::Engine { device, error }) => {
                    keep_rest(&events, sink)?;
                    return Err(if several {
                        JudgeError::Device {
                            device,
                            source: Box::new(error),
                        }
                    } else {
                        error.into()
                    });
                }
                Ok(Event::Input(error)) => {
                    keep_rest(&events, sink)?;
                    return Err(error.into());
                }
                Ok(Event::Panicked(why)) => {
                    keep_rest(&events, sink)?;
                    return Err(JudgeError::Panicked(why));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::Stopped.into()),
            }
            if told.elapsed() > PROGRESS_EVERY {
                progress(sink);
                told = Instant::now();
            }
        }
        progress(sink);
        Ok(RunEnd::Complete)
    })
}

/// Keeps the verdicts that are there already, when a run ends early.
fn keep_rest(events: &Receiver<Event>, sink: &mut dyn Sink) -> Result<(), JudgeError> {
    for event in events.try_iter() {
        if let Event::Verdict(verdict) = event {
            sink.keep(*verdict)?;
        }
    }
    Ok(())
}

/// Raises a flag when it is dropped.
struct Stopping<'s>(&'s AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
