//! Plain numbers: finds the final number of a response and compares it with the reference.
//!
//! Where the number is looked for, from most to least trusted; within a kind the last occurrence wins:
//!
//! 1. `#### n`
//! 2. `\boxed{n}`
//! 3. "the answer is n", "answer: n", "therefore n"
//! 4. the last number of the response
//!
//! The third kind holds every clearly marked final answer, since a marked one should never lose to whatever number
//! happens to come last. Two numbers are equal when |a − b| < 1e-10, computed exactly; units and currencies are dropped and never converted.
//!
//! The verdict on the outcome is
//!
//! - `Some(true)` or `Some(false)` where both sides are plain numbers;
//! - `Some(false)` where the reference is one and the response states no number, refuses, or leaves a choice ("5 or 6");
//! - `None` where the reference is not one plain number, or the response answers with an expression (`\frac{3}{4}`,
//!   `2π`, "5 million", "five", "rows 4 200"): this form of the rules cannot tell, and does not guess.
//!
//! A response's own `<think>…</think>` is dropped first. Thinking that never closes hides everything after its opening,
//! so a response that was cut off while thinking has no answer.

pub(crate) mod decimal;
pub(crate) mod methods;
pub(crate) mod number;

use serde::Serialize;

use crate::patterns;
use number::{
    Number, Reading, read_clause, read_last, read_line, read_nothing, read_whole, undress,
};

/// The longest clause after "the answer is" that is looked at, in bytes.
const MAX_CLAUSE: usize = 200;

/// What the rules say of a final answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleVerdict {
    /// Is the response's final number that of the reference? `None`: these rules cannot tell.
    pub outcome: Option<bool>,
    /// The response's number, without dress.
    pub extracted: Option<String>,
    /// The reference's number, without dress.
    pub reference: Option<String>,
    /// Where the response's answer was found: `####`, `boxed`, `phrase`, `last-number` or `none`.
    pub method: &'static str,
    /// Why, in a few words.
    pub reason: String,
}

patterns! {
    THINK = r"(?i)<\s*(/?)\s*think(?:ing)?\s*>";
    PHRASE = r"(?i)\banswer(?:\s+is\b|\s+would\s+be\b|\s*[:=]|\W{0,4}:)|\b(?P<so>therefore)\b";
    CLAUSE_END = r"\n|[.!?;](?:\s|$)";
}

/// Compares the final number of `response` with `reference`.
///
/// The reference may be a bare answer (`13 apples`, `$1,234`) or a whole GSM8K solution that ends in `#### n`. Linear in the texts; never panics.
pub(crate) fn verify(reference: &str, response: &str) -> RuleVerdict {
    let expected = read_reference(reference);
    let (method, found) = find_answer(&undress(&without_thinking(response)));
    let (outcome, reason) = match (&expected, &found) {
        (Reading::Number(expected), Reading::Number(found)) => {
            let equal = found.value.equals(&expected.value);
            let sign = if equal { "=" } else { "≠" };
            let reason = format!("{} {sign} {}", found.text, expected.text);
            (Some(equal), reason)
        }
        (Reading::Number(_), Reading::Nothing) => {
            (Some(false), "the response states no number".to_owned())
        }
        (Reading::Number(_), Reading::Several) => (
            Some(false),
            "the response leaves several numbers to choose from".to_owned(),
        ),
        (Reading::Number(_), Reading::Expression) => (
            None,
            "the response's answer is not a plain number".to_owned(),
        ),
        _ => (None, "the reference is not one plain number".to_owned()),
    };
    RuleVerdict {
        outcome,
        extracted: text_of(found),
        reference: text_of(expected),
        method,
        reason,
    }
}

fn text_of(reading: Reading) -> Option<String> {
    match reading {
        Reading::Number(Number { text, .. }) => Some(text),
        _ => None,
    }
}

/// The number of a reference: what follows the last `####`, else the last box, else all of it.
fn read_reference(reference: &str) -> Reading {
    let answer = match reference.rfind("####") {
        Some(mark) => &reference[mark + 4..],
        None => last_boxed(reference).unwrap_or(reference),
    };
    read_whole(&undress(answer))
}

