//! Attention of one unit of queries over its tiles, for one key head.

use std::cell::RefCell;
use std::ops::Range;

use pulp::Simd;

use super::Layout;
use super::plan::{PlanUnit, QueryRun};
use super::product::{Ahead, Panels, Product};
use crate::model::attention::AttentionShape;
use crate::model::cpu::elementwise::tree_sum;
use crate::model::cpu::exp::{exp, exp_lanes, tanh};
use crate::model::cpu::half::{F32, Format};
use crate::model::cpu::instructions::{Kernel, Vectors, run};
use crate::model::cpu::panels::PANEL;

/// Up to this many rows, 16-bit keys and values are widened in registers each time they are used; for more rows a tile is widened to memory once.
const FEW: usize = 12;

/// A layer's keys and values of one key head.
pub(super) struct Cache<'a, F: Format> {
    pub(super) layout: &'a Layout,
    pub(super) keys: &'a [F::Bits],
    pub(super) values: &'a [F::Bits],
}

/// A unit's queries under one key head, and where their results go.
pub(super) struct Unit<'a> {
    pub(super) plan: &'a PlanUnit,
    pub(super) kv_head: usize,
    pub(super) results: Vec<Head<'a>>,
}

/// Where the query heads of one group and one query put their results.
pub(super) struct Head<'a> {
    pub(super) query: usize,
    /// `[group, head_dim]`
    pub(super) output: &'a mut [f32],
    /// `[group]`
    pub(super) lse: &'a mut [f32],
}

impl Unit<'_> {
    /// Computes the unit. `q` is the step's queries, `[N, heads, head_dim]`.
    pub(super) fn run<F: Format>(self, q: &[f32], cache: &Cache<F>) {
        thread_local! {
            // Kept from unit to unit: freed memory would be zeroed again by the system, page by page.
            static STATE: RefCell<OnlineSoftmax> = RefCell::default();
        }
        STATE.with_borrow_mut(|state| {
            run(Work {
                unit: self,
                q,
                cache,
                state,
            });
        });
    }
}

struct Work<'a, F: Format> {
    unit: Unit<'a>,
    q: &'a [f32],
    cache: &'a Cache<'a, F>,
    state: &'a mut OnlineSoftmax,
}

/// The state of every (query, head) after some tiles, in the order query, head of the group; and buffers for one tile.
#[derive(Default)]
struct OnlineSoftmax {
    /// Scaled queries, `[rows, head_dim]`.
    queries: Vec<f32>,
    /// Scores, then weights, of the current tile, `[rows, lanes of a tile]`.
    scores: Vec<f32>,
    /// Weighted values of all tiles so far, `[rows, head_dim in whole panels]`.
    values: Vec<f32>,
    /// Highest score so far, `[rows]`.
    high: Vec<f32>,
    /// Sum of exponentials so far, relative to `high`, `[rows]`.
    sum: Vec<f32>,
    /// The current tile, widened: its keys' blocks, then its values' blocks.
    wide: Vec<f32>,
    /// Where blocks begin in the cache.
    starts: Vec<usize>,
    /// Where blocks begin in `wide`.
    wide_starts: Vec<usize>,
}

impl<F: Format> Kernel for Work<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) {
        let Self {
            unit,
            q,
            cache,
            state,
        } = self;
        let AttentionShape {
            heads, head_dim, ..
        } = cache.layout.shape;
        let group = cache.layout.shape.group();
        let scale = cache.layout.shape.scale();
        let width = cache.layout.value_width();
        let rows = unit.plan.queries.len() * group;
        state.queries.clear();
        for query in &unit.plan.queries {
            let from = (query.token * heads + unit.kv_head * group) * head_dim;
            let first = state.queries.len();
            state
                .queries
                .extend_from_slice(&q[from..][..group * head_dim]);
            for x in &mut state.queries[first..] {
                *x *= scale;
            }
        }
        refill(&mut state.values, rows * width, 0.0);
        refill(&mut state.high, rows, f32::NEG_INFINITY);
        refill(&mut state.sum, rows, 0.0);
        for (index, run) in unit.plan.runs.iter().enumerate() {
            let next = unit.plan.runs.get(index + 1);
            tile(vectors, state, unit.plan, run, next, cache);
        }
        for head in unit.results {
            let from = head.query * group;
            for (row, (output, lse)) in
                (from..).zip(head.output.chunks_exact_mut(head_dim).zip(head.lse))
            {
                let inverse = 1.0 / state.sum[row];
                for (to, value) in output.iter_mut().zip(&state.values[row * width..]) {
                    *to = value * inverse;
                }
                *lse = state.high[row] + state.sum[row].ln();
            }
        }
    }
}

