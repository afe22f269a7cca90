//! Slots of recurrent states: live ones of running sequences, and snapshots.
//!
//! A model with recurrent layers (Gated `DeltaNet` and its like) keeps one state of fixed size for each running sequence, beside
//! the keys and values of its attention layers. A state cannot go back, and a prefix is of no use without the state at its end:
//! so the state is copied to a snapshot where others may go on from it, named by the hash of the block that ends there.
//! Snapshots stay until their slot is needed, least recently used first; pinned ones stay for good.

use std::collections::HashMap;

use super::block_pool::BlockHash;

/// A slot's number, from 0 to the pool's size.
pub(super) type StateId = u32;

/// So many snapshots beside the live states: these, and one for so many sequences.
const SNAPSHOTS: usize = 4;
const SEQUENCES_PER_SNAPSHOT: usize = 8;

/// The slots of an engine that runs up to `sequences` sequences at once.
pub(crate) fn slots_for(sequences: usize) -> usize {
    sequences + SNAPSHOTS + sequences / SEQUENCES_PER_SNAPSHOT
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Free,
    Live,
    /// A launched or planned step copies a state there.
    Saving,
    Snapshot {
        name: BlockHash,
        /// Sequences that start from it in a step that was not launched yet.
        readers: u32,
        pinned: bool,
        /// When it was last found, in uses of the pool.
        used: u64,
    },
}

#[derive(Debug)]
pub(super) struct StatePool {
    slots: Vec<Slot>,
    snapshots: HashMap<BlockHash, StateId>,
    pinned: usize,
    uses: u64,
}

impl StatePool {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots: vec![Slot::Free; slots],
            snapshots: HashMap::new(),
            pinned: 0,
            uses: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The snapshot of this name, without using it.
    pub(super) fn find(&self, name: BlockHash) -> Option<StateId> {
        self.snapshots.get(&name).copied()
    }

    /// A slot for a running sequence's state: a free one, else the least recently used snapshot's, whose content is lost.
    pub(super) fn take_live(&mut self) -> Option<StateId> {
        let slot = self.take()?;
        self.slots[slot as usize] = Slot::Live;
        Some(slot)
    }

    /// A slot to copy a state to that will be named so. `None` if there is a snapshot of that name, or no slot.
    pub(super) fn take_saving(&mut self, name: BlockHash) -> Option<StateId> {
        if self.snapshots.contains_key(&name) {
            return None;
        }
        let slot = self.take()?;
        self.slots[slot as usize] = Slot::Saving;
        Some(slot)
    }

    fn take(&mut self) -> Option<StateId> {
        // The first free one, so that memory which is taken up on first use is used again.
        let free = self.slots.iter().position(|slot| *slot == Slot::Free);
        let slot = free.or_else(|| {
            let unused = |(index, slot): (usize, &Slot)| match *slot {
                Slot::Snapshot {
                    readers: 0,
                    pinned: false,
                    used,
                    ..
                } => Some((used, index)),
                _ => None,
            };
            let oldest = self.slots.iter().enumerate().filter_map(unused).min();
            oldest.map(|(_, index)| index)
        })?;
        if let Slot::Snapshot { name, .. } = self.slots[slot] {
            self.snapshots.remove(&name);
        }
        Some(slot as StateId)
    }

    /// Makes a slot that was saved to a snapshot, now that the step is done; the slot is free again if there is one of that
    /// name. One is pinned only where two slots are left to work with.
    pub(super) fn publish(&mut self, slot: StateId, name: BlockHash, pin: bool) {
        debug_assert_eq!(self.slots[slot as usize], Slot::Saving);
        if self.snapshots.contains_key(&name) {
            self.free(slot);
            return;
        }
        let pinned = pin && self.pinned + 3 <= self.slots.len();
        self.pinned += usize::from(pinned);
        self.uses += 1;
        self.slots[slot as usize] = Slot::Snapshot {
            name,
            readers: 0,
            pinned,
            used: self.uses,
        };
        self.snapshots.insert(name, slot);
    }

    /// Keeps a snapshot until a step that starts from it was launched.
    pub(super) fn retain(&mut self, snapshot: StateId) {
        self.uses += 1;
        if let Slot::Snapshot { readers, used, .. } = &mut self.slots[snapshot as usize] {
            *readers += 1;
            *used = self.uses;
        }
    }