/// Where the final answer is, and what it says. `text` is undressed.
fn find_answer(text: &str) -> (&'static str, Reading) {
    if let Some(reading) = after_last_mark(text) {
        return ("####", reading);
    }
    if let Some(content) = last_boxed(text) {
        return ("boxed", read_whole(content));
    }
    if let Some(reading) = after_last_phrase(text) {
        return ("phrase", reading);
    }
    match read_last(text) {
        Some(reading) => ("last-number", reading),
        None => ("none", read_nothing(text)),
    }
}

/// The last `####` that is followed by an answer; Markdown headings are not.
fn after_last_mark(text: &str) -> Option<Reading> {
    let marks: Vec<usize> = text.match_indices("####").map(|(at, _)| at + 4).collect();
    marks.into_iter().rev().find_map(|at| {
        let line = text[at..].trim_start_matches([':', ' ', '\t', '\r', '\n']);
        read_line(beginning(line).split('\n').next().unwrap_or_default())
    })
}

/// The content of the last `\boxed{…}` that is closed; of nested ones, the inner.
fn last_boxed(text: &str) -> Option<&str> {
    const BOXED: &str = "\\boxed{";
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut last: Option<(usize, usize)> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(['\\', '{', '}']) {
        let here = at + found;
        let rest = &text[here..];
        if rest.starts_with(BOXED) {
            at = here + BOXED.len();
            open.push(Some(at));
        } else if rest.starts_with("\\{") || rest.starts_with("\\}") || rest.starts_with("\\\\") {
            at = here + 2;
        } else {
            at = here + 1;
            if rest.starts_with('{') {
                open.push(None);
            } else if rest.starts_with('}')
                && let Some(Some(start)) = open.pop()
                && last.is_none_or(|(before, _)| before < start)
            {
                last = Some((start, here));
            }
        }
    }
    last.map(|(start, end)| &text[start..end])
}

/// The last "the answer is …", "answer: …" or "therefore …" that states an answer.
fn after_last_phrase(text: &str) -> Option<Reading> {
    let phrases: Vec<(usize, bool)> = PHRASE
        .captures_iter(text)
        .filter_map(|phrase| Some((phrase.get(0)?.end(), phrase.name("so").is_some())))
        .collect();
    phrases.into_iter().rev().find_map(|(end, therefore)| {
        let rest = text[end..].trim_start_matches([':', ',', '*', ' ', '\t', '\r', '\n']);
        let rest = beginning(rest);
        let clause = &rest[..CLAUSE_END.find(rest).map_or(rest.len(), |end| end.start())];
        if therefore {
            // Only "therefore n": a longer sentence may go on to another number.
            read_line(clause)
        } else {
            read_clause(clause)
        }
    })
}

/// At most [`MAX_CLAUSE`] bytes, cut between words: half a number would be another number.
fn beginning(text: &str) -> &str {
    let head = &text[..text.floor_char_boundary(MAX_CLAUSE)];
    if head.len() == text.len() {
        return head;
    }
    let digit = |character: Option<char>| character.is_some_and(|it| it.is_ascii_digit());
    let cut = head.char_indices().rev().find(|&(at, gap)| {
        let after = &text[at + gap.len_utf8()..];
        let joins = digit(text[..at].chars().next_back()) && digit(after.chars().next());
        gap.is_whitespace() && !joins
    });
    &head[..cut.map_or(0, |(at, _)| at)]
}

fn without_thinking(response: &str) -> String {
    let mut visible = String::new();
    let mut from = Some(0);
    for tag in THINK.captures_iter(response) {
        let (Some(whole), Some(slash)) = (tag.get(0), tag.get(1)) else {
            continue;
        };
        match (slash.is_empty(), from) {
            (true, Some(start)) => {
                visible.push_str(&response[start..whole.start()]);
                visible.push('\n');
                from = None;
            }
            (true, None) => {}
            (false, started) => {
                if started.is_some() {
                    visible.clear();
                }
                from = Some(whole.end());
            }
        }
    }
    if let Some(start) = from {
        visible.push_str(&response[start..]);
    }
    visible
}

#[cfg(test)]
mod tests;
