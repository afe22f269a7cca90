//! What several tests and the bench use.

pub mod hostile;
