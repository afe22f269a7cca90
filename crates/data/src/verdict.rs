//! What a judge said about one sample.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::rubric::CriterionVerdict;

named! {
    /// The one state every judged sample ends in.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// The verdict was read (or, with rules alone, decided).
        Ok = "ok",
        /// The judge wrote something that holds no readable verdict; the raw text is kept.
        Unparsed = "unparsed",
        /// Prompt and answer do not fit the context; the sample was not judged, because judging a cut text would be unfair.
        TooLong = "too_long",
        /// The sample is outside what the judge says it can judge.
        OutOfDomain = "out_of_domain",
        /// The judge was less sure of its verdict than asked for (`--min-confidence`).
        Unsure = "unsure",
        /// The sample could not be processed; `error` says why.
        #[default]
        Failed = "failed",
    }
}

impl Status {
    /// Its name with spaces.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

/// The source of the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeSource {
    /// The judge model.
    Judge,
    /// The rule-based verifier.
    Rules,
}

/// The rule by which a completion was read as a verdict, from strict to lenient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParseRule {
    /// Exactly the asked-for tags in the asked-for order, `True` or `False` inside.
    Exact,
    /// Readable, but with different case, spacing, quoting, Markdown, attributes or order.
    Lenient,
    /// The last field's closing tag is missing at the end of the text.
    Unclosed,
    /// The judge could write nothing else: known text, and words to choose from.
    Constrained,
    /// The rule of this name, in a protocol whose answers are labels.
    #[serde(untagged)]
    Named(String),
}

/// Probability of `True` against `False` at the token where the judge chose, per field; `None` if it was not recorded. Read back from a
/// file it is an `f64`: the nearest to the digits that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence<P = f32> {
    /// p(True) / (p(True) + p(False)) of the process field.
    pub process: Option<P>,
    /// The same of the outcome field.
    pub outcome: Option<P>,
    /// The same of the perfect field.
    pub perfect: Option<P>,
    /// The mean score under the probabilities of all grades or labels, if the protocol gives a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<P>,
}

impl Confidence {
    /// The numbers that the digits of a verdict's line are, which are the fewest that give the `f32` back.
    pub fn as_written(self) -> Confidence<f64> {
        let written = |p: Option<f32>| p.and_then(|p| p.to_string().parse().ok());
        Confidence {
            process: written(self.process),
            outcome: written(self.outcome),
            perfect: written(self.perfect),
            score: written(self.score),
        }
    }
}

/// The vote of one judge of a panel, in the panel's verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The judge's name in the panel.
    pub judge: String,
    /// The state its verdict ended in. Only a verdict that is `ok` votes.
    pub status: Status,
    /// Its process.
    pub process: Option<bool>,
    /// Its outcome.
    pub outcome: Option<bool>,
    /// Its perfect.
    pub perfect: Option<bool>,
    /// Its whole.
    pub overall: Option<bool>,
    /// Its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its reward.
    pub reward: Option<f64>,
}

/// Tokens spent on one trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the rendered prompt.
    pub prompt_tokens: usize,
    /// Prompt tokens whose keys and values were found in the prefix cache when the sequence was first admitted.
    pub cached_tokens: usize,
    /// Tokens of the answer.
    pub completion_tokens: usize,
    /// Of these, known text that was appended, not generated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub known_tokens: usize,
    /// Tokens of the rest of the answer, which was left out because the reward was known (`--decide-only`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_tokens: usize,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.completion_tokens += other.completion_tokens;
        self.known_tokens += other.known_tokens;
        self.left_out_tokens += other.left_out_tokens;
    }
}

/// What the judge saw and wrote: the completion's text of an unreadable verdict, all of it with `--raw`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The rendered prompt's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The prompt's token ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<Vec<u32>>,
    /// What the judge wrote.
    pub completion: String,
    /// The completion's token ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<Vec<u32>>,
}

/// The verdict on one trial of one sample: a line of `verdicts.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The sample's id.
    pub id: String,
    /// The sample's place in the input, from 0.
    pub index: usize,
    /// The id of the row, if that has a list of responses; with `--advantages` else a hash of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The trial's number, from 0.
    pub trial: u32,
    /// The state the trial ended in.
    pub status: Status,
    /// Whether the derivation is free of errors.
    pub process: Option<bool>,
    /// Whether the final answer is right.
    pub outcome: Option<bool>,
    /// Whether the work is free of even small flaws.
    pub perfect: Option<bool>,
    /// The label that the judge gave, if its protocol has labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The final answer that the judge found in the response, if its protocol asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The index of the first wrong step, from 0, if the protocol asks for it and a step is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_error: Option<usize>,
    /// The reward of each step, if the protocol asks for the first wrong one: 1 before it, 0 from it on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_rewards: Vec<f64>,
    /// Which parts of the reference, "(a) 3, (b) 5", the rules find in the response, where the reward asks for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Option<bool>>,
    /// How good the response is, from 0 to 1, if the protocol says that: under a rubric the weighted score of all criteria.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the judge says of each criterion, under a rubric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria: Vec<CriterionVerdict>,
    /// `process` and `outcome`; for a protocol that judges the outcome alone, the outcome.
    pub overall: Option<bool>,
    /// The reward; null unless the status is `ok` and the policy can tell.
    pub reward: Option<f64>,
    /// How far the reward is from the mean of all rewards of the question, in standard deviations (`--advantages`); null without a reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<Value>,
    /// The judge's few sentences, if asked for.
    pub reason: Option<String>,
    /// The source of `outcome`; null if there is none.
    pub outcome_source: Option<OutcomeSource>,
    /// What the rule-based verifier says of the final answer; null when it cannot tell.
    pub rule_outcome: Option<bool>,
    /// How sure the judge was of each field.
    pub confidence: Confidence,
    /// Tokens spent.
    pub usage: Usage,
    /// How the completion was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parse_rule: Option<ParseRule>,
    /// Whether there is `perfect` without `process` and `outcome`: the judge contradicts itself. This is marked, never corrected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inconsistent: bool,
    /// Whether the model was not asked: the rules had already decided (`--rules first`), or the response says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Whether the model was asked though the rules had decided (`--rules first --audit`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audited: bool,
    /// Whether the model was not asked again: the answer is that to the very same prompt, in this run or from the cache. It
    /// is set in a server's verdicts and counted in summaries; the lines of a run do not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reused: bool,
    /// The judge of a cascade whose verdict it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// What each judge of a panel says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// Why the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether a server's fault, or an engine too small for it, has kept the sample from being judged: the same command asks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// What an unreadable judge wrote (always kept when `unparsed`), or everything (`--raw`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    /// Keys of the row as they were read (`--keep`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
}
