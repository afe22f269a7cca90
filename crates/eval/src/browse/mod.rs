//! Verdict files by place: looked through without being taken into memory, while they grow (`juror view`, `juror label`).
//!
//! ```text
//! verdicts.jsonl, or its journal ─Follower─▶ Index ─Filter─▶ order ─Search─▶ Record
//! rows, labels ──────────────────────────────▶┘
//! ```

mod filter;
mod follow;
mod index;
mod record;
mod search;
mod source;
mod summary;

pub(crate) use filter::{Filter, Kind, Sort, Truth};
pub use follow::{Browser, Progress};
pub(crate) use index::sureness;
pub(crate) use record::{Record, kept_sample};
pub(crate) use search::{Hits, Search, Within};
pub(crate) use summary::{Figures, Summary};
