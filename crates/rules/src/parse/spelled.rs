//! Numbers spelled out.

use crate::algebra::Rational;
use crate::lexicon::numbers::{cardinal, denominator, scale};

/// A small number in one word, for bases.
pub(super) fn small_number(word: &str) -> Option<u64> {
    cardinal(&word.trim().to_ascii_lowercase())
}

/// The number that words begin to spell, and how many of them.
pub(super) fn number(words: &[&str]) -> Option<(Rational, usize)> {
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let mut at = 0;
    let mut negative = false;
    if matches!(lower.first()?.as_str(), "minus" | "negative") {
        negative = true;
        at = 1;
    }
    let first = at;
    if matches!(lower.get(at).map(String::as_str), Some("a" | "an")) {
        // "a dozen", "a half", "a hundred".
        let next = lower.get(at + 1)?;
        scale(next).or_else(|| denominator(next))?;
        at += 1;
    }
    if let Some(part) = lower
        .get(at)
        .filter(|word| matches!(word.as_str(), "half" | "quarter" | "third"))
    {
        let alone = at > first || part.as_str() == "half" || part.as_str() == "quarter";
        if !alone {
            return None;
        }
        let parts = denominator(part)?;
        return Some((
            signed(Rational::from_parts(1.into(), parts.into()), negative),
            at + 1,
        ));
    }
    let (mut total, mut current) = (0_u64, 0_u64);
    let mut seen = false;
    let mut last_unit = u64::MAX;
    let mut end = at;
    while let Some(word) = lower.get(at) {
        if word == "and" {
            if !seen
                || lower
                    .get(at + 1)
                    .is_none_or(|next| cardinal(next).is_none() && denominator(next).is_none())
            {
                break;
            }
            // Only after a hundred or a thousand does "and" go on a number.
            if !matches!(
                lower.get(at - 1).map(String::as_str),
                Some("hundred" | "thousand" | "million")
            ) {
                break;
            }
            at += 1;
            continue;
        }
        if let Some(value) = cardinal(word) {
            let fits = !seen
                || current == 0
                || (value < 10 && (20..=90).contains(&last_unit) && last_unit % 10 == 0)
                || (current >= 100 && last_unit == u64::MAX);
            if !fits {
                return None;
            }
            current = current.checked_add(value)?;
            last_unit = value;
        } else if let Some(factor) = scale(word) {
            current = current.max(1).checked_mul(factor)?;
            if factor >= 1000 {
                total = total.checked_add(current)?;
                current = 0;
            }
            last_unit = u64::MAX;
        } else {
            break;
        }
        seen = true;
        at += 1;
        end = at;
    }
    if !seen {
        return None;
    }
    let value = total.checked_add(current)?;
    // "two thirds", "one half".
    if let Some(parts) = lower.get(end).and_then(|word| denominator(word)) {
        let value = Rational::from_parts(value.into(), parts.into());
        return Some((signed(value, negative), end + 1));
    }
    Some((signed(Rational::from(value), negative), end))
}

fn signed(value: Rational, negative: bool) -> Rational {
    if negative { -value } else { value }
}
