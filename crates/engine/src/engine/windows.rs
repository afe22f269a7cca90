//! Blocks of layers with windows, where the cache keeps them apart from the blocks of the others.
//!
//! They have a pool of their own, and each sequence a table of its own: a block is given back as soon as it lies wholly behind the
//! window of every token that may still be computed. Names of blocks are those of the other pool. A prefix may be gone on from where
//! its other blocks are there and, of these, those that the next token sees.

use std::collections::HashSet;

use super::block_pool::{BlockHash, BlockId, BlockPool};
use super::sequence::Sequence;
use crate::model::attention::WindowedCache;

/// The blocks of a sequence in layers with windows.
#[derive(Debug, Default)]
pub(super) struct WindowTable {
    /// One for each block of positions. Those before `first` were given back, and stand for `first`: of what is masked anyway a
    /// sequence reads its own numbers, never another's.
    blocks: Vec<BlockId>,
    first: usize,
}

impl WindowTable {
    pub(super) fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The blocks that it uses, the last first.
    fn used(self) -> impl Iterator<Item = BlockId> {
        self.blocks.into_iter().skip(self.first).rev()
    }
}

#[derive(Debug)]
pub(super) struct WindowedPool {
    pub(super) pool: BlockPool,
    window: usize,
    /// Names of blocks that stay: those that the token after the pinned prefix sees.
    pinned: HashSet<BlockHash>,
    /// Blocks of sequences that finished while a further step of theirs was in flight; freed when that is done.
    leaving: Vec<BlockId>,
}

impl WindowedPool {
    /// A pool like `other`; `pinned` are the names of the blocks of pinned prefixes.
    pub(super) fn new(cache: WindowedCache, other: &BlockPool, pinned: &[Vec<BlockHash>]) -> Self {
        let pool = BlockPool::new(cache.blocks, other.block_size(), other.caching());
        let mut windowed = Self {
            pool: pool.lazy(other.is_lazy()),
            window: cache.window,
            pinned: HashSet::new(),
            leaving: Vec::new(),
        };
        for names in pinned {
            let first = windowed.first_seen(names.len() * other.block_size());
            windowed.pinned.extend(&names[first..]);
        }
        windowed
    }

    /// The same with no block in use, and another number of blocks.
    pub(super) fn emptied(&self, blocks: usize) -> Self {
        let pool = BlockPool::new(blocks, self.pool.block_size(), self.pool.caching());
        Self {
            pool: pool.lazy(self.pool.is_lazy()),
            pinned: self.pinned.clone(),
            leaving: Vec::new(),
            ..*self
        }
    }

    /// The first block that the query at `position` sees.
    fn first_seen(&self, position: usize) -> usize {
        (position + 1).saturating_sub(self.window) / self.pool.block_size()
    }

    /// The most blocks that a sequence of so many tokens uses at once, up to `in_flight` of them in flight.
    pub(super) fn most_used(&self, tokens: usize, in_flight: usize) -> usize {
        let seen = self.window.saturating_add(in_flight);
        self.pool
            .blocks_for(tokens)
            .min(self.pool.blocks_for(seen).saturating_add(1))
    }

    /// The most blocks that anything may need for one such sequence to run.
    pub(super) fn need(&self, tokens: usize, in_flight: usize) -> usize {
        self.most_used(tokens, in_flight) + self.pinned.len()
    }

    /// Of the blocks with these names, the first ones of a sequence, how many it can go on after.
    pub(super) fn reusable(&self, names: &[BlockHash]) -> usize {
        let (mut longest, mut first_held) = (0, 0);
        for (index, &name) in names.iter().enumerate() {
            let blocks = index + 1;
            if self.pool.find(name).is_none() {
                first_held = blocks;
            }
            if first_held <= self.first_seen(blocks * self.pool.block_size()) {
                longest = blocks;
            }
        }
        longest
    }

    /// Gives a running sequence one more block; `None` if all are in use.
    pub(super) fn extend(&mut self, sequence: &mut Sequence) -> Option<()> {
        let table = sequence.windowed()?;
        table.blocks.push(self.pool.allocate()?);
        Some(())
    }

    /// The table of a sequence that goes on after the blocks of these names.
    pub(super) fn table(&mut self, names: &[BlockHash]) -> WindowTable {
        let seen = self.first_seen(names.len() * self.pool.block_size());
        let found: Vec<BlockId> = names[seen..]
            .iter()
            .filter_map(|&name| self.pool.find(name))
            .collect();
        debug_assert_eq!(found.len(), names.len() - seen);
        for &block in &found {
            self.pool.retain(block);
        }
        let stands_in = found.first().copied().unwrap_or(0);
        let mut blocks = vec![stands_in; seen];
        blocks.extend(found);
        WindowTable {
            blocks,
            first: seen,
        }
    }

    /// Makes the content of a full block findable.
    pub(super) fn publish(&mut self, block: BlockId, name: BlockHash) {
        if self.pool.publish(block, name) && self.pinned.contains(&name) {
            self.pool.retain(block);
        }
    }

