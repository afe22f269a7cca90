//! One owner of what is asked of a model, and one way in.
//!
//! ```text
//! client ─▶ Submission ─▶ the owner's thread: answered before? ──yes──▶ Reply
//!                                    │ no: asked already? ──yes──▶ waits with whoever asked first
//!                                    ▼ no
//!                         queue, fair between clients ─▶ backends ─▶ completion ─▶ the Reply of all who wait for it
//! ```
//!
//! Whatever happens is a message to one thread, which alone knows who waits for what: a submission, a step of a backend, its
//! failure, sleep, wake, the end. Others see what it has published: the phase and the counts.
//!
//! A run, the server and a batch are clients. What is asked twice is answered once: what a model writes depends on the request's key alone. What is asked by a
//! client that has gone is still answered, for it will ask again, but after all that somebody waits for.

mod backend;
mod guided;
mod life;
mod owner;
mod queue;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) use backend::{Backend, Given, IdleBackend, Reports, local};
pub use backend::{DeviceEngine, DeviceStats};
pub(crate) use guided::{Ending, Guided};
pub use life::Phase;
#[cfg(any(feature = "serve", test))]
pub(crate) use life::{CommandError, Done};
use owner::{Message, Owner};
pub(crate) use queue::ClientName;
#[cfg(feature = "serve")]
pub(crate) use queue::FairQueue;
use queue::PlaceQueue;
#[cfg(feature = "serve")]
pub(crate) use queue::Turn;

use crate::wire::form::ServerForm;
use juror_base::threads::{self, ThreadError, lock};
use juror_engine::engine::{Completion, EngineError, Request, Stats};

/// The hash by which an answer is found.
pub(crate) type AnswerKey = [u8; 32];

/// Something that is asked of the model.
pub(crate) struct Submission {
    pub(crate) client: ClientName,
    /// Requests of one question share more than the template: they go to one backend where possible.
    pub(crate) question: u64,
    pub(crate) ask: Ask,
    /// What the answer depends on: equal keys are answered once. Without a key the model is always asked.
    pub(crate) key: Option<AnswerKey>,
    pub(crate) reply: Box<dyn Reply>,
}

pub(crate) struct Ask {
    /// Its id is set by the runtime.
    pub(crate) request: Request,
    /// The form of the answer, for a backend that cannot follow a guide.
    pub(crate) form: Option<Arc<ServerForm>>,
    pub(crate) notes: GuideNotes,
}

/// What the guide of a request notes beside its completion.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuideNotes {
    /// Why it failed, if it did: there is no answer then.
    pub(crate) failure: Arc<OnceLock<String>>,
    pub(crate) guided: Arc<Mutex<Guided>>,
}

/// Takes an answer. It is dropped where there will be none, because the runtime has ended.
pub(crate) trait Reply: Send {
    /// Takes it on the owner's thread: it must hand it on quickly.
    fn take(self: Box<Self>, answer: Result<Answered, Unanswered>);

    /// Whether anybody waits for it still.
    fn is_wanted(&self) -> bool {
        true
    }
}

impl<F: FnOnce(Result<Answered, Unanswered>) + Send> Reply for F {
    fn take(self: Box<Self>, answer: Result<Answered, Unanswered>) {
        self(answer);
    }
}

pub(crate) struct Answered {
    pub(crate) answer: Arc<ModelAnswer>,
    /// It was asked for by another submission.
    pub(crate) is_reused: bool,
}

/// What a model has written, and what was chosen in it.
#[derive(Debug, Clone)]
pub(crate) struct ModelAnswer {
    pub(crate) completion: Completion,
    pub(crate) guided: Guided,
    pub(crate) doubts: Option<Vec<Doubt>>,
    /// Of a rejected completion: the judge's own words, where it answered with no verdict.
    pub(crate) no_verdict: Option<String>,
}

/// A token's place and the probability with which it was written.
pub(crate) type Doubt = (usize, f32);

/// A token that was written with at least this probability is no doubt.
pub(crate) const CERTAIN: f32 = 0.999;

/// The doubtful tokens of a completion; `None` where probabilities were not asked for.
pub(crate) fn doubts(completion: &Completion) -> Option<Vec<Doubt>> {
    if completion.logprobs.is_empty() {
        return None;
    }
    let written = completion.logprobs.iter().enumerate();
    let probabilities = written.filter_map(|(at, token)| Some((at, token.as_ref()?.logprob.exp())));
    Some(probabilities.filter(|(_, p)| *p < CERTAIN).collect())
}

#[derive(Debug, Clone)]
pub(crate) enum Unanswered {
    Guide(String),
    /// The server that was asked could not answer it.
    Server(String),
    Backend(String),
}

impl ModelAnswer {
    /// Whether it may be given to others who ask the same: nothing failed on the way.
    pub(crate) fn is_whole(&self) -> bool {
        use juror_engine::engine::FinishReason::{Rejected, TooLong};
        let is_refused = matches!(self.completion.finish, Rejected(_) | TooLong(_));
        self.guided.error.is_none() && !is_refused
    }
}

impl Answered {
    pub(crate) fn into_completion(self) -> Completion {
        Arc::unwrap_or_clone(self.answer).completion
    }
}

#[derive(Debug)]
pub(crate) struct BackendFailure {
    pub(crate) name: String,
    pub(crate) error: EngineError,
}

/// Sees every completion, with the time that its request has waited for a backend.
pub(crate) type Observer = Box<dyn Fn(&Completion, Duration) + Send + Sync>;

/// Builds backends, at first and after sleep or a failure; also gives their sizes in words.
pub(crate) type Build = Arc<dyn Fn() -> Result<(Vec<IdleBackend>, String), String> + Send + Sync>;

