//! One unit of queries against its tiles, for one key head.

// What runs under `Arch::dispatch` must be inlined into it, or it is compiled without the instruction set.
#![allow(clippy::inline_always)]

use pulp::{Arch, Simd, WithSimd};

use super::Layout;
use super::plan::{PlanUnit, Run};
use crate::model::attention::AttentionShape;
use crate::model::cpu::elementwise::tree_sum;
use crate::model::cpu::exp::{exp, exp_lanes};
use crate::model::cpu::panels::{Multiply, PANEL, Panels, Strided};

/// A layer's keys and values.
#[derive(Clone, Copy)]
pub(super) struct Cache<'a> {
    pub(super) layout: &'a Layout,
    pub(super) keys: &'a [f32],
    pub(super) values: &'a [f32],
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
    pub(super) fn run(self, q: &[f32], cache: Cache) {
        Arch::new().dispatch(Work {
            unit: self,
            q,
            cache,
        });
    }
}

struct Work<'a> {
    unit: Unit<'a>,
    q: &'a [f32],
    cache: Cache<'a>,
}

/// What is known of every (query, head) after some tiles, in the order query, head of the group.
struct State {
    /// Scaled queries, `[rows, head_dim]`.
    queries: Vec<f32>,
    /// Scores, then weights, of the tile at hand, `[rows, lanes of a tile]`.
    scores: Vec<f32>,
    /// Weighted values of all tiles so far, `[rows, head_dim]`.
    values: Vec<f32>,
    /// Highest score so far, `[rows]`.
    high: Vec<f32>,
    /// Sum of exponentials so far, relative to `high`, `[rows]`.
    sum: Vec<f32>,
}

impl WithSimd for Work<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { unit, q, cache } = self;
        let AttentionShape {
            heads, head_dim, ..
        } = cache.layout.shape;
        let group = cache.layout.shape.group();
        let scale = cache.layout.shape.scale();
        let rows = unit.plan.queries.len() * group;
        let mut state = State {
            queries: Vec::with_capacity(rows * head_dim),
            scores: vec![0.0; rows * cache.layout.tile_blocks * cache.layout.lanes],
            values: vec![0.0; rows * head_dim],
            high: vec![f32::NEG_INFINITY; rows],
            sum: vec![0.0; rows],
        };
        for query in &unit.plan.queries {
            let from = (query.token * heads + unit.kv_head * group) * head_dim;
            state
                .queries
                .extend(q[from..][..group * head_dim].iter().map(|x| x * scale));
        }
        for run in &unit.plan.runs {
            tile(simd, &mut state, &unit, run, cache);
        }
        for head in unit.results {
            let from = head.query * group;
            for (row, (output, lse)) in
                (from..).zip(head.output.chunks_exact_mut(head_dim).zip(head.lse))
            {
                let inverse = 1.0 / state.sum[row];
                for (to, value) in output
                    .iter_mut()
                    .zip(&state.values[row * head_dim..][..head_dim])
                {
                    *to = value * inverse;
                }
                *lse = state.high[row] + state.sum[row].ln();
            }
        }
    }
}

/// One tile for the queries of a run: scores, weights, weighted values, merged into the state.
#[inline(always)]
fn tile<S: Simd>(simd: S, state: &mut State, unit: &Unit, run: &Run, cache: Cache) {
    let layout = cache.layout;
    let head_dim = layout.shape.head_dim;
    let group = layout.shape.group();
    let (from, rows) = (run.first * group, (run.last - run.first) * group);
    let width = run.blocks.len() * layout.lanes;
    let scores = &mut state.scores[..rows * width];
    let blocks = Blocks {
        cache,
        ids: &run.blocks,
        kv_head: unit.kv_head,
    };
    Multiply {
        a: &state.queries[from * head_dim..],
        a_stride: head_dim,
        rows,
        k: head_dim,
        b: Keys(blocks),
        n: width,
        out: Strided {
            data: scores,
            stride: width,
            width,
        },
        accumulate: false,
    }
    .run(simd);
    let values = &mut state.values[from * head_dim..][..rows * head_dim];
    let full = run.blocks.len() * layout.block_size;
    for (row, scores) in scores.chunks_exact_mut(width).enumerate() {
        let seen = unit.plan.queries[run.first + row / group].seen - run.start;
        if seen < full || layout.lanes > layout.block_size {
            mask(scores, layout, seen);
        }
        let high = &mut state.high[from + row];
        let (new_high, sum) = match S::F32_LANES {
            16 => weigh::<S, 1>(simd, scores, *high),
            8 => weigh::<S, 2>(simd, scores, *high),
            4 => weigh::<S, 4>(simd, scores, *high),
            _ => weigh::<S, PANEL>(simd, scores, *high),
        };
        // What was before shrinks when this tile holds a higher score; otherwise the factor is one.
        let keep = exp(*high - new_high);
        *high = new_high;
        let old_sum = &mut state.sum[from + row];
        *old_sum = old_sum.mul_add(keep, sum);
        if keep < 1.0 {
            for value in &mut values[row * head_dim..][..head_dim] {
                *value *= keep;
            }
        }
    }
    Multiply {
        a: &*scores,
        a_stride: width,
        rows,
        k: layout.lanes,
        b: Values(blocks),
        n: head_dim,
        out: Strided {
            data: values,
            stride: head_dim,
            width: head_dim,
        },
        accumulate: true,
    }
    .run(simd);
}

