//! Engines on one queue, one for each device.
//!
//! A request goes to the engine with the fewest outstanding requests, and only when that engine has room, so a slow device
//! delays no other. Requests of one question go to one engine where possible, so that they share its prefix cache. A
//! verdict depends on its sample alone, so the choice of the engine changes no verdict.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use juror_engine::engine::{Engine, Request, Stats};

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

/// How often it is checked whether an engine has admitted a waiting request; a completion is notified at once.
const ADMITTED: Duration = Duration::from_millis(5);

/// Requests of one question go to one engine, up to this many in a row.
const GROUP: usize = 16;

/// Requests that wait for a place in a batch, all engines together, so that no engine is idle.
const REQUESTS_AHEAD: usize = 128;

/// An engine has this many waiting even if there are many engines.
const LEAST_AHEAD: usize = 32;

/// How many requests may wait in each of so many engines.
pub(super) fn requests_ahead(engines: usize) -> usize {
    (REQUESTS_AHEAD / engines.max(1)).max(LEAST_AHEAD)
}

/// The state of one engine that the threads of a run share.
pub(super) struct DeviceState {
    /// Requests sent whose completions have not come.
    outstanding: AtomicUsize,
    stats: Mutex<DeviceStats>,
}

impl DeviceState {
    pub(super) fn new(device: String) -> Self {
        Self {
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

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.load(Ordering::Acquire)
    }

    /// Notes what the engine has done, and whether one more completion has come.
    pub(super) fn update(&self, stats: Stats, received: bool) {
        let mut noted = self.lock();
        noted.stats = stats;
        noted.verdicts += usize::from(received);
        self.outstanding
            .fetch_sub(usize::from(received), Ordering::AcqRel);
    }
}

/// Wakes a thread that waits for a change.
#[derive(Default)]
pub(super) struct Notify {
    notified: Mutex<bool>,
    changed: Condvar,
}

impl Notify {
    pub(super) fn notify(&self) {
        *self.notified.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    fn wait(&self, patience: Duration) {
        let notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(notified, patience, |notified| !*notified)
            .unwrap_or_else(PoisonError::into_inner);
        let (mut notified, _) = waited;
        *notified = false;
    }
}

/// Sends each request to one of the engines.
pub(super) struct Dispatch<'a> {
    devices: &'a [DeviceState],
    /// The queue of each of them.
    queues: Vec<SyncSender<Request>>,
    /// Requests that may wait in each of them for a place in its batch.
    ahead: usize,
    has_room: &'a Notify,
    stop: &'a AtomicBool,
    /// The engine that got the last request, the request's question, and how many of that question went there in a row.
    last: Option<(usize, u64, usize)>,
}

impl<'a> Dispatch<'a> {
    /// Sends through `queues`, one for each of the devices; waits for room, but not once `stop` is set.
    pub(super) fn new(
        devices: &'a [DeviceState],
        queues: Vec<SyncSender<Request>>,
        ahead: usize,
        has_room: &'a Notify,
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            devices,
            queues,
            ahead,
            has_room,
            stop,
            last: None,
        }
    }

    /// Hands a request to an engine, once one has room; false when the run is over.
    pub(super) fn send(&mut self, mut request: Request, question: u64) -> bool {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let Some(chosen) = self.choose(question) else {
                self.has_room.wait(ADMITTED);
                continue;
            };
            let outstanding = &self.devices[chosen].outstanding;
            // Counted first: the completion may come before this thread goes on.
            outstanding.fetch_add(1, Ordering::AcqRel);
            match self.queues[chosen].try_send(request) {
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
                    self.has_room.wait(ADMITTED);
                }
                // The thread that collects its completions reports why it ended.
                Err(TrySendError::Disconnected(_)) => return false,
            }
        }
    }

    /// The engine to take a request of this question, if any has room.
    fn choose(&self, question: u64) -> Option<usize> {
        let ahead = self.ahead;
        let load = |device: usize| {
            let device = &self.devices[device];
            let running = device.lock().stats.running;
            let outstanding = device.outstanding();
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