/// Where a runtime's backends are from.
pub(crate) enum Supply {
    /// They are given: the runtime ends where one of them fails.
    Given(Vec<IdleBackend>),
    /// They are built here, as often as need be.
    Built(Build),
}

#[derive(Default)]
pub(crate) struct RuntimeOptions {
    /// Requests that may wait in each backend for a place in its batch.
    pub(crate) ahead: usize,
    /// Answers that are kept for those who ask the same later.
    pub(crate) kept_answers: usize,
    pub(crate) observer: Option<Observer>,
    /// Called when the runtime ends, however it does.
    pub(crate) at_end: Option<Box<dyn FnOnce() + Send>>,
}

/// How a runtime is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// Once the backends have answered what they have; what waits is dropped.
    Drained,
    Now,
}

/// Requests that wait for a place in a batch, all engines of a run together, so that no engine is idle.
const REQUESTS_AHEAD: usize = 128;

/// An engine has this many waiting even if there are many engines.
const LEAST_AHEAD: usize = 32;

pub(crate) struct Runtime {
    mailbox: Sender<Message>,
    board: Arc<Board>,
    thread: Mutex<Option<JoinHandle<Option<BackendFailure>>>>,
}

impl Runtime {
    pub(crate) fn start(supply: Supply, options: RuntimeOptions) -> Result<Self, ThreadError> {
        let (mailbox, messages) = channel();
        let board = Arc::new(Board::default());
        let owner = Owner::new(supply, options, mailbox.clone(), messages, &board)?;
        let thread = std::thread::Builder::new()
            .name("runtime".into())
            .spawn(move || owner.run())
            .map_err(threads::refused("what is asked of the model"))?;
        Ok(Self {
            mailbox,
            board,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Starts one for these engines; also gives how many requests keep them busy. Engines that end without failing go to `returned`, each with its place.
    pub(crate) fn of_engines(
        engines: Vec<DeviceEngine>,
        kept_answers: usize,
        returned: Option<&Sender<(usize, DeviceEngine)>>,
    ) -> Result<(Self, usize), ThreadError> {
        let ahead = (REQUESTS_AHEAD / engines.len().max(1)).max(LEAST_AHEAD);
        let at_once = engines.iter().map(|one| one.engine.config().max_sequences);
        let most = at_once.map(|sequences| sequences + ahead).sum();
        let backends = engines
            .into_iter()
            .map(|engine| local(engine, returned.cloned(), Arc::default()))
            .collect();
        Ok((Self::given(backends, ahead, kept_answers)?, most))
    }

    /// Starts one for these backends, each of which takes `ahead` requests more than it works on.
    pub(crate) fn given(
        backends: Vec<IdleBackend>,
        ahead: usize,
        kept_answers: usize,
    ) -> Result<Self, ThreadError> {
        let options = RuntimeOptions {
            ahead,
            kept_answers,
            ..RuntimeOptions::default()
        };
        Self::start(Supply::Given(backends), options)
    }

    /// Submits a request; its reply is dropped if the runtime has ended.
    pub(crate) fn submit(&self, submission: Submission) {
        self.send(Message::Submit(Box::new(submission)));
    }

    /// Ends it; of several calls the most urgent counts.
    pub(crate) fn stop(&self, stop: Stop) {
        self.send(Message::Stop(stop));
    }

    /// Waits until it has ended. Returns the failure, if one of the given backends failed.
    pub(crate) fn join(&self) -> Option<BackendFailure> {
        let thread = lock(&self.thread).take();
        // Its panics are caught inside.
        thread.and_then(|thread| thread.join().ok().flatten())
    }

    pub(crate) fn devices(&self) -> Vec<DeviceStats> {
        self.board.lock().devices.clone()
    }

    fn send(&self, message: Message) {
        // If the owner has ended, the message is dropped.
        let _ = self.mailbox.send(message);
    }
}

#[cfg(any(feature = "serve", test))]
impl Runtime {
    /// Gives up the backends once they have answered what they have, then calls `done`. Commands are carried out one after another.
    pub(crate) fn sleep(&self, done: Done) {
        self.send(Message::Sleep(done));
    }

    pub(crate) fn wake_up(&self, done: Done) {
        self.send(Message::Wake(done));
    }

    /// Forgets waiting requests that nobody waits for.
    pub(crate) fn forget_unwanted(&self) {
        self.send(Message::Forget);
    }

    pub(crate) fn phase(&self) -> Phase {
        self.board.lock().phase.clone()
    }

    /// Waits until its phase is not `old`, at most `patience`. Returns the phase then.
    pub(crate) fn wait_for_change(&self, old: &Phase, patience: Duration) -> Phase {
        let waited = self
            .board
            .changed
            .wait_timeout_while(self.board.lock(), patience, |board| board.phase == *old)
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        waited.0.phase.clone()
    }

    /// Requests that wait for a backend, and those that the backends have.
    pub(crate) fn load(&self) -> (usize, usize) {
        let board = self.board.lock();
        (board.waiting, board.submitted)
    }

    /// What all backends did so far, ended ones included.
    pub(crate) fn stats(&self) -> Stats {
        let board = self.board.lock();
        let now = board.devices.iter().map(|device| &device.stats);
        let mut stats = board.earlier;
        for device in now {
            stats += device;
        }
        stats
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.stop(Stop::Drained);
        self.join();
    }
}

#[derive(Default)]
struct Board {
    published: Mutex<Published>,
    changed: Condvar,
}

#[derive(Default)]
struct Published {
    phase: Phase,
    devices: Vec<DeviceStats>,
    earlier: Stats,
    waiting: usize,
    submitted: usize,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Published> {
        lock(&self.published)
    }

    fn enter(&self, phase: Phase) {
        self.lock().phase = phase;
        self.changed.notify_all();
    }
}
