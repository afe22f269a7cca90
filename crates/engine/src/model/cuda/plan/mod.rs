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
//! Layers whose queries see the last keys alone, a **window** of them, have work of their own: items begin where the window of
//! their first query does, so that keys before it are never read. Most models have one window or two; the block tables are
//! there once for all. A window that is as long as the longest row cuts nothing, and is planned as none.
//!
//! The plan is a function of the step, the settings and the windows alone.

mod lists;
mod planner;
mod prefix;
#[cfg(test)]
mod tests;

use self::lists::Lists;
use crate::model::{ModelError, StepBatch};

/// Query rows of a decode item: one m16n8k16 product.
pub(crate) const DECODE_ROWS: usize = 16;
/// Threads of every kernel's block.
pub(crate) const THREADS: usize = 128;
pub(crate) const ITEM_WORDS: usize = 12;
pub(crate) const MERGE_WORDS: usize = 4;
/// The slot of an item that covers all keys of its queries and so writes the output itself.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// Thread blocks of either kernel that run on a multiprocessor at once.
const RESIDENT: usize = 2;
/// How many rounds of resident blocks decode is split into, so that an incomplete last round costs little.
const DECODE_ROUNDS: usize = 4;
/// The fewest keys of a split: with fewer, parts cost more than they gain.
const MIN_DECODE_SPLIT: usize = 128;
const MIN_PREFILL_SPLIT: usize = 512;
/// Splits begin at multiples of this from the first key, so that all four warps of a decode item get the same number of
/// tiles.
const SPLIT_STEP: usize = 64;
/// Ranges of keys begin at multiples of this: kernels read so many keys at once, which must lie in one block.
const KEY_STEP: usize = 16;

/// Query rows of a prefill item: for heads up to 128 four warps of two tiles of 16 each, for wider ones as many as fit beside so many
/// keys.
pub fn prefill_rows(head_dim: usize) -> usize {
    16_384 / head_dim.max(128)
}

/// Keys of a stage of the prefill kernel.
fn prefill_keys(head_dim: usize) -> usize {
    8192 / head_dim.max(128)
}

/// Dynamic shared memory of a block of the decode kernel, in bytes: three stages of 16 keys and values for each warp, or for each of
/// fewer teams of warps where heads are wider than 128.
///
/// `kv_bytes` is the size of a cached number: 2, or 1 for e4m3. The same memory carries the teams' results at the end.
pub fn decode_shared_bytes(head_dim: usize, kv_bytes: usize) -> usize {
    let teams = THREADS / 32 * 128 / head_dim.max(128);
    let stages = teams * 3 * 2 * 16 * head_dim * kv_bytes;
    let results = teams * DECODE_ROWS * (head_dim + 8 + 2) * size_of::<f32>();
    stages.max(results)
}

/// Dynamic shared memory of a block of the prefill kernel, in bytes: its queries, two stages of keys and values, and which
/// keys each query row (two numbers) and each warp (four) sees. A `warpgroup` has products of 16 bits alone: 8-bit keys and
/// values take their place beside the stages too.
pub fn prefill_shared_bytes(head_dim: usize, kv_bytes: usize, warpgroup: bool) -> usize {
    let rows = prefill_rows(head_dim);
    let seen = (2 * rows + 4 * THREADS / 32) * size_of::<u32>();
    let numbers = 2 * prefill_keys(head_dim) * head_dim;
    let beside = if warpgroup && kv_bytes == 1 {
        2 * numbers
    } else {
        0
    };
    rows * head_dim * 2 + 2 * numbers * kv_bytes + beside + seen
}

