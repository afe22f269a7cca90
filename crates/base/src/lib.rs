//! What every crate of juror needs of its process: [`threads`] where the system limits them, [`panics`] as messages, and
//! untrusted text for a [`terminal`].

pub mod panics;
pub mod terminal;
pub mod threads;
