//! The pipeline of a run.
//!
//! ```text
//! rows ─▶ Sample ─▶ prompt tokens ─▶ Submission ─▶ the runtime ─▶ Reply ─▶ Verdict, rules, reward ─▶ sink: the journal
//! └─ feed: one thread ─────────────────────────┘                 └─ keep: the caller's thread ──────────────────────┘
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::ask::request::{RequestBuilder, Trial};
use super::jobs::{self, Job};
use super::read::completion::{Subject, VerdictBuilder};
use super::{JudgeError, JudgeText, RunEnd, RunOptions, Sink, guarded};
use crate::runtime::{
    AnswerKey, Answered, Ask, BackendFailure, ClientName, DeviceEngine, Runtime, Stop, Submission,
    Unanswered,
};
use juror_base::panics;
use juror_base::threads;
use juror_data::Samples;
use juror_data::verdict::Verdict;
use juror_engine::engine::{EngineError, Stats};

/// Jobs whose samples are read and tokenised at a time.
const JOBS_AHEAD: usize = 64;

/// Verdicts that wait to be kept, beside the requests that the engines have.
const VERDICTS_AHEAD: usize = 1024;

/// Answers that are kept for samples to come: those of one question are judged near each other.
const KEPT_ANSWERS: usize = 2048;

/// Answers made into verdicts at a time.
const AT_ONCE: usize = 64;

/// The fewest answers made into verdicts in parallel.
const IN_PARALLEL: usize = 8;

/// How often it is looked whether the run is interrupted.
const PATIENCE: Duration = Duration::from_millis(100);

const PROGRESS_EVERY: Duration = Duration::from_millis(50);

/// Judges with a model on one or more engines, which take their requests from one queue. What a verdict says does not
/// depend on the engine. Memory does not depend on the number of jobs.
/// Errors: when an engine fails, a sample cannot be read again, or the sink refuses a verdict. What the sink took before is
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
    let several = engines.len() > 1;
    let working = Working::start(engines, text)?;
    let run = &SharedRun {
        samples,
        jobs,
        options,
        text,
        verdicts: VerdictBuilder::new(options, Some(text)),
        runtime: &working.runtime,
    };
    let result = std::thread::scope(|scope| {
        let (events_in, events) = channel();
        // A place for each trial that is under way, so that memory does not grow with their number. However the run ends, no
        // place is taken any more, and its thread ends too.
        let (window, places) = sync_channel(working.places);
        std::thread::Builder::new()
            .name("feed".into())
            .spawn_scoped(scope, move || {
                if let Err(why) = panics::guarded(|| run.feed(&window, &events_in)) {
                    let _ = events_in.send(Event::Failed(JudgeError::Panicked(why)));
                }
            })
            .map_err(threads::refused("prompts"))?;
        run.keep(&events, &places, interrupted, sink)
    });
    match (result, working.end()) {
        (Err(JudgeError::Engine(EngineError::Stopped)), Some(failure)) => {
            Err(failure.into_error(several))
        }
        (result, _) => result,
    }
}

impl BackendFailure {
    /// As the error that ends a run; of several engines the one that failed is named.
    pub(crate) fn into_error(self, several: bool) -> JudgeError {
        let Self { name, error } = self;
        if several {
            JudgeError::Device {
                device: name,
                source: Box::new(error),
            }
        } else {
            error.into()
        }
    }
}

/// Engines at work, which are given back however the run ends, also where the sink panics.
struct Working<'e> {
    runtime: Runtime,
    /// Trials that may be under way.
    places: usize,
    returned: Receiver<(usize, DeviceEngine)>,
    engines: &'e mut Vec<DeviceEngine>,
}

impl<'e> Working<'e> {
    fn start(
        engines: &'e mut Vec<DeviceEngine>,
        text: &Arc<JudgeText>,
    ) -> Result<Self, JudgeError> {
        let (returns, returned) = channel();
        let (runtime, most) = match &text.endpoint {
            Some(endpoint) => {
                let most = endpoint.most_at_once;
                let backends = vec![Arc::clone(&endpoint.server).backend(text)];
                (Runtime::given(backends, most, KEPT_ANSWERS)?, 2 * most)
            }
            None => Runtime::of_engines(std::mem::take(engines), KEPT_ANSWERS, Some(&returns))?,
        };
        Ok(Self {
            runtime,
            places: most + VERDICTS_AHEAD,
            returned,
            engines,
        })
    }

