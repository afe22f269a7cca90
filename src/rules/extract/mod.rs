//! Finds the final answer in a response.

use std::borrow::Cow;

use super::config::Config;

/// Which side of the comparison a text is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The reference: a bare answer unless it says otherwise.
    Gold,
    /// The response: reasoning that ends in an answer, or a bare answer.
    Prediction,
}

/// The final answer of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<'t> {
    /// The answer as [`crate::rules::expr::parse`] takes it: delimiters and boxes gone, several boxes joined by `, `.
    pub text: Cow<'t, str>,
    /// What announced it: `boxed`, `final answer`, `answer`, `therefore`, `formula`, `number`, `whole`, ….
    pub method: &'static str,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extraction<'t> {
    /// An answer.
    Found(Found<'t>),
    /// None, or a refusal to give one.
    NoAnswer {
        /// Why, for a person.
        reason: String,
    },
}

/// Finds the final answer of `text`.
pub fn extract<'t>(text: &'t str, role: Role, config: &Config) -> Extraction<'t> {
    let _ = (role, config);
    Extraction::Found(Found {
        text: Cow::Borrowed(text.trim()),
        method: "whole",
    })
}
