//! How long prompts and completions will be.

use rayon::prelude::*;

use crate::judge::jobs::{self, Job};
use crate::judge::{JudgeText, guarded};
use crate::wire::BYTES_PER_TOKEN;
use juror_data::{DatasetError, Samples};

/// Tokens of a prompt beside template and texts, at most; and of a typical one beside the template, where the texts are not known.
const OWN_PROMPT_TOKENS: usize = 512;

/// Most samples that are tokenised to find out whether they can run; of more, a sample of them at even distances.
const TOKENISED: usize = 512;

/// Samples that are tokenised at a time.
const AT_ONCE: usize = 64;

/// How long prompts and completions will be, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadLengths {
    /// The beginning that all prompts share.
    pub shared: usize,
    /// Tokens of a typical prompt beside it.
    pub typical: usize,
    /// Most tokens of a prompt beside it.
    pub longest: usize,
    pub max_new: usize,
    /// Most tokens of a sequence, prompt and completion together.
    pub context: usize,
    /// How many sequences there will be, at most.
    pub sequences: usize,
}

impl WorkloadLengths {
    /// For samples that are not known.
    pub fn unknown(text: &JudgeText, max_new_tokens: usize) -> Self {
        Self {
            shared: text.prompts.shared_prefix().len(),
            typical: OWN_PROMPT_TOKENS,
            longest: OWN_PROMPT_TOKENS,
            max_new: max_new_tokens,
            context: text.context,
            sequences: usize::MAX,
        }
    }

    /// For samples that are not known and may be as long as the context.
    pub(crate) fn of_any(text: &JudgeText, max_new_tokens: usize) -> Self {
        Self {
            longest: text.context,
            ..Self::unknown(text, max_new_tokens)
        }
    }

    /// For the samples of `jobs` that fit the context: the others are never run, so no memory is reserved for them.
    pub fn new<S: Samples + ?Sized>(
        samples: &S,
        jobs: &[Job],
        text: &JudgeText,
        max_new_tokens: usize,
    ) -> Result<Self, DatasetError> {
        let unknown = Self::unknown(text, max_new_tokens);
        let mut positions: Vec<usize> = jobs.iter().map(|job| job.position()).collect();
        positions.dedup();
        let bytes = |position: usize| samples.outline(position).bytes;
        // No token is shorter than a byte.
        let room = unknown
            .context
            .saturating_sub(max_new_tokens)
            .saturating_sub(unknown.shared + OWN_PROMPT_TOKENS);
        let (unsure, fitting): (Vec<usize>, Vec<usize>) =
            positions.into_iter().partition(|&at| bytes(at) > room);
        let every = unsure.len().div_ceil(TOKENISED).max(1);
        let tokenised: Vec<usize> = unsure.into_iter().step_by(every).collect();
        let (mut longest, mut total, mut count) = (0, 0, 0);
        let mut add = |bytes: usize, times: usize| {
            longest = longest.max(bytes);
            total += bytes * times;
            count += times;
        };
        for position in fitting {
            add(bytes(position), 1);
        }
        for now in jobs::batches(&tokenised, |at| at, samples, AT_ONCE) {
            let fits: Vec<bool> = samples
                .fetch(now)?
                .par_iter()
                .map(|sample| {
                    guarded(|| text.prompt(sample, max_new_tokens))
                        .is_ok_and(|prompt| matches!(prompt, Ok(Ok(_))))
                })
                .collect();
            for (&position, fits) in now.iter().zip(fits) {
                if fits {
                    add(bytes(position), every);
                }
            }
        }
        if every > 1 {
            // One of those that were not tokenised may be the longest.
            longest = longest.max(unknown.context);
        }
        let typical = match total / count.max(1) {
            0 => OWN_PROMPT_TOKENS,
            bytes => bytes / BYTES_PER_TOKEN,
        };
        Ok(Self {
            typical,
            // No token is shorter than a byte, and replacing delimiters makes a text a little longer.
            longest: OWN_PROMPT_TOKENS
                .saturating_add(longest)
                .saturating_add(longest / 2),
            sequences: jobs.len(),
            ..unknown
        })
    }
}
