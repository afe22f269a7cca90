//! Times of day and dates.

use crate::answer::Answer;
use crate::lexicon::{leading, words};

/// `3:45 p.m.`, `14:05 o'clock`, `5 pm`, `09:05`.
pub(super) fn time(text: &str) -> Option<Answer> {
    if !text.as_bytes().first()?.is_ascii_digit() || text.len() > 24 {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let (clock, words) = lower.split_at(leading(&lower, |c| c.is_ascii_digit() || c == ':'));
    let words = words.chars().filter(|c| !matches!(c, ' ' | '.' | ','));
    let words: String = words.collect();
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
        let value = part.parse::<u32>().ok();
        let value = value.filter(|value| *value < 60 && part.len() == 2)?;
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

/// A year with its era: `44 BCE` of "44 BC" and "44 B.C.", `79 CE` of "AD 79".
fn year_of_era(text: &str) -> Option<String> {
    let (first, second) = text.split_once(' ').filter(|_| text.len() <= 12)?;
    let is_year = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let (year, era) = match (is_year(first), is_year(second)) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    let era = match era.replace('.', "").as_str() {
        "BC" | "BCE" if year == first => "BCE",
        "AD" | "CE" => "CE",
        _ => return None,
    };
    Some(format!("{year} {era}"))
}

/// A date as ISO 8601 writes it, `-05-17` where the year is not said: `2020-05-17` of itself, of "17 May 2020", "May 17th, 2020", `17.05.2020` and `5/17/2020`. A
/// date that may be read with its day and month swapped stays as it is.
pub(crate) fn date(text: &str) -> Option<String> {
    const PARTED: [char; 5] = [' ', ',', '-', '/', '.'];
    let begins = |it: char| it.is_alphanumeric() || PARTED.contains(&it);
    if !text.starts_with(begins) || !text.contains(PARTED) {
        return None;
    }
    if let Some(year) = year_of_era(text) {
        return Some(year);
    }
    if !(5..=40).contains(&text.len()) || !text.bytes().any(|it| it.is_ascii_digit()) {
        return None;
    }
    let parts: Vec<&str> = text
        .split(PARTED)
        .filter(|part| !part.is_empty() && !matches!(*part, "of" | "the"))
        .collect();
    let [a, b, ref rest @ ..] = parts[..] else {
        return None;
    };
    let number = |part: &str, length: usize| {
        let digits = part.bytes().all(|it| it.is_ascii_digit()) && part.len() <= length;
        digits.then(|| part.parse::<u32>().ok()).flatten()
    };
    let day = |part: &str| {
        let digits = ["st", "nd", "rd", "th"]
            .iter()
            .find_map(|it| part.strip_suffix(it));
        number(digits.unwrap_or(part), 2)
    };
    let month = |part: &str| {
        let mut names = words::MONTH.contains(part).then(|| words::MONTH.iter())?;
        let place = names.position(|it| it.eq_ignore_ascii_case(part))?;
        u32::try_from(place % 12).ok().map(|it| it + 1)
    };
    let c = match rest {
        [c] => *c,
        // Without its year it is a day of every year.
        [] => {
            let (month, day) = month(a).zip(day(b)).or_else(|| month(b).zip(day(a)))?;
            return (1..=31)
                .contains(&day)
                .then(|| format!("-{month:02}-{day:02}"));
        }
        _ => return None,
    };
    let year = |part: &str| (part.len() == 4).then(|| number(part, 4)).flatten();
    let (year, month, day) =
        if let (Some(month), Some(day), Some(year)) = (month(a), day(b), year(c)) {
            (year, month, day)
        } else if let (Some(day), Some(month), Some(year)) = (day(a), month(b), year(c)) {
            (year, month, day)
        } else {
            match (number(a, 4)?, number(b, 2)?, number(c, 4)?) {
                (year, month, day) if a.len() == 4 && text.contains('-') && c.len() == 2 => {
                    (year, month, day)
                }
                (day, month, year) if c.len() == 4 && text.contains('.') => (year, month, day),
                (day @ 13.., month, year) | (month, day @ 13.., year)
                    if c.len() == 4 && text.contains('/') =>
                {
                    (year, month, day)
                }
                _ if c.len() == 4 && text.contains('/') => return Some(text.to_owned()),
                _ => return None,
            }
        };
    ((1..=12).contains(&month) && (1..=31).contains(&day))
        .then(|| format!("{year:04}-{month:02}-{day:02}"))
}
