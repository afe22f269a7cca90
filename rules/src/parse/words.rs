//! Words: numbers spelled out, yes and no, times, dates, and texts without their markup.

use crate::answer::Answer;

/// A text without dress: commands for words, braces, emphasis, doubled spaces, and the full stop at the end.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut space = false;
    let push = |out: &mut String, space: &mut bool, c: char| {
        if std::mem::take(space) && !out.is_empty() {
            out.push(' ');
        }
        out.push(c);
    };
    while let Some(next) = rest.chars().next() {
        if next == '\\' {
            let length = rest[1..]
                .bytes()
                .take_while(u8::is_ascii_alphabetic)
                .count();
            let name = &rest[1..=length];
            if length == 0 {
                let sign = rest[1..].chars().next();
                let width = sign.map_or(0, char::len_utf8);
                match sign {
                    Some('!') | None => {}
                    Some('%' | '$' | '&' | '#' | '_' | '{' | '}') => {
                        push(&mut out, &mut space, sign.unwrap_or(' '));
                    }
                    Some(_) => space = true,
                }
                rest = rest.get(1 + width..).unwrap_or("");
                continue;
            }
            rest = &rest[1 + length..];
            match name {
                "text" | "textbf" | "textit" | "textrm" | "mathrm" | "mathbf" | "mbox"
                | "boxed" | "textnormal" | "textsf" | "texttt" | "operatorname" | "emph"
                | "displaystyle" | "left" | "right" | "mathit" | "bf" | "rm" | "it" | "fbox"
                | "big" | "Big" | "bigl" | "bigr" | "underline" | "textsc" | "mathsf"
                | "boldsymbol" => {}
                "quad" | "qquad" => space = true,
                "dfrac" | "tfrac" | "cfrac" => out.push_str("\\frac"),
                "leq" | "leqslant" => out.push_str("\\le"),
                "geq" | "geqslant" => out.push_str("\\ge"),
                "neq" => out.push_str("\\ne"),
                _ => {
                    if std::mem::take(&mut space) && !out.is_empty() {
                        out.push(' ');
                    }
                    out.push('\\');
                    out.push_str(name);
                    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
                        out.push(' ');
                    }
                }
            }
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match next {
            // Emphasis; one star alone multiplies.
            '*' if rest.starts_with('*') => rest = &rest[1..],
            '{' | '}' | '$' | '`' | '"' | '“' | '”' => {}
            '~' => space = true,
            '’' | '‘' => push(&mut out, &mut space, '\''),
            _ if next.is_whitespace() => space = true,
            _ if next.is_control()
                || matches!(next, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{202a}'..='\u{202e}') =>
                {}
            other => push(&mut out, &mut space, other),
        }
    }
    while out.ends_with(['.', ',', ';', ' ']) {
        out.pop();
    }
    out
}

/// Words without formulas: true and false, nothing, a time, or a text. `None` where a formula may be in it.
pub(super) fn answer(plain: &str) -> Option<Answer> {
    if plain.len() > 400 {
        return None;
    }
    if let Some(time) = time(plain) {
        return Some(time);
    }
    if is_date(plain) {
        return Some(Answer::Text(plain.to_owned()));
    }
    let first = plain.bytes().next()?;
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let lower = plain.to_ascii_lowercase();
    match lower.as_str() {
        "yes" | "true" => return Some(Answer::Truth(true)),
        "no" | "false" => return Some(Answer::Truth(false)),
        "none"
        | "none of these"
        | "none of the above"
        | "dne"
        | "does not exist"
        | "undefined"
        | "not defined"
        | "indeterminate"
        | "n/a"
        | "impossible"
        | "cannot be determined"
        | "diverges"
        | "divergent"
        | "converges"
        | "convergent" => {
            let text = match lower.as_str() {
                "dne" => "does not exist",
                "not defined" => "undefined",
                "divergent" => "diverges",
                "convergent" => "converges",
                other => other,
            };
            return Some(Answer::Text(text.to_owned()));
        }
        "empty set" | "the empty set" | "emptyset" => return Some(Answer::Set(Vec::new())),
        _ => {}
    }
    for (start, value) in [
        ("yes,", true),
        ("yes.", true),
        ("no,", false),
        ("no.", false),
    ] {
        if lower.starts_with(start) {
            return Some(Answer::Truth(value));
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
    let words: Vec<&str> = lower.split_whitespace().collect();
    if words.len() > 7 {
        return false;
    }
    let skipped = words
        .iter()
        .take_while(|word| {
            matches!(
                **word,
                "there" | "are" | "is" | "the" | "equation" | "has" | "it" | "have"
            )
        })
        .count();
    words.get(skipped) == Some(&"no")
        && words.get(skipped + 1..).is_some_and(|rest| {
            !rest.is_empty()
                && rest.iter().all(|word| {
                    matches!(
                        *word,
                        "solution"
                            | "solutions"
                            | "real"
                            | "integer"
                            | "root"
                            | "roots"
                            | "such"
                            | "positive"
                            | "exist"
                            | "exists"
                            | "valid"
                            | "natural"
                            | "rational"
                            | "number"
                            | "numbers"
                            | "complex"
                    )
                })
        })
}

/// `3:45 p.m.`, `14:05 o'clock`, `5 pm`, `09:05`.
fn time(text: &str) -> Option<Answer> {
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
fn is_date(text: &str) -> bool {
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
