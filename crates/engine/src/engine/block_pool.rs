//! The KV cache's blocks: which are in use, which hold known content, which may be reused.
//!
//! A block is `block_size` consecutive token positions of one sequence, in every layer. A full block is named by the hash of
//! its own tokens chained to its predecessor's hash, so equal hashes mean equal whole prefixes and the block can be shared
//! (the scheme of vLLM's automatic prefix caching). Unused blocks stay findable until they are allocated again: eviction takes the least
//! recently used first.
//!
//! If blocks take up memory only as they are first used, a pool that handed out every block once before it reused any would
//! end up taking all its memory for content that is hardly ever found again. Such a pool keeps a bounded number of unused
//! blocks, and then reuses them first.

use std::collections::HashMap;
use std::ops::Range;

/// A block's number, from 0 to the pool's size.
pub type BlockId = u32;

/// The name of a full block's content: its tokens and everything before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockHash([u8; 16]);

impl BlockHash {
    /// The root of the hash chain for sequences computed as long ones: with another rotary encoding, their keys and values
    /// differ from those of short sequences with the same tokens.
    pub(crate) const LONG: Self = Self([0xff; 16]);

    /// The name of the block holding `tokens` after the block named `parent`.
    ///
    /// 128 bits of a cryptographic hash: text under judgement cannot be made to collide with another's prefix.
    pub(crate) fn chain(parent: Option<Self>, tokens: &[u32]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&parent.map_or([0; 16], |hash| hash.0));
        for token in tokens {
            hasher.update(&token.to_le_bytes());
        }
        let mut name = [0; 16];
        name.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(name)
    }

    /// The names of all full blocks of `tokens`, in order; `root` is what the first one is chained to.
    pub fn chain_all(root: Option<Self>, tokens: &[u32], block_size: usize) -> Vec<Self> {
        let mut parent = root;
        tokens
            .chunks_exact(block_size)
            .map(|block| {
                let hash = Self::chain(parent, block);
                parent = Some(hash);
                hash
            })
            .collect()
    }
}

/// No neighbour in the free list.
const NONE: BlockId = BlockId::MAX;

#[derive(Debug, Clone, Copy)]
struct Block {
    /// Users of the block: sequences, and pins.
    references: u32,
    /// Set while the content is findable.
    hash: Option<BlockHash>,
    /// Neighbours in the free list; meaningful while `references` is 0.
    previous: BlockId,
    next: BlockId,
}

/// Reference-counted blocks with a prefix cache.
///
/// Every block is in exactly one of three states: used (`references > 0`), free and in the free list, or untouched: never
/// handed out. The list is in the order of reuse: first blocks whose content is not cached, then by last use.
#[derive(Debug)]
pub struct BlockPool {
    blocks: Vec<Block>,
    block_size: usize,
    cached: HashMap<BlockHash, BlockId>,
    first_free: BlockId,
    last_free: BlockId,
    /// Blocks in the free list.
    listed: usize,
    untouched: Range<BlockId>,
    /// The most blocks in use at once so far.
    most_used: usize,
    retired: usize,
    caching: bool,
    lazy: bool,
}

/// How many unused blocks a lazy pool keeps for their content before it reuses them: this fraction of all its blocks, or of
/// the most that were in use at once, whichever is more.
const KEPT_OF_ALL: usize = 16;
const KEPT_OF_USED: usize = 2;

impl BlockPool {
    /// `blocks` blocks of `block_size` token positions; without `caching` no content is ever found again.
    pub fn new(blocks: usize, block_size: usize, caching: bool) -> Self {
        Self {
            blocks: vec![
                Block {
                    references: 0,
                    hash: None,
                    previous: NONE,
                    next: NONE
                };
                blocks
            ],
            block_size,
            cached: HashMap::new(),
            first_free: NONE,
            last_free: NONE,
            listed: 0,
            untouched: 0..blocks as BlockId,
            most_used: 0,
            retired: 0,
            caching,
            lazy: false,
        }
    }

