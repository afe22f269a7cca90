//! A judge that many clients ask at once, for as long as it runs.
//!
//! ```text
//! client ─▶ queue, fair between clients ─▶ prompt tokens ─▶ known? ──yes──▶ verdict at once
//!                                                             │ no
//!                                                             ▼
//!                                          queue, fair between clients ─▶ engines ─▶ Completion ─▶ verdicts of all who wait for it
//! ```
//!
//! What is asked twice is asked of the model once: whoever asks for the same waits with the first, or gets the answer that is
//! known. What is asked by a client that has gone is still answered, for it will ask again, but behind all that somebody waits for.
//!
//! The engines can be put to sleep: weights and cache are freed and later built anew, and what was asked meanwhile waits. An engine
//! that fails costs the requests it has; the engines are then built anew too.

mod prompts;
mod queue;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::completion::VerdictBuilder;
use super::dispatch::DeviceEngine;
use super::engines::{Engines, PATIENCE, Started};
use super::in_flight::InFlight;
use super::{EngineOptions, Judge, JudgeText, LoadError, RunOptions, WorkloadLengths};
use juror_base::panics;
use juror_base::threads::{self, ThreadError};
use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};
use juror_engine::checkpoint::ModelSource;
use juror_engine::engine::{Completion, EngineThread, Request, Stats};
use juror_engine::model::DeviceChoice;
use prompts::Job;
use queue::FairQueue;

/// Requests that wait in an engine for a place in its batch: enough that it never runs dry, and few, for they are served in their
/// order, whosever they are.
const AHEAD: usize = 16;

/// Answers that are kept in memory for clients that ask again.
const KEPT_ANSWERS: usize = 16_384;

/// Samples that are tokenised in one turn of their client.
const AT_ONCE: usize = 16;

/// Ids of generations begin here; those of judgements are counted from 0.
const GENERATIONS: u64 = 1 << 63;

/// So often the engines may fail one after another without a completion between, until the service gives up.
const MOST_FAILURES: u32 = 3;

/// The pause before engines that have failed, and could not be built again, are built once more.
const PAUSE: Duration = Duration::from_secs(5);

/// Takes the verdicts of a call. It is dropped where there will be no more: all are there, or the service has ended.
pub trait TakeVerdict: Send + Sync {
    /// Takes a verdict; its index is the sample's place in the call.
    fn take(&self, verdict: Verdict);

    /// Whether anybody waits for them still.
    fn is_wanted(&self) -> bool;
}

/// Takes a completion. It is dropped where the service has ended.
pub(crate) trait TakeCompletion: Send {
    /// Takes it, or why there is none.
    fn take(self: Box<Self>, completion: Result<Completion, String>);

    /// Whether anybody waits for it still.
    fn is_wanted(&self) -> bool;
}

/// Sees every completion, with the time that its request has waited for an engine.
pub(crate) type Observer = Box<dyn Fn(&Completion, Duration) + Send + Sync>;

/// What a service is made of.
pub struct ServiceSetup {
    /// The model's files.
    pub source: ModelSource,
    /// Its text side under a protocol.
    pub text: Arc<JudgeText>,
    /// What decides the verdicts; one trial each.
    pub options: RunOptions,
    /// Where the model runs: one engine for each.
    pub devices: Vec<DeviceChoice>,
    /// What the user asked of the engines.
    pub engine: EngineOptions,
    /// Sees every completion.
    pub observer: Observer,
}

/// What a service does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// It builds its engines.
    Loading,
    /// It answers; the engines' sizes in words.
    Ready(String),
    /// Its engines answer what they have, and are then given up.
    Draining,
    /// Its engines are given up until it is woken; the text says why they could not be built again, if it was.
    Asleep(Option<String>),
    /// It has ended, because it was told to.
    Stopped,
    /// It has ended; the text says why.
    Failed(String),
}

/// A judge that many clients ask at once.
pub struct JudgeService {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the service is told to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Run,
    Sleep,
    Stop,
}

