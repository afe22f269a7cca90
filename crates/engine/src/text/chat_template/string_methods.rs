//! Methods of Python's strings.

use super::interpreter::Given;
use super::lexer::is_space;
use super::methods::{argument, number, size, text};
use super::value::Value;
use super::work::{ENTRY, Fault, Text, Work};

pub(super) fn on_string(
    own: &str,
    method: &str,
    given: &Given,
    work: &mut Work,
) -> Result<Option<Value>, Fault> {
    let mapped = |text: String, work: &mut Work| {
        work.spend_each(text.len(), 4)?;
        Ok::<_, Fault>(Value::from(text))
    };
    let part = |text: &str, work: &mut Work| {
        work.spend_each(text.len(), 2)?;
        Ok::<_, Fault>(Value::from(text))
    };
    Ok(Some(match method {
        "strip" | "lstrip" | "rstrip" => part(stripped(own, method, given, work)?, work)?,
        "split" | "rsplit" => split(own, method == "rsplit", given, work)?,
        "splitlines" => {
            let keep = argument(given, 0, "keepends").is_some_and(Value::is_true);
            texts(&lines(own, keep), work)?
        }
        "removeprefix" => part(
            own.strip_prefix(text(given, 0, "prefix")?).unwrap_or(own),
            work,
        )?,
        "removesuffix" => part(
            own.strip_suffix(text(given, 0, "suffix")?).unwrap_or(own),
            work,
        )?,
        "partition" | "rpartition" => {
            let separator = text(given, 0, "sep")?;
            if separator.is_empty() {
                return Err("empty separator".into());
            }
            let first = method == "partition";
            let found = if first {
                own.split_once(separator)
            } else {
                own.rsplit_once(separator)
            };
            let parts = match (found, first) {
                (Some((before, after)), _) => [before, separator, after],
                (None, true) => [own, "", ""],
                (None, false) => ["", "", own],
            };
            work.spend_each(own.len(), 2)?;
            Value::tuple(parts.map(Value::from).to_vec(), work)?
        }
        "find" | "rfind" | "index" | "rindex" | "count" | "startswith" | "endswith" => {
            within(own, method, given, work)?
        }
        "expandtabs" => {
            let width = number(given, 0, "tabsize")?.unwrap_or(8);
            expand_tabs(own, size(width), work)?
        }
        "casefold" | "lower" => mapped(own.to_lowercase(), work)?,
        "upper" => mapped(own.to_uppercase(), work)?,
        "title" => mapped(titled(own, |character| !character.is_alphabetic()), work)?,
        "capitalize" => mapped(capitalised(own), work)?,
        "swapcase" => {
            let mut swapped = String::new();
            for character in own.chars() {
                if character.is_uppercase() {
                    swapped.extend(character.to_lowercase());
                } else {
                    swapped.extend(character.to_uppercase());
                }
            }
            mapped(swapped, work)?
        }
        "ljust" | "rjust" | "center" | "zfill" => {
            let width = number(given, 0, "width")?.ok_or("argument 'width' is missing")?;
            let filling = match argument(given, 1, "fillchar") {
                None if method == "zfill" => "0",
                None => " ",
                Some(_) => text(given, 1, "fillchar")?,
            };
            if filling.chars().count() != 1 {
                return Err("the filling must be one character".into());
            }
            padded(own, method, size(width), filling, work)?
        }
        "replace" => {
            let (old, new) = (text(given, 0, "old")?, text(given, 1, "new")?);
            replaced(own, old, new, given, work)?
        }
        "join" => {
            let list = given.plain.first().ok_or("join takes a list")?;
            let entries = list.defined()?.entries(work)?;
            let mut out = Text::new(work);
            for (at, entry) in entries.iter().enumerate() {
                if at > 0 {
                    out.push(own)?;
                }
                let Some(text) = entry.as_str() else {
                    return Err(format!(
                        "sequence item {at}: expected str instance, {} found",
                        entry.kind()
                    ));
                };
                out.push(text)?;
            }
            Value::from(out.finish())
        }
        "format" => super::formats::brace_format(own, given, work)?,
        "format_map" => {
            let named = given.plain.first().ok_or("format_map takes a mapping")?;
            let mut pairs = Vec::new();
            for (name, value) in super::list_filters::pairs_of(named, work)? {
                pairs.push((name.as_str().unwrap_or_default().to_owned(), value));
            }
            let given = Given {
                plain: Vec::new(),
                named: pairs,
            };
            super::formats::brace_format(own, &given, work)?
        }
        _ => match property(own, method) {
            Some(holds) => Value::Bool(holds),
            None => return Ok(None),
        },
    }))
}

