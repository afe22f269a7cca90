//! Where a text holds an answer, and wrong answers made from right ones.

use std::borrow::Cow;
use std::ops::Range;

struct Number<'t> {
    place: Range<usize>,
    text: &'t str,
}

impl Number<'_> {
    /// The same for all spellings of one value: without separators of thousands, leading zeros, and zeros at the end of the decimals.
    fn value(&self) -> String {
        let digits = self.text.replace(',', "");
        let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
        let (whole, decimals) = (
            whole.trim_start_matches('0'),
            decimals.trim_end_matches('0'),
        );
        format!("{whole}.{decimals}")
    }
}

/// The numbers in a text: digits, with commas and points between them.
fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(|c: char| c.is_ascii_digit())?;
        let rest = &text.as_bytes()[start..];
        let is_digit = |at: usize| rest.get(at).is_some_and(u8::is_ascii_digit);
        let mut length = 1;
        while is_digit(length)
            || (matches!(rest.get(length), Some(b',' | b'.')) && is_digit(length + 1))
        {
            length += 1;
        }
        from = start + length;
        let place = start..from;
        Some(Number {
            text: &text[place.clone()],
            place,
        })
    })
}

fn only_number(text: &str) -> Option<Number<'_>> {
    let mut numbers = numbers(text);
    numbers.next().filter(|_| numbers.next().is_none())
}

/// Where a text holds an answer: the number of an answer that has one, in any spelling, else the answer's own text.
pub(super) fn places(text: &str, answer: &str) -> Vec<Range<usize>> {
    if let Some(number) = only_number(answer) {
        let value = number.value();
        let same = numbers(text).filter(|number| number.value() == value);
        return same.map(|number| number.place).collect();
    }
    let answer = answer.trim();
    if answer.is_empty() {
        return Vec::new();
    }
    let is_whole = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + answer.len()..].chars().next();
        !before.into_iter().chain(after).any(char::is_alphanumeric)
    };
    text.match_indices(answer)
        .filter(|(at, _)| is_whole(*at))
        .map(|(at, _)| at..at + answer.len())
        .collect()
}

/// The text with a wrong answer wherever it holds the right one; `None` where it does not, or shows no derivation: fewer than two other numbers.
pub(super) fn with_wrong_answer(text: &str, right: &str, wrong: &str) -> Option<String> {
    let places = places(text, right);
    if places.is_empty() {
        return None;
    }
    let others = numbers(text).filter(|number| {
        let covers = |place: &Range<usize>| place.contains(&number.place.start);
        !places.iter().any(covers)
    });
    if others.count() < 2 {
        return None;
    }
    let wrong = match (only_number(right), only_number(wrong)) {
        (Some(_), Some(number)) => number.text,
        _ => wrong.trim(),
    };
    let mut changed = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        changed.push_str(&text[from..place.start]);
        changed.push_str(wrong);
        from = place.end;
    }
    changed.push_str(&text[from..]);
    Some(changed)
}

/// An answer with another last digit; `None` where it has no digit.
pub(super) fn with_another_digit(answer: &str, draw: usize) -> Option<String> {
    let at = answer.rfind(|c: char| c.is_ascii_digit())?;
    let digit = answer.as_bytes()[at];
    // Never 0, which could end as a denominator.
    let other = (b'1'..=b'9').filter(|&other| other != digit);
    let others: Vec<u8> = other.collect();
    let other = char::from(others[draw % others.len()]);
    Some(format!("{}{other}{}", &answer[..at], &answer[at + 1..]))
}

/// The text up to where it first holds one of the answers.
pub(super) fn before_answer<'t>(text: &'t str, answers: impl Iterator<Item = &'t str>) -> &'t str {
    let first = answers
        .filter_map(|answer| places(text, answer).first().map(|place| place.start))
        .min();
    &text[..first.unwrap_or(text.len())]
}

/// At most `most` characters of a text, from its beginning and its end.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let count = text.chars().count();
    if count <= most {
        return text.into();
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} … {tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_found_in_every_spelling_and_nowhere_else() {
        let found = |text: &str, answer: &str| -> Vec<String> {
            places(text, answer)
                .into_iter()
                .map(|place| text[place].to_owned())
                .collect()
        };
        assert_eq!(
            found(
                "It is $3,255.00, or 3255; not 32550, 3,2551 or 3255.5.",
                "3,255"
            ),
            ["3,255.00", "3255"]
        );
        assert_eq!(found("13 = 13.0, 113, 1.13", "13 apples"), ["13", "13.0"]);
        assert_eq!(found("7:10, 17:10, 7:101", "7:10"), ["7:10"]);
        assert_eq!(found("B, not AB or B2; (B)", "B"), ["B", "B"]);
        assert_eq!(found("anything", " "), [""; 0]);
        assert_eq!(found("0 and 0.50", "0.5"), ["0.50"]);
    }

    #[test]
    fn a_wrong_answer_takes_every_place_of_the_right_one() {
        let changed = |text: &str, right: &str, wrong: &str| with_wrong_answer(text, right, wrong);
        assert_eq!(
            changed("6 * 4 = 24. The answer is 24.0 eggs.", "24 eggs", "27 eggs").as_deref(),
            Some("6 * 4 = 27. The answer is 27 eggs.")
        );
        // No derivation, or none that comes to the answer.
        assert_eq!(changed("The answer is 24.", "24", "27"), None);
        assert_eq!(changed("6 * 4 = 25.", "24", "27"), None);
    }

    #[test]
    fn another_digit_makes_another_answer() {
        for draw in 0..20 {
            for answer in ["24", "3,255", "1/2", "7:10", "x^2 + 1", "0"] {
                let wrong = with_another_digit(answer, draw).unwrap();
                assert_ne!(wrong, answer);
                assert!(!wrong.ends_with('0'));
            }
        }
        assert_eq!(with_another_digit("B", 0), None);
    }

    #[test]
    fn a_text_is_cut_before_its_answer() {
        let cut = |text| before_answer(text, ["24", "two dozen"].into_iter());
        assert_eq!(cut("6 * 4 = 24 = two dozen"), "6 * 4 = ");
        assert_eq!(cut("It is two dozen, 24"), "It is ");
        assert_eq!(cut("6 * 4 = 25"), "6 * 4 = 25");
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        assert_eq!(shortened("äbcdefghij", 4), "äb … ij");
        assert_eq!(shortened("äbcd", 4), "äbcd");
    }
}
