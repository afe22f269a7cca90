//! The protocol under which a judge solves a question by itself, before it sees any response to it (`--own-answer`).

use std::sync::Arc;

use super::form::AnswerForm;
use super::{
    ParsedVerdict, Protocol, Unreadable, ValueSpans, VerdictFields, View, Yields, visible,
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

pub(super) fn protocol() -> Protocol {
    Protocol {
        name: OWN_SOLUTION.to_owned(),
        description: "the judge's own solution of a question".to_owned(),
        template: Some(PROMPT.to_owned()),
        view: View::Nothing,
        chat: true,
        sampling: None,
        max_new_tokens: None,
        needs_reference: false,
        compares: false,
        reads_cut: false,
        stop_texts: Vec::new(),
        form: Arc::new(WholeAnswer),
        grammar: None,
        hash: None,
    }
}

/// The whole text, without thinking, is the answer.
#[derive(Debug)]
struct WholeAnswer;

impl AnswerForm for WholeAnswer {
    fn yields(&self) -> Yields {
        Yields {
            outcome: true,
            ..Yields::default()
        }
    }

    fn parse(
        &self,
        completion: &str,
        thinks: bool,
        _: &[String],
    ) -> Result<ParsedVerdict, Unreadable> {
        let answer = visible::answer(completion, thinks).ok_or(Unreadable::ThinkingNotFinished)?;
        self.read(&answer)
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
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
            let parsed = protocol().parse(completion, starts_in_thinking);
            let found = parsed.map(|parsed| parsed.fields.answer.unwrap());
            assert_eq!(found, answer.map(str::to_owned), "{completion}");
        }
        assert!(!protocol().reads_cut);
    }
}