fn refill(buffer: &mut Vec<f32>, size: usize, value: f32) {
    buffer.clear();
    buffer.resize(size, value);
}

/// A slice of `size` numbers with arbitrary content, growing the buffer if needed.
fn room(buffer: &mut Vec<f32>, size: usize) -> &mut [f32] {
    if buffer.len() < size {
        buffer.resize(size, 0.0);
    }
    &mut buffer[..size]
}

/// Processes one tile for the queries of a run: scores, weights and weighted values, merged into the state.
#[inline(always)]
fn tile<V: Vectors, F: Format>(
    vectors: V,
    state: &mut OnlineSoftmax,
    plan: &PlanUnit,
    run: &QueryRun,
    next: Option<&QueryRun>,
    cache: &Cache<F>,
) {
    let layout = cache.layout;
    let (key_block, value_block) = (layout.key_block(), layout.value_block());
    let rows = (run.last - run.first) * layout.shape.group();
    let OnlineSoftmax { wide, starts, .. } = state;
    let (mut wide, mut starts) = (std::mem::take(wide), std::mem::take(starts));
    let count = run.blocks.len();
    // Where blocks begin: this tile's keys and values, the next tile's keys and values.
    starts.clear();
    for blocks in [&run.blocks[..], next.map_or(&[], |run| &run.blocks)] {
        for size in [key_block, value_block] {
            starts.extend(blocks.iter().map(|&id| id as usize * size));
        }
    }
    let (here, there) = starts.split_at(2 * count);
    let (next_keys, next_values) = there.split_at(there.len() / 2);
    let next_keys = Ahead::new(cache.keys, next_keys);
    let next_values = Ahead::new(cache.values, next_values);
    if rows <= FEW || F::plain(cache.keys).is_some() {
        let (keys, values) = here.split_at(count);
        let keys = Side::<F> {
            bits: cache.keys,
            starts: keys,
            ahead: Ahead::new(cache.values, values),
        };
        let values = Side::<F> {
            bits: cache.values,
            starts: values,
            ahead: next_keys,
        };
        attend(vectors, state, plan, run, layout, &keys, &values);
    } else {
        let room = room(&mut wide, count * (key_block + value_block));
        let (keys, values) = room.split_at_mut(count * key_block);
        for (index, &id) in run.blocks.iter().enumerate() {
            let key = &cache.keys[id as usize * key_block..][..key_block];
            F::widen_all(vectors, key, &mut keys[index * key_block..][..key_block]);
            let value = &cache.values[id as usize * value_block..][..value_block];
            let to = &mut values[index * value_block..][..value_block];
            F::widen_all(vectors, value, to);
        }
        let mut starts = std::mem::take(&mut state.wide_starts);
        starts.clear();
        for size in [key_block, value_block] {
            starts.extend((0..count).map(|index| index * size));
        }
        let keys = Side::<F32> {
            bits: keys,
            starts: &starts[..count],
            ahead: next_keys,
        };
        let values = Side::<F32> {
            bits: values,
            starts: &starts[count..],
            ahead: next_values,
        };
        attend(vectors, state, plan, run, layout, &keys, &values);
        state.wide_starts = starts;
    }
    (state.wide, state.starts) = (wide, starts);
}

/// A tile's keys, or its values.
struct Side<'a, F: Format> {
    bits: &'a [F::Bits],
    starts: &'a [usize],
    /// The memory to prefetch, which is read next.
    ahead: Ahead<'a>,
}

