//! Cutting a step's attention for one window into items and merges.

use super::lists::{Item, Lists, Range32};
use super::{
    DECODE_ROUNDS, DECODE_ROWS, KEY_STEP, MIN_DECODE_SPLIT, MIN_PREFILL_SPLIT, NO_SLOT,
    PlanSettings, RESIDENT, SPLIT_STEP, prefix,
};
use crate::model::{BatchRow, StepBatch};

/// How long the splits of each kernel's items are.
#[derive(Debug, Clone, Copy)]
struct SplitKeys {
    decode: usize,
    prefill: usize,
}

/// How a row is planned: where its own keys begin, and how they are split.
#[derive(Debug, Clone, Copy, Default)]
struct RowCut {
    /// The first of its own keys; earlier ones are attended to with other rows, or not at all.
    own_begin: usize,
    /// How many slots of each of the row's tokens go to shared prefixes, before its own splits.
    shared_parts: usize,
    /// Keys of a split and the number of splits of the row's own keys.
    split: usize,
    splits: usize,
    /// First slot of the row's first token.
    slot: usize,
}

impl RowCut {
    fn slots_per_token(&self) -> usize {
        match self.shared_parts + self.splits {
            1 => 0,
            parts => parts,
        }
    }
}

pub(super) fn is_decode(row: &BatchRow, group: usize) -> bool {
    row.query_len == 1 || row.query_len * group <= DECODE_ROWS
}

/// The number of splits and the keys of each for a range of `keys`, at most about `split` keys each, evenly.
fn even_splits(keys: usize, split: usize, fixed: bool) -> (usize, usize) {
    let splits = keys.div_ceil(split).max(1);
    let even = if fixed {
        split
    } else {
        keys.div_ceil(splits).next_multiple_of(SPLIT_STEP)
    };
    (keys.div_ceil(even).max(1), even)
}

/// Plans a step for layers with one window. `tables` are the words at which the rows' block tables begin, `groups` the rows
/// that attend to a prefix together; the window cuts none of these.
pub(super) fn plan(
    batch: &StepBatch,
    settings: &PlanSettings,
    window: Option<usize>,
    tables: &[usize],
    groups: &[prefix::Group],
) -> Lists {
    let mut cuts: Vec<RowCut> = batch
        .rows
        .iter()
        .map(|row| RowCut {
            own_begin: range_begin(window, row.context_len - row.query_len + 1),
            ..RowCut::default()
        })
        .collect();
    for group in groups {
        for &row in &group.rows {
            cuts[row].own_begin = group.keys.end;
        }
    }
    let mut planner = Planner {
        batch,
        settings,
        groups,
        split: SplitKeys {
            decode: 0,
            prefill: 0,
        },
        cuts,
        tables,
        lists: Lists {
            window,
            ..Lists::default()
        },
    };
    planner.split = planner.choose_splits();
    planner.cut();
    planner.lists
}

/// The first key that a query sees if `end` is one past its last key.
fn first_seen(window: Option<usize>, end: usize) -> usize {
    window.map_or(0, |keys| end.saturating_sub(keys))
}

/// The beginning of a range of keys for queries of which the first sees no key from `end` on: [`first_seen`], rounded down.
fn range_begin(window: Option<usize>, end: usize) -> usize {
    first_seen(window, end) / KEY_STEP * KEY_STEP
}

struct Planner<'a> {
    batch: &'a StepBatch,
    settings: &'a PlanSettings,
    groups: &'a [prefix::Group],
    split: SplitKeys,
    cuts: Vec<RowCut>,
    tables: &'a [usize],
    lists: Lists,
}

