//! Methods of Python's strings, lists and dictionaries. Most come from minijinja-contrib; here are the ones it lacks, or
//! reads otherwise than Python. What would change a list or a dictionary does not exist, as in transformers' sandbox.

use minijinja::value::{Kwargs, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

/// What `[::-1]` is written as.
pub(super) const REVERSED: &str = "__reversed__";

/// Calls a method that the value itself does not have.
pub(super) fn call(
    state: &mut State,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    let known = match value.kind() {
        ValueKind::String => on_string(value.as_str().unwrap_or_default(), method, arguments)?,
        ValueKind::Seq | ValueKind::Iterable => on_list(value, method, arguments)?,
        ValueKind::Map => on_dictionary(value, method, arguments)?,
        _ => None,
    };
    match known {
        Some(result) => Ok(result),
        None => unknown_method_callback(state, value, method, arguments),
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// White space as Python's `str` counts it: Unicode's, and the four separators.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1C}'..='\u{1F}')
}

fn on_string(text: &str, method: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        REVERSED => Value::from(text.chars().rev().collect::<String>()),
        "strip" | "lstrip" | "rstrip" => {
            let (characters,): (Option<Value>,) = from_args(arguments)?;
            let characters = characters.filter(|value| !value.is_none());
            let characters = characters.map(|value| value.to_string());
            let goes = |character: char| match &characters {
                Some(characters) => characters.contains(character),
                None => is_space(character),
            };
            Value::from(match method {
                "strip" => text.trim_matches(goes),
                "lstrip" => text.trim_start_matches(goes),
                _ => text.trim_end_matches(goes),
            })
        }
        "split" | "rsplit" => split(text, method == "rsplit", arguments)?,
        "splitlines" => {
            let (keep,): (Option<bool>,) = from_args(arguments)?;
            texts(lines(text, keep.unwrap_or(false)))
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(arguments)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" => {
            let (separator,): (&str,) = from_args(arguments)?;
            triple(text.split_once(separator), separator, (text, ""), true)
        }
        "rpartition" => {
            let (separator,): (&str,) = from_args(arguments)?;
            triple(text.rsplit_once(separator), separator, ("", text), false)
        }
        "find" | "rfind" | "index" | "rindex" | "count" | "startswith" | "endswith" => {
            within(text, method, arguments)?
        }
        "expandtabs" => {
            let (width,): (Option<usize>,) = from_args(arguments)?;
            Value::from(expand_tabs(text, width.unwrap_or(8).min(100)))
        }
        "casefold" => {
            let () = from_args(arguments)?;
            Value::from(text.to_lowercase())
        }
        "title" => {
            let () = from_args(arguments)?;
            let mut titled = String::new();
            let mut in_word = false;
            for character in text.chars() {
                if in_word {
                    titled.extend(character.to_lowercase());
                } else {
                    titled.extend(character.to_uppercase());
                }
                in_word = character.is_alphabetic();
            }
            Value::from(titled)
        }
        "swapcase" => {
            let () = from_args(arguments)?;
            let swapped: String = text
                .chars()
                .flat_map(|character| {
                    if character.is_uppercase() {
                        character.to_lowercase().collect::<Vec<_>>()
                    } else {
                        character.to_uppercase().collect()
                    }
                })
                .collect();
            Value::from(swapped)
        }
        "ljust" | "rjust" | "center" | "zfill" => pad(text, method, arguments)?,
        _ => return Ok(None),
    }))
}

fn texts(pieces: Vec<&str>) -> Value {
    Value::from(pieces.into_iter().map(Value::from).collect::<Vec<_>>())
}

/// The three parts around a separator, or the text whole.
fn triple(found: Option<(&str, &str)>, separator: &str, whole: (&str, &str), first: bool) -> Value {
    let parts = match (found, first) {
        (Some((before, after)), _) => [before, separator, after],
        (None, true) => [whole.0, "", ""],
        (None, false) => ["", "", whole.1],
    };
    Value::from(Tuple::from(parts.map(Value::from)))
}

/// `split(sep=None, maxsplit=-1)` and `rsplit`.
fn split(text: &str, from_the_end: bool, arguments: &[Value]) -> Result<Value, Error> {
    let (separator, most, kwargs): (Option<Value>, Option<i64>, Kwargs) = from_args(arguments)?;
    let separator = match separator {
        Some(separator) => Some(separator),
        None => kwargs.get::<Option<Value>>("sep")?,
    };
    let most = match most {
        Some(most) => Some(most),
        None => kwargs.get::<Option<i64>>("maxsplit")?,
    };
    kwargs.assert_all_used()?;
    let parts =
        usize::try_from(most.unwrap_or(-1)).map_or(usize::MAX, |most| most.saturating_add(1));
    let separator = separator.filter(|separator| !separator.is_none());
    let pieces: Vec<&str> = match &separator {
        Some(separator) => {
            let separator = separator
                .as_str()
                .filter(|separator| !separator.is_empty())
                .ok_or_else(|| {
                    invalid("split: the separator must be a text that is not empty".into())
                })?;
            if from_the_end {
                let mut pieces: Vec<&str> = text.rsplitn(parts, separator).collect();
                pieces.reverse();
                pieces
            } else {
                text.splitn(parts, separator).collect()
            }
        }
        None => split_at_space(text, parts, from_the_end),
    };
    Ok(texts(pieces))
}

