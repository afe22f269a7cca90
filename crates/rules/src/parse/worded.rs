//! Answers in words: choices, truths, times, "no solution", "all real numbers", and formulas after a word or two.

use super::parser::negate;
use super::plain::plain_text;
use super::prose::{is_words, substance};
use super::text::formula;
use super::{choice, clock};
use crate::algebra::Expr;
use crate::answer::{Answer, Operator, Quantity};
use crate::lexicon::{is_digit, letters, numbers, words};

/// Choices, truths, times, dates and plain words, which are no formulas.
pub(super) fn worded(text: &str) -> Option<Answer> {
    let lettered = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !lettered && !text.contains([':', '-', '/', '.']) {
        return None;
    }
    // "18 dollars": of what begins with a number only times and dates are no formulas.
    let simple = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b' ' | b'.');
    let numbered = text.starts_with(is_digit) && text.bytes().all(simple);
    if numbered && !text.ends_with('.') && !text.contains("  ") {
        return clock::time(text).or_else(|| clock::date(text).map(Answer::Text));
    }
    let plain = plain_text(text);
    if let Some(letters) = choice::choice(&plain) {
        return Some(Answer::Choice(letters));
    }
    if let Some(answer) = worded_answer(&plain) {
        return Some(answer);
    }
    if !lettered {
        return None;
    }
    if let Some(answer) = negated(&plain) {
        return Some(answer);
    }
    if let Some(substance) = substance(text, &plain) {
        return Some(Answer::Text(substance));
    }
    if words::INITIALS.contains_exactly(&plain) {
        return Some(Answer::Text(plain));
    }
    if let Some(answer) = all_but(&plain) {
        return Some(answer);
    }
    if !is_words(&plain) {
        return None;
    }
    let count = plain.split_whitespace().count();
    let listed = plain.contains([',', ';'])
        || plain
            .split_whitespace()
            .any(|word| matches!(word, "and" | "or"));
    if count <= 8 && listed {
        return None;
    }
    Some(if words::ALL_REAL_NUMBERS.contains(&plain) {
        Answer::Interval(super::sets::real_line())
    } else {
        Answer::Text(plain)
    })
}

/// "minus 7", with the sign in words.
fn negated(plain: &str) -> Option<Answer> {
    let (sign, rest) = plain.split_once(' ')?;
    let negative = sign.eq_ignore_ascii_case("minus") || sign.eq_ignore_ascii_case("negative");
    if !negative || !rest.starts_with(is_digit) {
        return None;
    }
    match formula(rest).ok()? {
        Answer::Quantity(quantity) => Some(Answer::Quantity(Quantity {
            value: negate(quantity.value),
            ..quantity
        })),
        _ => None,
    }
}

/// "all real numbers except 0".
fn all_but(plain: &str) -> Option<Answer> {
    let lower = plain.to_ascii_lowercase();
    let (_, rest) = words::ALL_REAL_NUMBERS_BUT.begin(&lower)?;
    let rest = plain.get(plain.len() - rest.len()..)?;
    let rest = rest.strip_prefix(" for").unwrap_or(rest);
    let items = match formula(rest).ok()? {
        Answer::List(items) => items,
        one => vec![one],
    };
    // "except for x = 3"
    let point = |item| match item {
        Answer::Relation(mut it) if *it.operators == [Operator::Equal] && it.modulus.is_none() => {
            it.sides.pop()
        }
        item => Some(item),
    };
    let points = items.into_iter().map(point);
    let points = points
        .map(|it| it.filter(|it| matches!(it, Answer::Quantity(_))))
        .collect::<Option<Vec<_>>>()?;
    let line = Answer::Interval(super::sets::real_line());
    Some(Answer::Difference(Box::new((line, Answer::Set(points)))))
}

/// A formula after words that only say what it is: "the point (2, 3)".
pub(super) fn announced(text: &str) -> Option<Answer> {
    let near = text.get(..24.min(text.len()))?.to_ascii_lowercase();
    let (lead, following) = words::KIND_OF_ANSWER.begin(&near)?;
    if !following.starts_with(' ') {
        return None;
    }
    let rest = text.get(lead.len()..)?.trim_start();
    let mut answer = formula(rest).ok()?;
    if lead.contains("interval") {
        super::sets::as_interval(&mut answer);
    }
    (!matches!(answer, Answer::Text(_))).then_some(answer)
}

/// Words without formulas: true and false, nothing, a time, or a text. `None` where a formula may be in it.
pub(super) fn worded_answer(plain: &str) -> Option<Answer> {
    if plain.len() > 400 {
        return None;
    }
    if let Some(time) = clock::time(plain) {
        return Some(time);
    }
    if let Some(date) = clock::date(plain) {
        return Some(Answer::Text(date));
    }
    let first = plain.bytes().next()?;
    if first.is_ascii() && !first.is_ascii_alphabetic() {
        return None;
    }
    let lower = plain.to_ascii_lowercase();
    let text = match lower.as_str() {
        "divergent" => "diverges",
        "convergent" => "converges",
        other => other,
    };
    if let Some(place) = numbers::ordinal(text) {
        return Some(Answer::Quantity(Quantity::bare(Expr::integer(
            i64::try_from(place).ok()?,
        ))));
    }
    if words::NO_VALUE.contains(text) {
        return Some(Answer::Text(text.to_owned()));
    }
    if words::EMPTY_SET.contains(text) {
        return Some(Answer::Set(Vec::new()));
    }
    let said = &lower[..letters(&lower, usize::MAX)];
    let is_truth = words::TRUE.contains(said) || words::FALSE.contains(said);
    if is_truth && words::restricts(&lower[said.len()..]) {
        return Some(Answer::Text(plain.to_owned()));
    }
    // "Yes, because …".
    let first = lower.split([',', '.']).next().unwrap_or("");
    for (list, truth) in [(&words::TRUE, true), (&words::FALSE, false)] {
        if list.contains(&plain.to_lowercase())
            || (list.contains(first) && matches!(first, "yes" | "no"))
        {
            return Some(Answer::Truth(truth));
        }
    }
    if is_no_solution(&lower) {
        return Some(Answer::Set(Vec::new()));
    }
    None
}

/// Does a text say that there are no solutions?
fn is_no_solution(lower: &str) -> bool {
    if !lower.contains("solution") && !lower.contains("root") && !lower.contains("no real") {
        return false;
    }
    let all: Vec<&str> = lower.split_whitespace().collect();
    if all.len() > 7 {
        return false;
    }
    let mut rest = all
        .iter()
        .skip_while(|word| words::BEFORE_NO_SOLUTION.contains(word));
    rest.next() == Some(&"no")
        && all.last() != Some(&"no")
        && rest.all(|word| words::NO_SOLUTION.contains(word))
}
