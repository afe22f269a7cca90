//! Numbers spelled out.

use crate::algebra::Rational;

/// The value of a single small number word.
fn unit_word(word: &str) -> Option<u64> {
    Some(match word {
        "zero" => 0,
        "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "thirteen" => 13,
        "fourteen" => 14,
        "fifteen" => 15,
        "sixteen" => 16,
        "seventeen" => 17,
        "eighteen" => 18,
        "nineteen" => 19,
        "twenty" => 20,
        "thirty" => 30,
        "forty" => 40,
        "fifty" => 50,
        "sixty" => 60,
        "seventy" => 70,
        "eighty" => 80,
        "ninety" => 90,
        _ => return None,
    })
}

/// The size of a word that multiplies.
pub(super) fn scale_word(word: &str) -> Option<u64> {
    Some(match word {
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        "trillion" => 1_000_000_000_000,
        "dozen" => 12,
        _ => return None,
    })
}

/// The denominator that a word names: halves, thirds, ….
fn part_word(word: &str) -> Option<u64> {
    Some(match word {
        "half" | "halves" => 2,
        "third" | "thirds" => 3,
        "quarter" | "quarters" | "fourth" | "fourths" => 4,
        "fifth" | "fifths" => 5,
        "sixth" | "sixths" => 6,
        "seventh" | "sevenths" => 7,
        "eighth" | "eighths" => 8,
        "ninth" | "ninths" => 9,
        "tenth" | "tenths" => 10,
        "hundredth" | "hundredths" => 100,
        _ => return None,
    })
}

/// A small number in one word, for bases.
pub(super) fn small_number(word: &str) -> Option<u64> {
    unit_word(&word.trim().to_ascii_lowercase())
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
        scale_word(next).or_else(|| part_word(next))?;
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
        let denominator = part_word(part)?;
        return Some((
            signed(Rational::from_parts(1.into(), denominator.into()), negative),
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
                    .is_none_or(|next| unit_word(next).is_none() && part_word(next).is_none())
            {
                break;
            }
            // Only behind a hundred or a thousand does "and" go on a number.
            if !matches!(
                lower.get(at - 1).map(String::as_str),
                Some("hundred" | "thousand" | "million")
            ) {
                break;
            }
            at += 1;
            continue;
        }
        if let Some(value) = unit_word(word) {
            let fits = !seen
                || current == 0
                || (value < 10 && (20..=90).contains(&last_unit) && last_unit % 10 == 0)
                || (current >= 100 && last_unit == u64::MAX);
            if !fits {
                return None;
            }
            current = current.checked_add(value)?;
            last_unit = value;
        } else if let Some(scale) = scale_word(word) {
            current = current.max(1).checked_mul(scale)?;
            if scale >= 1000 {
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
    if let Some(denominator) = lower.get(end).and_then(|word| part_word(word)) {
        let value = Rational::from_parts(value.into(), denominator.into());
        return Some((signed(value, negative), end + 1));
    }
    Some((signed(Rational::from(value), negative), end))
}

fn signed(value: Rational, negative: bool) -> Rational {
    if negative { -value } else { value }
}

/// Is a run of capitals a word that somebody shouts?
pub(super) fn is_shouted(run: &str) -> bool {
    matches!(
        run,
        "TRUE"
            | "FALSE"
            | "NONE"
            | "EVEN"
            | "ODD"
            | "YES"
            | "NO"
            | "BOTH"
            | "ZERO"
            | "DNE"
            | "NULL"
    ) || small_number(run).is_some()
}