struct Shared {
    setup: ServiceSetup,
    in_flight: InFlight,
    /// Prompts to be made.
    jobs: FairQueue<Job>,
    /// The ids of requests that wait for an engine. One that several clients ask for has a place in the queue of each.
    queue: FairQueue<u64>,
    queued: Mutex<HashMap<u64, Request>>,
    /// Who waits for which verdict, by the sample's number.
    waiting: Mutex<HashMap<usize, Waiting>>,
    next_sample: AtomicUsize,
    generations: Mutex<HashMap<u64, Box<dyn TakeCompletion>>>,
    next_generation: AtomicU64,
    /// When the requests were made that wait or that the engines have.
    made: Mutex<HashMap<u64, Instant>>,
    /// The requests that the engines have.
    dispatched: Mutex<Vec<u64>>,
    control: Mutex<(Wanted, Phase)>,
    changed: Condvar,
    /// The engines while they run.
    engines: Mutex<Option<Arc<Engines>>>,
    /// What engines before them did.
    earlier: Mutex<Stats>,
}

/// Who waits for a verdict.
struct Waiting {
    /// The sample's place in the call.
    place: usize,
    take: Arc<dyn TakeVerdict>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl JudgeService {
    /// Starts the service; the engines are built meanwhile.
    ///
    /// # Errors
    /// [`ThreadError`] where the system refuses to start a thread.
    pub fn start(setup: ServiceSetup) -> Result<Self, ThreadError> {
        let shared = Arc::new(Shared {
            setup,
            in_flight: InFlight::keeping(KEPT_ANSWERS),
            jobs: FairQueue::default(),
            queue: FairQueue::default(),
            queued: Mutex::default(),
            waiting: Mutex::default(),
            next_sample: AtomicUsize::new(0),
            generations: Mutex::default(),
            next_generation: AtomicU64::new(GENERATIONS),
            made: Mutex::default(),
            dispatched: Mutex::default(),
            control: Mutex::new((Wanted::Run, Phase::Loading)),
            changed: Condvar::new(),
            engines: Mutex::default(),
            earlier: Mutex::default(),
        });
        prompts::start(&shared)?;
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("service".into())
            .spawn(move || {
                let end = panics::guarded(|| own.work()).unwrap_or_else(|why| {
                    Phase::Failed(format!(
                        "an error of juror itself ({why}); please report it"
                    ))
                });
                own.end(end);
            })
            .map_err(threads::refused("the judge"))?;
        Ok(Self {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Has samples judged for a client, each with its place in the call; their verdicts go to `take`.
    pub fn judge(&self, client: &str, samples: Vec<(usize, Sample)>, take: &Arc<dyn TakeVerdict>) {
        self.shared.judge(client, samples, take);
    }

    /// Runs what makes a prompt on a thread that clients have in turns, unless the service has ended; last if it is not wanted when
    /// its turn comes.
    pub(crate) fn in_turn(
        &self,
        client: &str,
        work: Box<dyn FnOnce() + Send>,
        is_wanted: Box<dyn Fn() -> bool + Send>,
    ) {
        self.shared.push_job(client, Job::Work { work, is_wanted });
    }

    /// Forgets what waits and nobody waits for: to be called where memory is short. Whoever asks for it again asks anew.
    pub(crate) fn forget_unwanted(&self) {
        self.shared.forget_unwanted();
    }

    /// The verdict on a sample that cannot be judged.
    pub(crate) fn failed(&self, sample: &Sample, why: String) -> Verdict {
        let options = &self.shared.setup.options;
        VerdictBuilder::new(options, Some(&self.shared.setup.text)).broken(sample, 0, why)
    }

    /// Has a completion generated for a client. The request's id is set here.
    pub(crate) fn generate(
        &self,
        client: &str,
        mut request: Request,
        take: Box<dyn TakeCompletion>,
    ) {
        let shared = &self.shared;
        let id = shared.next_generation.fetch_add(1, Ordering::Relaxed);
        request.id = id;
        lock(&shared.generations).insert(id, take);
        shared.enqueue(client, request);
    }

    /// What it does.
    pub fn phase(&self) -> Phase {
        lock(&self.shared.control).1.clone()
    }

    /// Waits until its phase is another than `old`, or `patience` is over; the phase then.
    pub fn wait_for_change(&self, old: &Phase, patience: Duration) -> Phase {
        let control = lock(&self.shared.control);
        let waited = self
            .shared
            .changed
            .wait_timeout_while(control, patience, |(_, phase)| phase == old)
            .unwrap_or_else(PoisonError::into_inner);
        waited.0.1.clone()
    }

    /// Has it give up its engines, once they have answered what they have.
    pub fn sleep(&self) {
        self.shared.want(Wanted::Sleep);
    }

    /// Has it build its engines again.
    pub fn wake_up(&self) {
        let mut control = lock(&self.shared.control);
        if matches!(control.1, Phase::Asleep(_)) {
            control.1 = Phase::Loading;
        }
        drop(control);
        self.shared.want(Wanted::Run);
    }

    /// Whether it has been told to sleep, and not to wake up since.
    pub(crate) fn is_to_sleep(&self) -> bool {
        self.shared.wanted() == Wanted::Sleep
    }

    /// Ends it, once the engines have answered what they have; what waits is dropped.
    pub(crate) fn stop(&self) {
        self.shared.want(Wanted::Stop);
    }

    /// Waits until it has ended.
    pub(crate) fn join(&self) {
        if let Some(thread) = lock(&self.thread).take() {
            // Its panics are caught inside.
            let _ = thread.join();
        }
    }

    /// Requests that wait for an engine, and those that the engines have.
    pub(crate) fn load(&self) -> (usize, usize) {
        let dispatched = lock(&self.shared.dispatched).len();
        (lock(&self.shared.queued).len(), dispatched)
    }

    /// What the engines did so far.
    pub(crate) fn stats(&self) -> Stats {
        self.shared.stats()
    }
}

/// Whether whoever has asked for a sample waits still.
fn is_waiting(waiting: &HashMap<usize, Waiting>, sample: &Sample) -> bool {
    let waits = waiting.get(&sample.index);
    waits.is_some_and(|waits| waits.take.is_wanted())
}

impl Drop for JudgeService {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

impl Shared {
    fn stats(&self) -> Stats {
        let engines = lock(&self.engines);
        let mut stats = *lock(&self.earlier);
        for device in engines.iter().flat_map(|engines| engines.stats()) {
            stats += &device.stats;
        }
        stats
    }

    fn want(&self, wanted: Wanted) {
        let mut control = lock(&self.control);
        // What is stopped stays stopped.
        if control.0 != Wanted::Stop {
            control.0 = wanted;
        }
        self.changed.notify_all();
    }

    fn wanted(&self) -> Wanted {
        lock(&self.control).0
    }

    fn enter(&self, phase: Phase) {
        lock(&self.control).1 = phase;
        self.changed.notify_all();
    }

    /// Whether the engines are to go on; if not, the phase says so at once.
    fn drain_unless_wanted(&self) -> bool {
        let mut control = lock(&self.control);
        if control.0 != Wanted::Run {
            control.1 = Phase::Draining;
            self.changed.notify_all();
        }
        control.0 == Wanted::Run
    }

    fn is_over(&self) -> bool {
        let control = lock(&self.control);
        matches!(control.1, Phase::Stopped | Phase::Failed(_))
    }

    /// Ends the service: nobody waits any longer.
    fn end(&self, phase: Phase) {
        self.enter(phase);
        self.drop_waiting();
    }

    fn drop_waiting(&self) {
        self.jobs.clear();
        self.queue.clear();
        lock(&self.queued).clear();
        lock(&self.waiting).clear();
        lock(&self.generations).clear();
        lock(&self.made).clear();
    }

    /// Whether anybody waits for what a request is to answer.
    fn is_wanted(&self, id: u64) -> bool {
        if id >= GENERATIONS {
            let generations = lock(&self.generations);
            return generations.get(&id).is_some_and(|take| take.is_wanted());
        }
        let waiting = lock(&self.waiting);
        self.in_flight
            .is_wanted(id, |sample| is_waiting(&waiting, sample))
    }

    fn forget_unwanted(&self) {
        self.jobs.retain(Job::is_wanted);
        let mut gone = Vec::new();
        let mut queued = lock(&self.queued);
        queued.retain(|id, _| {
            if *id >= GENERATIONS {
                let is_wanted = self.is_wanted(*id);
                if !is_wanted {
                    lock(&self.generations).remove(id);
                    lock(&self.made).remove(id);
                }
                return is_wanted;
            }
            let waiting = lock(&self.waiting);
            let given_up = self
                .in_flight
                .give_up_unwanted(*id, |sample| is_waiting(&waiting, sample));
            let stays = given_up.is_none();
            if !stays {
                lock(&self.made).remove(id);
            }
            gone.extend(given_up);
            stays
        });
        drop(queued);
        let mut waiting = lock(&self.waiting);
        let samples = gone.iter().flat_map(|asked| &asked.trials);
        let dropped: Vec<_> = samples
            .map(|(sample, _)| waiting.remove(&sample.index))
            .collect();
        drop(waiting);
        // Whoever hears of it holds no lock.
        drop(dropped);
    }

    /// Forgets those who waited for an answer and have gone: a client that asks again and again takes the room of one.
    fn forget_gone(&self, id: u64) {
        let waiting = lock(&self.waiting);
        let mut gone = Vec::new();
        self.in_flight.retain(id, |sample| {
            let is_wanted = is_waiting(&waiting, sample);
            if !is_wanted {
                gone.push(sample.index);
            }
            is_wanted
        });
        drop(waiting);
        let mut waiting = lock(&self.waiting);
        for number in gone {
            waiting.remove(&number);
        }
    }

    fn enqueue(&self, client: &str, request: Request) {
        let id = request.id;
        lock(&self.made).insert(id, Instant::now());
        lock(&self.queued).insert(id, request);
        self.queue.push(client, id);
        if self.is_over() {
            self.drop_waiting();
        }
    }

    fn deliver(&self, mut verdict: Verdict) {
        let waits = lock(&self.waiting).remove(&verdict.index);
        if let Some(Waiting { place, take }) = waits {
            verdict.index = place;
            take.take(verdict);
        }
    }

    /// Builds engines and runs them, until the service is to end.
    fn work(&self) -> Phase {
        let (mut failures, mut was_woken) = (0, false);
        loop {
            self.enter(Phase::Loading);
            let mut engines = match self.build() {
                Ok(judge) => {
                    self.enter(Phase::Ready(judge.sizes()));
                    judge.into_engines()
                }
                // The device may still be in use by whoever it was left to.
                Err(error) if was_woken => {
                    self.want(Wanted::Sleep);
                    if !self.sleep_until_woken(Some(&error.to_string())) {
                        return Phase::Stopped;
                    }
                    continue;
                }
                Err(error) => {
                    let is_first = failures == 0;
                    failures += 1;
                    if is_first || failures >= MOST_FAILURES || !self.wait_to_rebuild() {
                        return Phase::Failed(error.to_string());
                    }
                    continue;
                }
            };
            let before = self.stats().generated_tokens;
            let result = self.run(&mut engines);
            // Weights and cache leave the device here.
            drop(engines);
            if let Some(cache) = &self.setup.options.cache {
                // A cache that cannot be written costs no verdict.
                let _ = cache.sync();
            }
            let is_whole = result.is_ok();
            if let Err(why) = result {
                if self.stats().generated_tokens > before {
                    failures = 0;
                }
                failures += 1;
                self.fail_dispatched(&why);
                if failures >= MOST_FAILURES {
                    return Phase::Failed(format!("the engine failed again and again: {why}"));
                }
            }
            // Engines that have not failed have ended to sleep.
            was_woken = is_whole;
            if !self.sleep_until_woken(None) {
                return Phase::Stopped;
            }
        }
    }

    /// Waits before engines are built once more; whether they still shall be.
    fn wait_to_rebuild(&self) -> bool {
        let control = lock(&self.control);
        let waited = self
            .changed
            .wait_timeout_while(control, PAUSE, |(wanted, _)| *wanted == Wanted::Run)
            .unwrap_or_else(PoisonError::into_inner);
        waited.0.0 != Wanted::Stop
    }

    /// Sleeps as long as it is told to, because its engines could not be built if there is a reason; whether it goes on then.
    fn sleep_until_woken(&self, why: Option<&str>) -> bool {
        let mut control = lock(&self.control);
        while control.0 == Wanted::Sleep {
            // Woken and put to sleep again at once, it finds another phase here.
            control.1 = Phase::Asleep(why.map(str::to_owned));
            self.changed.notify_all();
            control = (self.changed.wait(control)).unwrap_or_else(PoisonError::into_inner);
        }
        control.0 == Wanted::Run
    }

    fn build(&self) -> Result<Judge, LoadError> {
        let setup = &self.setup;
        let mut devices = Vec::new();
        for device in &setup.devices {
            devices.push((device.to_string(), device.open()?));
        }
        let text = Arc::clone(&setup.text);
        let lengths = WorkloadLengths::of_any(&text, setup.options.max_new_tokens);
        Judge::build(
            &setup.source,
            text,
            devices,
            &setup.engine,
            &lengths,
            &mut |_| {},
        )
    }

    /// Runs the engines until they are to do something else; what they have is answered first.
    fn run(&self, engines: &mut Vec<DeviceEngine>) -> Result<(), String> {
        let started = Engines::start(std::mem::take(engines), AHEAD);
        let (working, Started { threads, queues }) = started.map_err(|error| error.to_string())?;
        let working = Arc::new(working);
        *lock(&self.engines) = Some(Arc::clone(&working));
        let failed = &Mutex::<Option<String>>::default();
        std::thread::scope(|scope| {
            for (at, engine) in threads.into_iter().enumerate() {
                let working = working.as_ref();
                let collect = move || {
                    let collected = panics::guarded(|| self.collect(working, at, engine));
                    if let Err(why) = collected.and_then(|result| result) {
                        lock(failed).get_or_insert(why);
                        working.stop();
                    }
                };
                let spawned = std::thread::Builder::new()
                    .name("collect".into())
                    .spawn_scoped(scope, collect);
                if let Err(error) = spawned {
                    let error = threads::refused("an engine's verdicts")(error);
                    lock(failed).get_or_insert(error.to_string());
                    working.stop();
                }
            }
            let mut dispatch = working.dispatch(queues);
            while !working.is_stopped() && self.drain_unless_wanted() {
                let id = self.queue.pop(PATIENCE, |id| self.is_wanted(*id));
                // What another client's turn has brought to an engine is there no more.
                let Some(request) = id.and_then(|id| lock(&self.queued).remove(&id)) else {
                    continue;
                };
                // Nobody will ask for this completion again.
                if request.id >= GENERATIONS && !self.is_wanted(request.id) {
                    lock(&self.generations).remove(&request.id);
                    lock(&self.made).remove(&request.id);
                    continue;
                }
                lock(&self.dispatched).push(request.id);
                // One question for all: of several engines each gets a few in a row, and in the queue those of one question lie together.
                if !dispatch.send(request, 0) {
                    break;
                }
            }
        });
        let mut current = lock(&self.engines);
        *current = None;
        for device in working.stats() {
            // What is gone does not run.
            let stats = Stats {
                running: 0,
                used_blocks: 0,
                blocks: 0,
                ..device.stats
            };
            *lock(&self.earlier) += &stats;
        }
        drop(current);
        engines.extend(working.returned());
        match lock(failed).take() {
            Some(why) => Err(why),
            None => Ok(()),
        }
    }

    /// The completions of one engine to those who wait for them.
    fn collect(&self, working: &Engines, at: usize, engine: EngineThread) -> Result<(), String> {
        let setup = &self.setup;
        let verdicts = VerdictBuilder::new(&setup.options, Some(&setup.text));
        let take = |completion: Completion| {
            let id = completion.id;
            lock(&self.dispatched).retain(|other| *other != id);
            let made = lock(&self.made).remove(&id);
            if let Some(made) = made {
                let admitted = completion
                    .timing
                    .admitted
                    .unwrap_or(completion.timing.finished);
                (setup.observer)(&completion, admitted.saturating_duration_since(made));
            }
            if id >= GENERATIONS {
                let taker = lock(&self.generations).remove(&id);
                if let Some(take) = taker {
                    take.take(Ok(completion));
                }
                return ControlFlow::Continue(());
            }
            let cache = setup.options.cache.as_deref();
            if let Some((asked, answer)) = self.in_flight.answered(completion, cache) {
                for verdict in asked.verdicts(&verdicts, &setup.text, &answer) {
                    self.deliver(verdict);
                }
            }
            ControlFlow::Continue(())
        };
        let collected = working.collect(at, engine, take);
        collected.map_err(|error| error.to_string())
    }

    /// Fails the requests that engines had which failed.
    fn fail_dispatched(&self, why: &str) {
        let setup = &self.setup;
        let verdicts = VerdictBuilder::new(&setup.options, Some(&setup.text));
        for id in std::mem::take(&mut *lock(&self.dispatched)) {
            lock(&self.made).remove(&id);
            if id >= GENERATIONS {
                let taker = lock(&self.generations).remove(&id);
                if let Some(take) = taker {
                    take.take(Err(why.to_owned()));
                }
                continue;
            }
            let Some(asked) = self.in_flight.give_up(id) else {
                continue;
            };
            for (sample, trial) in &asked.trials {
                let why = why.to_owned();
                let failed = Status::Failed;
                self.deliver(verdicts.without_completion(sample, *trial, failed, why));
            }
        }
    }
}
