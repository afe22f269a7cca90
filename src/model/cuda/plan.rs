//! Which thread block attends with which queries to which keys: the plan of one step, made on the host.
//!
//! A step's attention is cut into **items**: a tile of query rows (query tokens × the query heads of one key head)
//! against a range of keys. Each key head runs every item. A token whose keys are covered by one item gets its output
//! from it; otherwise each item leaves a **part** (output and log-sum-exp) in a scratch slot, and a **merge** puts the
//! parts together. `kernels/attention.md` describes the words and the kernels that read them.
//!
//! Three reasons to cut by keys:
//! - few rows would leave most of the device idle (split-KV, <https://pytorch.org/blog/flash-decoding/>);
//! - rows that share leading blocks can attend to them together, reading them once (Hydragen,
//!   <https://arxiv.org/abs/2402.05099>);
//! - both at once.
//!
//! The plan is a function of the step and the settings alone.

mod prefix;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::model::{BatchRow, ModelError, StepBatch};

/// Query rows of a decode item: one m16n8k16 product.
pub const DECODE_ROWS: usize = 16;
/// Query rows of a prefill item: four warps of two m16n8k16 products each.
pub const PREFILL_ROWS: usize = 128;
/// Threads of every kernel's block.
pub const THREADS: usize = 128;
/// Words of an item.
pub const ITEM_WORDS: usize = 12;
/// Words of a merge.
pub const MERGE_WORDS: usize = 4;
/// The slot of an item which is all that its queries attend to, and writes the output itself.
pub const NO_SLOT: u32 = u32::MAX;

/// Thread blocks of either kernel that share a multiprocessor.
const RESIDENT: usize = 2;
/// Rounds of resident blocks that decode is cut into, so that a last incomplete round costs little.
const DECODE_ROUNDS: usize = 4;
/// Keys of a split at least: below, parts cost more than they bring.
const MIN_DECODE_SPLIT: usize = 128;
const MIN_PREFILL_SPLIT: usize = 512;
/// Splits begin at multiples of this from the first: all four warps of a decode item get the same number of tiles.
const SPLIT_STEP: usize = 64;

/// Dynamic shared memory of a block of the decode kernel, in bytes: per warp three stages of 16 keys and values.
///
/// `kv_bytes` is the size of a cached number: 2, or 1 for e4m3. The same memory carries the warps' results at the end.
pub fn decode_shared_bytes(head_dim: usize, kv_bytes: usize) -> usize {
    let warps = THREADS / 32;
    let stages = warps * 3 * 2 * 16 * head_dim * kv_bytes;
    let results = warps * DECODE_ROWS * (head_dim + 8 + 2) * size_of::<f32>();
    stages.max(results)
}

/// Dynamic shared memory of a block of the prefill kernel, in bytes: its queries, two stages of 64 keys and values, and how
/// many keys each query row sees.
pub fn prefill_shared_bytes(head_dim: usize, kv_bytes: usize) -> usize {
    PREFILL_ROWS * head_dim * 2 + 2 * 2 * 64 * head_dim * kv_bytes + PREFILL_ROWS * size_of::<u32>()
}

/// What a plan depends on besides the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanSettings {
    /// Query heads.
    pub heads: usize,
    /// Key heads; `heads` is a multiple of it.
    pub kv_heads: usize,
    /// Tokens per block: a power of two, at least 16.
    pub block_size: usize,
    /// Multiprocessors of the device: how many splits it takes to fill it.
    pub multiprocessors: usize,
    /// Whether rows that share leading blocks attend to them together.
    pub shared_prefix: bool,
    /// Keys of a split, a multiple of 64, instead of what suits the device. With this, and without shared prefixes, a
    /// decode row is cut the same way whatever else is in the step.
    pub split_keys: Option<usize>,
    /// Partial results that the scratch holds. A step that would need more is planned with fewer cuts.
    pub max_slots: usize,
}