impl Planner<'_> {
    /// About how many of a row's own keys the queries of a tile see: from the first one's window to the last one's end.
    fn tile_keys(&self, row: &BatchRow, cut: &RowCut, tile: usize) -> usize {
        let tokens = row.query_len.min(tile.div_ceil(self.settings.group()));
        let window = self.lists.window;
        let reach = window.map_or(usize::MAX, |keys| keys + tokens - 1);
        (row.context_len - cut.own_begin).min(reach)
    }

    /// Chooses splits so long that the items fill the device a few times (decode), or once (prefill, where parts cost more).
    fn choose_splits(&self) -> SplitKeys {
        if let Some(keys) = self.settings.split_keys {
            return SplitKeys {
                decode: keys,
                prefill: keys,
            };
        }
        let group = self.settings.group();
        // The number of tiles of each kernel, and of the keys they read.
        let (mut decode, mut prefill) = ((0, 0), (0, 0));
        for (row, cut) in self.batch.rows.iter().zip(&self.cuts) {
            let (work, tile) = if is_decode(row, group) {
                (&mut decode, DECODE_ROWS)
            } else {
                (&mut prefill, self.settings.prefill_rows)
            };
            let tiles = (row.query_len * group).div_ceil(tile);
            work.0 += tiles;
            work.1 += tiles * self.tile_keys(row, cut, tile);
        }
        for shared in self.groups {
            let rows = shared.queries * group;
            let (work, tile) = if rows <= DECODE_ROWS {
                (&mut decode, DECODE_ROWS)
            } else {
                (&mut prefill, self.settings.prefill_rows)
            };
            work.0 += rows.div_ceil(tile);
            work.1 += rows.div_ceil(tile) * shared.keys.len();
        }
        let resident = self.settings.multiprocessors.max(1) * RESIDENT;
        let kv_heads = self.settings.kv_heads;
        SplitKeys {
            decode: (decode.1 * kv_heads)
                .div_ceil(resident * DECODE_ROUNDS)
                .max(MIN_DECODE_SPLIT),
            prefill: if prefill.0 * kv_heads >= resident {
                usize::MAX
            } else {
                (prefill.1 * kv_heads)
                    .div_ceil(resident)
                    .max(MIN_PREFILL_SPLIT)
            },
        }
    }

    fn cut(&mut self) {
        let fixed = self.settings.split_keys.is_some();
        let group = self.settings.group();
        // First the splits of each group's and each row's keys, then the slots of every token, then the items.
        let shared: Vec<(usize, usize)> = self
            .groups
            .iter()
            .map(|shared| {
                let split = if shared.queries * group <= DECODE_ROWS {
                    self.split.decode
                } else {
                    self.split.prefill
                };
                even_splits(shared.keys.len(), split, fixed)
            })
            .collect();
        // For each group: where its partial results begin among the partial results of a member row.
        let mut places = Vec::with_capacity(self.groups.len());
        for (group, &(splits, _)) in self.groups.iter().zip(&shared) {
            // Members of a group are in the same outer groups, so they have the same index.
            let place = group
                .rows
                .first()
                .map_or(0, |&row| self.cuts[row].shared_parts);
            for &row in &group.rows {
                self.cuts[row].shared_parts = place + splits;
            }
            places.push(place);
        }
        for (index, row) in self.batch.rows.iter().enumerate() {
            let mut cut = self.cuts[index];
            let (split, tile) = if is_decode(row, group) {
                (self.split.decode, DECODE_ROWS)
            } else {
                (self.split.prefill, self.settings.prefill_rows)
            };
            // The tiles of a long row under a short window split its keys already.
            let keys = row.context_len - cut.own_begin;
            (cut.splits, cut.split) = if self.tile_keys(row, &cut, tile) <= split {
                (1, keys)
            } else {
                even_splits(keys, split, fixed)
            };
            cut.slot = self.lists.slots;
            self.lists.slots += row.query_len * cut.slots_per_token();
            self.cuts[index] = cut;
        }
        for (index, &(splits, split)) in shared.iter().enumerate() {
            self.add_group(index, places[index], splits, split);
        }
        for row in 0..self.batch.rows.len() {
            self.add_row(row);
        }
    }

    fn add_group(&mut self, index: usize, place: usize, splits: usize, split: usize) {
        let shared = &self.groups[index];
        let first_pair = self.lists.pairs.len();
        for &row in &shared.rows {
            let cut = self.cuts[row];
            let BatchRow {
                query_start,
                query_len,
                ..
            } = self.batch.rows[row];
            for i in 0..query_len {
                self.lists.pairs.push([
                    (query_start + i) as u32,
                    (cut.slot + i * cut.slots_per_token()) as u32,
                ]);
            }
        }
        let rows = shared.queries * self.settings.group();
        let (items, tile) = if rows <= DECODE_ROWS {
            (&mut self.lists.decode, DECODE_ROWS)
        } else {
            (&mut self.lists.prefill, self.settings.prefill_rows)
        };
        let table = shared.rows.first().map_or(0, |&row| self.tables[row]);
        for part in 0..splits {
            let begin = shared.keys.start + part * split;
            let keys = Range32::new(&(begin..begin.saturating_add(split).min(shared.keys.end)));
            for row_begin in (0..rows).step_by(tile) {
                items.push(Item {
                    query: first_pair,
                    rows: Range32::new(&(row_begin..(row_begin + tile).min(rows))),
                    seen: shared.keys.end,
                    keys,
                    table,
                    slot: (place + part) as u32,
                    slot_stride: 0,
                    gathered: true,
                });
            }
        }
    }

    fn add_row(&mut self, index: usize) {
        let row = &self.batch.rows[index];
        let cut = self.cuts[index];
        let group = self.settings.group();
        let window = self.lists.window;
        let slots_per_token = cut.slots_per_token();
        let seen = row.context_len - row.query_len + 1;
        let rows = row.query_len * group;
        let (items, tile) = if is_decode(row, group) {
            (&mut self.lists.decode, DECODE_ROWS)
        } else {
            (&mut self.lists.prefill, self.settings.prefill_rows)
        };
        for row_begin in (0..rows).step_by(tile) {
            let row_end = (row_begin + tile).min(rows);
            let tile_begin = range_begin(window, seen + row_begin / group);
            let tile_end = seen + (row_end - 1) / group;
            for part in 0..cut.splits {
                let part_begin = cut.own_begin + part * cut.split;
                let keys = part_begin.max(tile_begin)..(part_begin + cut.split).min(tile_end);
                if keys.is_empty() {
                    continue;
                }
                items.push(Item {
                    query: row.query_start,
                    rows: Range32::new(&(row_begin..row_end)),
                    seen,
                    keys: Range32::new(&keys),
                    table: self.tables[index],
                    slot: if slots_per_token == 0 {
                        NO_SLOT
                    } else {
                        (cut.slot + cut.shared_parts + part) as u32
                    },
                    slot_stride: slots_per_token,
                    gathered: false,
                });
            }
        }
        if slots_per_token > 0 {
            for i in 0..row.query_len {
                // A split that ends before a token's window, or begins after its last key, has no part of it. With shared
                // parts the window cuts nothing, so `begin` is 0 and all parts follow each other.
                let begin = first_seen(window, seen + i).saturating_sub(cut.own_begin) / cut.split;
                let end = (seen + i - cut.own_begin)
                    .div_ceil(cut.split)
                    .min(cut.splits);
                self.lists.merges.push([
                    (row.query_start + i) as u32,
                    (cut.slot + i * slots_per_token + begin) as u32,
                    (cut.shared_parts + end - begin) as u32,
                    0,
                ]);
            }
        }
    }
}
