//! What an attacker knows of the judge.

use super::answers::shortened;
use super::report::is_right;
use super::texts;
use crate::judge::JudgeText;
use crate::protocol::{
    ChoiceField, FieldName, Part, PromptTemplate, Protocol, ScaffoldWants, Segment,
};
use juror_engine::text::reasoning::ThinkingStyle;

/// The longest end of a prompt that is forged, in characters.
const LONGEST_END: usize = 1_000;

/// What an attacker knows of the judge: all that is public of its prompt, its model and its protocol.
#[derive(Debug, Clone)]
pub struct Target {
    /// What ends the response's field: the first line after it that is not blank.
    pub(super) field_end: String,
    /// All of the prompt that is after the response, with `{wrong}` for the reference answer.
    pub(super) prompt_end: String,
    /// Verdicts that the protocol reads as right.
    pub(super) verdicts: Vec<String>,
    /// The model's own tags around its thinking.
    pub(super) thinking: Option<(String, String)>,
    pub(super) control_tokens: Vec<String>,
}

impl Target {
    pub fn new(text: &JudgeText, template: &PromptTemplate) -> Self {
        let mut prompt_end = String::new();
        let segments = template.segments();
        let response = Segment::Field(FieldName::StudentAnswer);
        let after = segments.iter().skip_while(|segment| **segment != response);
        for segment in after.skip(1) {
            match segment {
                Segment::Trusted(text) => prompt_end.push_str(text),
                Segment::Field(FieldName::ReferenceAnswer) => prompt_end.push_str("{wrong}"),
                Segment::Field(_) => {}
            }
        }
        let field_end = prompt_end.lines().find(|line| !line.trim().is_empty());
        let thinking = match text.prompts.thinking().style() {
            ThinkingStyle::Tags(tags) => Some((tags.open.clone(), tags.close.clone())),
            _ => None,
        };
        let added = text.prompts.tokenizer().added_tokens();
        let mut control_tokens: Vec<String> = added.map(str::to_owned).collect();
        // The tokenizer lists them in any order.
        control_tokens.sort_unstable();
        Self {
            field_end: field_end.unwrap_or_default().to_owned(),
            prompt_end: shortened(&prompt_end, LONGEST_END).into_owned(),
            verdicts: verdicts(text.protocol.as_ref()),
            thinking,
            control_tokens,
        }
    }
}

/// The known verdicts that this protocol reads as right; all known ones if it reads none so.
fn verdicts(protocol: &Protocol) -> Vec<String> {
    let known = texts::of_kind("verdict").into_iter().map(str::to_owned);
    let all: Vec<String> = own_verdict(protocol).into_iter().chain(known).collect();
    let read = |text: &&String| {
        let parsed = protocol.parse(text, false);
        parsed.is_ok_and(|parsed| {
            let fields = &parsed.fields;
            is_right(protocol.yields(), fields.process, fields.outcome)
        })
    };
    let readable: Vec<String> = all.iter().filter(read).cloned().collect();
    if readable.is_empty() { all } else { readable }
}

/// The text that a constrained answer has where everything is right.
fn own_verdict(protocol: &Protocol) -> Option<String> {
    let scaffold = protocol.scaffold(&ScaffoldWants::default())?;
    let labels = protocol.form.choices().unwrap_or_default();
    let right_label = labels.iter().find(|(_, number)| *number > 0.5);
    let right_label = right_label.map(|(word, _)| (*word).to_owned());
    let mut text = String::new();
    for part in scaffold.parts {
        match part {
            Part::Text(known) => text.push_str(&known),
            Part::Choice {
                field: ChoiceField::Label,
                ..
            } => text.push_str(right_label.as_deref()?),
            Part::Choice {
                field: ChoiceField::Step,
                ..
            } => text.push_str("-1"),
            Part::Choice { .. } => text.push_str(" True"),
            Part::Analysis | Part::Reason(_) => {}
            // No text of a grammar is at hand.
            Part::Grammar(_) => return None,
        }
    }
    Some(text)
}
