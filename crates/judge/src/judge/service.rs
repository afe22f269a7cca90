//! A judge that many clients ask at once, for as long as it runs.
//!
//! ```text
//! client ─▶ queue, fair between clients ─▶ prompt ─▶ the runtime ─▶ Reply ─▶ Verdict ─▶ TakeVerdict
//!           └─ workers: a few threads ──────────┘                  └─ workers ───────────────┘
//! ```
//!
//! Prompts and verdicts are made on a few threads, which clients have in turns: a client's thousands of samples keep none of
//! another's waiting. Everything else is the [runtime](crate::runtime)'s.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::ask::request::{RequestBuilder, Trial};
use super::build::open_devices;
use super::read::completion::{Subject, VerdictBuilder};
use super::run::{keep_answer, of_rules};
use super::shared_memory::SharedMemory;
use super::text::source::JudgeModel;
use super::{EngineOptions, Judge, JudgeText, LoadError, RunOptions, WorkloadLengths};
use crate::runtime::{
    AnswerKey, Answered, Ask, Build, ClientName, FairQueue, IdleBackend, Observer, Phase, Reply,
    Runtime, RuntimeOptions, Stop, Submission, Supply, Turn, Unanswered, local,
};
use juror_base::panics;
use juror_base::threads::{self, ThreadError, lock};
use juror_data::Sample;
use juror_data::verdict::Verdict;
use juror_engine::model::DeviceChoice;

/// Requests that wait in an engine for a place in its batch: enough that it never runs dry, and few, for clients no longer have turns there.
const AHEAD: usize = 16;

/// Answers that are kept in memory for clients that ask again.
const KEPT_ANSWERS: usize = 16_384;

/// Samples that are tokenised in one turn of their client.
const AT_ONCE: usize = 16;

const MOST_WORKERS: usize = 16;

/// Takes the verdicts of a call. It is dropped where there will be no more: all are there, or the service has ended.
pub trait TakeVerdict: Send + Sync {
    /// Takes a verdict; its index is the sample's place in the call.
    fn take(&self, verdict: Verdict);

    /// Whether anybody waits for them still.
    fn is_wanted(&self) -> bool;
}

pub struct ServiceSetup {
    pub model: JudgeModel,
    /// Its text side under a protocol.
    pub text: Arc<JudgeText>,
    /// What decides the verdicts; one trial each.
    pub options: RunOptions,
    /// Where the model runs: one engine for each.
    pub devices: Vec<DeviceChoice>,
    pub engine: EngineOptions,
}

/// A judge that many clients ask at once.
pub struct JudgeService {
    shared: Arc<Shared>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    /// The model's text side; without one the rules judge alone.
    text: Option<Arc<JudgeText>>,
    options: RunOptions,
    runtime: Runtime,
    work: Arc<Work>,
    next_sample: AtomicUsize,
}

#[derive(Default)]
struct Work {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// What the model has said: it comes first, for somebody waits for it.
    replies: VecDeque<AnsweredSample>,
    prompts: FairQueue<Job>,
    is_over: bool,
}

/// What is done in one turn of a client.
enum Job {
    /// Prompts of samples of one call.
    Samples {
        client: ClientName,
        samples: Vec<(usize, Sample)>,
        take: Arc<dyn TakeVerdict>,
    },
    Prompt {
        make: Box<dyn FnOnce() + Send>,
        is_wanted: Box<dyn Fn() -> bool + Send>,
    },
}

struct AskedSample {
    subject: Subject,
    place: usize,
    key: AnswerKey,
    take: Arc<dyn TakeVerdict>,
}

/// What the model says on it.
struct AnsweredSample {
    asked: AskedSample,
    reply: Result<Answered, Unanswered>,
}

/// Hands what the model says to a worker.
struct ToWorker {
    asked: AskedSample,
    work: Arc<Work>,
}

impl Reply for ToWorker {
    fn take(self: Box<Self>, reply: Result<Answered, Unanswered>) {
        let Self { asked, work } = *self;
        lock(&work.waiting)
            .replies
            .push_back(AnsweredSample { asked, reply });
        work.changed.notify_one();
    }

    fn is_wanted(&self) -> bool {
        self.asked.take.is_wanted()
    }
}

impl Job {
    fn turn(&self) -> Turn {
        let is_wanted = match self {
            Self::Samples { take, .. } => take.is_wanted(),
            Self::Prompt { is_wanted, .. } => is_wanted(),
        };
        if is_wanted { Turn::Now } else { Turn::Last }
    }
}

impl Work {
    /// Adds a job, or drops it where there are no turns any more.
    fn push(&self, client: &ClientName, job: Job) {
        let mut waiting = lock(&self.waiting);
        if waiting.is_over {
            drop(waiting);
            // Unlocked, for the drop may call this again.
            return drop(job);
        }
        waiting.prompts.push(client, job);
        drop(waiting);
        self.changed.notify_one();
    }