    /// Gives back the blocks that no further query sees, once `computed` tokens are: the last of them may be computed again.
    pub(super) fn give_back(&mut self, table: &mut WindowTable, computed: usize) {
        let seen = self.first_seen(computed.saturating_sub(1));
        let first = seen.min(table.blocks.len().saturating_sub(1));
        if first <= table.first {
            return;
        }
        self.pool
            .release_all(table.blocks[table.first..first].iter().copied());
        table.first = first;
        let stands_in = table.blocks[first];
        table.blocks[..first].fill(stands_in);
    }

    /// Takes back all blocks of a sequence; where a step of it is in flight, once that is done.
    pub(super) fn take_back(&mut self, table: WindowTable, in_flight: bool) {
        if in_flight {
            self.leaving.extend(table.used());
        } else {
            self.pool.release_all(table.used());
        }
    }

    /// Blocks of sequences that have finished already.
    pub(super) fn take_leaving(&mut self) -> Vec<BlockId> {
        std::mem::take(&mut self.leaving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: u32) -> Vec<BlockHash> {
        let tokens: Vec<u32> = (0..count).collect();
        BlockHash::chain_all(None, &tokens, 1)
    }

    fn pool(window: usize, blocks: usize, block_size: usize) -> WindowedPool {
        let other = BlockPool::new(1, block_size, true);
        WindowedPool::new(WindowedCache { window, blocks }, &other, &[])
    }

    /// Keys and values of gemma-4-31B and of Gemma 3 27B in bf16, and what a sequence of 4,096 tokens keeps of them.
    #[test]
    fn a_sequence_keeps_its_window_alone() {
        const CHUNK: usize = 512;
        for (name, full, windowed, most) in [
            ("gemma-4-31b", 80 << 10, 800 << 10, 1.25),
            ("gemma-3-27b", 80 << 10, 416 << 10, 0.75),
        ] {
            let mut pool = pool(1024, 400, 16);
            let mut table = WindowTable::default();
            let mut peak = 0;
            for end in (CHUNK..=4096).step_by(CHUNK) {
                while table.blocks.len() * 16 < end {
                    table.blocks.push(pool.pool.allocate().unwrap());
                }
                peak = peak.max(pool.pool.len() - pool.pool.free());
                pool.give_back(&mut table, end);
            }
            let used = pool.pool.len() - pool.pool.free();
            let gib =
                |blocks: usize| (blocks * 16 * windowed + 4096 * full) as f64 / f64::from(1 << 30);
            assert!(gib(used) <= most, "{name}: {} GiB", gib(used));
            assert!(gib(4096 / 16) > 1.6 * most, "{name}");
            assert!(
                peak <= used + CHUNK / 16 && peak <= pool.most_used(4096, CHUNK),
                "{name}: {peak}"
            );
            pool.take_back(table, false);
            assert_eq!(pool.pool.free(), 400);
            // Under asynchronous scheduling a chunk is planned while the one before it is in flight.
            let (mut table, mut peak) = (WindowTable::default(), 0);
            for end in (CHUNK..=4096).step_by(CHUNK) {
                while table.blocks.len() * 16 < end {
                    table.blocks.push(pool.pool.allocate().unwrap());
                }
                peak = peak.max(pool.pool.len() - pool.pool.free());
                pool.give_back(&mut table, end - CHUNK);
            }
            let most = |in_flight| pool.most_used(4096, in_flight);
            assert!(
                peak > most(CHUNK) && peak <= most(2 * CHUNK),
                "{name}: {peak}"
            );
        }
    }

    /// A query sees its own key and those right before it; whatever is computed next, or again, has all its keys.
    #[test]
    fn what_the_next_token_sees_stays() {
        for window in 1..20 {
            for block_size in 1..6 {
                let mut pool = pool(window, 60, block_size);
                let mut table = WindowTable::default();
                for computed in 1..40usize {
                    while table.blocks.len() * block_size < computed {
                        table.blocks.push(pool.pool.allocate().unwrap());
                    }
                    pool.give_back(&mut table, computed);
                    let query = computed - 1;
                    let seen = (query + 1).saturating_sub(window)..=query;
                    assert!(seen.clone().all(|key| key / block_size >= table.first));
                    // And no block more.
                    assert!(table.first == seen.start() / block_size);
                    let used = table.blocks.len() - table.first;
                    assert_eq!(pool.pool.len() - pool.pool.free(), used);
                }
            }
        }
    }

    #[test]
    fn a_prefix_is_gone_on_from_where_its_last_window_is_held() {
        let names = names(12);
        let mut pool = pool(4, 12, 1);
        let blocks: Vec<BlockId> = names
            .iter()
            .map(|&name| {
                let block = pool.pool.allocate().unwrap();
                pool.publish(block, name);
                block
            })
            .collect();
        assert_eq!(pool.reusable(&names), 12);
        // The fifth is lost: what sees it must be computed again.
        pool.pool.release(blocks[4]);
        assert!(pool.pool.allocate().is_some());
        assert_eq!(pool.reusable(&names), 12);
        assert_eq!(pool.reusable(&names[..8]), 8);
        assert_eq!(pool.reusable(&names[..7]), 4);
        assert_eq!(pool.reusable(&names[..5]), 4);
        let table = pool.table(&names[..8]);
        assert_eq!((table.first, table.blocks.len()), (5, 8));
        assert_eq!(table.blocks[0], table.blocks[5]);
        assert_eq!(table.blocks[5..], blocks[5..8]);
    }
}
