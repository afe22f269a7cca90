//! The lists of work for one window, and the words that kernels read.

use std::ops::Range;

use super::{ITEM_WORDS, MERGE_WORDS, Section, WindowPlan};

/// Items, merges and pairs for one window.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// How many keys a query sees; `None` for all.
    pub(super) window: Option<usize>,
    pub(super) prefill: Vec<Item>,
    pub(super) decode: Vec<Item>,
    pub(super) merges: Vec<[u32; MERGE_WORDS]>,
    pub(super) pairs: Vec<[u32; 2]>,
    /// The number of scratch slots for all parts.
    pub(super) slots: usize,
}

/// Fields as in `kernels/attention.md`; `query` of a gathered item counts from the first pair, whose place is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) query: usize,
    pub(super) rows: Range32,
    pub(super) seen: usize,
    pub(super) keys: Range32,
    pub(super) table: usize,
    pub(super) slot: u32,
    pub(super) slot_stride: usize,
    pub(super) gathered: bool,
}

/// A half-open range that is `Copy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range32 {
    begin: u32,
    end: u32,
}

impl Range32 {
    pub(super) fn new(range: &Range<usize>) -> Self {
        Self {
            begin: range.start as u32,
            end: range.end as u32,
        }
    }

    fn len(self) -> u32 {
        self.end - self.begin
    }
}

/// Sections begin at multiples of 16 bytes, as kernels read them.
const ALIGNMENT: usize = 4;

impl Lists {
    pub(super) fn write(mut self, words: &mut Vec<u32>) -> WindowPlan {
        // The longest items first, so that the short ones fill the gaps at the end. The sort is stable.
        for items in [&mut self.prefill, &mut self.decode] {
            items.sort_by_key(|item| std::cmp::Reverse(item.keys.len()));
        }
        words.resize(words.len().next_multiple_of(ALIGNMENT), 0);
        let prefill = Section {
            offset: words.len(),
            count: self.prefill.len(),
        };
        let decode = Section {
            offset: prefill.offset + prefill.count * ITEM_WORDS,
            count: self.decode.len(),
        };
        let merges = Section {
            offset: decode.offset + decode.count * ITEM_WORDS,
            count: self.merges.len(),
        };
        let pairs = merges.offset + merges.count * MERGE_WORDS;
        words.reserve(pairs + 2 * self.pairs.len() - words.len());
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
                item.table as u32,
                item.slot,
                item.slot_stride as u32,
                u32::from(item.gathered),
                // Members of groups see all keys that they are gathered for.
                self.window
                    .filter(|_| !item.gathered)
                    .map_or(u32::MAX, |keys| keys as u32),
                0,
            ]);
        }
        words.extend(self.merges.as_flattened());
        words.extend(self.pairs.as_flattened());
        WindowPlan {
            window: self.window,
            prefill,
            decode,
            merges,
            slots: self.slots,
        }
    }
}
