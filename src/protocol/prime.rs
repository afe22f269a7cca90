//! `prime`: process-outcome verification after PRIME (arXiv 2602.11570).
//!
//! The judge grades the derivation (`process`) and the final answer (`outcome`) apart from each other, says whether the
//! work is free of even small flaws (`perfect`), and names the deciding flaw (`reason`). A right answer from a wrong
//! derivation, a lucky guess, thereby earns nothing.

use super::{ParsedVerdict, Protocol, StopMatcher, Unreadable, VerdictStop, parser};

/// The protocol of process-outcome verification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prime;

impl Protocol for Prime {
    fn name(&self) -> &'static str {
        "prime"
    }

    fn description(&self) -> &'static str {
        "process, outcome and perfect apart from each other, with a reason (arXiv 2602.11570)"
    }

    fn template_text(&self) -> &'static str {
        include_str!("../../prompts/prime.txt")
    }

    fn max_new_tokens(&self) -> usize {
        2048
    }

    fn stop(&self, starts_in_thinking: bool, wants_reason: bool) -> Box<dyn StopMatcher> {
        Box::new(VerdictStop::new(starts_in_thinking, wants_reason))
    }

    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
    ) -> Result<ParsedVerdict, Unreadable> {
        parser::parse(completion, starts_in_thinking)
    }
}