/// Sets the scores of keys that the query must not see, and of lanes that hold no key, to −∞.
#[inline(always)]
fn mask(scores: &mut [f32], layout: &Layout, seen: usize) {
    let Layout {
        lanes, block_size, ..
    } = *layout;
    for (index, block) in scores.chunks_exact_mut(lanes).enumerate() {
        let visible = seen.saturating_sub(index * block_size).min(block_size);
        for score in &mut block[visible..] {
            *score = f32::NEG_INFINITY;
        }
    }
}

/// Scores to `e^(score - high)`, with the higher of `old_high` and the highest score; returns that and the sum, taken in an
/// order that the width of vectors does not change.
#[inline(always)]
fn weigh<S: Simd, const W: usize>(simd: S, scores: &mut [f32], old_high: f32) -> (f32, f32) {
    let chunks = pulp::as_arrays_mut::<W, _>(S::as_mut_simd_f32s(scores).0).0;
    let mut highest = [simd.splat_f32s(old_high); W];
    for chunk in &*chunks {
        for (high, score) in highest.iter_mut().zip(chunk) {
            *high = simd.max_f32s(*high, *score);
        }
    }
    let high = highest.into_iter().fold(old_high, |high, lanes| {
        high.max(simd.reduce_max_f32s(lanes))
    });
    let shift = simd.splat_f32s(high);
    let mut sums = [simd.splat_f32s(0.0); W];
    for chunk in chunks {
        for (sum, score) in sums.iter_mut().zip(chunk) {
            *score = exp_lanes(simd, simd.sub_f32s(*score, shift));
            *sum = simd.add_f32s(*sum, *score);
        }
    }
    let mut lanes = [0.0; PANEL];
    for (to, from) in S::as_mut_simd_f32s(&mut lanes).0.iter_mut().zip(sums) {
        *to = from;
    }
    (high, tree_sum(lanes))
}

/// The blocks of a tile.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    cache: Cache<'a>,
    ids: &'a [u32],
    kv_head: usize,
}

impl Blocks<'_> {
    #[inline(always)]
    fn at(&self, block: usize) -> usize {
        self.ids[block] as usize * self.cache.layout.shape.kv_heads + self.kv_head
    }
}

/// Keys as the right side of `queries × keysᵀ`: one column a key.
struct Keys<'a>(Blocks<'a>);

impl Panels for Keys<'_> {
    #[inline(always)]
    fn segments(&self) -> usize {
        1
    }

    #[inline(always)]
    fn panel(&self, p: usize, _: usize) -> &[f32] {
        let layout = self.0.cache.layout;
        let panels = layout.lanes / PANEL;
        let size = layout.shape.head_dim * PANEL;
        &self.0.cache.keys[self.0.at(p / panels) * layout.key_block() + p % panels * size..][..size]
    }
}

/// Values as the right side of `weights × values`: one row a key, a block a segment.
struct Values<'a>(Blocks<'a>);

impl Panels for Values<'_> {
    #[inline(always)]
    fn segments(&self) -> usize {
        self.0.ids.len()
    }

    #[inline(always)]
    fn panel(&self, p: usize, s: usize) -> &[f32] {
        let layout = self.0.cache.layout;
        let size = layout.lanes * PANEL;
        &self.0.cache.values[self.0.at(s) * layout.value_block() + p * size..][..size]
    }
}
