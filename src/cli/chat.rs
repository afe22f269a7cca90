//! Arguments for the model's chat template and its thinking.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

use super::inputs::read;
use super::rows::one_of;
use juror_data::journal::{chat_date, journal_path};
use juror_engine::text::chat_template::{ChatOptions, Moment, ReasoningEffort, TemplateVariable};
use juror_engine::text::reasoning::{ThinkingStyle, ThinkingTags};
use juror_judge::judge::{ChatSettings, JudgeText};

#[derive(Debug, Clone, Default, Args)]
pub(super) struct ChatArguments {
    /// Whether the model is to think, where its chat template lets one choose (`enable_thinking`)
    #[arg(long, value_name = "on|off", value_parser = one_of([("on", "", true), ("off", "", false)]), help_heading = CHAT)]
    thinking: Option<bool>,
    /// How long the model is to think, where its chat template lets one choose (`reasoning_effort`)
    #[arg(long, value_name = "EFFORT", value_parser = one_of([ReasoningEffort::Low, ReasoningEffort::Medium, ReasoningEffort::High].map(|effort| (effort.as_str(), "", effort))), help_heading = CHAT)]
    reasoning_effort: Option<ReasoningEffort>,
    /// A system message before the prompt
    #[arg(long, value_name = "TEXT", help_heading = CHAT)]
    system_prompt: Option<String>,
    /// Another variable of the chat template; a VALUE that is JSON is read as JSON, any other is a text. May be given several times
    #[arg(long = "template-variable", value_name = "NAME=VALUE", help_heading = CHAT)]
    template_variables: Vec<TemplateVariable>,
    /// A chat template (Jinja) in place of the model's own
    #[arg(long, value_name = "FILE", help_heading = CHAT)]
    chat_template: Option<PathBuf>,
    #[command(flatten)]
    style: ThinkingArguments,
    /// The date for chat templates that write one, as 2026-11-21 [default: today, or that of the run gone on with]
    #[arg(long, value_name = "DATE", help_heading = CHAT)]
    date: Option<Moment>,
}

/// How a model writes its thinking, as the user says it.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct ThinkingArguments {
    /// How the model writes its thinking: think (`<think>…</think>`), none, or harmony (gpt-oss' channels) [default: as
    /// its tokenizer and chat template show]
    #[arg(long, value_name = "STYLE", conflicts_with = "thinking_tags", help_heading = CHAT)]
    thinking_style: Option<ThinkingStyle>,
    /// The two tags around the model's thinking, as `<a>,</a>`
    #[arg(long, value_name = "OPEN,CLOSE", allow_hyphen_values = true, help_heading = CHAT)]
    thinking_tags: Option<ThinkingTags>,
}

impl ThinkingArguments {
    pub(super) fn style(&self) -> Option<ThinkingStyle> {
        let tags = self.thinking_tags.clone().map(ThinkingStyle::Tags);
        tags.or_else(|| self.thinking_style.clone())
    }
}

pub(super) const CHAT: &str = "Chat template and thinking";

impl ChatArguments {
    /// Refuses a date that the chat template does not write.
    pub(super) fn check(&self, text: &JudgeText) -> anyhow::Result<()> {
        let written = text.chat.as_ref().is_some_and(|chat| chat.date.is_some());
        if self.date.is_some() && !written {
            bail!("--date changes nothing: the model's chat template writes no date; leave it out");
        }
        Ok(())
    }

    /// How the model writes its thinking, where the user says.
    #[cfg(feature = "serve")]
    pub(super) fn style(&self) -> Option<ThinkingStyle> {
        self.style.style()
    }

    /// Arguments into settings. A run that writes `out` and was begun earlier goes on with its own date.
    pub(super) fn settings(&self, out: Option<&Path>) -> anyhow::Result<ChatSettings> {
        let template = match &self.chat_template {
            None => None,
            Some(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                Some((name.to_string_lossy().into_owned(), read(path)?))
            }
        };
        let begun = out
            .and_then(|out| chat_date(&journal_path(out)))
            .and_then(|date| date.parse().ok());
        Ok(ChatSettings {
            options: ChatOptions {
                thinking: self.thinking,
                reasoning_effort: self.reasoning_effort,
                system_prompt: self.system_prompt.clone(),
                variables: self.template_variables.clone(),
            },
            template,
            style: self.style.style(),
            moment: self.date.or(begun),
            force_domain: false,
        })
    }
}
