//! Labels by people (`juror label`): which samples are asked for, the file that the labels go to, and how far two people agree.

mod file;
#[cfg(feature = "serve")]
pub mod page;
mod pair;
mod queue;
mod said;
mod session;

pub use file::{LabelFile, LabelLine, read_labels};
#[cfg(feature = "serve")]
pub(crate) use page::TEMPLATES;
pub use pair::{Difference, LabelPair};
pub use queue::{Queue, QueueChoice, Reasons};
pub use said::Said;
pub use session::{Session, Shown};
