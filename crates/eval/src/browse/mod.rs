//! Verdict files by place: looked through without being taken into memory, while they grow (`juror view`, `juror label`).
//!
//! ```text
//! verdicts.jsonl, or its journal ─Follower─▶ Index ─Filter─▶ order ─Search─▶ Record
//! rows, labels ──────────────────────────────▶┘
//! ```
//!
//! | module | what it is for |
//! |---|---|
//! | `source` | which file holds the verdicts, and its bytes by place |
//! | `follow` | reads what a growing file has more than before |
//! | `index` | what is kept of each verdict: 72 bytes, and 110 of its sample |
//! | `filter` | which verdicts are wanted, and in which order |
//! | `search` | those whose texts hold what is looked for |
//! | `record` | a verdict with its sample, read from their files |
//! | `summary` | counts and figures of all verdicts |

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
