//! A judge's own solutions of the questions, which it sees beside the reference.

use std::borrow::Cow;
use std::collections::HashMap;

use juror_data::Sample;

/// What stands between a reference and a solution.
const BETWEEN: &str = "\n\n(The grader's own solution, written before the response was seen; where it contradicts the reference, \
                       the reference counts:)\n";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnSolutions {
    by_question: HashMap<u64, String>,
    /// Of all solutions; it is in the manifest, since other solutions give other verdicts.
    hash: String,
}

impl OwnSolutions {
    /// Takes solutions, each with the hash of its question ([`Sample::question_hash`]).
    pub fn new(solutions: impl IntoIterator<Item = (u64, String)>) -> Self {
        let by_question: HashMap<u64, String> = solutions.into_iter().collect();
        let mut sorted: Vec<_> = by_question.iter().collect();
        sorted.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for (question, solution) in sorted {
            hasher.update(&question.to_le_bytes());
            hasher.update(&(solution.len() as u64).to_le_bytes());
            hasher.update(solution.as_bytes());
        }
        let hash = hasher.finalize().to_hex()[..16].to_owned();
        Self { by_question, hash }
    }

    pub fn count(&self) -> usize {
        self.by_question.len()
    }

    /// Bytes by which they make a reference longer, at most.
    pub(crate) fn longest(&self) -> usize {
        let longest = self.by_question.values().map(String::len).max();
        longest.map_or(0, |longest| BETWEEN.len() + longest)
    }

    pub(crate) fn hash(&self) -> &str {
        &self.hash
    }

    /// The sample as the judge sees it. The rules see the reference alone.
    pub(crate) fn shown<'s>(&self, sample: &'s Sample) -> Cow<'s, Sample> {
        let Some(solution) = self.by_question.get(&sample.question_hash()) else {
            return Cow::Borrowed(sample);
        };
        let reference = &sample.reference_answer;
        Cow::Owned(Sample {
            reference_answer: format!("{reference}{BETWEEN}{solution}"),
            ..sample.clone()
        })
    }
}