/// [`tile`] once the places of its keys and values are known.
#[inline(always)]
fn attend<V: Vectors, F: Format>(
    vectors: V,
    state: &mut OnlineSoftmax,
    plan: &PlanUnit,
    run: &QueryRun,
    layout: &Layout,
    keys: &Side<F>,
    values: &Side<F>,
) {
    let head_dim = layout.shape.head_dim;
    let group = layout.shape.group();
    let (from, rows) = (run.first * group, (run.last - run.first) * group);
    let width = run.blocks.len() * layout.lanes;
    let scores = room(&mut state.scores, rows * width);
    Product {
        a: &state.queries[from * head_dim..],
        a_stride: head_dim,
        rows,
        segments: 1,
        k: head_dim,
        b: Panels::<F> {
            bits: keys.bits,
            starts: keys.starts,
            per_start: layout.lanes / PANEL,
            stride: head_dim * PANEL,
        },
        ahead: keys.ahead,
        panels: width / PANEL,
        out: scores,
        out_stride: width,
        accumulate: false,
    }
    .run(vectors);
    if let Some(bound) = layout.shape.softcap {
        for score in &mut *scores {
            *score = bound * tanh(*score / bound);
        }
    }
    let value_width = layout.value_width();
    let sums = &mut state.values[from * value_width..][..rows * value_width];
    let full = run.blocks.len() * layout.block_size;
    for (row, scores) in scores.chunks_exact_mut(width).enumerate() {
        let query = &plan.queries[run.first + row / group];
        let visible = query.first.saturating_sub(run.start)..query.seen - run.start;
        if visible.start > 0 || visible.end < full || layout.lanes > layout.block_size {
            mask(scores, layout, &visible);
        }
        let high = &mut state.high[from + row];
        let (new_high, sum) = match V::Simd::F32_LANES {
            16 => weigh::<V, 1>(vectors, scores, *high),
            8 => weigh::<V, 2>(vectors, scores, *high),
            4 => weigh::<V, 4>(vectors, scores, *high),
            _ => weigh::<V, PANEL>(vectors, scores, *high),
        };
        // Earlier sums shrink if this tile holds a higher score; otherwise the factor is one.
        let old_sum = &mut state.sum[from + row];
        if new_high > *high {
            let keep = exp(*high - new_high);
            *high = new_high;
            *old_sum = old_sum.mul_add(keep, sum);
            for value in &mut sums[row * value_width..][..value_width] {
                *value *= keep;
            }
        } else {
            *old_sum += sum;
        }
    }
    Product {
        a: &*scores,
        a_stride: width,
        rows,
        segments: run.blocks.len(),
        k: layout.lanes,
        b: Panels::<F> {
            bits: values.bits,
            starts: values.starts,
            per_start: usize::MAX,
            stride: layout.lanes * PANEL,
        },
        ahead: values.ahead,
        panels: value_width / PANEL,
        out: sums,
        out_stride: value_width,
        accumulate: true,
    }
    .run(vectors);
}

/// Sets the scores of keys that the query must not see, and of lanes that hold no key, to −∞.
#[inline(always)]
fn mask(scores: &mut [f32], layout: &Layout, visible: &Range<usize>) {
    let Layout {
        lanes, block_size, ..
    } = *layout;
    for (index, block) in scores.chunks_exact_mut(lanes).enumerate() {
        let place = |key: usize| key.saturating_sub(index * block_size).min(block_size);
        let (first, last) = (place(visible.start), place(visible.end));
        block[..first].fill(f32::NEG_INFINITY);
        block[last..].fill(f32::NEG_INFINITY);
    }
}

/// Replaces scores by `e^(score - high)`, where `high` is the highest score or `old_high` if that is higher. Returns `high`
/// and the sum, whose order does not depend on the width of vectors.
#[inline(always)]
fn weigh<V: Vectors, const W: usize>(vectors: V, scores: &mut [f32], old_high: f32) -> (f32, f32) {
    let simd = vectors.simd();
    let chunks = pulp::as_arrays_mut::<W, _>(V::Simd::as_mut_simd_f32s(scores).0).0;
    let mut highest = [simd.splat_f32s(old_high); W];
    for chunk in &*chunks {
        for (high, score) in highest.iter_mut().zip(chunk) {
            *high = simd.max_f32s(*high, *score);
        }
    }
    let mut high = old_high;
    for lanes in &highest {
        high = high.max(simd.reduce_max_f32s(*lanes));
    }
    let shift = simd.splat_f32s(high);
    let mut sums = [simd.splat_f32s(0.0); W];
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp_lanes(simd, simd.sub_f32s(*score, shift));
            *sum = simd.add_f32s(*sum, *score);
        }
    }
    let mut lanes = [0.0; PANEL];
    for (to, from) in V::Simd::as_mut_simd_f32s(&mut lanes)
        .0
        .iter_mut()
        .zip(&sums)
    {
        *to = *from;
    }
    (high, tree_sum(lanes))
}
