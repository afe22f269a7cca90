//! Data made with a judge (`juror build`): rows and the verdicts on them become data to train or evaluate with.
//!
//! ```text
//! rows ────────▶ Rows ─┐
//!                      ├─▶ Judged ─▶ hard · pairs · best · sft ─▶ places of samples ─▶ output
//! verdicts.jsonl ──────┘
//! ```
//!
//! Texts stay in their files, are read again when they are written, and then only some hundred at a time.

pub mod best;
pub mod hard;
mod judged;
mod output;
pub mod pairs;
pub mod sft;

use serde::Serialize;

pub use judged::{Coverage, Groups, Judged, Tally};
pub use output::{Form, Output};

/// Rows read and written at a time.
const AT_ONCE: usize = 256;

/// What was written, for tables and JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    pub rows: usize,
    /// Rows that were left out because they would hold the same text twice.
    pub same_text: usize,
}

/// A pseudo-random number for a sample, the same in every run with the seed.
fn drawn(seed: u64, id: u64) -> u64 {
    // SplitMix64.
    let mut mixed =
        (id ^ seed.wrapping_mul(0xd134_2543_de82_ef95)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
