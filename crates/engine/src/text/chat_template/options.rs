//! What a user may ask of a chat template.

use std::str::FromStr;

use minijinja::value::{Serde, Value};
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use crate::text::TextError;

/// Variables that `juror` itself sets.
const OWN_VARIABLES: [&str; 2] = ["messages", "add_generation_prompt"];

/// How long a reasoning model is to think (`reasoning_effort`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEffort {
    Low,
    Medium,
    High,
}

impl ReasoningEffort {
    /// Every effort, the least first.
    pub(crate) const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name on the command line and in the template.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a user may ask of a template. Options that are not given are left undefined, so that the template's own defaults apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatOptions {
    pub thinking: Option<bool>,
    pub reasoning_effort: Option<ReasoningEffort>,
    /// A first message of the role `system`.
    pub system_prompt: Option<String>,
    pub variables: Vec<TemplateVariable>,
}

/// A variable of a template, given by the user: `NAME=VALUE`, where a value that is JSON is read as JSON, and any other is a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariable {
    pub name: String,
    pub value: String,
}

impl FromStr for TemplateVariable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not written as NAME=VALUE");
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |character: char| character.is_alphanumeric() || character == '_';
        if name.is_empty() || !name.chars().all(is_name) || name.starts_with(char::is_numeric) {
            return Err(wrong());
        }
        if OWN_VARIABLES.contains(&name) {
            return Err(format!("juror sets the variable `{name}` itself"));
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl TemplateVariable {
    pub(super) fn value(&self) -> Result<Value, TextError> {
        let wrong =
            |why: String| TextError::ChatTemplate(format!("its variable `{}`: {why}", self.name));
        match serde_json::from_str::<Json>(&self.value) {
            Ok(value) => Ok(Value::from(Serde(value))),
            // It is JSON, but too deep; it was not meant as a text.
            Err(error) if serde_json::from_str::<IgnoredAny>(&self.value).is_ok() => {
                Err(wrong(error.to_string()))
            }
            Err(_) => Ok(Value::from(self.value.as_str())),
        }
    }
}
