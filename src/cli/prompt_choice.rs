//! What a judge that runs elsewhere is asked, as the user says it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;

use super::judge::JudgeChoice;
use crate::protocol::{PromptTemplate, Protocol};

/// A protocol and its prompt, without a model.
#[derive(Debug, Default, Args)]
pub(super) struct PromptChoice {
    /// What the judge is asked, and how its answer is read: a name that `juror prompts list` shows, or your own file
    /// [default: that of a known judge, else prime]
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = super::engine::JUDGE)]
    protocol: Option<String>,
    /// Your own prompt text, with `{{question}}`, `{{student_answer}}`, `{{reference_answer}}` and, if you like,
    /// `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    few_shots: Option<PathBuf>,
}

impl PromptChoice {
    /// The protocol that is named, else `default`, else prime; and its prompt.
    pub(super) fn resolve(
        self,
        default: Option<&str>,
    ) -> Result<(Arc<dyn Protocol>, PromptTemplate)> {
        let choice = JudgeChoice {
            protocol: self.protocol.or(default.map(str::to_owned)),
            prompt: self.prompt,
            few_shots: self.few_shots,
            ..JudgeChoice::default()
        };
        let named = choice.named_protocol()?;
        choice.prompt_for(named, None)
    }
}
