//! The pipeline of a run.
//!
//! ```text
//! rows ─▶ Sample ─▶ prompt tokens ─▶ Request ─▶ engine ─▶ Completion ─▶ Verdict, rules, reward ─▶ sink: the journal
//! └─ feed: one thread ───────────────────────┘            └─ collect: one thread an engine ───┘   └─ keep: the caller's
//! ```

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, SyncSender, sync_channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::cache::AnswerCache;
use super::completion::VerdictBuilder;
use super::dispatch::{DeviceEngine, requests_ahead};
use super::engines::{Engines, PATIENCE, Started};
use super::in_flight::InFlight;
use super::jobs::{self, Job};
use super::request::{RequestBuilder, Trial};
use super::{JudgeError, JudgeText, RunEnd, RunOptions, Sink, guarded};
use juror_base::panics;
use juror_base::threads;
use juror_data::verdict::Verdict;
use juror_data::{Sample, Samples};
use juror_engine::engine::{Completion, EngineError, EngineThread, Request, Stats};

/// Jobs whose samples are read and tokenised at a time.
const JOBS_AHEAD: usize = 64;

/// Verdicts that wait to be kept.
const VERDICTS_AHEAD: usize = 1024;

/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Judges with a model on one or more engines, which take their requests from one queue. What a verdict says does not
/// depend on the engine. Memory does not depend on the number of jobs.
///
/// # Errors
/// When an engine fails, a sample cannot be read again, or the sink refuses a verdict. What the sink took before is
/// valid. An engine that failed is not among `engines` afterwards.
pub fn run<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    options: &RunOptions,
    text: &Arc<JudgeText>,
    engines: &mut Vec<DeviceEngine>,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let verdicts = VerdictBuilder::new(options, Some(text));
    let in_flight = InFlight::default();
    let ahead = requests_ahead(engines.len());
    let (working, Started { threads, queues }) = Engines::start(std::mem::take(engines), ahead)?;
    let run = &Run {
        samples,
        jobs,
        text,
        cache: options.cache.as_deref(),
        requests: RequestBuilder::new(text, options, &verdicts, &in_flight),
        in_flight: &in_flight,
        verdicts: &verdicts,
        engines: working,
    };
    let _back = GiveBack {
        engines,
        working: &run.engines,
    };
    std::thread::scope(|scope| {
        // However the run ends, its threads end too.
        let _stop = StopOnDrop(&run.engines);
        let (events_in, events) = sync_channel(VERDICTS_AHEAD);
        for (at, engine) in threads.into_iter().enumerate() {
            let collect = move |events: &SyncSender<Event>| run.collect(at, engine, events);
            spawn(scope, "collect", events_in.clone(), collect)
                .map_err(threads::refused("an engine's verdicts"))?;
        }
        let feed = move |events: &SyncSender<Event>| run.feed(queues, events);
        spawn(scope, "feed", events_in, feed).map_err(threads::refused("prompts"))?;
        run.keep(&events, interrupted, sink)
    })
}

/// Gives the engines back when a run ends, also where the sink panics.
struct GiveBack<'r> {
    engines: &'r mut Vec<DeviceEngine>,
    working: &'r Engines,
}

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        self.engines.extend(self.working.returned());
    }
}

/// What the threads of a run share.
struct Run<'a, S: ?Sized> {
    samples: &'a S,
    jobs: &'a [Job],
    text: &'a JudgeText,
    cache: Option<&'a AnswerCache>,
    requests: RequestBuilder<'a>,
    in_flight: &'a InFlight,
    verdicts: &'a VerdictBuilder<'a>,
    engines: Engines,
}

/// Messages of the other threads to the caller's.
enum Event {
    /// A finished verdict.
    Verdict(Box<Verdict>),
    /// The error that ends the run.
    Failed(JudgeError),
}

