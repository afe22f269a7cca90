//! Finding rows whose block tables begin with the same blocks.

use std::ops::Range;

use super::planner::is_decode;
use super::{PlanSettings, StepBatch};

/// Keys that several rows attend to together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) rows: Vec<usize>,
    /// Query tokens of all members.
    pub(super) queries: usize,
    /// The positions of the shared keys, in whole blocks. All members have the same blocks there, and all their queries see
    /// all of them.
    pub(super) keys: Range<usize>,
}

/// Groups worth attending together, outer ones before nested ones (a template, then a question under it).
///
/// Only rows of the decode kernel are members. A prefill row reads its keys once for 128 query rows already, and its parts
/// would cost more than the reading saves.
///
/// Nor is a row that a window cuts: with each token its window moves past another key, so what all its queries see of a
/// prefix differs from other rows, and little is left to share. Rows that lie in the window as a whole, as most do in one of
/// thousands of keys, are grouped as without a window.
pub(super) fn groups(
    batch: &StepBatch,
    settings: &PlanSettings,
    window: Option<usize>,
) -> Vec<Group> {
    let mut members: Vec<Member> = batch
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| is_decode(row, settings.group()))
        .filter(|(_, row)| window.is_none_or(|keys| row.context_len <= keys))
        .map(|(index, row)| Member {
            row: index,
            queries: row.query_len,
            // Blocks that were full before this step, so that every query sees all of their keys.
            blocks: &row.blocks[..(row.context_len - row.query_len) / settings.block_size],
        })
        .collect();
    // Neighbours in this order share the most. Rows with equal tables keep their order.
    members.sort_by(|a, b| a.blocks.cmp(b.blocks));
    let mut found = Vec::new();
    search(&members, 0, 0, settings, &mut found);
    found
}

struct Member<'a> {
    row: usize,
    queries: usize,
    blocks: &'a [u32],
}

/// Searches for groups among `members`, which have their first `equal` blocks in common, and of these attend to the first
/// `done` in groups found already.
fn search(
    members: &[Member],
    done: usize,
    equal: usize,
    settings: &PlanSettings,
    found: &mut Vec<Group>,
) {
    let [first, .., last] = members else {
        return;
    };
    // In sorted order the first and the last differ earliest.
    let equal = equal
        + first.blocks[equal..]
            .iter()
            .zip(&last.blocks[equal..])
            .take_while(|(a, b)| a == b)
            .count();
    let mut done = done;
    let keys = done * settings.block_size..equal * settings.block_size;
    let queries: usize = members.iter().map(|member| member.queries).sum();
    if pays(members.len(), queries, keys.len(), settings) {
        found.push(Group {
            rows: members.iter().map(|member| member.row).collect(),
            queries,
            keys,
        });
        done = equal;
    }
    for deeper in members.chunk_by(|a, b| a.blocks.get(equal) == b.blocks.get(equal)) {
        // Rows whose tables end here have nothing more to share.
        if deeper.len() > 1 && deeper[0].blocks.len() > equal {
            search(deeper, done, equal, settings, found);
        }
    }
}

/// Whether sharing saves more memory traffic than its parts cost.
///
/// The unit is one key and value of one head (`4 × head_dim` bytes). Each member but one saves `keys`; each query adds a
/// part of `group × head_dim` floats, written and read, and often makes a part of its own keys as well: together `4 ×
/// group`. The further factor 2 is for keys that the members would have found in the device's cache anyway.
fn pays(members: usize, queries: usize, keys: usize, settings: &PlanSettings) -> bool {
    (members - 1) * keys >= 2 * 4 * settings.group() * queries && keys >= 4 * 16
}
