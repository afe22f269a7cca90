//! Samples found by their ids, and by the ids of rows that hold one sample alone.
//!
//! A row whose only response is in a list (`responses: ["…"]`, the `resps` of lm-evaluation-harness) has a sample `7:0` of the group `7`.
//! Labels and verdicts that were made elsewhere often have the row's id, `7`.

use std::collections::HashMap;

use super::sample::id_hash;
use super::verdict_lines::VerdictLine;

#[derive(Debug, Default)]
pub struct Places {
    of_ids: HashMap<u64, u32>,
    /// By the row's id; `None` where the row has several samples.
    of_rows: HashMap<u64, Option<u32>>,
}

impl Places {
    /// Adds a sample, with the id of its row if it is of a list of responses.
    pub fn add(&mut self, id: &str, group: Option<&str>, place: u32) {
        self.of_ids.insert(id_hash(id), place);
        if let Some(group) = group {
            let only = self.of_rows.entry(id_hash(group));
            only.and_modify(|only| *only = None).or_insert(Some(place));
        }
    }

    /// The place of the sample of this id.
    pub fn own(&self, id: &str) -> Option<u32> {
        self.of_ids.get(&id_hash(id)).copied()
    }

    /// The place of the sample of this id, or else of the only sample of the row of this id.
    pub fn get(&self, id: &str) -> Option<u32> {
        let of_row = || self.of_rows.get(&id_hash(id)).copied().flatten();
        self.own(id).or_else(of_row)
    }
}

/// Verdicts on samples whose rows' ids are known here as those of samples: each counts for that sample if it is the only one of its row.
#[derive(Debug)]
pub struct OfRows<T>(HashMap<u32, OfRow<T>>);

#[derive(Debug)]
struct OfRow<T> {
    id: String,
    /// The ids of other samples of the row that have verdicts.
    others: usize,
    verdicts: Vec<T>,
}

impl<T> Default for OfRows<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> OfRows<T> {
    /// Keeps a verdict on a sample that is not known, if its row is; `make` makes what is kept for the known place.
    pub fn keep(
        &mut self,
        line: &VerdictLine,
        places: &Places,
        make: impl FnOnce(u32) -> T,
    ) -> bool {
        let group = line.group.as_deref();
        let Some(place) = group.and_then(|group| places.own(group)) else {
            return false;
        };
        let row = self.0.entry(place).or_insert_with(|| OfRow {
            id: line.id.to_string(),
            others: 0,
            verdicts: Vec::new(),
        });
        row.others += usize::from(row.id != line.id);
        row.verdicts.push(make(place));
        true
    }

    /// The verdicts on samples that are the only ones of their rows; and for each other row the id of a sample and the number of verdicts.
    pub fn settled(self) -> (Vec<T>, Vec<(String, usize)>) {
        let (mut only, mut others) = (Vec::new(), Vec::new());
        for row in self.0.into_values() {
            if row.others == 0 {
                only.extend(row.verdicts);
            } else {
                others.push((row.id, row.verdicts.len()));
            }
        }
        others.sort_unstable();
        (only, others)
    }
}