/// What a plan depends on besides the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanSettings {
    pub heads: usize,
    /// Key heads; `heads` is a multiple of it.
    pub kv_heads: usize,
    /// Tokens per block: a power of two, at least 16.
    pub block_size: usize,
    /// Multiprocessors of the device, which decide how many splits fill it.
    pub multiprocessors: usize,
    /// Query rows of a prefill item, [`prefill_rows`].
    pub prefill_rows: usize,
    /// Whether rows that share leading blocks attend to them together.
    pub shared_prefix: bool,
    /// Keys of a split, a multiple of 64, instead of what suits the device. With this, and without shared prefixes, a decode
    /// row is split the same way whatever else is in the step.
    pub split_keys: Option<usize>,
    /// How many partial results the scratch holds. A step that would need more is planned with fewer splits.
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
        if heads && blocks && splits && self.prefill_rows > 0 {
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
    pub offset: usize,
    pub count: usize,
}

/// One step's work, ready for upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttentionPlan {
    /// Everything the kernels read: block tables, then for each window items, merges, pairs.
    pub words: Vec<u32>,
    pub tokens: usize,
    /// Keys of the longest row.
    longest: usize,
    windows: Vec<WindowPlan>,
}

/// The work of the layers with one window, as sections of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowPlan {
    /// How many keys a query sees; `None` for all.
    window: Option<usize>,
    /// Items of the prefill kernel, longest first.
    pub prefill: Section,
    /// Items of the decode kernel, longest first.
    pub decode: Section,
    /// Tokens whose parts are merged.
    pub merges: Section,
    /// Scratch slots that the parts need.
    pub slots: usize,
}

impl AttentionPlan {
    /// Plans a [validated](StepBatch::validate) step for layers with these windows, which may be repeated.
    /// Errors: [`ModelError::Unsupported`] when the kernels cannot run with these settings, or a window has no keys.
    pub fn new(
        batch: &StepBatch,
        settings: &PlanSettings,
        windows: &[Option<usize>],
    ) -> Result<Self, ModelError> {
        settings.check()?;
        if windows.contains(&Some(0)) {
            return Err(ModelError::Unsupported(
                "an attention window of no keys".into(),
            ));
        }
        let contexts = batch.rows.iter().map(|row| row.context_len);
        let mut plan = Self {
            words: Vec::new(),
            tokens: batch.tokens.len(),
            longest: contexts.max().unwrap_or(0),
            windows: Vec::new(),
        };
        let tables: Vec<usize> = batch
            .rows
            .iter()
            .map(|row| {
                let blocks = row.context_len.div_ceil(settings.block_size);
                plan.words.extend(&row.blocks[..blocks]);
                plan.words.len() - blocks
            })
            .collect();
        for &window in windows {
            if plan.for_window(window).is_none() {
                let window = plan.effective(window);
                let lists = plan_window(batch, settings, window, &tables);
                plan.windows.push(lists.write(&mut plan.words));
            }
        }
        Ok(plan)
    }

    /// The work for layers with a window, if the plan was made for it.
    pub fn for_window(&self, window: Option<usize>) -> Option<&WindowPlan> {
        let window = self.effective(window);
        self.windows.iter().find(|plan| plan.window == window)
    }

    /// The window; `None` if it cuts no row.
    fn effective(&self, window: Option<usize>) -> Option<usize> {
        window.filter(|&keys| keys < self.longest)
    }
}

/// The work for one window, within the available scratch.
fn plan_window(
    batch: &StepBatch,
    settings: &PlanSettings,
    window: Option<usize>,
    tables: &[usize],
) -> Lists {
    let groups = if settings.shared_prefix {
        prefix::groups(batch, settings, window)
    } else {
        Vec::new()
    };
    let lists = planner::plan(batch, settings, window, tables, &groups);
    if lists.slots <= settings.max_slots {
        return lists;
    }
    // The scratch is too small for this step: give up splits, then shared prefixes too, which needs no slot.
    let whole = PlanSettings {
        split_keys: Some(usize::MAX - (SPLIT_STEP - 1)),
        ..*settings
    };
    let lists = planner::plan(batch, &whole, window, tables, &groups);
    if lists.slots <= settings.max_slots {
        return lists;
    }
    planner::plan(batch, &whole, window, tables, &[])
}