    pub(super) fn release(&mut self, snapshot: StateId) {
        if let Slot::Snapshot { readers, .. } = &mut self.slots[snapshot as usize] {
            debug_assert!(*readers > 0, "snapshot {snapshot} released too often");
            *readers = readers.saturating_sub(1);
        }
    }

    /// Frees a live slot, or one that is not saved to after all.
    pub(super) fn free(&mut self, slot: StateId) {
        debug_assert!(matches!(
            self.slots[slot as usize],
            Slot::Live | Slot::Saving
        ));
        self.slots[slot as usize] = Slot::Free;
    }

    /// Frees the slots that launched steps save to: their results are given up.
    pub(super) fn free_saving(&mut self) {
        for slot in &mut self.slots {
            if *slot == Slot::Saving {
                *slot = Slot::Free;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(number: u32) -> BlockHash {
        BlockHash::chain(None, &[number])
    }

    fn snapshot(pool: &mut StatePool, number: u32, pin: bool) -> StateId {
        let slot = pool.take_saving(name(number)).unwrap();
        pool.publish(slot, name(number), pin);
        slot
    }

    #[test]
    fn the_least_recently_used_snapshot_goes_first_and_one_in_use_never() {
        let mut pool = StatePool::new(4);
        let slots: Vec<_> = (0..4)
            .map(|number| snapshot(&mut pool, number, number == 0))
            .collect();
        pool.retain(slots[1]);
        pool.retain(slots[2]);
        pool.release(slots[1]);
        // 3 was not used since it was taken; 1 is unused again; 2 is in use, and 0 pinned.
        assert_eq!(pool.take_live(), Some(slots[3]));
        assert_eq!(pool.find(name(3)), None);
        assert_eq!(pool.take_saving(name(1)), None, "there is one");
        assert_eq!(pool.take_live(), Some(slots[1]));
        assert_eq!(pool.take_live(), None);
        pool.release(slots[2]);
        assert_eq!(pool.take_saving(name(9)), Some(slots[2]));
        assert_eq!(pool.find(name(0)), Some(slots[0]));
    }

    #[test]
    fn pins_leave_two_slots_to_work_with() {
        let mut pool = StatePool::new(3);
        for number in 0..3 {
            snapshot(&mut pool, number, true);
        }
        assert!(pool.take_live().is_some() && pool.take_live().is_some());
        assert_eq!(pool.take_live(), None);
        assert!(pool.find(name(0)).is_some());
    }

    proptest! {
        #[test]
        fn no_slot_is_lost_or_handed_out_twice(slots in 1..7usize, actions in prop::collection::vec((0..7u8, any::<u32>()), 0..200)) {
            let mut pool = StatePool::new(slots);
            let (mut live, mut saving, mut read) = (Vec::new(), Vec::new(), Vec::new());
            for (action, number) in actions {
                let (which, pick) = (name(number % 5), number as usize);
                match action {
                    0 => live.extend(pool.take_live()),
                    1 | 2 => saving.extend(pool.take_saving(which).map(|slot| (slot, which))),
                    3 if !live.is_empty() => pool.free(live.swap_remove(pick % live.len())),
                    4 if !saving.is_empty() => {
                        let (slot, which) = saving.swap_remove(pick % saving.len());
                        pool.publish(slot, which, number % 3 == 0);
                    }
                    5 => if let Some(slot) = pool.find(which) {
                        pool.retain(slot);
                        read.push((slot, which));
                    },
                    6 if !read.is_empty() => pool.release(read.swap_remove(pick % read.len()).0),
                    _ => {}
                }
                for (slot, which) in &read {
                    prop_assert_eq!(pool.find(*which), Some(*slot), "a snapshot in use is gone");
                }
                let mut used: Vec<StateId> = live.iter().copied().chain(saving.iter().map(|(slot, _)| *slot)).collect();
                used.extend(pool.snapshots.values());
                let all = used.len();
                used.sort_unstable();
                used.dedup();
                prop_assert_eq!(used.len(), all, "a slot is used twice");
                let free = pool.slots.iter().filter(|slot| **slot == Slot::Free).count();
                prop_assert_eq!(all + free, slots);
                for (name, slot) in &pool.snapshots {
                    let is_named = matches!(&pool.slots[*slot as usize], Slot::Snapshot { name: own, .. } if own == name);
                    prop_assert!(is_named);
                }
            }
            saving.clear();
            pool.free_saving();
            prop_assert!(!pool.slots.contains(&Slot::Saving));
        }
    }
}