/// A text without the given characters, or without white space, at its ends.
pub(super) fn stripped<'o>(
    own: &'o str,
    method: &str,
    given: &Given,
    work: &mut Work,
) -> Result<&'o str, Fault> {
    let characters = match argument(given, 0, "chars") {
        None | Some(Value::None) => None,
        Some(_) => Some(text(given, 0, "chars")?),
    };
    if let Some(characters) = characters {
        work.spend(own.len().saturating_mul(characters.len()) / 4)?;
    }
    let goes = |character: char| match characters {
        Some(characters) => characters.contains(character),
        None => is_space(character),
    };
    Ok(match method {
        "lstrip" => own.trim_start_matches(goes),
        "rstrip" => own.trim_end_matches(goes),
        _ => own.trim_matches(goes),
    })
}

/// Each word with its first letter in upper case and the others in lower case; a new word begins after each character that `ends_word`.
pub(super) fn titled(text: &str, ends_word: fn(char) -> bool) -> String {
    let mut titled = String::new();
    let mut begins = true;
    for character in text.chars() {
        if begins {
            titled.extend(character.to_uppercase());
        } else {
            titled.extend(character.to_lowercase());
        }
        begins = ends_word(character);
    }
    titled
}

/// `isdigit` and similar methods; `None` if `method` is not one of them.
pub(super) fn property(text: &str, method: &str) -> Option<bool> {
    let all = |is: fn(char) -> bool| !text.is_empty() && text.chars().all(is);
    let cased = |is: fn(char) -> bool, not: fn(char) -> bool| {
        text.chars().any(is) && !text.chars().any(not)
    };
    Some(match method {
        "isalnum" => all(char::is_alphanumeric),
        "isalpha" => all(char::is_alphabetic),
        "isascii" => text.is_ascii(),
        "isdecimal" | "isdigit" => all(|character| character.is_ascii_digit()),
        "isnumeric" => all(char::is_numeric),
        "isspace" => all(is_space),
        "islower" => cased(char::is_lowercase, char::is_uppercase),
        "isupper" => cased(char::is_uppercase, char::is_lowercase),
        "istitle" => {
            let mut in_word = false;
            let mut titled = false;
            for character in text.chars() {
                if character.is_uppercase() && in_word || character.is_lowercase() && !in_word {
                    return Some(false);
                }
                in_word = character.is_alphabetic();
                titled |= in_word;
            }
            titled
        }
        "isidentifier" => {
            let is_name = |character: char| character.is_alphanumeric() || character == '_';
            text.chars().all(is_name)
                && text.starts_with(|character: char| is_name(character) && !character.is_numeric())
        }
        _ => return None,
    })
}

/// A text with its first character in upper case and all others in lower case.
pub(super) fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let mut capitalised = String::new();
    if let Some(first) = characters.next() {
        capitalised.extend(first.to_uppercase());
        capitalised.push_str(&characters.as_str().to_lowercase());
    }
    capitalised
}

fn texts(pieces: &[&str], work: &mut Work) -> Result<Value, Fault> {
    work.spend_each(pieces.len(), ENTRY)?;
    let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    work.spend_each(bytes, 2)?;
    Value::list(
        pieces.iter().map(|piece| Value::from(*piece)).collect(),
        work,
    )
}

/// A text with every `old` replaced by `new`, or as many as the third argument allows.
pub(super) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    given: &Given,
    work: &mut Work,
) -> Result<Value, Fault> {
    let count = number(given, 2, "count")?.unwrap_or(-1);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    work.spend(text.len())?;
    let mut out = Text::new(work);
    let mut copied = 0;
    for (at, found) in text.match_indices(old).take(count) {
        out.push(&text[copied..at])?;
        // An empty text is found between all characters.
        out.work.spend(1)?;
        out.push(new)?;
        copied = at + found.len();
    }
    out.push(&text[copied..])?;
    Ok(Value::from(out.finish()))
}

/// `split(sep=None, maxsplit=-1)` and `rsplit`.
fn split(own: &str, from_the_end: bool, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let separator = match argument(given, 0, "sep") {
        None | Some(Value::None) => None,
        Some(_) => Some(text(given, 0, "sep")?),
    };
    let most = number(given, 1, "maxsplit")?.unwrap_or(-1);
    let parts = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_add(1));
    // There are no more pieces than bytes.
    work.spend_each(own.len(), 16)?;
    let pieces: Vec<&str> = match separator {
        Some("") => return Err("empty separator".into()),
        Some(separator) if from_the_end => {
            let mut pieces: Vec<&str> = own.rsplitn(parts, separator).collect();
            pieces.reverse();
            pieces
        }
        Some(separator) => own.splitn(parts, separator).collect(),
        None => split_at_space(own, parts, from_the_end),
    };
    texts(&pieces, work)
}

