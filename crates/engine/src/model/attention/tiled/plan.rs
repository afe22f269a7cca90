//! Which queries share which tiles; computed once per step, and used by every layer and head.

use super::Layout;
use crate::model::StepBatch;

/// The most rows of a unit, counting each query once per head of its group: their states must fit the second-level cache.
const MAX_ROWS: usize = 128;
/// The fewest multiply-adds of a task: waking a thread costs about half as much.
const TASK: usize = 1 << 19;

#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Whether the step is so small that one thread computes it.
    pub(super) serial: bool,
    pub(super) units: Vec<PlanUnit>,
    /// For each token of the step, the place of its query.
    pub(super) places: Vec<Place>,
}

/// Consecutive queries in the order of block tables.
#[derive(Debug, Default)]
pub(super) struct PlanUnit {
    pub(super) queries: Vec<Query>,
    /// Tiles in ascending order for every query.
    pub(super) runs: Vec<QueryRun>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Query {
    pub(super) token: usize,
    /// The first key that it sees.
    pub(super) first: usize,
    /// One past the last key that it sees, which is its own.
    pub(super) seen: usize,
}

/// Queries `first..last` of a unit, all of which see some keys of the same blocks of one tile.
#[derive(Debug)]
pub(super) struct QueryRun {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) start: usize,
    pub(super) blocks: Vec<u32>,
}

/// A unit and the index of a query in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) unit: usize,
    pub(super) query: usize,
}

impl Plan {
    /// Plans a validated step for a number of threads, with queries that see all keys before them or only those of a window.
    pub(super) fn new(
        batch: &StepBatch,
        layout: &Layout,
        threads: usize,
        window: Option<usize>,
    ) -> Self {
        let mut order: Vec<usize> = (0..batch.rows.len()).collect();
        order.sort_by(|&a, &b| batch.rows[a].blocks.cmp(&batch.rows[b].blocks));
        let queries: Vec<(usize, Query)> = order
            .iter()
            .flat_map(|&row| {
                let tokens = &batch.rows[row];
                (0..tokens.query_len).map(move |i| {
                    let seen = tokens.context_len - tokens.query_len + i + 1;
                    (
                        row,
                        Query {
                            token: tokens.query_start + i,
                            first: window.map_or(0, |window| seen.saturating_sub(window)),
                            seen,
                        },
                    )
                })
            })
            .collect();
        // Several tasks per thread, unless they would be tiny; more would widen a shared prefix more often.
        let seen: usize = queries
            .iter()
            .map(|(_, query)| query.seen - query.first)
            .sum();
        let work = 2 * seen * layout.shape.heads * layout.shape.head_dim;
        let tasks = (2 * threads)
            .min(work / TASK)
            .div_ceil(layout.shape.kv_heads)
            .max(1);
        let most = (MAX_ROWS / layout.shape.group()).max(1);
        let size = queries.len().div_ceil(tasks).clamp(1, most);
        let mut plan = Self {
            serial: work < 2 * TASK,
            units: Vec::new(),
            places: vec![Place::default(); batch.tokens.len()],
        };
        for chunk in queries.chunks(size) {
            for (index, (_, query)) in chunk.iter().enumerate() {
                plan.places[query.token] = Place {
                    unit: plan.units.len(),
                    query: index,
                };
            }
            let runs = runs(batch, layout, chunk);
            plan.units.push(PlanUnit {
                queries: chunk.iter().map(|(_, query)| *query).collect(),
                runs,
            });
        }
        plan
    }
}

/// The runs of one unit, tile after tile.
fn runs(batch: &StepBatch, layout: &Layout, queries: &[(usize, Query)]) -> Vec<QueryRun> {
    let tile = layout.tile();
    let longest = queries
        .iter()
        .map(|(_, query)| query.seen)
        .max()
        .unwrap_or(0);
    let first = queries.iter().map(|(_, query)| query.first).min();
    let first = first.unwrap_or(0) / tile * tile;
    let mut runs: Vec<QueryRun> = Vec::new();
    for start in (first..longest).step_by(tile) {
        let first_of_tile = runs.len();
        for (index, (row, query)) in queries.iter().enumerate() {
            if query.seen <= start || query.first >= start + tile {
                continue;
            }
            let from = start / layout.block_size;
            let to = (from + layout.tile_blocks).min(query.seen.div_ceil(layout.block_size));
            let blocks = &batch.rows[*row].blocks[from..to];
            match runs[first_of_tile..].last_mut() {
                Some(run) if run.last == index && run.blocks == blocks => run.last += 1,
                _ => runs.push(QueryRun {
                    first: index,
                    last: index + 1,
                    start,
                    blocks: blocks.to_vec(),
                }),
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::Layout;
    use crate::model::attention::AttentionShape;
    use crate::model::{BatchRow, StepBatch};

    fn decode(tables: &[(usize, &[u32])]) -> StepBatch {
        let mut batch = StepBatch::default();
        for (index, (context_len, blocks)) in tables.iter().enumerate() {
            let (position, block) = (context_len - 1, blocks[(context_len - 1) / 16]);
            batch.tokens.push(0);
            batch.positions.push(position as u32);
            batch.slots.push(block * 16 + (position % 16) as u32);
            batch.rows.push(BatchRow {
                query_start: index,
                query_len: 1,
                context_len: *context_len,
                blocks: blocks.to_vec(),
                long: false,
                state: None,
            });
        }
        batch.validate(16, 100).unwrap();
        batch
    }

    #[test]
    fn rows_with_the_same_prefix_share_its_tiles() {
        let shape = AttentionShape {
            layers: 1,
            heads: 2,
            kv_heads: 1,
            head_dim: 16,
            softcap: None,
        };
        let batch = decode(&[
            (70, &[1, 2, 3, 4, 9]),
            (50, &[5, 6, 7, 8]),
            (80, &[1, 2, 3, 4, 10]),
            (66, &[1, 2, 3, 4, 11]),
        ]);
        let runs = super::runs(
            &batch,
            &Layout::new(shape, 16),
            &[0, 2, 3, 1].map(|row| {
                let seen = batch.rows[row].context_len;
                let first = 0;
                (
                    row,
                    super::Query {
                        token: row,
                        first,
                        seen,
                    },
                )
            }),
        );
        let shapes: Vec<_> = runs
            .iter()
            .map(|run| (run.start, run.first, run.last, run.blocks.len()))
            .collect();
        assert_eq!(
            shapes,
            [
                (0, 0, 3, 4),
                (0, 3, 4, 4),
                (64, 0, 1, 1),
                (64, 1, 2, 1),
                (64, 2, 3, 1)
            ]
        );
    }
}
