//! Mathematics and times of day as people say them, where they are all of an answer: "the square root of 18", "half past three".

use crate::lexicon::{numbers, words};

/// How long such a text is at most, in bytes.
const LONGEST: usize = 48;

/// What is said, in signs.
pub(super) fn written(text: &str) -> Option<String> {
    if text.len() > LONGEST || !text.contains(' ') {
        return None;
    }
    if words::ALL_REAL_NUMBERS_BUT
        .begin(&text.to_ascii_lowercase())
        .is_some()
    {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = text.split(' ').collect();
    let words = match words.as_slice() {
        [
            "a" | "A" | "the" | "The" | "so" | "So" | "thus" | "Thus" | "hence" | "Hence",
            rest @ ..,
        ] => rest,
        all => all,
    };
    match *words {
        ["square", "root", "of", value] => Some(format!("sqrt({})", operand(value)?)),
        ["cube", "root", "of", value] => Some(format!("cbrt({})", operand(value)?)),
        [value, "squared"] => Some(format!("({})^2", operand(value)?)),
        [value, "cubed"] => Some(format!("({})^3", operand(value)?)),
        [value, "factorial"] => Some(format!("({})!", operand(value)?)),
        [value, "to", "the", power, "power"] | [value, "to", "the", "power", "of", power] => {
            Some(format!("({})^({})", operand(value)?, exponent(power)?))
        }
        [name, "is", "either", one, "or", other] if name.len() == 1 => Some(format!(
            "{name} = {} or {name} = {}",
            signed(one)?,
            signed(other)?
        )),
        [name, "is", ref rest @ .., value] | [name, "must", "be", ref rest @ .., value]
            if name.len() == 1 =>
        {
            Some(format!("{name} {} {}", relation(rest)?, signed(value)?))
        }
        [part, side @ ("past" | "to"), hour, ref rest @ ..] => {
            clock(part, side == "past", hour, rest)
        }
        // "The inequality holds for all x greater than 2."
        [ref said @ .., value] => {
            let at = said.iter().rposition(|it| it.len() == 1)?;
            let holds = words::HOLDS_FOR.contains(&said[..at].join(" "));
            let relation = relation(&said[at + 1..]).filter(|_| holds)?;
            Some(format!(
                "{} {relation} {}",
                operand(said[at])?,
                signed(value)?
            ))
        }
        _ => None,
    }
}

/// The sign of "greater than", "at least", "less than or equal to".
fn relation(said: &[&str]) -> Option<&'static str> {
    Some(match said {
        ["greater" | "more" | "larger" | "bigger", "than"] => ">",
        ["less" | "smaller" | "fewer", "than"] => "<",
        ["at", "least"] | ["greater" | "larger", "than", "or", "equal", "to"] => "\\ge",
        ["at", "most"] | ["less" | "smaller", "than", "or", "equal", "to"] => "\\le",
        ["strictly", rest @ ..] if rest.len() == 2 => relation(rest)?,
        _ => return None,
    })
}

/// An operand, which may be negative.
fn signed(word: &str) -> Option<String> {
    match word.strip_prefix(['-', '−']) {
        Some(rest) => Some(format!("-{}", operand(rest)?)),
        None => operand(word),
    }
}

/// A number in digits or in one word, or a letter.
fn operand(word: &str) -> Option<String> {
    let sign = |it: char| it.is_ascii_digit() || it == '.';
    if word.len() == 1 && word.bytes().all(|it| it.is_ascii_alphabetic()) || word.chars().all(sign)
    {
        return Some(word.to_owned());
    }
    numbers::cardinal(&word.to_ascii_lowercase()).map(|it| it.to_string())
}

/// "10th", "third", "5", "n".
fn exponent(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    if !digits.is_empty() && matches!(ending, "st" | "nd" | "rd" | "th") {
        return operand(digits);
    }
    numbers::ordinal(&word.to_ascii_lowercase())
        .map_or_else(|| operand(word), |it| Some(it.to_string()))
}

/// "half past three in the afternoon", "a quarter to nine".
fn clock(part: &str, past: bool, hour: &str, rest: &[&str]) -> Option<String> {
    let hour: u64 = operand(hour)?
        .parse()
        .ok()
        .filter(|it| (1..=12).contains(it))?;
    let minutes = match part {
        "half" | "Half" if past => 30,
        "quarter" | "Quarter" if past => 15,
        "quarter" | "Quarter" => 45,
        _ if past => operand(part)?.parse().ok().filter(|it| *it < 60_u64)?,
        _ => return None,
    };
    let hour = if past { hour } else { (hour + 10) % 12 + 1 };
    let half = match *rest {
        [] | ["o'clock"] => "",
        ["am" | "AM" | "a.m."] | ["in", "the", "morning"] => " am",
        ["pm" | "PM" | "p.m."] | ["in", "the", "afternoon" | "evening"] => " pm",
        _ => return None,
    };
    Some(format!("{hour}:{minutes:02}{half}"))
}
