//! Engines on one queue, one for each device.
//!
//! Nothing is dealt out beforehand: a request goes to the engine that has the least before it, and only when that has
//! room, so a slow device holds up no other. Requests of one question go to one engine where that can be, whose cache
//! then serves them all. Since a verdict depends on its sample alone, it does not matter which engine it falls to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::VerdictReading;
use super::feed::{InFlight, guarded};
use crate::dataset::DatasetError;
use crate::engine::{Completion, Engine, EngineError, EngineThread, Request, Stats};
use crate::verdict::Verdict;

/// An engine and the device it runs on.
pub struct DeviceEngine {
    /// The device's name in messages and statistics: `cuda:1`.
    pub device: String,
    /// The engine.
    pub engine: Engine,
}

/// What one device has done.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceStats {
    /// The device's name.
    pub device: String,
    /// Verdicts that its completions gave.
    pub verdicts: usize,
    /// What its engine did.
    pub stats: Stats,
}

/// What the run hears of.
pub(super) enum Event {
    /// A finished verdict.
    Verdict(Box<Verdict>),
    /// An engine has failed.
    Engine { device: String, error: EngineError },
    /// A sample could not be read.
    Input(DatasetError),
    /// An error of our own, outside any one sample.
    Panicked(String),
}

/// Look for the end of the run this often.
const PATIENCE: Duration = Duration::from_millis(100);

/// Look this often whether an engine has admitted what waited; that one has finished something is told at once.
const ADMITTED: Duration = Duration::from_millis(5);

/// Requests of one question go to one engine, up to this many in a row.
const GROUP: usize = 16;

/// Requests that wait for a place in a batch, all engines together, so that none runs dry.
const REQUESTS_AHEAD: usize = 128;

/// An engine has this many waiting even if there are many engines.
const LEAST_AHEAD: usize = 32;

/// How many requests may wait in each of so many engines.
pub(super) fn requests_ahead(engines: usize) -> usize {
    (REQUESTS_AHEAD / engines.max(1)).max(LEAST_AHEAD)
}

/// One engine of a run.
pub(super) struct DeviceRun<'a> {
    reading: &'a VerdictReading<'a>,
    in_flight: &'a InFlight,
    stop: &'a AtomicBool,
    /// Requests sent whose completions have not come.
    outstanding: AtomicUsize,
    stats: Mutex<DeviceStats>,
}

impl<'a> DeviceRun<'a> {
    pub(super) fn new(
        device: String,
        reading: &'a VerdictReading<'a>,
        in_flight: &'a InFlight,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            reading,
            in_flight,
            stop,
            outstanding: AtomicUsize::new(0),
            stats: Mutex::new(DeviceStats {
                device,
                verdicts: 0,
                stats: Stats::default(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, DeviceStats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stats(&self) -> DeviceStats {
        self.lock().clone()
    }

    /// Turns the engine's completions into verdicts, until there are no more or the run is stopped. Dropped on any way
    /// out, the engine lets everyone go who waits for it.
    pub(super) fn collect(&self, engine: EngineThread, room: &Room, events: &SyncSender<Event>) {
        while !self.stop.load(Ordering::Relaxed) {
            let completion = engine.recv(PATIENCE);
            {
                let mut stats = self.lock();
                stats.stats = engine.stats();
                stats.verdicts += usize::from(matches!(completion, Ok(Some(_))));
            }
            let event = match completion {
                Ok(None) => continue,
                Ok(Some(completion)) => {
                    self.outstanding.fetch_sub(1, Ordering::AcqRel);
                    room.tell();
                    match self.verdict(completion) {
                        Some(verdict) => Event::Verdict(Box::new(verdict)),
                        None => continue,
                    }
                }
                // All is done, and no more will come.
                Err(EngineError::Stopped) if self.outstanding.load(Ordering::Acquire) == 0 => break,
                Err(error) => Event::Engine {
                    device: self.lock().device.clone(),
                    error,
                },
            };
            let failed = matches!(event, Event::Engine { .. });
            if events.send(event).is_err() || failed {
                break;
            }
        }
        drop(engine);
    }

    fn verdict(&self, completion: Completion) -> Option<Verdict> {
        let pending = self.in_flight.take(completion.id)?;
        let (sample, trial) = (pending.sample.as_ref(), pending.trial);
        let verdict = match pending.failure.get() {
            Some(why) => Err(why.clone()),
            None => guarded(|| self.reading.of_completion(sample, trial, completion)),
        };
        Some(verdict.unwrap_or_else(|why| self.reading.broken(sample, trial, why)))
    }
}

/// Tells the feeder that an engine may have room.
#[derive(Default)]
pub(super) struct Room {
    told: Mutex<bool>,
    changed: Condvar,
}

impl Room {
    fn tell(&self) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(told, ADMITTED, |told| !*told)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut told, _) = waited;
        *told = false;
    }
}

/// The way to all engines.
pub(super) struct Dispatch<'a> {
    pub(super) devices: &'a [DeviceRun<'a>],
    /// The way to each of them.
    pub(super) requests: Vec<SyncSender<Request>>,
    pub(super) room: &'a Room,
    pub(super) stop: &'a AtomicBool,
    /// The engine that got the last request, the request's question, and how many of that question went there in a row.
    pub(super) last: Option<(usize, u64, usize)>,
}

impl Dispatch<'_> {
    /// Hands a request to an engine, once one has room; false when the run is over.
    pub(super) fn send(&mut self, mut request: Request, question: u64) -> bool {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some(chosen) = self.choose(question) else {
                self.room.wait();
                continue;
            };
            let outstanding = &self.devices[chosen].outstanding;
            // Counted first: the completion may come before this thread goes on.
            outstanding.fetch_add(1, Ordering::AcqRel);
            match self.requests[chosen].try_send(request) {
                Ok(()) => {
                    let in_row = match self.last {
                        Some((device, of, count)) if (device, of) == (chosen, question) => count,
                        _ => 0,
                    };
                    self.last = Some((chosen, question, in_row + 1));
                    return true;
                }
                Err(TrySendError::Full(back)) => {
                    outstanding.fetch_sub(1, Ordering::AcqRel);
                    request = back;
                    self.room.wait();
                }
                // Who collects its completions says why it has ended.
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
    }

    /// The engine to take a request of this question, if any has room.
    fn choose(&self, question: u64) -> Option<usize> {
        let ahead = requests_ahead(self.devices.len());
        let load = |device: usize| {
            let device = &self.devices[device];
            let running = device.lock().stats.running;
            let outstanding = device.outstanding.load(Ordering::Acquire);
            (outstanding < running + ahead).then_some(outstanding)
        };
        match self.last {
            Some((device, of, count))
                if of == question && count < GROUP && load(device).is_some() =>
            {
                Some(device)
            }
            _ => (0..self.devices.len())
                .filter_map(|device| Some((load(device)?, device)))
                .min()
                .map(|(_, device)| device),
        }
    }
}
