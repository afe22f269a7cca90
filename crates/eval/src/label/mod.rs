//! Labels by people (`juror label`): which samples are asked for, the file that the labels go to, and how far two people agree.
//!
//! | module | what it is for |
//! |---|---|
//! | `said` | what a person says of a response, and the key for it |
//! | `file` | the file of labels: a line each, on disk before it counts |
//! | `queue` | which samples are asked for, and in which order |
//! | `session` | one person's way through the queue: label, skip, undo |
//! | `pair` | the labels of two people: agreement, and one set of both |
//! | `page` | the queue in a browser (feature `serve`) |

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
