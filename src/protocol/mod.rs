//! What a judge is asked, and how its answer is read.
//!
//! A [`Protocol`] is text in and text out; it knows nothing of tensors, tokens or devices:
//!
//! | file | what it holds |
//! |---|---|
//! | [`template`] | the prompt text with its slots, and its split into trusted and untrusted segments |
//! | [`delimiters`] | the delimiters of a prompt's fields, and which fields have none |
//! | [`reserved`] | where a text under judgement holds a delimiter, and how that is broken |
//! | [`untrusted`] | the rule for the tags that every prompt reserves |
//! | [`tags`] | the incremental scanner that finds tags in a completion |
//! | [`verdict_reader`] | the state machine that turns tags into verdict blocks, thinking left out |
//! | [`parser`] | a whole completion to a verdict, and a verdict to its canonical text |
//! | `unknown_tags` | unknown tags, which may hold thinking |
//! | [`stop`] | when a generation may end, because everything asked for is known |
//! | [`prime`] | the protocol of process-outcome verification |
//!
//! Adding a protocol is one file beside [`prime`] and one line in [`known`].

pub mod delimiters;
pub mod parser;
pub mod prime;
pub mod reserved;
pub mod stop;
pub mod tags;
pub mod template;
pub(crate) mod unknown_tags;
pub mod untrusted;
pub mod verdict_reader;

use std::fmt;

pub use delimiters::{Delimiters, Unprotected};
pub use parser::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields};
pub use prime::Prime;
pub use reserved::Reserved;
pub use stop::{StopMatcher, VerdictStop};
pub use template::{FieldName, Fields, PromptTemplate, Segment, TemplateError};
pub use untrusted::neutralise;

/// What a judge is asked, and how its answer is read.
pub trait Protocol: fmt::Debug + Send + Sync {
    /// The name on the command line and in a run's manifest.
    fn name(&self) -> &'static str;

    /// One line for `juror prompts list`.
    fn description(&self) -> &'static str;

    /// The built-in prompt text, to be read with [`PromptTemplate::parse`].
    fn template_text(&self) -> &'static str;

    /// How many tokens a judge may generate unless the user says otherwise.
    fn max_new_tokens(&self) -> usize;

    /// A fresh matcher that says when a generation may end.
    ///
    /// `starts_in_thinking`: the prompt ends inside a thinking block that the chat template has opened.
    fn stop(&self, starts_in_thinking: bool, wants_reason: bool) -> Box<dyn StopMatcher>;

    /// Reads a completion.
    ///
    /// # Errors
    /// When no verdict can be read; nothing is ever guessed. The error says which field was at fault and what was there.
    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
    ) -> Result<ParsedVerdict, Unreadable>;
}

/// Every built-in protocol, the default first.
pub fn known() -> &'static [&'static dyn Protocol] {
    &[&Prime]
}

/// The built-in protocol of that name.
pub fn find(name: &str) -> Option<&'static dyn Protocol> {
    known()
        .iter()
        .copied()
        .find(|protocol| protocol.name() == name)
}

#[cfg(test)]
mod tests;
