//! Access to samples by their position, wherever they are kept.

use super::error::DatasetError;
use super::sample::Sample;

/// What is known of a sample without fetching it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// [`Sample::index`].
    pub index: usize,
    /// A hash of [`Sample::id`].
    pub id: u64,
    /// A hash of the question: equal for equal questions.
    pub question: u64,
    /// The length of question, reference answer and response together, in bytes.
    pub bytes: usize,
    /// The memory that the sample takes up once it is fetched, in bytes, approximately: its texts and its row's kept values.
    pub memory: usize,
}

/// The samples of a run, in the order of their indices: in memory, or in files and read when needed ([`Rows`]).
///
/// A position counts the samples of this run from 0; it is the index unless the run is one shard of an input.
///
/// [`Rows`]: super::Rows
pub trait Samples: Sync {
    fn count(&self) -> usize;

    /// What is known of the sample at `position` (less than [`Self::count`]).
    fn outline(&self, position: usize) -> Outline;

    /// The samples at `positions`, in that order.
    fn fetch(&self, positions: &[usize]) -> Result<Vec<Sample>, DatasetError>;

    fn position(&self, index: usize) -> Option<usize> {
        // Without shards, index and position are the same.
        if index < self.count() && self.outline(index).index == index {
            return Some(index);
        }
        let (mut from, mut to) = (0, self.count());
        while from < to {
            let middle = from.midpoint(to);
            match self.outline(middle).index.cmp(&index) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }
}

impl Samples for [Sample] {
    fn count(&self) -> usize {
        self.len()
    }

    fn outline(&self, position: usize) -> Outline {
        let sample = &self[position];
        Outline {
            index: sample.index,
            id: sample.id_hash(),
            question: sample.question_hash(),
            bytes: sample.bytes(),
            memory: sample.memory(),
        }
    }

    fn fetch(&self, positions: &[usize]) -> Result<Vec<Sample>, DatasetError> {
        let sample = |&position: &usize| self[position].clone();
        Ok(positions.iter().map(sample).collect())
    }
}
