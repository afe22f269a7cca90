//! Filters of texts.

use super::filters::are_known;
use super::formats;
use super::interpreter::Given;
use super::lexer::is_space;
use super::methods::{argument, indentation, number, size};
use super::string_methods;
use super::value::Value;
use super::work::{Fault, Text, Work, shown};

/// Filters of texts; other values are written as texts first.
pub(super) fn on_text(
    name: &str,
    value: &Value,
    given: &Given,
    work: &mut Work,
) -> Result<Value, Fault> {
    if !are_known(name) {
        return Err(format!("no filter named '{}'", shown(name)));
    }
    let own = value.to_text(work)?;
    work.spend(own.len())?;
    let made = |text: String, work: &mut Work| {
        work.spend_each(text.len(), 4)?;
        Ok(Value::from(text))
    };
    match name {
        "string" => Ok(match value {
            Value::Safe(_) => value.clone(),
            _ => Value::Str(own),
        }),
        "safe" => Ok(Value::Safe(own)),
        "lower" => made(own.to_lowercase(), work),
        "upper" => made(own.to_uppercase(), work),
        "capitalize" => made(string_methods::capitalised(&own), work),
        "title" => {
            let ends_word =
                |character| is_space(character) || matches!(character, '-' | '(' | '{' | '[' | '<');
            made(string_methods::titled(&own, ends_word), work)
        }
        "trim" => {
            let trimmed = string_methods::stripped(&own, "strip", given, work)?;
            made(trimmed.to_owned(), work)
        }
        "e" | "escape" if matches!(value, Value::Safe(_)) => Ok(value.clone()),
        "e" | "escape" | "forceescape" => {
            let mut out = Text::new(work);
            escape(&own, &mut out)?;
            Ok(Value::Safe(out.finish().into()))
        }
        "replace" => {
            let (old, new) = (
                plain_text(given, 0, "old", work)?,
                plain_text(given, 1, "new", work)?,
            );
            string_methods::replaced(&own, &old, &new, given, work)
        }
        "center" => {
            let width = number(given, 0, "width")?.unwrap_or(80);
            string_methods::padded(&own, "center", size(width), " ", work)
        }
        "format" => {
            if given.named.is_empty() {
                formats::percent_format(&own, &given.plain, work)
            } else {
                let mut pairs = Vec::new();
                for (name, value) in &given.named {
                    pairs.push((Value::from(name.as_str()), value.clone()));
                }
                let named = Value::dictionary(pairs, work)?;
                formats::percent_format(&own, &[named], work)
            }
        }
        "indent" => indent(&own, given, work),
        "truncate" => truncate(&own, given, work),
        "wordcount" => {
            let is_word = |character: char| character.is_alphanumeric() || character == '_';
            let words = own.split(|character| !is_word(character));
            Ok(Value::from(words.filter(|word| !word.is_empty()).count()))
        }
        _ => wordwrap(&own, given, work),
    }
}

/// Writes a text with HTML's special characters escaped.
pub(super) fn escape(text: &str, out: &mut Text<'_>) -> Result<(), Fault> {
    for character in text.chars() {
        match character {
            '&' => out.push("&amp;")?,
            '<' => out.push("&lt;")?,
            '>' => out.push("&gt;")?,
            '\'' => out.push("&#39;")?,
            '"' => out.push("&#34;")?,
            _ => out.push_char(character)?,
        }
    }
    Ok(())
}

fn plain_text(
    given: &Given,
    at: usize,
    name: &str,
    work: &mut Work,
) -> Result<std::sync::Arc<str>, Fault> {
    let value = argument(given, at, name).ok_or_else(|| format!("argument '{name}' is missing"))?;
    value.to_text(work)
}

fn indent(own: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let is_set = |at, name: &str| argument(given, at, name).is_some_and(Value::is_true);
    let (first, blank) = (is_set(1, "first"), is_set(2, "blank"));
    let width = indentation(given, 0, "width", work)?.unwrap_or_else(|| "    ".into());
    let mut out = Text::new(work);
    if first {
        out.push(&width)?;
    }
    // A line break at the end of the text is kept.
    let whole = format!("{own}\n");
    let mut lines = string_methods::lines(&whole, false).into_iter();
    out.push(lines.next().unwrap_or_default())?;
    for line in lines {
        out.push("\n")?;
        if blank || !line.is_empty() {
            out.push(&width)?;
        }
        out.push(line)?;
    }
    Ok(Value::from(out.finish()))
}

/// `truncate(length=255, killwords=False, end='...', leeway=5)`
fn truncate(own: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let length = size(number(given, 0, "length")?.unwrap_or(255));
    let kills = argument(given, 1, "killwords").is_some_and(Value::is_true);
    let end = match argument(given, 2, "end") {
        Some(end) => end.to_text(work)?,
        None => "...".into(),
    };
    let leeway = size(number(given, 3, "leeway")?.unwrap_or(5));
    let ends = end.chars().count();
    if ends > length {
        return Err(format!("expected length >= {ends}, got {length}"));
    }
    if own.chars().count() <= length.saturating_add(leeway) {
        return Ok(Value::from(own));
    }
    let cut = own
        .char_indices()
        .nth(length - ends)
        .map_or(own.len(), |(at, _)| at);
    let mut kept = &own[..cut];
    if !kills && let Some(space) = kept.rfind(' ') {
        kept = &kept[..space];
    }
    let mut out = Text::new(work);
    out.push(kept)?;
    out.push(&end)?;
    Ok(Value::from(out.finish()))
}

/// `wordwrap(width=79, break_long_words=True, wrapstring=newline)`
fn wordwrap(own: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let width = usize::try_from(number(given, 0, "width")?.unwrap_or(79)).unwrap_or(0);
    if width == 0 {
        return Err("wordwrap takes a width above 0".into());
    }
    let breaks = argument(given, 1, "break_long_words").is_none_or(Value::is_true);
    let newline = match argument(given, 2, "wrapstring") {
        Some(Value::None) | None => "\n".into(),
        Some(text) => text.to_text(work)?,
    };
    let mut out = Text::new(work);
    for (at, line) in string_methods::lines(own, false).into_iter().enumerate() {
        if at > 0 {
            out.push(&newline)?;
        }
        let mut column = 0;
        for word in line.split(' ').filter(|word| !word.is_empty()) {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > width {
                out.push(&newline)?;
                column = 0;
            } else if column > 0 {
                out.push(" ")?;
                column += 1;
            }
            for character in word.chars() {
                if breaks && column == width {
                    out.push(&newline)?;
                    column = 0;
                }
                out.push_char(character)?;
                column += 1;
            }
        }
    }
    Ok(Value::from(out.finish()))
}