    /// Sets whether a block takes up memory only from its first use on. A lazy pool reuses unused blocks before it hands out
    /// untouched ones, once more lie unused than a sixteenth of the pool and half of the most that were in use at once.
    #[must_use]
    pub(crate) fn lazy(self, lazy: bool) -> Self {
        Self { lazy, ..self }
    }

    pub(crate) fn block_size(&self) -> usize {
        self.block_size
    }

    /// All blocks that were not retired.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len() - self.retired
    }

    /// Whether the pool caches prefixes: the content of full blocks can be found again.
    pub(crate) fn caching(&self) -> bool {
        self.caching
    }

    /// Whether a block takes up memory only from its first use on: see [`Self::lazy`].
    pub(crate) fn is_lazy(&self) -> bool {
        self.lazy
    }

    /// Blocks that [`Self::allocate`] could hand out now.
    pub(crate) fn free(&self) -> usize {
        self.listed + self.untouched.len()
    }

    /// Blocks that were ever handed out; in a lazy pool only these take up memory.
    pub(crate) fn touched(&self) -> usize {
        self.untouched.start as usize
    }

    /// How many blocks `tokens` tokens need.
    pub(crate) fn blocks_for(&self, tokens: usize) -> usize {
        tokens.div_ceil(self.block_size)
    }

    /// Takes a block that was never used, or else the least recently used free one, whose content is lost. `None` when all blocks are in use.
    pub fn allocate(&mut self) -> Option<BlockId> {
        let block = if self.reuses() {
            self.take_listed()
        } else {
            self.untouched.next().or_else(|| self.take_listed())
        }?;
        self.blocks[block as usize].references = 1;
        self.note_used();
        Some(block)
    }

    /// Whether a block of the free list is to be taken before an untouched one.
    fn reuses(&self) -> bool {
        if self.first_free == NONE {
            return false;
        }
        let kept = || (self.blocks.len() / KEPT_OF_ALL).max(self.most_used / KEPT_OF_USED);
        // The first block of the list holds no cached content, so reusing it loses nothing.
        let keeps_nothing = self.blocks[self.first_free as usize].hash.is_none();
        keeps_nothing || (self.lazy && self.listed > kept())
    }

    /// Takes the first block of the free list.
    fn take_listed(&mut self) -> Option<BlockId> {
        let block = self.first_free;
        if block == NONE {
            return None;
        }
        self.unlink(block);
        if let Some(hash) = self.blocks[block as usize].hash.take() {
            self.cached.remove(&hash);
        }
        Some(block)
    }

    fn note_used(&mut self) {
        self.most_used = self.most_used.max(self.len() - self.free());
    }

    /// Takes up to `count` free blocks out of use for good, untouched ones first; returns how many there were.
    pub(crate) fn retire(&mut self, count: usize) -> usize {
        let mut retired = 0;
        while retired < count
            && let Some(block) = self.untouched.next_back().or_else(|| self.take_listed())
        {
            self.blocks[block as usize].references = 1;
            retired += 1;
        }
        self.retired += retired;
        retired
    }

    /// Finds the block that holds the content named `hash`, without using it.
    pub fn find(&self, hash: BlockHash) -> Option<BlockId> {
        self.cached.get(&hash).copied()
    }

    /// Whether the block has no user.
    pub(crate) fn is_free(&self, block: BlockId) -> bool {
        self.blocks[block as usize].references == 0
    }

    /// Adds one user to a block that was found.
    pub(crate) fn retain(&mut self, block: BlockId) {
        if self.is_free(block) {
            self.unlink(block);
        }
        self.blocks[block as usize].references += 1;
        self.note_used();
    }

    /// Takes one user from a block; with the last one it becomes free, and its content stays findable until it is reused.
    pub fn release(&mut self, block: BlockId) {
        let entry = &mut self.blocks[block as usize];
        debug_assert!(
            entry.references > 0,
            "block {block} released more often than used"
        );
        entry.references = entry.references.saturating_sub(1);
        if entry.references == 0 {
            if entry.hash.is_some() {
                self.push_last(block);
            } else {
                self.push_first(block);
            }
        }
    }

    /// Takes one user from each block, in order.
    pub(crate) fn release_all(&mut self, blocks: impl IntoIterator<Item = BlockId>) {
        for block in blocks {
            self.release(block);
        }
    }

    /// Makes the content of a used, full and computed block findable. Returns whether the block now holds the name: not if
    /// caching is off, or if another block already holds equal content.
    pub fn publish(&mut self, block: BlockId, hash: BlockHash) -> bool {
        if !self.caching || self.cached.contains_key(&hash) {
            return false;
        }
        debug_assert!(!self.is_free(block), "block {block} published while free");
        self.blocks[block as usize].hash = Some(hash);
        self.cached.insert(hash, block);
        true
    }

    fn push_last(&mut self, block: BlockId) {
        let last = self.last_free;
        self.blocks[block as usize].previous = last;
        self.blocks[block as usize].next = NONE;
        if last == NONE {
            self.first_free = block;
        } else {
            self.blocks[last as usize].next = block;
        }
        self.last_free = block;
        self.listed += 1;
    }

    fn push_first(&mut self, block: BlockId) {
        let first = self.first_free;
        self.blocks[block as usize].previous = NONE;
        self.blocks[block as usize].next = first;
        if first == NONE {
            self.last_free = block;
        } else {
            self.blocks[first as usize].previous = block;
        }
        self.first_free = block;
        self.listed += 1;
    }

    fn unlink(&mut self, block: BlockId) {
        let Block { previous, next, .. } = self.blocks[block as usize];
        if previous == NONE {
            self.first_free = next;
        } else {
            self.blocks[previous as usize].next = next;
        }
        if next == NONE {
            self.last_free = previous;
        } else {
            self.blocks[next as usize].previous = previous;
        }
        self.listed -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl BlockPool {
        /// Checks that every block is in exactly one state and the cache names only what blocks hold.
        fn check(&self) {
            let mut seen = vec![false; self.blocks.len()];
            let (mut block, mut previous, mut count) = (self.first_free, NONE, 0);
            while block != NONE {
                assert!(
                    !seen[block as usize],
                    "block {block} is in the free list twice"
                );
                seen[block as usize] = true;
                assert_eq!(
                    self.blocks[block as usize].references, 0,
                    "block {block} is used and free"
                );
                assert_eq!(self.blocks[block as usize].previous, previous);
                (previous, block, count) = (block, self.blocks[block as usize].next, count + 1);
            }
            assert_eq!(previous, self.last_free);
            assert_eq!(count, self.listed);
            for (index, block) in self.blocks.iter().enumerate() {
                let is_free = seen[index] != self.untouched.contains(&(index as BlockId));
                assert_eq!(block.references == 0, is_free, "block {index} is lost");
                if let Some(hash) = block.hash {
                    assert_eq!(self.cached.get(&hash), Some(&(index as BlockId)));
                }
            }
            assert_eq!(
                self.cached.len(),
                self.blocks
                    .iter()
                    .filter(|block| block.hash.is_some())
                    .count()
            );
        }
    }

    fn name(number: u32) -> BlockHash {
        BlockHash::chain(None, &[number])
    }

    #[test]
    fn a_hash_names_the_whole_prefix() {
        let one = BlockHash::chain_all(None, &[1, 2, 3, 4, 5], 2);
        let other = BlockHash::chain_all(None, &[9, 2, 3, 4, 5], 2);
        assert_eq!(one.len(), 2);
        assert_ne!(
            one[1], other[1],
            "same tokens after another beginning are other content"
        );
    }

    #[test]
    fn content_is_found_until_its_block_is_needed_least_recently_used_first() {
        let mut pool = BlockPool::new(3, 4, true);
        let blocks: Vec<_> = (0..3).filter_map(|_| pool.allocate()).collect();
        assert_eq!(pool.allocate(), None);
        for (number, &block) in blocks.iter().enumerate() {
            assert!(pool.publish(block, name(number as u32)));
        }
        for &block in &[blocks[1], blocks[0], blocks[2]] {
            pool.release(block);
        }
        assert_eq!(pool.find(name(1)), Some(blocks[1]));
        pool.retain(blocks[1]);
        pool.release(blocks[1]);
        // 0 was used longest ago, then 2, then 1 (just used again).
        assert_eq!(pool.allocate(), Some(blocks[0]));
        assert_eq!(pool.find(name(0)), None);
        assert_eq!(pool.allocate(), Some(blocks[2]));
        assert_eq!(pool.find(name(1)), Some(blocks[1]));
    }

    #[test]
    fn a_lazy_pool_touches_no_more_than_half_as_many_blocks_again_as_were_in_use() {
        let touched = |lazy: bool| {
            let mut pool = BlockPool::new(1600, 4, true).lazy(lazy);
            let mut running = std::collections::VecDeque::new();
            // At most 40 sequences of 10 blocks at once, of 300.
            for sequence in 0..300 {
                let blocks: Vec<_> = (0..10).filter_map(|_| pool.allocate()).collect();
                for (at, &block) in blocks.iter().enumerate() {
                    pool.publish(block, name(sequence * 10 + at as u32));
                }
                running.push_back(blocks);
                if running.len() == 40 {
                    pool.release_all(running.pop_front().unwrap());
                }
                pool.check();
            }
            // The blocks that became unused last are still cached.
            assert!(pool.find(name(259 * 10)).is_some());
            pool.touched()
        };
        assert_eq!(touched(false), 1600);
        assert_eq!(touched(true), 400 + 200);
    }

    #[test]
    fn without_caching_nothing_is_found() {
        let mut pool = BlockPool::new(2, 4, false);
        let block = pool.allocate().unwrap();
        assert!(!pool.publish(block, name(1)));
        assert_eq!(pool.find(name(1)), None);
    }

    #[derive(Debug, Clone)]
    enum Action {
        Allocate,
        Retire(usize),
        Release(usize),
        Publish(usize, u32),
        Reuse(u32),
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            5 => Just(Action::Allocate),
            1 => (0..3usize).prop_map(Action::Retire),
            5 => any::<usize>().prop_map(Action::Release),
            5 => (any::<usize>(), 0..12u32).prop_map(|(held, number)| Action::Publish(held, number)),
            5 => (0..12u32).prop_map(Action::Reuse),
        ]
    }

    proptest! {
        #[test]
        fn no_block_is_lost_or_handed_out_twice(blocks in 1..9usize, lazy: bool, actions in prop::collection::vec(action(), 0..200)) {
            let mut pool = BlockPool::new(blocks, 4, true).lazy(lazy);
            let mut held: Vec<BlockId> = Vec::new();
            for action in actions {
                match action {
                    Action::Allocate => {
                        if let Some(block) = pool.allocate() {
                            prop_assert!(!held.contains(&block));
                            held.push(block);
                        } else {
                            prop_assert_eq!(pool.free(), 0);
                        }
                    }
                    Action::Retire(count) => {
                        let (all, free) = (pool.len(), pool.free());
                        let retired = pool.retire(count);
                        prop_assert_eq!(retired, count.min(free));
                        prop_assert_eq!((pool.len(), pool.free()), (all - retired, free - retired));
                    }
                    Action::Release(which) if !held.is_empty() => {
                        let block = held.swap_remove(which % held.len());
                        pool.release(block);
                    }
                    Action::Publish(which, number) if !held.is_empty() => {
                        let block = held[which % held.len()];
                        // A block is published once, when it becomes full.
                        if pool.blocks[block as usize].hash.is_none() {
                            pool.publish(block, name(number));
                        }
                    }
                    Action::Reuse(number) => if let Some(block) = pool.find(name(number)) {
                        pool.retain(block);
                        held.push(block);
                    },
                    _ => {}
                }
                pool.check();
                let mut distinct = held.clone();
                distinct.sort_unstable();
                distinct.dedup();
                prop_assert_eq!(pool.free() + distinct.len(), pool.len());
            }
        }
    }
}
