//! How long prompts and completions will be.

use rayon::prelude::*;

use crate::judge::jobs::{self, Job};
use crate::judge::{JudgeText, RunOptions, guarded};
use crate::wire::BYTES_PER_TOKEN;
use juror_data::{DatasetError, Sample, Samples};

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
    /// So many have room even where memory is short.
    pub least: usize,
    pub max_new: usize,
    /// Most tokens of a sequence, prompt and completion together.
    pub context: usize,
    /// How many sequences there will be, at most.
    pub sequences: usize,
}

impl WorkloadLengths {
    /// For samples that are not known.
    pub fn unknown(text: &JudgeText, max_new_tokens: usize) -> Self {
        let shared = text.prompts.shared_prefix().len();
        let own = OWN_PROMPT_TOKENS + text.prompts.shared_tokens() - shared;
        Self {
            shared,
            typical: own,
            longest: own,
            least: own,
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

    /// For the samples of `jobs` that fit the context: the others are never run. Of a server's memory nothing is planned.
    pub fn new<S: Samples + ?Sized>(
        samples: &S,
        jobs: &[Job],
        text: &JudgeText,
        options: &RunOptions,
    ) -> Result<Self, DatasetError> {
        let max_new_tokens = options.max_new_tokens;
        let unknown = Self::unknown(text, max_new_tokens);
        if text.endpoint.is_some() {
            return Ok(unknown);
        }
        // Fixed text behind the first field, and what every prompt may have beside its texts.
        let beside = unknown.longest;
        let solution = options.own.as_ref().map_or(0, |own| own.longest());
        let mut positions: Vec<usize> = jobs.iter().map(|job| job.position()).collect();
        positions.dedup();
        let bytes = |position: usize| samples.outline(position).bytes + solution;
        // No token is shorter than a byte.
        let room = unknown.context.saturating_sub(max_new_tokens);
        let room = room.saturating_sub(unknown.shared + beside);
        let (unsure, fitting): (Vec<usize>, Vec<usize>) =
            positions.into_iter().partition(|&at| bytes(at) > room);
        let every = unsure.len().div_ceil(TOKENISED).max(1);
        let tokenised: Vec<usize> = unsure.into_iter().step_by(every).collect();
        let mut known: Vec<(usize, usize)> = fitting.into_iter().map(|at| (bytes(at), 1)).collect();
        let fits = |sample: &&Sample| {
            let prompt = |shown| text.prompt(&shown, max_new_tokens);
            guarded(|| text.shown(sample, options).map(prompt))
                .is_ok_and(|prompt| matches!(prompt, Some(Ok(Ok(_)))))
        };
        for now in jobs::batches(&tokenised, |at| at, samples, AT_ONCE) {
            let fetched = samples.fetch(now)?;
            let fitting = fetched.par_iter().filter(fits);
            known.par_extend(fitting.map(|sample| (sample.bytes() + solution, every)));
        }
        let longest = known.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0);
        let count: usize = known.iter().map(|(_, times)| times).sum();
        let total: usize = known.iter().map(|(bytes, times)| bytes * times).sum();
        // One of those that were not tokenised may be the longest.
        let longest = longest.max(if every > 1 { unknown.context } else { 0 });
        let typical = match total / count.max(1) {
            0 => unknown.typical,
            bytes => bytes / BYTES_PER_TOKEN + beside - OWN_PROMPT_TOKENS,
        };
        // No token is shorter than a byte, and replacing delimiters makes a text a little longer.
        let longest = beside.saturating_add(longest).saturating_add(longest / 2);
        Ok(Self {
            typical,
            longest,
            least: longest,
            sequences: jobs.len(),
            ..unknown
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::endpoint::EndpointSettings;
    use crate::judge::{ChatSettings, OwnSolutions};
    use crate::protocol::{self, PromptTemplate};
    use juror_data::rubric::Rubric;
    use juror_hub::Want;

    /// The longest prompt that room is planned for, and the tokens of the sample's.
    fn planned(protocol: &str, after: &str, sample: Sample, solution: &str) -> (usize, usize) {
        let settings = EndpointSettings::default();
        let model = crate::by_name::find("tiny", Want::Everything, &settings, &|_| {}).unwrap();
        let protocol = protocol::resolve(protocol).unwrap();
        let text = protocol.template.as_deref().unwrap().to_owned() + after;
        let template = PromptTemplate::parse(&text).unwrap();
        let chat = ChatSettings {
            force_domain: true,
            ..ChatSettings::default()
        };
        let text = model.text(&protocol, &template, &chat).unwrap();
        let mut options = text.run_options(1);
        options.max_new_tokens = 64;
        let solutions = OwnSolutions::new([(sample.question_hash(), solution.to_owned())]);
        options.own = Some(Arc::new(solutions)).filter(|_| !solution.is_empty());
        let prompt = text.prompts.tokens(&options.shown(&sample)).unwrap();
        let samples = [sample];
        let jobs = jobs::by_question(&samples[..], 1, |_, _| false);
        let lengths = WorkloadLengths::new(&samples[..], &jobs, &text, &options).unwrap();
        (lengths.shared + lengths.longest, prompt.len())
    }

    #[test]
    fn room_is_planned_for_all_that_a_prompt_shows() {
        let words = "7 + 5 = 12, so. ".repeat(100);
        let sample = || Sample::new("1 + 1?", "2", "It is 2.");
        let rubric = Rubric::from_json(&json!([words])).unwrap();
        for (protocol, after, sample, solution) in [
            ("prime", "", sample(), ""),
            ("rubric", "", sample().with_rubric(Arc::new(rubric)), ""),
            ("prime", words.as_str(), sample(), ""),
            ("prime", "", sample(), words.as_str()),
        ] {
            let (planned, tokens) = planned(protocol, after, sample, solution);
            let case = format!("{protocol}, {} and {}", after.len(), solution.len());
            assert!(planned >= tokens, "{case}: {planned} for {tokens}");
        }
    }
}