    /// Nothing more will be asked: waiting jobs are dropped, answers still become verdicts.
    fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.is_over = true;
        let dropped = std::mem::take(&mut waiting.prompts);
        drop(waiting);
        self.changed.notify_all();
        drop(dropped);
    }
}

impl JudgeService {
    /// Starts the service; the engines are built meanwhile. `observer` sees every completion.
    pub fn start(setup: ServiceSetup, observer: Option<Observer>) -> Result<Self, ThreadError> {
        let alone = SharedMemory::new(vec![Arc::new(setup)]);
        Self::start_beside(&Arc::new(alone), 0, observer)
    }

    /// As [`Self::start`], of one of the judges that share their devices' memory.
    pub(super) fn start_beside(
        memory: &Arc<SharedMemory>,
        at: usize,
        observer: Option<Observer>,
    ) -> Result<Self, ThreadError> {
        let setup = memory.setup(at);
        let (text, options) = (Arc::clone(&setup.text), setup.options.clone());
        let memory = Arc::clone(memory);
        let build = move || {
            memory.build(at, |setup, engine, held| {
                build(setup, engine, held).map_err(|error| error.to_string())
            })
        };
        Self::new(Some(text), options, Arc::new(build), observer)
    }

    /// Starts one whose verdicts are those of the rules alone: it has no model, and generates nothing.
    pub fn of_rules(options: RunOptions) -> Result<Self, ThreadError> {
        let build = || Ok((Vec::new(), "the rules alone, without a model".to_owned()));
        Self::new(None, options, Arc::new(build), None)
    }

    fn new(
        text: Option<Arc<JudgeText>>,
        options: RunOptions,
        build: Build,
        observer: Option<Observer>,
    ) -> Result<Self, ThreadError> {
        let work = Arc::new(Work::default());
        let ends = Arc::clone(&work);
        let runtime = Runtime::start(
            Supply::Built(build),
            RuntimeOptions {
                ahead: AHEAD,
                kept_answers: KEPT_ANSWERS,
                observer,
                at_end: Some(Box::new(move || ends.close())),
            },
        )?;
        let shared = Arc::new(Shared {
            text,
            options,
            runtime,
            work,
            next_sample: AtomicUsize::new(0),
        });
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..cores.clamp(2, MOST_WORKERS)).map(|_| {
            let own = Arc::clone(&shared);
            std::thread::Builder::new()
                .name("worker".into())
                .spawn(move || own.work())
                .map_err(threads::refused("prompts and verdicts"))
        });
        let workers = Mutex::new(workers.collect::<Result<_, _>>()?);
        Ok(Self { shared, workers })
    }

    /// Has samples judged for a client, each with its place in the call; their verdicts go to `take`.
    pub fn judge(
        &self,
        client: &str,
        mut samples: Vec<(usize, Sample)>,
        take: &Arc<dyn TakeVerdict>,
    ) {
        let client = ClientName::from(client);
        // Those of one question share more of their prompts than the template.
        let mut first: HashMap<u64, usize> = HashMap::new();
        samples.sort_by_cached_key(|(place, sample)| {
            *first.entry(sample.question_hash()).or_insert(*place)
        });
        let mut rest = samples.into_iter();
        loop {
            let samples: Vec<_> = rest.by_ref().take(AT_ONCE).collect();
            if samples.is_empty() {
                break;
            }
            let job = Job::Samples {
                client: Arc::clone(&client),
                samples,
                take: Arc::clone(take),
            };
            self.shared.work.push(&client, job);
        }
    }

    /// Runs what makes a prompt on a thread that clients have in turns, unless the service has ended; last if it is not wanted when its turn comes.
    pub(crate) fn in_turn(
        &self,
        client: &str,
        make: Box<dyn FnOnce() + Send>,
        is_wanted: Box<dyn Fn() -> bool + Send>,
    ) {
        let job = Job::Prompt { make, is_wanted };
        self.shared.work.push(&ClientName::from(client), job);
    }

    pub(crate) fn generate(&self, client: &str, ask: Ask, reply: Box<dyn Reply>) {
        self.shared.runtime.submit(Submission {
            client: client.into(),
            question: 0,
            ask,
            key: None,
            reply,
        });
    }

    pub(crate) fn failed(&self, sample: &Sample, why: String) -> Verdict {
        self.shared.verdicts().broken(sample, 0, why)
    }

    /// Forgets waiting samples that nobody waits for, when memory is short. Asked for again, they are new.
    pub(crate) fn forget_unwanted(&self) {
        let is_wanted = |job: &Job| job.turn() == Turn::Now;
        lock(&self.shared.work.waiting).prompts.retain(is_wanted);
        self.shared.runtime.forget_unwanted();
    }

    /// What answers: to be put to sleep, woken and looked at.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.shared.runtime
    }

    pub fn phase(&self) -> Phase {
        self.shared.runtime.phase()
    }

    /// Waits until its phase is not `old`, at most `patience`. Returns the phase then.
    pub fn wait_for_change(&self, old: &Phase, patience: Duration) -> Phase {
        self.shared.runtime.wait_for_change(old, patience)
    }

    /// Gives up its engines, once they have answered what they have.
    pub fn sleep(&self) {
        self.shared.runtime.sleep(Box::new(|_| {}));
    }

    /// Has it build its engines again.
    pub fn wake_up(&self) {
        self.shared.runtime.wake_up(Box::new(|_| {}));
    }

    /// Ends it, and waits for it: what the engines have is answered, what waits is dropped.
    pub(crate) fn end(&self) {
        self.shared.runtime.stop(Stop::Drained);
        self.shared.runtime.join();
        for worker in lock(&self.workers).drain(..) {
            // Its panics are caught inside.
            let _ = worker.join();
        }
        if let Some(cache) = &self.shared.options.cache {
            // A cache that cannot be written costs no verdict.
            let _ = cache.sync();
        }
    }
}

