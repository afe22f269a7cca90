//! The memory of devices that several judges share: their engines are built one after the other, and each leaves those that are not
//! built yet their weights and an equal part of the rest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::DeviceLocation;

use super::EngineOptions;
use super::build::weights_on;
use super::service::ServiceSetup;

/// The judges of a process.
#[derive(Default)]
pub(super) struct SharedMemory {
    setups: Vec<Arc<ServiceSetup>>,
    /// Whose engines are built.
    built: Mutex<Vec<bool>>,
    turn: Mutex<()>,
}

impl SharedMemory {
    pub(super) fn of(setups: Vec<Arc<ServiceSetup>>) -> Self {
        Self {
            built: Mutex::new(vec![false; setups.len()]),
            turn: Mutex::default(),
            setups,
        }
    }

    /// What a judge is made of.
    pub(super) fn setup(&self, at: usize) -> &Arc<ServiceSetup> {
        &self.setups[at]
    }

    /// Builds the engines of a judge, when no other's are being built.
    pub(super) fn build<T, E>(
        &self,
        at: usize,
        build: impl FnOnce(&ServiceSetup, &EngineOptions) -> Result<T, E>,
    ) -> Result<T, E> {
        let _turn = lock(&self.turn);
        lock(&self.built)[at] = false;
        let setup = &*self.setups[at];
        let engines = build(setup, &self.options(setup))?;
        lock(&self.built)[at] = true;
        Ok(engines)
    }

    /// The engines of all are given up.
    pub(super) fn forget(&self) {
        lock(&self.built).fill(false);
    }

    /// A judge's options, with what it leaves to those on its devices that are not built.
    fn options(&self, setup: &ServiceSetup) -> EngineOptions {
        let mut options = setup.engine;
        let built = lock(&self.built).clone();
        let unbuilt = self.setups.iter().zip(built).filter(|(_, built)| !built);
        let others = unbuilt.filter(|(other, _)| !std::ptr::eq(&***other, setup));
        let others: Vec<_> = others.map(|(other, _)| weights(other)).collect();
        if others.iter().any(|other| !other.is_empty()) {
            let own = weights(setup);
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
    let on = |device: &juror_engine::model::DeviceChoice| {
        let (source, config) = setup.model.files().zip(setup.text.config.as_ref())?;
        let device = device.open().ok()?;
        let bytes = weights_on(source, config, &device, &setup.engine).ok()?;
        Some((device.location(), bytes))
    };
    setup.devices.iter().filter_map(on).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A build that panics says nothing that is half true.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