impl PlanSettings {
    /// Query heads per key head.
    fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    fn check(&self) -> Result<(), ModelError> {
        let heads = self.heads > 0 && self.kv_heads > 0 && self.heads.is_multiple_of(self.kv_heads);
        let blocks = self.block_size >= 16 && self.block_size.is_power_of_two();
        let splits = self
            .split_keys
            .is_none_or(|keys| keys > 0 && keys.is_multiple_of(SPLIT_STEP));
        if heads && blocks && splits {
            return Ok(());
        }
        Err(ModelError::Unsupported(format!(
            "CUDA attention with {self:?}: block sizes are powers of two from 16, splits multiples of {SPLIT_STEP}"
        )))
    }
}

/// A list in the words of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Section {
    /// Its first word.
    pub offset: usize,
    /// Its entries.
    pub count: usize,
}

/// One step's work, ready for upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttentionPlan {
    /// Everything the kernels read: items, merges, pairs, block tables.
    pub words: Vec<u32>,
    /// Items of the prefill kernel, longest first.
    pub prefill: Section,
    /// Items of the decode kernel, longest first.
    pub decode: Section,
    /// Tokens whose parts are merged.
    pub merges: Section,
    /// Scratch slots that the parts take.
    pub slots: usize,
}

/// An item before the sections' places are known: `table` counts from the first table, `query` of a gathered item from
/// the first pair. Fields as in `kernels/attention.md`.
#[derive(Debug, Clone, Copy)]
struct Item {
    query: usize,
    rows: Range32,
    seen: usize,
    keys: Range32,
    table: usize,
    slot: u32,
    slot_stride: usize,
    gathered: bool,
}

/// A half-open range that is `Copy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range32 {
    begin: u32,
    end: u32,
}

impl Range32 {
    fn new(range: &Range<usize>) -> Self {
        Self {
            begin: range.start as u32,
            end: range.end as u32,
        }
    }

    fn len(self) -> u32 {
        self.end - self.begin
    }
}

/// How long the splits of each kernel's items are.
#[derive(Debug, Clone, Copy)]
struct SplitKeys {
    decode: usize,
    prefill: usize,
}

/// A row's place in the plan: where its own keys begin, and how they are cut.
#[derive(Debug, Clone, Copy, Default)]
struct RowCut {
    /// Keys before are attended to with others.
    own_begin: usize,
    /// Slots that shared prefixes take of each of the row's tokens, before its own splits.
    shared_parts: usize,
    /// Keys of a split and number of splits of the own keys.
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

impl AttentionPlan {
    /// Plans a step that was [validated](StepBatch::validate).
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] when the kernels cannot run with these settings.
    pub fn new(batch: &StepBatch, settings: &PlanSettings) -> Result<Self, ModelError> {
        settings.check()?;
        let groups = if settings.shared_prefix {
            prefix::groups(batch, settings)
        } else {
            Vec::new()
        };
        let plan = Planner::new(batch, settings, &groups).plan();
        if plan.slots <= settings.max_slots {
            return Ok(plan);
        }
        // The scratch is too small for this step: give up splits, then shared prefixes as well, which takes no slot.
        let whole = PlanSettings {
            split_keys: Some(usize::MAX - (SPLIT_STEP - 1)),
            ..*settings
        };
        let plan = Planner::new(batch, &whole, &groups).plan();
        if plan.slots <= settings.max_slots {
            return Ok(plan);
        }
        Ok(Planner::new(batch, &whole, &[]).plan())
    }
}

/// Whether a row goes to the decode kernel.
fn is_decode(row: &BatchRow, group: usize) -> bool {
    row.query_len == 1 || row.query_len * group <= DECODE_ROWS
}