impl Drop for JudgeService {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn verdicts(&self) -> VerdictBuilder<'_> {
        VerdictBuilder::new(&self.options, self.text.as_deref())
    }

    /// Makes prompts and verdicts until there are no more.
    fn work(&self) {
        let verdicts = self.verdicts();
        let text = self.text.as_ref();
        let requests = text.map(|text| RequestBuilder::new(text, &self.options, &verdicts));
        loop {
            let waiting = self
                .work
                .changed
                .wait_while(lock(&self.work.waiting), |waiting| {
                    waiting.replies.is_empty() && waiting.prompts.is_empty() && !waiting.is_over
                });
            let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
            if let Some(replied) = waiting.replies.pop_front() {
                drop(waiting);
                let deliver = |text: &Arc<_>| self.deliver(text, &verdicts, replied);
                let _ = panics::guarded(|| text.map(deliver));
            } else if let Some(job) = waiting.prompts.pop(Job::turn) {
                drop(waiting);
                // Whoever waits for a job that panics is told so where it is dropped.
                let _ = panics::guarded(|| self.run(requests.as_ref(), &verdicts, job));
            } else if waiting.is_over {
                return;
            }
        }
    }

    /// What the model says becomes a verdict.
    fn deliver(
        &self,
        text: &JudgeText,
        verdicts: &VerdictBuilder,
        AnsweredSample { asked, reply }: AnsweredSample,
    ) {
        keep_answer(&self.options, &asked.key, &reply);
        let mut verdict = verdicts.of_reply(text, &asked.subject, 0, &reply);
        verdict.index = asked.place;
        asked.take.take(verdict);
    }

    fn run(&self, requests: Option<&RequestBuilder>, verdicts: &VerdictBuilder, job: Job) {
        let (client, samples, take) = match job {
            Job::Prompt { make, .. } => return make(),
            Job::Samples {
                client,
                samples,
                take,
            } => (client, samples, take),
        };
        for (place, mut sample) in samples {
            if sample.id.trim().is_empty() {
                sample.id = sample.own_content_id();
            }
            sample.index = self.next_sample.fetch_add(1, Ordering::Relaxed);
            let subject = Subject::new(sample);
            let trial = match requests {
                Some(requests) => requests.trial(&subject, 0, &requests.prompt(&subject)),
                None => Trial::Judged(Box::new(of_rules(verdicts, &subject, 0))),
            };
            match trial {
                Trial::Ask(ask, key) => {
                    let asked = AskedSample {
                        subject,
                        place,
                        key,
                        take: Arc::clone(&take),
                    };
                    let work = Arc::clone(&self.work);
                    self.runtime.submit(Submission {
                        client: Arc::clone(&client),
                        // One question for all: of several engines each gets a few in a row, and in the queue those of one question lie together.
                        question: 0,
                        ask: *ask,
                        key: Some(key),
                        reply: Box::new(ToWorker { asked, work }),
                    });
                }
                Trial::Judged(mut verdict) => {
                    verdict.index = place;
                    take.take(*verdict);
                }
            }
        }
    }
}

fn build(
    setup: &ServiceSetup,
    engine: &EngineOptions,
    held: &Arc<()>,
) -> Result<(Vec<IdleBackend>, String), LoadError> {
    if let Some(cache) = &setup.options.cache {
        // What was answered before is on disk by now; a cache that cannot be written costs no verdict.
        let _ = cache.sync();
    }
    if let Some(served) = &setup.text.endpoint {
        return Ok((
            vec![Arc::clone(&served.server).backend(&setup.text)],
            served.description.clone(),
        ));
    }
    let devices = open_devices(&setup.devices, engine)?;
    let text = Arc::clone(&setup.text);
    let lengths = WorkloadLengths::of_any(&text, setup.options.max_new_tokens);
    let judge = Judge::build(&setup.model, text, devices, engine, &lengths, &mut |_| {})?;
    let sizes = judge.sizes();
    let engines = judge.engines.into_iter();
    let backends = engines.map(|engine| local(engine, None, Arc::clone(held)));
    Ok((backends.collect(), sizes))
}
