//! What verdicts are worth, and what people see of them.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "what this crate offers to the others may change in any version"
)]

#[macro_use(named)]
extern crate juror_data;

#[cfg_attr(
    not(feature = "serve"),
    allow(
        dead_code,
        unused_imports,
        reason = "the queue of labels needs its index; filters, search and counts are for pages"
    )
)]
pub mod browse;
pub mod build;
pub mod eval;
pub mod gsm8k;
pub mod label;
pub mod report;
#[cfg(feature = "serve")]
pub mod view;

use std::fmt::Display;
use std::io;
use std::path::Path;

use juror_data::DatasetError;
use juror_data::output::OutputError;

pub(crate) type Result<T, E = EvalError> = std::result::Result<T, E>;

/// Why verdicts cannot be scored, shown, labelled or made into data.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error(transparent)]
    Input(#[from] DatasetError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{0}")]
    Unusable(String),
    #[error("{0}")]
    Failed(String),
}

impl EvalError {
    /// Whether the user's input is at fault.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Input(error) => error.is_usage(),
            Self::Unusable(_) => true,
            Self::Output(_) | Self::Failed(_) => false,
        }
    }

    fn row(file: impl Display, line: impl Display, why: impl Display) -> Self {
        Self::Unusable(format!("{file}:{line}: {why}"))
    }

    fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| Self::Unusable(format!("could not read {}: {error}", path.display()))
    }
}