/// Number of splits and keys of each for a range of `keys`, at most about `split` keys each, evenly.
fn even_splits(keys: usize, split: usize, fixed: bool) -> (usize, usize) {
    let splits = keys.div_ceil(split).max(1);
    let even = if fixed {
        split
    } else {
        keys.div_ceil(splits).next_multiple_of(SPLIT_STEP)
    };
    (keys.div_ceil(even).max(1), even)
}

struct Planner<'a> {
    batch: &'a StepBatch,
    settings: &'a PlanSettings,
    groups: &'a [prefix::Group],
    split: SplitKeys,
    cuts: Vec<RowCut>,
    /// First word of each row's table, from the first table.
    tables: Vec<usize>,
    table_words: usize,
    prefill: Vec<Item>,
    decode: Vec<Item>,
    merges: Vec<[u32; MERGE_WORDS]>,
    pairs: Vec<[u32; 2]>,
    slots: usize,
}

impl<'a> Planner<'a> {
    fn new(batch: &'a StepBatch, settings: &'a PlanSettings, groups: &'a [prefix::Group]) -> Self {
        let mut table_words = 0;
        let tables = batch
            .rows
            .iter()
            .map(|row| {
                let table = table_words;
                table_words += row.context_len.div_ceil(settings.block_size);
                table
            })
            .collect();
        let mut cuts = vec![RowCut::default(); batch.rows.len()];
        for group in groups {
            for &row in &group.rows {
                cuts[row].own_begin = group.keys.end;
            }
        }
        let mut planner = Self {
            batch,
            settings,
            groups,
            split: SplitKeys {
                decode: 0,
                prefill: 0,
            },
            cuts,
            tables,
            table_words,
            prefill: Vec::new(),
            decode: Vec::new(),
            merges: Vec::new(),
            pairs: Vec::new(),
            slots: 0,
        };
        planner.split = planner.choose_splits();
        planner
    }