    /// Stops the engines and drops unfinished requests. Returns the failure of one, if any failed.
    fn end(self) -> Option<BackendFailure> {
        self.runtime.stop(Stop::Now);
        self.runtime.join()
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.runtime.stop(Stop::Now);
        self.runtime.join();
        // All of them have ended.
        let mut returned: Vec<_> = self.returned.iter().collect();
        returned.sort_by_key(|(at, _)| *at);
        self.engines
            .extend(returned.into_iter().map(|(_, engine)| engine));
    }
}

struct SharedRun<'a, S: ?Sized> {
    samples: &'a S,
    jobs: &'a [Job],
    options: &'a RunOptions,
    text: &'a Arc<JudgeText>,
    verdicts: VerdictBuilder<'a>,
    runtime: &'a Runtime,
}

enum Event {
    /// A verdict that needs no model.
    Judged(Box<Verdict>),
    /// What the model says, or why it says nothing.
    Replied(Box<AnsweredTrial>),
    Failed(JudgeError),
}

struct AnsweredTrial {
    asked: AskedTrial,
    reply: Result<Answered, Unanswered>,
}

struct AskedTrial {
    subject: Arc<Subject>,
    trial: u32,
    key: AnswerKey,
}

impl<S: Samples + ?Sized> SharedRun<'_, S> {
    /// Rows into samples, into prompt tokens, into requests, into the runtime. A job that needs no model becomes a verdict at
    /// once. Ends early when the run is over.
    fn feed(&self, window: &SyncSender<()>, events: &Sender<Event>) {
        let client = ClientName::from("run");
        let requests = RequestBuilder::new(self.text, self.options, &self.verdicts);
        for jobs in jobs::batches(self.jobs, Job::position, self.samples, JOBS_AHEAD) {
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
                .map(|sample| {
                    let subject = Subject::new(sample);
                    (requests.prompt(&subject), Arc::new(subject))
                })
                .collect();
            for (job, own) in jobs.iter().zip(own) {
                if window.send(()).is_err() {
                    return;
                }
                let (prompt, subject) = &prompts[own];
                let trial = job.trial;
                match requests.trial(subject, trial, prompt) {
                    Trial::Ask(ask, key) => {
                        let asked = AskedTrial {
                            subject: Arc::clone(subject),
                            trial,
                            key,
                        };
                        let events = events.clone();
                        let take = move |reply: Result<Answered, Unanswered>| {
                            let event = match reply {
                                // The run ends with it: what is not judged can be judged later.
                                Err(Unanswered::Backend(_)) => {
                                    Event::Failed(EngineError::Stopped.into())
                                }
                                reply => Event::Replied(Box::new(AnsweredTrial { asked, reply })),
                            };
                            let _ = events.send(event);
                        };
                        self.runtime.submit(Submission {
                            client: Arc::clone(&client),
                            question: self.samples.outline(job.position()).question,
                            ask: *ask,
                            key: Some(key),
                            reply: Box::new(take),
                        });
                    }
                    Trial::Judged(verdict) => {
                        let _ = events.send(Event::Judged(verdict));
                    }
                }
            }
        }
    }

    /// Verdicts into the sink, until there is one for every job.
    fn keep(
        &self,
        events: &Receiver<Event>,
        places: &Receiver<()>,
        interrupted: &AtomicBool,
        sink: &mut dyn Sink,
    ) -> Result<RunEnd, JudgeError> {
        let mut reported = Instant::now();
        let mut left = self.jobs.len();
        while left > 0 {
            let stops = interrupted.load(Ordering::Relaxed);
            let mut batch = Vec::new();
            if !stops {
                match events.recv_timeout(PATIENCE) {
                    Ok(event) => batch.push(event),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Err(EngineError::Stopped.into()),
                }
            }
            // What is there already is kept when a run ends early.
            let most = if stops { usize::MAX } else { AT_ONCE };
            batch.extend(events.try_iter().take(most - batch.len()));
            let (verdicts, mut failure) = self.verdicts(batch);
            let mut keep = |verdicts: Vec<Verdict>| {
                left -= verdicts.len();
                for verdict in verdicts {
                    sink.keep(verdict)?;
                    let _ = places.try_recv();
                }
                Ok::<_, JudgeError>(())
            };
            keep(verdicts)?;
            if let Some(failure) = failure.take() {
                keep(self.verdicts(events.try_iter().collect()).0)?;
                return Err(failure);
            }
            if stops && left > 0 {
                return Ok(RunEnd::Interrupted);
            }
            if reported.elapsed() > PROGRESS_EVERY {
                self.report(sink);
                reported = Instant::now();
            }
        }
        self.report(sink);
        Ok(RunEnd::Complete)
    }

    /// The verdicts of events, and the first error among them.
    fn verdicts(&self, events: Vec<Event>) -> (Vec<Verdict>, Option<JudgeError>) {
        let verdict = |event| match event {
            Event::Judged(verdict) => Ok(*verdict),
            Event::Replied(replied) => Ok(self.verdict(&replied)),
            Event::Failed(error) => Err(error),
        };
        let results: Vec<_> = if events.len() < IN_PARALLEL {
            events.into_iter().map(verdict).collect()
        } else {
            events.into_par_iter().map(verdict).collect()
        };
        let (mut verdicts, mut failure) = (Vec::with_capacity(results.len()), None);
        for result in results {
            match result {
                Ok(verdict) => verdicts.push(verdict),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        (verdicts, failure)
    }

    fn verdict(&self, AnsweredTrial { asked, reply }: &AnsweredTrial) -> Verdict {
        keep_answer(self.options, &asked.key, reply);
        self.verdicts
            .of_reply(self.text, &asked.subject, asked.trial, reply)
    }

    fn report(&self, sink: &mut dyn Sink) {
        let stats = self.runtime.devices();
        sink.devices(&stats);
        sink.progress(&stats.iter().map(|device| &device.stats).sum());
    }
}

/// Keeps an answer in the run's cache, if it has one, for other runs.
pub(super) fn keep_answer(
    options: &RunOptions,
    key: &AnswerKey,
    reply: &Result<Answered, Unanswered>,
) {
    if let (Some(cache), Ok(answered)) = (&options.cache, reply)
        && !answered.is_reused
        && answered.answer.is_whole()
    {
        cache.put(key, &answered.answer);
    }
}

/// The request of a trial, and the form of its answer, if it is one that the model is asked about.
pub(super) fn request_of<S: Samples + ?Sized>(
    samples: &S,
    (position, trial): (usize, u32),
    text: &Arc<JudgeText>,
    options: &RunOptions,
) -> Option<Ask> {
    let verdicts = VerdictBuilder::new(options, Some(text));
    let requests = RequestBuilder::new(text, options, &verdicts);
    let subject = Subject::new(samples.fetch(&[position]).ok()?.pop()?);
    match requests.trial(&subject, trial, &requests.prompt(&subject)) {
        Trial::Ask(ask, _) => Some(*ask),
        Trial::Judged(_) => None,
    }
}

/// Judges with rules alone. Memory does not depend on the number of jobs.
/// Errors: when a sample cannot be read again, or the sink refuses a verdict.
pub fn run_rules<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    options: &RunOptions,
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    let verdicts = VerdictBuilder::new(options, None);
    let verdict = |subject: &Subject, job: Job| of_rules(&verdicts, subject, job.trial);
    run_without_model(samples, jobs, &verdict, interrupted, sink)
}

/// The verdict of the rules alone, or that of an error of theirs.
pub(super) fn of_rules(verdicts: &VerdictBuilder, subject: &Subject, trial: u32) -> Verdict {
    guarded(|| verdicts.by_rules(subject, trial))
        .unwrap_or_else(|why| verdicts.broken(&subject.sample, trial, why))
}

/// Gives each trial what `verdict` makes of it.
pub(super) fn run_without_model<S: Samples + ?Sized>(
    samples: &S,
    jobs: &[Job],
    verdict: &(impl Fn(&Subject, Job) -> Verdict + Sync),
    interrupted: &AtomicBool,
    sink: &mut dyn Sink,
) -> Result<RunEnd, JudgeError> {
    for now in jobs::batches(jobs, Job::position, samples, JOBS_AHEAD * 16) {
        let (positions, own) = jobs::positions(now);
        let fetched = samples.fetch(&positions)?;
        let subjects: Vec<_> = fetched.into_iter().map(Subject::new).collect();
        let judged: Vec<Verdict> = now
            .par_iter()
            .zip(own)
            .map(|(job, own)| verdict(&subjects[own], *job))
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
