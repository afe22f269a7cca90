//! What answers requests: an engine on a device here, or a server elsewhere (`crate::endpoint`).

use std::sync::Arc;
use std::sync::mpsc::Sender;

use super::owner::Message;
use crate::wire::form::ServerForm;
use juror_base::threads::ThreadError;
use juror_engine::engine::{
    Completion, Engine, EngineError, EngineReport, EngineThread, Request, Stats,
};

pub struct DeviceEngine {
    /// The device's name in messages and statistics: `cuda:1`.
    pub device: String,
    pub engine: Engine,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStats {
    pub device: String,
    pub verdicts: usize,
    pub stats: Stats,
}

/// What answers requests. It takes as many as it is given, and tells by its [`Reports`] what comes of them.
pub(crate) trait Backend: Send {
    /// Takes a request. `form` is for a backend that cannot follow its guide: the answer must have that form.
    fn submit(&mut self, request: Request, form: Option<Arc<ServerForm>>);

    /// Tells it to end: `at_once`, or after it has answered what it has. Its last report says that it has ended.
    fn end(&mut self, at_once: bool);
}

/// A backend that is not running yet.
pub(crate) struct IdleBackend {
    /// Its name in messages and statistics.
    pub(crate) name: String,
    /// Requests that it works on at once, at most.
    pub(crate) places: usize,
    pub(crate) start: StartBackend,
}

/// Starts a backend, which tells by these reports what it does.
pub(crate) type StartBackend =
    Box<dyn FnOnce(Reports) -> Result<Box<dyn Backend>, ThreadError> + Send>;

/// A completion; of a rejected one also the judge's own words, where it answered with no verdict.
pub(crate) type Given = (Completion, Option<String>);

#[derive(Clone)]
pub(crate) struct Reports {
    pub(super) at: usize,
    pub(super) mailbox: Sender<Message>,
}

impl Reports {
    /// Reports what was done so far, and the requests that are answered.
    pub(crate) fn answered(&self, stats: Stats, completions: Vec<Given>) {
        self.send(Message::Answered(self.at, stats, completions));
    }

    /// Reports that a request has no answer, for a fault that is not its own.
    pub(crate) fn unanswered(&self, id: u64, why: String) {
        self.send(Message::Unanswered(self.at, id, why));
    }

    pub(crate) fn ended(&self, result: Result<(), EngineError>) {
        self.send(Message::Ended(self.at, result));
    }

    fn send(&self, message: Message) {
        // A runtime that has ended needs no reports.
        let _ = self.mailbox.send(message);
    }
}

/// An engine here. `returned` takes it back when it has ended without failing, with its place; `held` is dropped when it has left its device.
pub(crate) fn local(
    DeviceEngine { device, engine }: DeviceEngine,
    returned: Option<Sender<(usize, DeviceEngine)>>,
    held: Arc<()>,
) -> IdleBackend {
    let name = device.clone();
    let places = engine.config().max_sequences;
    let start = move |reports: Reports| {
        let mut held = Some(held);
        let report = move |report: EngineReport| match report {
            EngineReport::Step(stats, completions) => {
                let given = completions.into_iter().map(|one| (one, None));
                reports.answered(stats, given.collect());
            }
            EngineReport::Ended(Ok(engine)) => {
                if let Some(returned) = &returned {
                    let (device, engine) = (device.clone(), *engine);
                    let _ = returned.send((reports.at, DeviceEngine { device, engine }));
                } else {
                    // First, so that the device is free when `ended` is reported.
                    drop(engine);
                }
                drop(held.take());
                reports.ended(Ok(()));
            }
            EngineReport::Ended(Err(error)) => {
                drop(held.take());
                reports.ended(Err(error));
            }
        };
        let thread = EngineThread::spawn(engine, report)?;
        Ok(Box::new(LocalBackend(Some(thread))) as Box<dyn Backend>)
    };
    IdleBackend {
        name,
        places,
        start: Box::new(start),
    }
}

/// An engine on its thread, until it is told to end.
struct LocalBackend(Option<EngineThread>);

impl Backend for LocalBackend {
    fn submit(&mut self, request: Request, _: Option<Arc<ServerForm>>) {
        if let Some(thread) = &self.0 {
            thread.send(request);
        }
    }

    fn end(&mut self, at_once: bool) {
        if let (Some(thread), true) = (self.0.take(), at_once) {
            thread.cancel();
        }
    }
}