    /// Splits so long that the items fill the device a few times (decode), or once (prefill, where parts cost more).
    fn choose_splits(&self) -> SplitKeys {
        if let Some(keys) = self.settings.split_keys {
            return SplitKeys {
                decode: keys,
                prefill: keys,
            };
        }
        let group = self.settings.group();
        // Tiles of each kernel, and the keys they read.
        let (mut decode, mut prefill) = ((0, 0), (0, 0));
        for (row, cut) in self.batch.rows.iter().zip(&self.cuts) {
            let (work, tile) = if is_decode(row, group) {
                (&mut decode, DECODE_ROWS)
            } else {
                (&mut prefill, PREFILL_ROWS)
            };
            let tiles = (row.query_len * group).div_ceil(tile);
            work.0 += tiles;
            work.1 += tiles * (row.context_len - cut.own_begin);
        }
        for shared in self.groups {
            let rows = shared.queries * group;
            let (work, tile) = if rows <= DECODE_ROWS {
                (&mut decode, DECODE_ROWS)
            } else {
                (&mut prefill, PREFILL_ROWS)
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

    fn plan(mut self) -> AttentionPlan {
        let fixed = self.settings.split_keys.is_some();
        let group = self.settings.group();
        // How each group's and each row's keys are cut, then the slots of every token, then the items.
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
        // The place of each group's parts among those of each of its members.
        let mut places = Vec::with_capacity(self.groups.len());
        for (group, &(splits, _)) in self.groups.iter().zip(&shared) {
            // Members of a group are in the same outer groups, so they agree.
            let place = group
                .rows
                .first()
                .map_or(0, |&row| self.cuts[row].shared_parts);
            for &row in &group.rows {
                self.cuts[row].shared_parts = place + splits;
            }
            places.push(place);
        }
        for (row, cut) in self.batch.rows.iter().zip(&mut self.cuts) {
            let split = if is_decode(row, group) {
                self.split.decode
            } else {
                self.split.prefill
            };
            (cut.splits, cut.split) = even_splits(row.context_len - cut.own_begin, split, fixed);
            cut.slot = self.slots;
            self.slots += row.query_len * cut.slots_per_token();
        }
        for (index, &(splits, split)) in shared.iter().enumerate() {
            self.add_group(index, places[index], splits, split);
        }
        for row in 0..self.batch.rows.len() {
            self.add_row(row);
        }
        self.finish()
    }

    fn add_group(&mut self, index: usize, place: usize, splits: usize, split: usize) {
        let shared = &self.groups[index];
        let first_pair = self.pairs.len();
        for &row in &shared.rows {
            let cut = self.cuts[row];
            let BatchRow {
                query_start,
                query_len,
                ..
            } = self.batch.rows[row];
            for i in 0..query_len {
                self.pairs.push([
                    (query_start + i) as u32,
                    (cut.slot + i * cut.slots_per_token()) as u32,
                ]);
            }
        }
        let rows = shared.queries * self.settings.group();
        let (items, tile) = if rows <= DECODE_ROWS {
            (&mut self.decode, DECODE_ROWS)
        } else {
            (&mut self.prefill, PREFILL_ROWS)
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
        let slots_per_token = cut.slots_per_token();
        let seen = row.context_len - row.query_len + 1;
        let rows = row.query_len * group;
        let (items, tile) = if is_decode(row, group) {
            (&mut self.decode, DECODE_ROWS)
        } else {
            (&mut self.prefill, PREFILL_ROWS)
        };
        for row_begin in (0..rows).step_by(tile) {
            let row_end = (row_begin + tile).min(rows);
            let tile_end = seen + (row_end - 1) / group;
            for part in 0..cut.splits {
                let begin = cut.own_begin + part * cut.split;
                if begin >= tile_end {
                    break;
                }
                items.push(Item {
                    query: row.query_start,
                    rows: Range32::new(&(row_begin..row_end)),
                    seen,
                    keys: Range32::new(&(begin..begin.saturating_add(cut.split).min(tile_end))),
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
                // A split that begins behind a token's last key has no part of it.
                let own = (seen + i - cut.own_begin)
                    .div_ceil(cut.split)
                    .min(cut.splits);
                self.merges.push([
                    (row.query_start + i) as u32,
                    (cut.slot + i * slots_per_token) as u32,
                    (cut.shared_parts + own) as u32,
                    0,
                ]);
            }
        }
    }

    fn finish(mut self) -> AttentionPlan {
        // The longest items first, so that the short ones fill the gaps at the end. The sort is stable.
        for items in [&mut self.prefill, &mut self.decode] {
            items.sort_by_key(|item| std::cmp::Reverse(item.keys.len()));
        }
        let prefill = Section {
            offset: 0,
            count: self.prefill.len(),
        };
        let decode = Section {
            offset: prefill.count * ITEM_WORDS,
            count: self.decode.len(),
        };
        let merges = Section {
            offset: decode.offset + decode.count * ITEM_WORDS,
            count: self.merges.len(),
        };
        let pairs = merges.offset + merges.count * MERGE_WORDS;
        let tables = pairs + self.pairs.len() * 2;
        let mut words = Vec::with_capacity(tables + self.table_words);
        for item in self.prefill.iter().chain(&self.decode) {
            let query = if item.gathered {
                pairs + item.query * 2
            } else {
                item.query
            };
            words.extend([
                query as u32,
                item.rows.begin,
                item.rows.end,
                item.seen as u32,
                item.keys.begin,
                item.keys.end,
                (tables + item.table) as u32,
                item.slot,
                item.slot_stride as u32,
                u32::from(item.gathered),
                0,
                0,
            ]);
        }
        words.extend(self.merges.as_flattened());
        words.extend(self.pairs.as_flattened());
        for row in &self.batch.rows {
            let blocks = row.context_len.div_ceil(self.settings.block_size);
            words.extend(&row.blocks[..blocks]);
        }
        AttentionPlan {
            words,
            prefill,
            decode,
            merges,
            slots: self.slots,
        }
    }
}