/// The words between white space, at most `parts`; the last one (or the first, from the end) holds the rest.
fn split_at_space(text: &str, parts: usize, from_the_end: bool) -> Vec<&str> {
    let mut words = Vec::new();
    // The part that is not split keeps the space at its other end.
    let mut rest = if from_the_end {
        text.trim_end_matches(is_space)
    } else {
        text.trim_start_matches(is_space)
    };
    while !rest.is_empty() {
        if words.len() + 1 == parts {
            words.push(rest);
            break;
        }
        let cut = if from_the_end {
            rest.rfind(is_space)
        } else {
            rest.find(is_space)
        };
        let Some(cut) = cut else {
            words.push(rest);
            break;
        };
        if from_the_end {
            words.push(rest[cut..].trim_start_matches(is_space));
            rest = rest[..cut].trim_end_matches(is_space);
        } else {
            words.push(&rest[..cut]);
            rest = rest[cut..].trim_start_matches(is_space);
        }
    }
    if from_the_end {
        words.reverse();
    }
    words
}

/// Lines, split where Python splits them.
pub(super) fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let ends = |character: char| {
        matches!(
            character,
            '\n' | '\r' | '\u{B}' | '\u{C}' | '\u{1C}'
                ..='\u{1E}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some(end) = rest.find(ends) else {
            lines.push(rest);
            break;
        };
        let after = &rest[end..];
        let length = if after.starts_with("\r\n") {
            2
        } else {
            after.chars().next().map_or(0, char::len_utf8)
        };
        lines.push(&rest[..if keep_ends { end + length } else { end }]);
        rest = &rest[end + length..];
    }
    lines
}

/// A text padded to a width.
pub(super) fn padded(
    text: &str,
    method: &str,
    width: usize,
    filling: &str,
    work: &mut Work,
) -> Result<Value, Fault> {
    let missing = width.saturating_sub(text.chars().count());
    let mut out = Text::new(work);
    match method {
        "ljust" => {
            out.push(text)?;
            out.repeat(filling, missing)?;
        }
        "rjust" => {
            out.repeat(filling, missing)?;
            out.push(text)?;
        }
        "center" => {
            // If the padding is odd, Python puts the extra character on the left where the width is odd.
            let left = missing / 2 + (missing & width & 1);
            out.repeat(filling, left)?;
            out.push(text)?;
            out.repeat(filling, missing - left)?;
        }
        _ => {
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            out.push(&text[..text.len() - digits.len()])?;
            out.repeat(filling, missing)?;
            out.push(digits)?;
        }
    }
    Ok(Value::from(out.finish()))
}

/// Methods that search a text, in the whole or between two indices: `find(sub, start, end)` and similar.
fn within(own: &str, method: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    work.spend(own.len())?;
    let length = own.chars().count();
    let place = |place: i128| {
        let from_end = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
        if place < 0 {
            length.saturating_sub(from_end)
        } else {
            from_end.min(length)
        }
    };
    let start = number(given, 1, "start")?.map_or(0, place);
    let end = number(given, 2, "end")?.map_or(length, place);
    let byte = |place: usize| {
        own.char_indices()
            .nth(place)
            .map_or(own.len(), |(at, _)| at)
    };
    let part = own.get(byte(start)..byte(end)).unwrap_or_default();
    if matches!(method, "startswith" | "endswith") {
        let holds = |what: &str| {
            if method == "startswith" {
                part.starts_with(what)
            } else {
                part.ends_with(what)
            }
        };
        if let Some(Value::List(several)) = given.plain.first() {
            for what in &several.entries {
                work.spend(8)?;
                let what = what.as_str();
                let what =
                    what.ok_or_else(|| format!("{method} takes a text or a tuple of texts"))?;
                work.spend(what.len() / 8)?;
                if holds(what) {
                    return Ok(Value::Bool(true));
                }
            }
            return Ok(Value::Bool(false));
        }
        return Ok(Value::Bool(holds(text(given, 0, "prefix")?)));
    }
    let what = text(given, 0, "sub")?;
    work.spend(what.len())?;
    if method == "count" {
        return Ok(Value::from(part.matches(what).count()));
    }
    let found = if method.starts_with('r') {
        part.rfind(what)
    } else {
        part.find(what)
    };
    match found {
        Some(at) => Ok(Value::from(start + part[..at].chars().count())),
        None if method.ends_with("find") => Ok(Value::Int(-1)),
        None => Err("substring not found".into()),
    }
}

fn expand_tabs(text: &str, width: usize, work: &mut Work) -> Result<Value, Fault> {
    let mut out = Text::new(work);
    let mut column: usize = 0;
    for character in text.chars() {
        match character {
            '\t' => {
                let spaces = match column.checked_rem(width) {
                    Some(past) => width - past,
                    None => 0,
                };
                out.repeat(" ", spaces)?;
                column += spaces;
            }
            '\n' | '\r' => {
                out.push_char(character)?;
                column = 0;
            }
            _ => {
                out.push_char(character)?;
                column += 1;
            }
        }
    }
    Ok(Value::from(out.finish()))
}
