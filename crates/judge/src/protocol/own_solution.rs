//! The protocol under which a judge solves a question by itself, before it sees any response to it (`--own-answer`).

use super::{
    ParsedVerdict, Protocol, StopMatcher, Unreadable, ValueSpans, VerdictFields, View, Yields,
};
use juror_data::verdict::ParseRule;

/// Its name; no list shows it, for it judges nothing.
pub const OWN_SOLUTION: &str = "own-solution";

/// What is asked. The other fields that a prompt must hold are empty.
const PROMPT: &str = "\
Solve the following problem by yourself. Work step by step, briefly, and check each step. End with the final answer on a line of its
own, after \"Answer:\".

{{question}}{{student_answer}}{{reference_answer}}
";

/// See [`OWN_SOLUTION`].
#[derive(Debug)]
pub(super) struct OwnSolution;

impl Protocol for OwnSolution {
    fn name(&self) -> &str {
        OWN_SOLUTION
    }

    fn description(&self) -> &'static str {
        "the judge's own solution of a question"
    }

    fn template_text(&self) -> Option<&str> {
        Some(PROMPT)
    }

    fn yields(&self) -> Yields {
        Yields {
            outcome: true,
            ..Yields::default()
        }
    }

    fn view(&self) -> View {
        View::Nothing
    }

    fn needs_reference(&self) -> bool {
        false
    }

    fn stop(&self, _: bool, _: bool) -> Option<Box<dyn StopMatcher>> {
        None
    }

    /// Takes the whole text, without thinking, as the answer.
    fn parse(&self, completion: &str, _: bool) -> Result<ParsedVerdict, Unreadable> {
        let answer = View::AfterThinking.judged_part(completion);
        let answer = answer.trim();
        if answer.is_empty() {
            return Err(Unreadable::Empty);
        }
        Ok(ParsedVerdict {
            fields: VerdictFields {
                answer: Some(answer.to_owned()),
                ..VerdictFields::default()
            },
            rule: ParseRule::Named(OWN_SOLUTION.to_owned()),
            inconsistent: false,
            spans: ValueSpans::default(),
        })
    }
}
