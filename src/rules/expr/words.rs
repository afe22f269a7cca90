//! Words: numbers spelled out, yes and no, times, dates, and texts without their markup.

use super::answer::Answer;
use super::term::Rational;

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

/// The letters of a choice: `A`, `(A)`, `A.`, `(B) 5`, `A and C`, `option D`.
pub(super) fn choice(plain: &str) -> Option<Vec<char>> {
    if plain.len() > 400 {
        return None;
    }
    let mut rest = plain.trim();
    let mut announced = false;
    for word in ["option", "Option", "choice", "Choice", "answer", "Answer"] {
        if let Some(after) = rest.strip_prefix(word) {
            let after = after.trim_start_matches(['s', ':', ' ']);
            if after.len() < rest.len() - word.len() {
                rest = after;
                announced = true;
            }
        }
    }
    // `ACD`: several choices in the order of the alphabet.
    if rest.len() >= 3
        && rest.len() <= 5
        && rest.bytes().all(|byte| (b'A'..=b'E').contains(&byte))
        && rest.as_bytes().windows(2).all(|pair| pair[0] < pair[1])
    {
        return Some(rest.chars().collect());
    }
    let (letter, dressed, after) = choice_letter(rest)?;
    let mut letters = vec![letter];
    let mut tail = after;
    // Further letters, with commas or "and" between.
    loop {
        let trimmed = tail.trim_start();
        let next = trimmed
            .strip_prefix(',')
            .map(|rest| rest.trim_start())
            .map(|rest| rest.strip_prefix("and ").unwrap_or(rest))
            .or_else(|| trimmed.strip_prefix("and "))
            .or_else(|| trimmed.strip_prefix('&'));
        let Some(next) = next else { break };
        let (letter, _, after) = choice_letter(next.trim_start())?;
        letters.push(letter);
        tail = after;
    }
    let tail = tail.trim();
    let closed = tail.is_empty() || (letters.len() == 1 && dressed);
    let clean = letters.len() == 1
        || letters
            .iter()
            .enumerate()
            .all(|(i, c)| !letters[..i].contains(c));
    if !closed || !clean {
        return None;
    }
    if letters.len() == 1 && !dressed && !announced && letter > 'J' {
        return None;
    }
    letters.sort_unstable();
    Some(letters)
}

/// A letter of a choice with its dress: the letter, whether it wears any, and what follows.
fn choice_letter(text: &str) -> Option<(char, bool, &str)> {
    let (open, inner) = match text.strip_prefix(['(', '[']) {
        Some(inner) => (true, inner.trim_start()),
        None => (false, text),
    };
    let letter = inner.chars().next().filter(char::is_ascii_uppercase)?;
    let behind = inner.get(1..)?;
    if open {
        if letter > 'J' {
            return None;
        }
        let after = behind.trim_start().strip_prefix([')', ']'])?;
        let after = after.strip_prefix([':', '.']).unwrap_or(after);
        // `(A)^2`, `(A)+1`, `(B)(C)` are formulas.
        let formula = after
            .trim_start()
            .starts_with(['^', '+', '*', '/', '=', '_', '(', '!', '<', '>', '|', '\'']);
        return (!formula).then_some((letter, true, after));
    }
    if letter > 'J' {
        return None;
    }
    if let Some(after) = behind.strip_prefix(')') {
        return Some((letter, true, after));
    }
    if let Some(after) = behind.strip_prefix(['.', ':']) {
        let value = after.starts_with(' ') || after.is_empty();
        return value.then_some((letter, true, after));
    }
    let ends = behind.is_empty() || behind.starts_with([' ', ',']);
    ends.then_some((letter, false, behind))
}
