//! The one thread that owns model and cache.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::EngineError;
use super::core::Engine;
use super::sequence::{Completion, Request};
use super::stats::Stats;
use juror_base::panics;
use juror_base::threads::{self, ThreadError};

/// An engine on a thread of its own, fed and emptied through bounded channels.
///
/// Requests may be sent from any thread through [`Self::requests`]; completions come out of [`Self::recv`] in the order
/// in which they finish. The thread ends when every sender is gone and all work is done, or at [`Self::cancel`].
pub struct EngineThread {
    requests: Option<SyncSender<Request>>,
    completions: Receiver<Result<Completion, EngineError>>,
    cancelled: Arc<AtomicBool>,
    stats: Arc<Mutex<Stats>>,
    thread: Option<JoinHandle<Option<Engine>>>,
}

impl EngineThread {
    /// Starts the thread; `ahead` requests may wait for a place in the batch, so that it never runs dry.
    ///
    /// # Errors
    /// [`ThreadError`] where the system refuses to start a thread.
    pub fn spawn(engine: Engine, ahead: usize) -> Result<Self, ThreadError> {
        let (request_sender, request_receiver) = sync_channel(ahead.max(1));
        let (completion_sender, completions) = sync_channel(1024);
        let cancelled = Arc::new(AtomicBool::new(false));
        let stats = Arc::new(Mutex::new(Stats::default()));
        let mut worker = Worker {
            engine,
            ahead: ahead.max(1),
            requests: request_receiver,
            completions: completion_sender,
            cancelled: Arc::clone(&cancelled),
            stats: Arc::clone(&stats),
        };
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || {
                // A panic is a failure of the engine like any other: it ends the run with what it says, and nothing is lost.
                // A step that is under way is waited for on this thread, where the device is known.
                match panics::guarded(|| worker.run() == End::Usable && worker.is_cleared()) {
                    Ok(is_usable) => is_usable.then_some(worker.engine),
                    Err(why) => {
                        let _ = worker.completions.send(Err(EngineError::Panicked(why)));
                        None
                    }
                }
            })
            .map_err(threads::refused("the engine"))?;
        Ok(Self {
            requests: Some(request_sender),
            completions,
            cancelled,
            stats,
            thread: Some(thread),
        })
    }

    /// A sender of requests. It blocks while enough requests wait, and fails once the engine has stopped.
    pub fn requests(&self) -> Option<SyncSender<Request>> {
        self.requests.clone()
    }

    /// No more requests will come from here; the thread ends when other senders are gone too and the work is done.
    pub fn close(&mut self) {
        self.requests = None;
    }

    /// Waits for the next completion; `Ok(None)` when `patience` ran out first.
    ///
    /// # Errors
    /// The failure that stopped the engine.
    pub fn recv(&self, patience: Duration) -> Result<Option<Completion>, EngineError> {
        match self.completions.recv_timeout(patience) {
            Ok(completion) => completion.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EngineError::Stopped),
        }
    }

    /// Stops after the current step; unfinished requests are dropped.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// What was done so far.
    pub fn stats(&self) -> Stats {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops after the current step and gives the engine back, without requests; `None` if it failed.
    pub fn into_engine(mut self) -> Option<Engine> {
        self.stop()
    }

    fn stop(&mut self) -> Option<Engine> {
        self.cancel();
        self.requests = None;
        // Empty the channel so that a worker blocked on it sees the cancellation, then wait for it.
        while self
            .completions
            .recv_timeout(Duration::from_mins(1))
            .is_ok()
        {}
        // What it panicked with, if it did, was sent as its failure.
        self.thread.take()?.join().ok().flatten()
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        self.stop();
    }
}

/// In which state the thread leaves its engine.
#[derive(PartialEq, Eq)]
enum End {
    Usable,
    Failed,
}

struct Worker {
    engine: Engine,
    ahead: usize,
    requests: Receiver<Request>,
    completions: SyncSender<Result<Completion, EngineError>>,
    cancelled: Arc<AtomicBool>,
    stats: Arc<Mutex<Stats>>,
}

impl Worker {
    /// Drops what the engine was not done with; false if that failed.
    fn is_cleared(&mut self) -> bool {
        self.engine.drop_requests().is_ok()
    }

    fn run(&mut self) -> End {
        let mut open = true;
        while !self.cancelled.load(Ordering::Relaxed) {
            while open && self.engine.waiting() < self.ahead {
                let request = if self.engine.has_work() {
                    match self.requests.try_recv() {
                        Ok(request) => request,
                        Err(TryRecvError::Empty) => break,
                        Err(TryRecvError::Disconnected) => {
                            open = false;
                            break;
                        }
                    }
                } else if let Ok(request) = self.requests.recv() {
                    request
                } else {
                    open = false;
                    break;
                };
                self.engine.add(request);
            }
            if !self.engine.has_work() {
                break;
            }
            let result = self.engine.step();
            *self.stats.lock().unwrap_or_else(PoisonError::into_inner) = self.engine.stats();
            match result {
                Ok(completions) => {
                    for completion in completions {
                        if self.completions.send(Ok(completion)).is_err() {
                            return End::Usable;
                        }
                    }
                }
                Err(error) => {
                    // The send fails only if the caller has dropped the receiver.
                    let _ = self.completions.send(Err(error));
                    return End::Failed;
                }
            }
        }
        End::Usable
    }
}
