//! Answers as one JSON object with a grade for each criterion of a rubric, under the criterion's number: `{"1": true, "2": 4}`.
//! A reason may stand after it, between `<reason>` and `</reason>`.

use std::borrow::Cow;

use serde_json::Value;

use super::form::AnswerForm;
use super::json::each_object;
use super::scaffold::{ChoiceField, Filled, Part, Scaffold, ScaffoldWants};
use super::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields, Yields, shorten};
use juror_data::rubric::{Grade, Rubric};
use juror_data::verdict::ParseRule;

const REASON: [&str; 2] = ["<reason>", "</reason>"];

#[derive(Debug, Clone)]
pub(super) struct RubricForm;

impl AnswerForm for RubricForm {
    fn yields(&self) -> Yields {
        Yields {
            score: true,
            ..Yields::default()
        }
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        read(answer)
    }

    fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold> {
        Some(scaffold(wants.rubric.as_deref(), wants.reason))
    }

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        Ok(of_filled(&filled))
    }

    fn needs_rubric(&self) -> bool {
        true
    }
}

/// Reads an answer without its thinking: outside of its reason the last object with the key `1`. The object's keys must be the
/// numbers from 1 on, and its values true, false or whole numbers.
/// Errors: where there is no such object, or one of its values is no grade.
fn read(answer: &str) -> Result<ParsedVerdict, Unreadable> {
    if answer.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let (grades_text, reason) = without_reason(answer);
    let none = || Unreadable::NoObject { key: "1".into() };
    let mut found = Err(none());
    each_object(&grades_text, |object| {
        let Some((object, place)) = object else {
            // A broken one may take back the one before it.
            found = Err(none());
            return;
        };
        if !object.contains_key("1") {
            return;
        }
        let grades = (1..=object.len()).map(|number| match object.get(&number.to_string()) {
            Some(value) => grade(value).ok_or_else(|| Unreadable::NotAGrade {
                number,
                found: shorten(&value.to_string()),
            }),
            None => Err(Unreadable::NoObject {
                key: number.to_string(),
            }),
        });
        found = grades
            .collect::<Result<Vec<Grade>, _>>()
            .map(|grades| (grades, place));
    });
    let (grades, place) = found?;
    let rest = [&grades_text[..place.start], &grades_text[place.end..]];
    let (exact, lenient) = (ParseRule::Exact, ParseRule::Lenient);
    let is_exact = rest.iter().all(|text| text.trim().is_empty());
    let rule = if is_exact { exact } else { lenient };
    Ok(verdict(grades, reason, rule))
}

fn without_reason(answer: &str) -> (Cow<'_, str>, Option<String>) {
    let Some((before, reason)) = answer.split_once(REASON[0]) else {
        return (answer.into(), None);
    };
    let (reason, after) = reason.split_once(REASON[1]).unwrap_or((reason, ""));
    let reason = reason.trim();
    (
        [before, after].concat().into(),
        (!reason.is_empty()).then(|| reason.to_owned()),
    )
}

fn grade(value: &Value) -> Option<Grade> {
    match value {
        Value::Bool(met) => Some(Grade::Met(*met)),
        Value::Number(level) => level.as_u64()?.try_into().ok().map(Grade::Level),
        // A grade may be in quotes.
        Value::String(text) => {
            let text = text.trim().to_lowercase();
            match text.as_str() {
                "true" => Some(Grade::Met(true)),
                "false" => Some(Grade::Met(false)),
                _ => text.parse().ok().map(Grade::Level),
            }
        }
        _ => None,
    }
}

fn verdict(grades: Vec<Grade>, reason: Option<String>, rule: ParseRule) -> ParsedVerdict {
    ParsedVerdict {
        fields: VerdictFields {
            reason,
            grades,
            ..VerdictFields::default()
        },
        rule,
        inconsistent: false,
        spans: ValueSpans::default(),
    }
}

/// The object with a choice for each grade, and a reason after it if wanted.
fn scaffold(rubric: Option<&Rubric>, reason: bool) -> Scaffold {
    let mut parts = Vec::new();
    let mut text = "{".to_owned();
    let criteria = rubric.map_or(&[][..], Rubric::criteria);
    for (at, criterion) in criteria.iter().enumerate() {
        parts.push(Part::Text(format!("{text}\"{}\":", at + 1)));
        let grades = criterion.grades();
        parts.push(Part::Choice {
            field: ChoiceField::Criterion(at),
            words: grades.iter().map(|(word, ..)| format!(" {word}")).collect(),
            numbers: Some(grades.iter().map(|(.., score)| *score as f32).collect()),
        });
        ", ".clone_into(&mut text);
    }
    parts.push(Part::Text("}".to_owned()));
    if reason {
        parts.push(Part::Text(format!("\n{}", REASON[0])));
        parts.push(Part::Reason(REASON[1].to_owned()));
    }
    Scaffold { parts }
}

/// The grades that were chosen in a [`scaffold`].
fn of_filled(filled: &Filled) -> ParsedVerdict {
    let chosen = filled.choices.iter().filter_map(|(field, word)| {
        let is_grade = matches!(field, ChoiceField::Criterion(_));
        match (is_grade, word.trim()) {
            (false, _) => None,
            (true, "true") => Some(Grade::Met(true)),
            (true, "false") => Some(Grade::Met(false)),
            (true, level) => level.parse().ok().map(Grade::Level),
        }
    });
    verdict(
        chosen.collect(),
        filled.reason.clone(),
        ParseRule::Constrained,
    )
}
