//! The protocol under which a judge solves a question by itself, before it sees any response to it (`--own-answer`).

use super::{
    ParsedVerdict, Protocol, StopMatcher, Unreadable, ValueSpans, VerdictFields, View, Yields,
    visible,
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

    fn reads_cut(&self) -> bool {
        false
    }

    /// Takes the whole text, without thinking, as the answer.
    fn parse(&self, completion: &str, thinks: bool) -> Result<ParsedVerdict, Unreadable> {
        let answer = visible::answer(completion, thinks).ok_or(Unreadable::ThinkingNotFinished)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_no_solution() {
        for (completion, starts_in_thinking, answer) in [
            ("1 + 1\nAnswer: 2", false, Ok("1 + 1\nAnswer: 2")),
            ("<think>3?</think>Answer: 2", false, Ok("Answer: 2")),
            ("<thinking>3?</thinking>Answer: 2", false, Ok("Answer: 2")),
            ("3?</think>Answer: 2", true, Ok("Answer: 2")),
            (
                "Maybe it is 3, or 2",
                true,
                Err(Unreadable::ThinkingNotFinished),
            ),
            (
                "<analysis>Maybe 3",
                false,
                Err(Unreadable::ThinkingNotFinished),
            ),
            ("3?</think>", true, Err(Unreadable::Empty)),
        ] {
            let parsed = OwnSolution.parse(completion, starts_in_thinking);
            let found = parsed.map(|parsed| parsed.fields.answer.unwrap());
            assert_eq!(found, answer.map(str::to_owned), "{completion}");
        }
        assert!(!OwnSolution.reads_cut());
    }
}
