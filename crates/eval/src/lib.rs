//! What verdicts are worth, and what people see of them.
//!
//! | room | what it is for |
//! |---|---|
//! | [`eval`] | verdicts against labels, and judges against each other (`juror eval`) |
//! | [`report`] | verdicts as pages that people read; untrusted text as HTML |
//! | [`browse`] | verdict files by place, while they grow: filters, search, counts |
//! | `view` | verdicts as pages for the browser (`juror view`, feature `serve`) |
//! | [`label`] | labels by people: the queue, the file, agreement (`juror label`) |
//! | [`build`] | training data made with a judge: hard sets, preference pairs, best of n, accepted responses (`juror build`) |
//! | [`gsm8k`] | GSM8K's evaluation protocol: extraction methods, pass@k, a local model as the solver (`juror gsm8k`) |

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
