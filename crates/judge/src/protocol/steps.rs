//! Answers that name the first wrong step: its index in `\boxed{…}`, -1 where no step is wrong.

use super::form::{AnswerForm, NOTHING_CHOSEN};
use super::scaffold::{ChoiceField, Filled, Scaffold, ScaffoldWants};
use super::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields, Yields, shorten};
use juror_data::verdict::ParseRule;

const BOXED: &str = "\\boxed";

#[derive(Debug, Clone)]
pub(super) struct StepForm;

impl AnswerForm for StepForm {
    fn yields(&self) -> Yields {
        Yields {
            process: true,
            first_error: true,
            ..Yields::default()
        }
    }

    fn has_odds(&self) -> bool {
        false
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        read(answer)
    }

    fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold> {
        Some(Scaffold::of_step(wants.steps))
    }

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        let word = filled.word(ChoiceField::Step).ok_or(NOTHING_CHOSEN)?;
        Ok(verdict(word.parse().ok(), ParseRule::Constrained))
    }
}

/// Reads an answer without its thinking: the last box, which must hold an index.
/// Errors: where there is no box, or the last one holds something else: an earlier one may be quoted.
fn read(answer: &str) -> Result<ParsedVerdict, Unreadable> {
    if answer.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let at = answer.rfind(BOXED).ok_or(Unreadable::NoStep)?;
    let written = &answer[at + BOXED.len()..];
    // A sign or a digit before the box belongs to it.
    let before = answer[..at].trim_end_matches([' ', '$', '\\', '(', '{']);
    let is_part = before.ends_with(|last: char| last.is_numeric() || "-−–".contains(last));
    let step = first_wrong(written).filter(|_| !is_part).ok_or_else(|| {
        let line = written.lines().next().unwrap_or_default();
        Unreadable::NotAStep {
            found: shorten(line),
        }
    })?;
    let index = match step {
        Step::None => None,
        Step::At(index) => Some(index),
    };
    Ok(verdict(index, ParseRule::Named("boxed".to_owned())))
}

/// What an index says; `None`: that no step is wrong.
fn verdict(first_error: Option<usize>, rule: ParseRule) -> ParsedVerdict {
    ParsedVerdict {
        fields: VerdictFields {
            process: Some(first_error.is_none()),
            first_error,
            ..VerdictFields::default()
        },
        rule,
        inconsistent: false,
        spans: ValueSpans::default(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    None,
    At(usize),
}

/// What a box says, from its opening brace on.
fn first_wrong(written: &str) -> Option<Step> {
    let inside = written.trim_start().strip_prefix('{')?.trim_start();
    let wrapped = ["\\text", "\\mathrm", "\\mathbf", "\\textbf"]
        .iter()
        .find_map(|command| inside.strip_prefix(command)?.trim_start().strip_prefix('{'));
    let text = wrapped.unwrap_or(inside).trim_start();
    let unsigned = text.strip_prefix(['-', '−', '–']).map(str::trim_start);
    let text = unsigned.unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: usize = match digits {
        1..=9 => text[..digits].parse().ok()?,
        _ => return None,
    };
    let mut rest = text[digits..].trim_start();
    if wrapped.is_some() {
        rest = rest.strip_prefix('}')?.trim_start();
    }
    let after = rest.strip_prefix('}')?;
    // `\boxed{2}/3` is no index.
    let after = after.trim_start_matches([
        '*', '_', '$', '.', ',', ';', ')', ']', '}', '"', '\'', '`', '\\',
    ]);
    if !(after.is_empty() || after.starts_with(char::is_whitespace)) {
        return None;
    }
    match unsigned {
        None => Some(Step::At(number)),
        Some(_) if number == 1 => Some(Step::None),
        Some(_) => None,
    }
}
