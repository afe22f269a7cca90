//! Answers that name the first wrong step: its index in `\boxed{…}`, -1 where no step is wrong.

use std::sync::LazyLock;

use regex::Regex;

use super::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields, shorten};
use crate::verdict::ParseRule;

/// Reads an answer without its thinking: the last box with an index.
///
/// # Errors
/// Where no box holds an index.
pub(super) fn read(answer: &str) -> Result<ParsedVerdict, Unreadable> {
    static INDEX: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\\boxed\s*\{\s*(?:\\(?:text|mathrm|mathbf)\s*\{\s*)?([-−–]?\s*\d{1,9})\s*(?:\}\s*)?\}",
        )
        .ok()
    });
    static BOX: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\\boxed\s*\{([^{}]*)").ok());
    if answer.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let last = |pattern: &Option<Regex>| {
        let found = pattern.as_ref()?.captures_iter(answer).last()?;
        found.get(1).map(|group| group.as_str().to_owned())
    };
    let not_a_step = |found: &str| Unreadable::NotAStep {
        found: shorten(found),
    };
    let Some(written) = last(&INDEX) else {
        return Err(last(&BOX).map_or(Unreadable::NoStep, |found| not_a_step(&found)));
    };
    let digits = written.trim_start_matches(|sign: char| !sign.is_ascii_digit());
    let negative = digits.len() < written.len();
    let index: usize = digits.parse().map_err(|_| not_a_step(&written))?;
    if negative && index != 1 {
        return Err(not_a_step(&written));
    }
    Ok(ParsedVerdict {
        fields: VerdictFields {
            process: Some(negative),
            first_error: (!negative).then_some(index),
            ..VerdictFields::default()
        },
        rule: ParseRule::Named("boxed".to_owned()),
        inconsistent: false,
        spans: ValueSpans::default(),
    })
}
