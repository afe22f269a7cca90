//! The thread that owns model and cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use super::EngineError;
use super::core::Engine;
use super::sequence::{Completion, Request};
use super::stats::Stats;
use juror_base::panics;
use juror_base::threads::{self, ThreadError};

/// An engine on a thread of its own.
///
/// [`Self::send`] queues any number of requests; limiting them is up to the caller. Results come as [`EngineReport`]s.
/// Dropping this value tells the thread that no more requests will come: it ends once all are answered, or after the current
/// step if it was cancelled before.
pub struct EngineThread {
    requests: Sender<Request>,
    cancelled: Arc<AtomicBool>,
}

pub enum EngineReport {
    /// A step is done: the counters so far, and the requests that ended with it.
    Step(Stats, Vec<Completion>),
    /// The thread's last report: the engine without requests; or the failure that stopped it, once it has left its device.
    Ended(Result<Box<Engine>, EngineError>),
}

impl EngineThread {
    /// Starts the thread; `report` is called on it, and must not block for long.
    pub fn spawn(
        engine: Engine,
        mut report: impl FnMut(EngineReport) + Send + 'static,
    ) -> Result<Self, ThreadError> {
        let (requests, receiver) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let mut worker = Worker {
            engine: Box::new(engine),
            requests: receiver,
            cancelled: Arc::clone(&cancelled),
        };
        std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || {
                // A panic is reported like any other failure of the engine, and no answer is lost. A step in flight is
                // waited for on this thread, which has the device's context.
                let end = panics::guarded(|| {
                    worker.run(&mut report)?;
                    worker.engine.drop_requests()
                });
                let failure = match end {
                    Ok(Ok(())) => return report(EngineReport::Ended(Ok(worker.engine))),
                    Ok(Err(error)) => error,
                    Err(why) => EngineError::Panicked(why),
                };
                // The last report is made once the device is left, whatever state the worker is in.
                let _ = panics::guarded(|| drop(worker));
                report(EngineReport::Ended(Err(failure)));
            })
            .map_err(threads::refused("the engine"))?;
        Ok(Self {
            requests,
            cancelled,
        })
    }

    /// Queues a request. Once the thread has ended the request is dropped: the last report says why.
    pub fn send(&self, request: Request) {
        let _ = self.requests.send(request);
    }

    /// Ends the thread after the current step; unfinished requests are dropped.
    pub fn cancel(self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

struct Worker {
    engine: Box<Engine>,
    requests: Receiver<Request>,
    cancelled: Arc<AtomicBool>,
}

impl Worker {
    /// Answers requests until no more will come, or the thread is cancelled.
    fn run(&mut self, report: &mut impl FnMut(EngineReport)) -> Result<(), EngineError> {
        loop {
            // Without work, wait for the next request.
            if !self.engine.has_work() {
                let Ok(request) = self.requests.recv() else {
                    return Ok(());
                };
                self.engine.add(request);
            }
            let is_open = loop {
                match self.requests.try_recv() {
                    Ok(request) => self.engine.add(request),
                    Err(TryRecvError::Empty) => break true,
                    Err(TryRecvError::Disconnected) => break false,
                }
            };
            // Only the sender of the requests can cancel, and that is final.
            if !is_open && self.cancelled.load(Ordering::Relaxed) {
                return Ok(());
            }
            let completions = self.engine.step()?;
            report(EngineReport::Step(self.engine.stats(), completions));
        }
    }
}
