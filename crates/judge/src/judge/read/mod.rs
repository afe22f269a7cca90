//! From a completion to a verdict.

pub(crate) mod completion;
pub(crate) mod reading;
