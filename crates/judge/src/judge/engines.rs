//! Engines at work: each on its thread, their completions handed over as they come, and the engines given back at the end.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::JudgeError;
use super::dispatch::{DeviceEngine, DeviceState, DeviceStats, Dispatch, Notify};
use juror_base::threads::ThreadError;
use juror_engine::engine::{Completion, EngineError, EngineThread, Request};

/// How often a waiting thread checks whether its work is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// What the threads around the running engines share.
pub(super) struct Engines {
    devices: Vec<DeviceState>,
    /// Requests that may wait in each engine for a place in its batch.
    ahead: usize,
    /// Notified when an engine may have room for a request.
    has_room: Notify,
    /// Set when nothing more is wanted of the engines.
    stop: AtomicBool,
    /// The engines that are not needed any more, each with its place.
    returned: Mutex<Vec<(usize, DeviceEngine)>>,
}

/// The threads of the engines, and the queue of each.
pub(super) struct Started {
    pub(super) threads: Vec<EngineThread>,
    pub(super) queues: Vec<SyncSender<Request>>,
}

impl Engines {
    /// Starts the engines' threads; `ahead` requests may wait in each.
    pub(super) fn start(
        engines: Vec<DeviceEngine>,
        ahead: usize,
    ) -> Result<(Self, Started), ThreadError> {
        let mut devices = Vec::new();
        let (mut threads, mut queues) = (Vec::new(), Vec::new());
        for DeviceEngine { device, engine } in engines {
            let mut thread = EngineThread::spawn(engine, ahead)?;
            queues.extend(thread.requests());
            thread.close();
            threads.push(thread);
            devices.push(DeviceState::new(device));
        }
        let engines = Self {
            devices,
            ahead,
            has_room: Notify::default(),
            stop: AtomicBool::new(false),
            returned: Mutex::default(),
        };
        Ok((engines, Started { threads, queues }))
    }

    /// Sends requests through the engines' queues. The engines end when it is dropped and their work is done.
    pub(super) fn dispatch(&self, queues: Vec<SyncSender<Request>>) -> Dispatch<'_> {
        Dispatch::new(
            &self.devices,
            queues,
            self.ahead,
            &self.has_room,
            &self.stop,
        )
    }

    /// Has the engines stop after their current steps; what they were not done with is dropped.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What each device has done.
    pub(super) fn stats(&self) -> Vec<DeviceStats> {
        self.devices.iter().map(DeviceState::stats).collect()
    }

    /// Hands the completions of the engine at this place to `take`, until there are no more, `take` breaks off or the engines are
    /// stopped.
    ///
    /// # Errors
    /// The engine's failure; it is then not given back.
    pub(super) fn collect(
        &self,
        at: usize,
        engine: EngineThread,
        mut take: impl FnMut(Completion) -> ControlFlow<()>,
    ) -> Result<(), JudgeError> {
        let device = &self.devices[at];
        let mut result = Ok(());
        while !self.is_stopped() {
            let received = engine.recv(PATIENCE);
            device.update(engine.stats(), matches!(received, Ok(Some(_))));
            match received {
                Ok(None) => {}
                Ok(Some(completion)) => {
                    self.has_room.notify();
                    if take(completion).is_break() {
                        break;
                    }
                }
                // All is done, and no more will come.
                Err(EngineError::Stopped) if device.outstanding() == 0 => break,
                Err(error) => {
                    result = Err(match self.devices.len() {
                        1 => error.into(),
                        _ => JudgeError::Device {
                            device: device.stats().device,
                            source: Box::new(error),
                        },
                    });
                    break;
                }
            }
        }
        // A thread that is blocked sending it a request then fails to send, and goes on.
        if let Some(engine) = engine.into_engine() {
            let device = device.stats().device;
            let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
            returned.push((at, DeviceEngine { device, engine }));
        }
        result
    }

    /// The engines that were given back, in their order.
    pub(super) fn returned(&self) -> Vec<DeviceEngine> {
        let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        let mut returned = std::mem::take(&mut *returned);
        returned.sort_by_key(|(at, _)| *at);
        returned.into_iter().map(|(_, engine)| engine).collect()
    }
}
