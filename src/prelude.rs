//! Everything a program needs that judges: `use juror::prelude::*;`.
//!
//! A judge stays loaded and is called again and again:
//!
//! ```
//! use juror::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut judge = Judge::load("tiny")?;
//! judge.options().reward = RewardPolicy::ProcessOutcome;
//!
//! let question = "A box holds 6 eggs. How many eggs are in 4 boxes?";
//! let samples = [
//!     Sample::new(question, "24", "6 * 4 = 24. The answer is 24.").with_id("right"),
//!     Sample::new(question, "24", "6 * 4 = 22. The answer is 22.").with_id("wrong"),
//! ];
//! let verdicts = judge.judge(&samples)?;
//! assert_eq!(verdicts[0].reward, Some(1.0));
//! assert_eq!(verdicts[1].reward, Some(0.0));
//! # Ok(())
//! # }
//! ```
//!
//! Verdicts one at a time, as they are known:
//!
//! ```
//! use std::ops::ControlFlow;
//! use juror::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let samples = [Sample::new("What is 2 + 3?", "5", "2 + 3 = 5. The answer is 5.")];
//! let mut judge = Judge::builder("tiny").devices([DeviceChoice::Cpu]).load()?;
//! judge.judge_each(&samples, |verdict| {
//!     println!("{} {:?} {:?}", verdict.id, verdict.status, verdict.reward);
//!     ControlFlow::Continue(())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! Rows of a file into samples, and final answers compared without a model:
//!
//! ```
//! use juror::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("juror-prelude-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("rows.jsonl");
//! # std::fs::write(&path, "{\"question\": \"Half of 1?\", \"answer\": \"1/2\", \"response\": \"It is 0.5.\"}\n")?;
//! let rows = load(&[path], &LoadOptions::default())?;
//! let rules = OutcomeRules::default();
//! let sample = &rows.samples[0];
//! let is_right = |reference| rules.verify(reference, &sample.student_answer).outcome == Some(true);
//! assert!(sample.references().any(is_right));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```

pub use juror_data::rubric::{Criterion, CriterionVerdict, Grade, Rubric};
pub use juror_data::verdict::{Confidence, OutcomeSource, Status, Usage, Verdict};
pub use juror_data::{
    ColumnMap, DatasetError, Keep, LineLimit, LoadOptions, Loaded, Preset, Sample, Shard, load,
};
pub use juror_engine::engine::Sampling;
pub use juror_engine::model::{DeviceChoice, PrecisionChoice};
pub use juror_judge::by_name::JudgeBuilder;
pub use juror_judge::judge::{
    ChatSettings, EngineOptions, Judge, JudgeError, LoadError, RulesMode, RunOptions,
};
pub use juror_judge::reward::RewardPolicy;
pub use juror_rules::{OutcomeRules, RulesProfile};
