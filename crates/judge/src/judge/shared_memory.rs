//! The memory of devices that several judges share: their engines are built one after the other, and each leaves those that are not
//! built yet their weights and an equal part of the rest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

use candle_core::{Device, DeviceLocation};

use super::EngineOptions;
use super::build::{open_devices, weights_on};
use super::service::ServiceSetup;
use juror_base::threads::lock;

/// The judges of a process.
#[derive(Default)]
pub(super) struct SharedMemory {
    setups: Vec<Arc<ServiceSetup>>,
    /// Held by the engines of each judge, as long as they are on their devices.
    held: Mutex<Vec<Weak<()>>>,
    turn: Mutex<()>,
    is_over: AtomicBool,
}

impl SharedMemory {
    pub(super) fn new(setups: Vec<Arc<ServiceSetup>>) -> Self {
        Self {
            held: Mutex::new(setups.iter().map(|_| Weak::new()).collect()),
            setups,
            ..Self::default()
        }
    }

    /// What a judge is made of.
    pub(super) fn setup(&self, at: usize) -> &Arc<ServiceSetup> {
        &self.setups[at]
    }

    /// Builds the engines of a judge when no other's are being built; `build` has them hold what it is given.
    /// Errors: what `build` says, or that nothing is built any more.
    pub(super) fn build<T>(
        &self,
        at: usize,
        build: impl FnOnce(&ServiceSetup, &EngineOptions, &Arc<()>) -> Result<T, String>,
    ) -> Result<T, String> {
        let setup = &*self.setups[at];
        let held = Arc::new(());
        if setup.text.endpoint.is_some() {
            // It takes no memory here.
            return build(setup, &setup.engine, &held);
        }
        let _turn = lock(&self.turn);
        if self.is_over.load(Ordering::Relaxed) {
            return Err("it is to end".into());
        }
        let engines = build(setup, &self.options(at), &held)?;
        lock(&self.held)[at] = Arc::downgrade(&held);
        Ok(engines)
    }

    /// Nothing more is built: who waits for the turn is told so.
    pub(super) fn close(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// A judge's options, with what it leaves to those on its devices that are not built.
    fn options(&self, at: usize) -> EngineOptions {
        let mut options = self.setups[at].engine;
        let held = lock(&self.held).clone();
        let unbuilt = |other: &usize| *other != at && held[*other].strong_count() == 0;
        let others = (0..held.len()).filter(unbuilt);
        let others: Vec<_> = others.map(|other| weights(&self.setups[other])).collect();
        if others.iter().any(|other| !other.is_empty()) {
            let own = weights(&self.setups[at]);
            let is_own = |device: &DeviceLocation| own.iter().any(|(own, _)| own == device);
            for other in others {
                let here = other.into_iter().filter(|(device, _)| is_own(device));
                if let Some(bytes) = here.map(|(_, bytes)| bytes).max() {
                    options.left_to_others += bytes;
                    options.others += 1;
                }
            }
        }
        options
    }
}

/// What the weights of a judge will take on each of its devices. What is wrong with one is said where it is built.
fn weights(setup: &ServiceSetup) -> Vec<(DeviceLocation, usize)> {
    let on = |device: Device| {
        let (source, config) = setup.model.files().zip(setup.text.config.as_ref())?;
        let bytes = weights_on(source, config, &device, &setup.engine).ok()?;
        Some((device.location(), bytes))
    };
    let opened = open_devices(&setup.devices, &setup.engine).unwrap_or_default();
    let devices = opened.into_iter().flat_map(|devices| devices.all);
    devices.filter_map(on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::JudgeText;
    use crate::protocol::{self, PromptTemplate};
    use juror_engine::model::DeviceChoice;

    fn tiny() -> Arc<ServiceSetup> {
        let source = crate::catalog::resolve("tiny").unwrap();
        let protocol = protocol::resolve("prime").unwrap();
        let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
        let text = JudgeText::load(&source, &protocol, &template).unwrap();
        Arc::new(ServiceSetup {
            model: source.into(),
            options: text.run_options(1),
            text: Arc::new(text),
            devices: vec![DeviceChoice::Cpu],
            engine: EngineOptions::default(),
        })
    }

    #[test]
    fn each_leaves_room_for_those_that_are_not_built() {
        let memory = SharedMemory::new(vec![tiny(), tiny(), tiny()]);
        let left = |at: usize| {
            let options = memory.options(at);
            (options.others, options.left_to_others)
        };
        let (_, one) = weights(&memory.setups[0])[0];
        assert!(one > 1 << 20);
        assert_eq!(left(0), (2, 2 * one));
        let build = |at: usize| {
            memory.build(at, |_, options, held| {
                Ok((options.others, Arc::clone(held)))
            })
        };
        let (others, first) = build(0).unwrap();
        assert_eq!(others, 2);
        let (others, second) = build(1).unwrap();
        assert_eq!(others, 1);
        assert_eq!(left(2), (0, 0));
        // Its engine has left the device, however that came.
        drop(first);
        assert_eq!(left(2), (1, one));
        drop(second);
        assert_eq!(left(2), (2, 2 * one));
        // One that cannot be built holds nothing.
        let failed = memory.build(1, |_, _, _| Err::<(), _>("no".to_owned()));
        assert_eq!(failed, Err("no".to_owned()));
        assert_eq!(left(2), (2, 2 * one));
        memory.close();
        assert!(build(0).is_err());
    }
}