/// Words between white space, `parts` of them at most; the last (or first) one holds the rest.
fn split_at_space(text: &str, parts: usize, from_the_end: bool) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_matches(is_space);
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

/// Lines, cut where Python cuts them.
fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
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

/// `ljust`, `rjust`, `center` (to a width, with a filling) and `zfill`.
fn pad(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (width, filling): (i64, Option<char>) = from_args(arguments)?;
    let length = text.chars().count();
    let width = usize::try_from(width).unwrap_or(0).min(length + 10_000);
    let missing = width.saturating_sub(length);
    let filling = filling.unwrap_or(if method == "zfill" { '0' } else { ' ' });
    let fill = |count: usize| filling.to_string().repeat(count);
    Ok(Value::from(match method {
        "ljust" => format!("{text}{}", fill(missing)),
        "rjust" => format!("{}{text}", fill(missing)),
        "center" => centred(text, width, filling),
        _ => match text.strip_prefix(['+', '-']) {
            Some(digits) => format!("{}{}{digits}", &text[..1], fill(missing)),
            None => format!("{}{text}", fill(missing)),
        },
    }))
}

/// A text in the middle of a width.
pub(super) fn centred(text: &str, width: usize, filling: char) -> String {
    let length = text.chars().count();
    let width = width.min(length + 10_000);
    let missing = width.saturating_sub(length);
    // Python puts the odd one to the left where the width is odd.
    let left = missing / 2 + (missing & width & 1);
    let fill = |count: usize| filling.to_string().repeat(count);
    format!("{}{text}{}", fill(left), fill(missing - left))
}

/// Methods that look for a text, in the whole or between two places: `find(sub, start, end)` and its like.
fn within(text: &str, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (what, start, end): (&Value, Option<i64>, Option<i64>) = from_args(arguments)?;
    let length = text.chars().count();
    let place = |place: i64| {
        let from_end = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
        if place < 0 {
            length.saturating_sub(from_end)
        } else {
            from_end.min(length)
        }
    };
    let start = start.map_or(0, place);
    let end = end.map_or(length, place);
    let byte = |place: usize| {
        text.char_indices()
            .nth(place)
            .map_or(text.len(), |(at, _)| at)
    };
    let part = text.get(byte(start)..byte(end)).unwrap_or_default();
    if matches!(method, "startswith" | "endswith") {
        let holds = |what: &Value| {
            let what = what
                .as_str()
                .ok_or_else(|| invalid(format!("{method}: {what} is no text")))?;
            Ok::<bool, Error>(if method == "startswith" {
                part.starts_with(what)
            } else {
                part.ends_with(what)
            })
        };
        if what.as_str().is_some() {
            return holds(what).map(Value::from);
        }
        for what in what.try_iter()? {
            if holds(&what)? {
                return Ok(Value::from(true));
            }
        }
        return Ok(Value::from(false));
    }
    let what = what
        .as_str()
        .ok_or_else(|| invalid(format!("{method}: {what} is no text")))?;
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
        None if method.ends_with("find") => Ok(Value::from(-1)),
        None => Err(invalid("substring not found".into())),
    }
}

fn expand_tabs(text: &str, width: usize) -> String {
    let mut expanded = String::new();
    let mut column = 0;
    for character in text.chars() {
        match character {
            '\t' => {
                let spaces = if width == 0 {
                    0
                } else {
                    width - column % width
                };
                expanded.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\n' | '\r' => {
                expanded.push(character);
                column = 0;
            }
            _ => {
                expanded.push(character);
                column += 1;
            }
        }
    }
    expanded
}

fn on_list(value: &Value, method: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        REVERSED => {
            let mut entries: Vec<Value> = value.try_iter()?.collect();
            entries.reverse();
            if value.is_tuple() {
                Value::from(Tuple::from(entries))
            } else {
                Value::from(entries)
            }
        }
        "index" => {
            let (what,): (&Value,) = from_args(arguments)?;
            let at = value.try_iter()?.position(|entry| entry == *what);
            Value::from(at.ok_or_else(|| invalid(format!("{what} is not in list")))?)
        }
        "count" => {
            let (what,): (&Value,) = from_args(arguments)?;
            Value::from(value.try_iter()?.filter(|entry| entry == what).count())
        }
        "copy" => {
            let () = from_args(arguments)?;
            value.clone()
        }
        _ => return Ok(None),
    }))
}

fn on_dictionary(value: &Value, method: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
    Ok(Some(match method {
        "copy" => {
            let () = from_args(arguments)?;
            value.clone()
        }
        _ => return Ok(None),
    }))
}
