//! From samples to verdicts: the pipeline.

pub mod answers;
mod ask;
pub mod build;
pub mod cache;
pub mod jobs;
#[cfg(feature = "serve")]
pub mod judges;
mod keeper;
pub(crate) mod loaded;
pub(crate) mod read;
mod run;
#[cfg(feature = "serve")]
pub mod service;
pub mod session;
#[cfg(feature = "serve")]
mod shared_memory;
pub(crate) mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub mod together;

use std::borrow::Cow;
use std::sync::Arc;

use crate::reward::RewardPolicy;
pub use crate::reward::RulesMode;
pub use crate::runtime::{DeviceEngine, DeviceStats};
pub use build::{EngineOptions, WorkloadLengths, build_engine};
pub use cache::AnswerCache;
pub(crate) use jobs::Job;
use juror_base::panics;
use juror_base::threads::ThreadError;
use juror_data::verdict::Verdict;
use juror_data::{DatasetError, Sample};
use juror_engine::engine::{EngineError, Sampling, Stats};
use juror_rules::OutcomeRules;
pub use loaded::{Judge, LoadError};
pub use read::completion::is_drawn;
pub use run::{run, run_rules};
pub use session::{RunError, Session};
pub use summary::{Share, Summary, wilson_of_share};
pub use text::domain::{Domain, JudgeFile};
pub use text::generation::GenerationDefaults;
pub use text::model::{ChatSettings, JudgeText, OWN_HEAD, default_protocol};
pub use text::own::OwnSolutions;
pub use text::source::{JudgeModel, ModelServer};
pub use text::{model, own, prompt};
pub use together::{cascade, compare, consensus, panel};

/// What decides the verdicts of a run, beside the model and the samples.
#[warn(missing_docs)]
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// The longest completion.
    pub max_new_tokens: usize,
    /// Generations for each sample.
    pub trials: u32,
    /// The seed of every draw.
    pub seed: u64,
    /// Constrain an answer to what the protocol can read, where it says how: known text is appended, and only the words of the
    /// verdict are chosen. Thinking stays free.
    pub constrained: bool,
    /// End a constrained answer as soon as the reward is known.
    pub decide_only: bool,
    /// The most tokens of thinking before a constrained answer.
    pub thinking_budget: Option<usize>,
    /// Generate the reason too.
    pub wants_reason: bool,
    /// Keep prompt and completion with every verdict.
    pub raw: bool,
    /// How the rules are used.
    pub rules: RulesMode,
    /// Under [`RulesMode::First`]: the share, from 0 to 1, of the samples that the rules find wrong and that are judged all the
    /// same, to tell how often the rules err.
    pub audit: f64,
    /// How the rules compare answers.
    pub outcome_rules: OutcomeRules,
    /// What a verdict is worth.
    pub reward: RewardPolicy,
    /// Whatever the policy: no reward above 0 where the process is not known to be right.
    pub require_process: bool,
    /// Verdicts that the judge is less sure of, process or outcome, become [`Status::Unsure`](juror_data::verdict::Status): a
    /// probability from 0.5 to 1, of the calibrated confidence.
    pub min_confidence: Option<f64>,
    /// The judge's own solutions of the questions, which it is shown with the reference.
    pub own: Option<Arc<OwnSolutions>>,
    /// Where answers are looked for before the model is asked, and kept afterwards.
    pub cache: Option<Arc<AnswerCache>>,
}

impl Default for RunOptions {
    /// One greedy completion of at most 1,024 tokens a sample; the rules give the outcome where the judge cannot be read.
    fn default() -> Self {
        Self {
            sampling: Sampling::GREEDY,
            max_new_tokens: 1024,
            trials: 1,
            seed: 0,
            constrained: true,
            decide_only: false,
            thinking_budget: None,
            wants_reason: false,
            raw: false,
            rules: RulesMode::default(),
            audit: 0.0,
            outcome_rules: OutcomeRules::default(),
            reward: RewardPolicy::default(),
            require_process: false,
            min_confidence: None,
            own: None,
            cache: None,
        }
    }
}

#[warn(missing_docs)]
impl RunOptions {
    /// A sample as the judge sees it.
    pub(crate) fn shown<'s>(&self, sample: &'s Sample) -> Cow<'s, Sample> {
        let own = self.own.as_ref();
        own.map_or(Cow::Borrowed(sample), |own| own.shown(sample))
    }

    /// How the answers of a judge are constrained, in words; `None` where they are free.
    pub(crate) fn constraint(&self, text: &JudgeText) -> Option<String> {
        if !self.constrained || !text.has_scaffold() {
            return None;
        }
        let budget = |most| format!("thinking up to {most} tokens");
        let budget = self.thinking_budget.map(budget);
        let decide_only = self.decide_only.then(|| "reward only".to_owned());
        let settings: Vec<String> = decide_only.into_iter().chain(budget).collect();
        Some(match settings.as_slice() {
            [] => "verdict".to_owned(),
            settings => settings.join(", "),
        })
    }

    /// Checks that every value can be.
    pub fn validate(&self) -> Result<(), JudgeError> {
        let wrong = |why: String| Err(JudgeError::Options(why));
        if self.trials == 0 {
            return wrong("trials must be at least 1".to_owned());
        }
        if self.max_new_tokens == 0 {
            return wrong("max_new_tokens must be at least 1".to_owned());
        }
        if let Some(least) = self.min_confidence.filter(|p| !(0.5..=1.0).contains(p)) {
            return wrong(format!("min_confidence {least} must be from 0.5 to 1"));
        }
        if !self.constrained && (self.decide_only || self.thinking_budget.is_some()) {
            return wrong("decide_only and thinking_budget are for constrained answers".to_owned());
        }
        if !(0.0..=1.0).contains(&self.audit) {
            return wrong(format!("audit {} must be from 0 to 1", self.audit));
        }
        if let Some(why) = self.reward.refused_with(self.rules) {
            return wrong(format!("reward {}: {why}", self.reward));
        }
        let sampling = self.sampling.validate();
        sampling.or_else(|error| wrong(error.to_string()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Every trial was handed to the sink.
    Complete,
    /// It was asked to stop; what is missing can be judged later.
    Interrupted,
}

#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(
        "{device}: {source}. The same command goes on from the journal, also without this device"
    )]
    Device {
        device: String,
        source: Box<EngineError>,
    },
    #[error(transparent)]
    Input(#[from] DatasetError),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error(
        "an error of juror itself ({0}); please report it. Finished verdicts are in the journal, run the same command again \
         to go on"
    )]
    Panicked(String),
    #[error("{0}")]
    Options(String),
    #[error("could not write to standard output: {0}")]
    Stdout(#[source] std::io::Error),
    #[error(transparent)]
    Sink(#[from] juror_data::journal::JournalError),
}

/// Takes the verdicts of a run, each trial once, as soon as it is known and in any order, and reports of progress.
pub trait Sink {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError>;

    /// Called now and then, some twenty times a second at most, and at the end: what all engines did together.
    fn progress(&mut self, stats: &Stats);

    /// Called with [`Self::progress`] of a run with a model: what each device did.
    fn devices(&mut self, devices: &[DeviceStats]) {
        let _ = devices;
    }
}

/// Runs `work`; a panic becomes a message. Whatever is wrong with one sample, or with our reading of it, costs that sample and not the run.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panics::guarded(work)
        .map_err(|why| format!("an error of juror itself ({why}); please report this sample"))
}
