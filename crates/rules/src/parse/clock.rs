//! Times of day and dates.

use crate::answer::Answer;

/// `3:45 p.m.`, `14:05 o'clock`, `5 pm`, `09:05`.
pub(super) fn time(text: &str) -> Option<Answer> {
    if !text.as_bytes().first()?.is_ascii_digit() || text.len() > 24 {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let end = lower
        .find(|c: char| !(c.is_ascii_digit() || c == ':'))
        .unwrap_or(lower.len());
    let (clock, words) = lower.split_at(end);
    let words: String = words
        .chars()
        .filter(|c| !matches!(c, ' ' | '.' | ','))
        .collect();
    let afternoon = match words.as_str() {
        "am" | "aminthemorning" | "inthemorning" => Some(false),
        "pm" | "intheafternoon" | "intheevening" => Some(true),
        "noon" if clock.starts_with("12") => Some(true),
        "midnight" if clock.starts_with("12") => Some(false),
        "o'clock" | "oclock" => None,
        "" if clock.starts_with('0') && clock.len() >= 5 && clock.contains(':') => None,
        _ => return None,
    };
    let mut parts = clock.split(':');
    let hours = parts.next()?;
    if hours.is_empty() || hours.len() > 2 {
        return None;
    }
    let mut seconds = hours.parse::<u32>().ok()? * 3600;
    if seconds > 24 * 3600 || (afternoon.is_some() && (seconds == 0 || seconds > 12 * 3600)) {
        return None;
    }
    for weight in [60, 1] {
        let Some(part) = parts.next() else { break };
        let value = part
            .parse::<u32>()
            .ok()
            .filter(|value| *value < 60 && part.len() == 2)?;
        seconds += value * weight;
    }
    if parts.next().is_some() {
        return None;
    }
    let seconds = match afternoon {
        Some(true) if seconds < 12 * 3600 => seconds + 12 * 3600,
        Some(false) if seconds >= 12 * 3600 => seconds - 12 * 3600,
        _ => seconds,
    };
    Some(Answer::Time { seconds, afternoon })
}

/// `2020-05-17` and `12/25/2020`.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !(8..=10).contains(&bytes.len()) || !bytes[0].is_ascii_digit() {
        return false;
    }
    let separator = if text.contains('-') { '-' } else { '/' };
    let parts: Vec<&str> = text.split(separator).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    parts
        .iter()
        .all(|part| part.bytes().all(|b| b.is_ascii_digit()))
        && match lengths.as_slice() {
            [4, 2, 2] => separator == '-',
            [1 | 2, 1 | 2, 4] => separator == '/',
            _ => false,
        }
}
