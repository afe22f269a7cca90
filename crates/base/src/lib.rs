//! What every crate of juror needs of the process it runs in: [`threads`] where the system allows few, [`panics`] as messages,
//! and untrusted text on its way to a [`terminal`].

pub mod panics;
pub mod terminal;
pub mod threads;