impl<S: Samples + ?Sized> Run<'_, S> {
    /// Rows into samples, into prompt tokens, into requests, into the engines' queues. A job that needs no model becomes a
    /// verdict at once. Ends early when the run is over.
    fn feed(&self, queues: Vec<SyncSender<Request>>, events: &SyncSender<Event>) {
        let mut engines = self.engines.dispatch(queues);
        let mut rest = self.jobs;
        while !rest.is_empty() {
            let jobs = jobs::cut(&mut rest, self.samples, JOBS_AHEAD);
            let (positions, own) = jobs::positions(jobs);
            let samples = match self.samples.fetch(&positions) {
                Ok(samples) => samples,
                Err(error) => {
                    let _ = events.send(Event::Failed(error.into()));
                    return;
                }
            };
            // Trials of one sample have one prompt.
            let prompts: Vec<_> = samples
                .into_par_iter()
                .map(|sample| (self.requests.prompt(&sample), Arc::new(sample)))
                .collect();
            for (job, own) in jobs.iter().zip(own) {
                if self.engines.is_stopped() {
                    return;
                }
                let (prompt, sample) = &prompts[own];
                let sent = match self.requests.trial(sample, job.trial, prompt) {
                    Trial::Ask(request) => {
                        engines.send(*request, self.samples.outline(job.position()).question)
                    }
                    Trial::Waits(_) => true,
                    Trial::Judged(verdict) => events.send(Event::Verdict(verdict)).is_ok(),
                };
                if !sent {
                    return;
                }
            }
        }
    }

    /// An engine's completions into verdicts, until there are no more or the run is stopped.
    fn collect(&self, at: usize, engine: EngineThread, events: &SyncSender<Event>) {
        let take = |completion| match self.answered(completion, events) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        if let Err(error) = self.engines.collect(at, engine, take) {
            let _ = events.send(Event::Failed(error));
        }
    }

    /// A completion into the verdicts of all who asked for it.
    fn answered(
        &self,
        completion: Completion,
        events: &SyncSender<Event>,
    ) -> Result<(), SendError<Event>> {
        let Some((asked, answer)) = self.in_flight.answered(completion, self.cache) else {
            return Ok(());
        };
        for verdict in asked.verdicts(self.verdicts, self.text, &answer) {
            events.send(Event::Verdict(Box::new(verdict)))?;
        }
        Ok(())
    }

    /// Verdicts into the sink, until there is one for every job.
    fn keep(
        &self,
        events: &Receiver<Event>,
        interrupted: &AtomicBool,
        sink: &mut dyn Sink,
    ) -> Result<RunEnd, JudgeError> {
        let mut reported = Instant::now();
        let mut left = self.jobs.len();
        while left > 0 {
            if interrupted.load(Ordering::Relaxed) {
                keep_rest(events, sink)?;
                return Ok(RunEnd::Interrupted);
            }
            match events.recv_timeout(PATIENCE) {
                Ok(Event::Verdict(verdict)) => {
                    sink.keep(*verdict)?;
                    left -= 1;
                }
                Ok(Event::Failed(error)) => {
                    keep_rest(events, sink)?;
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(EngineError::Stopped.into()),
            }
            if reported.elapsed() > PROGRESS_EVERY {
                self.report(sink);
                reported = Instant::now();
            }
        }
        self.report(sink);
        Ok(RunEnd::Complete)
    }

    fn report(&self, sink: &mut dyn Sink) {
        let stats = self.engines.stats();
        sink.devices(&stats);
        sink.progress(&stats.iter().map(|device| &device.stats).sum());
    }
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

/// Starts a thread of the run; a panic there ends the run.
fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    events: SyncSender<Event>,
    work: impl FnOnce(&SyncSender<Event>) + Send + 'scope,
) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn_scoped(scope, move || {
            if let Err(why) = panics::guarded(|| work(&events)) {
                let _ = events.send(Event::Failed(JudgeError::Panicked(why)));
            }
        })?;
    Ok(())
}

/// Stops the engines when it is dropped.
struct StopOnDrop<'e>(&'e Engines);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

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
    let verdicts = VerdictBuilder::new(options, None);
    let verdict = |sample: &Sample, job: Job| {
        guarded(|| verdicts.by_rules(sample, job.trial))
            .unwrap_or_else(|why| verdicts.broken(sample, job.trial, why))
    };
    run_without_model(samples, jobs, &verdict, interrupted, sink)
}

/// Gives each trial what `verdict` makes of it.
pub(crate) fn run_without_model<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    verdict: &(impl Fn(&Sample, Job) -> Verdict + Sync),
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let mut rest = jobs;
    while !rest.is_empty() {
        let now = jobs::cut(&mut rest, samples, JOBS_AHEAD * 16);
        let (positions, own) = jobs::positions(now);
        let fetched = samples.fetch(&positions)?;
        let judged: Vec<Verdict> = now
            .par_iter()
            .zip(own)
            .map(|(job, own)| verdict(&fetched[own], *job))
            .collect();
        for verdict in judged {
            if interrupted.load(Ordering::Relaxed) {
                return Ok(RunEnd::Interrupted);
            }
            sink.keep(verdict)?;
        }
        sink.progress(&Stats::default());
    }
    Ok(RunEnd::Complete)
}
