//! What a judge is asked, as the user says it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::dataset::read_text;
use crate::protocol::{self, PromptTemplate, Protocol};

/// A protocol and its prompt, without a model.
#[derive(Debug, Default, Args)]
pub(super) struct PromptChoice {
    /// What the judge is asked, and how its answer is read: a name that `juror prompts list` shows, or your own file
    /// [default: that of a known judge, else prime]
    #[arg(long, value_name = "NAME|FILE.toml", help_heading = super::engine::JUDGE)]
    pub(super) protocol: Option<String>,
    /// Your own prompt text, with `{{question}}`, `{{student_answer}}`, `{{reference_answer}}` and, if you like,
    /// `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    pub(super) prompt: Option<PathBuf>,
    /// Text for the prompt's `{{few_shots}}`
    #[arg(long, value_name = "FILE", help_heading = super::engine::JUDGE)]
    pub(super) few_shots: Option<PathBuf>,
}

impl PromptChoice {
    /// The protocol that is named, if one is.
    pub(super) fn named_protocol(&self) -> Result<Option<Arc<dyn Protocol>>> {
        let named = self.protocol.as_deref();
        Ok(named.map(protocol::resolve).transpose()?)
    }

    /// The protocol that is named, else `default`, else prime; and its prompt text.
    pub(super) fn resolve(
        &self,
        default: Option<&str>,
    ) -> Result<(Arc<dyn Protocol>, PromptTemplate)> {
        let protocol = match self.named_protocol()? {
            Some(protocol) => protocol,
            None => protocol::resolve(default.unwrap_or("prime"))?,
        };
        self.with_template(protocol)
    }

    /// A protocol and its prompt text.
    pub(super) fn with_template(
        &self,
        protocol: Arc<dyn Protocol>,
    ) -> Result<(Arc<dyn Protocol>, PromptTemplate)> {
        let mut template = match (&self.prompt, protocol.template_text()) {
            (Some(path), _) => {
                PromptTemplate::parse(&read(path)?).with_context(|| path.display().to_string())?
            }
            (None, Some(text)) => {
                PromptTemplate::parse(text).with_context(|| protocol.name().to_owned())?
            }
            (None, None) => bail!(
                "protocol {} comes without its prompt text: give one with --prompt FILE",
                protocol.name()
            ),
        };
        if let Some(path) = &self.few_shots {
            template = template
                .with_few_shots(&read(path)?)
                .with_context(|| path.display().to_string())?;
        }
        Ok((protocol, template))
    }
}

fn read(path: &Path) -> Result<String> {
    read_text(path).with_context(|| format!("could not read {}", path.display()))
}
