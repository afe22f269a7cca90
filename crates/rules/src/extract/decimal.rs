//! Numbers of languages with a decimal comma, written with a point.

/// `text` with its numbers as English writes them, and whether one of them may be meant otherwise: "70.000" is 70000, "3,5"
/// is 3.5, "1.234,5" is 1234.5; a model may write English numbers in any language. `None` where nothing changes.
pub(super) fn points(text: &str) -> Option<(String, bool)> {
    let mut out = String::with_capacity(text.len());
    let (mut changed, mut doubtful) = (false, false);
    let mut rest = text;
    while let Some(at) = rest.find(|it: char| it.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let length = number
            .find(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | ',')))
            .unwrap_or(number.len());
        let token = number[..length].trim_end_matches(['.', ',']);
        out.push_str(before);
        let (written, sure) = number_of(token);
        changed |= written != token;
        doubtful |= !sure;
        out.push_str(&written);
        rest = &number[token.len()..];
        if token.is_empty() {
            break;
        }
    }
    out.push_str(rest);
    (changed || doubtful).then_some((out, doubtful))
}

/// One number with a decimal point, and whether it can be meant only so.
fn number_of(token: &str) -> (String, bool) {
    let last = token.rfind(['.', ',']);
    let Some(last) = last else {
        return (token.to_owned(), true);
    };
    let sign = &token[last..=last];
    let both = token.contains('.') && token.contains(',');
    let (whole, fraction) = (&token[..last], &token[last + 1..]);
    let digits = |text: &str| text.replace(['.', ','], "");
    let grouped = token.split(sign).enumerate().all(|(index, part)| {
        if index == 0 {
            (1..=3).contains(&part.len()) && !part.starts_with('0')
        } else {
            part.len() == 3
        }
    });
    if both {
        return (format!("{}.{fraction}", digits(whole)), true);
    }
    if grouped {
        let several = token.matches(sign).count() > 1;
        return (digits(token), several);
    }
    if token.matches(sign).count() > 1 {
        return (token.to_owned(), true);
    }
    (format!("{whole}.{fraction}"), true)
}
