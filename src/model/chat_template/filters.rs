//! Filters, as Jinja has them.

use std::cmp::Ordering;

use super::interpreter::{Given, Interpreter};
use super::json;
use super::lexer::is_space;
use super::methods::{self, argument, number, text};
use super::predicates;
use super::value::Value;
use super::work::{ENTRY, Fault, STEP, Text, Work};

const NAMES: [&str; 47] = [
    "abs",
    "attr",
    "batch",
    "capitalize",
    "center",
    "count",
    "d",
    "default",
    "dictsort",
    "e",
    "escape",
    "first",
    "float",
    "forceescape",
    "format",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "safe",
    "select",
    "selectattr",
    "slice",
    "sort",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "truncate",
    "unique",
    "upper",
    "wordcount",
    "wordwrap",
];

/// Is there a filter of that name?
pub(super) fn are_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Applies a filter.
pub(super) fn apply(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    value: Value,
    given: Given,
) -> Result<Value, Fault> {
    interpreter.work.spend(STEP)?;
    match name {
        "map" => return map(interpreter, &value, given),
        "select" | "reject" | "selectattr" | "rejectattr" => {
            return select(interpreter, name, &value, given);
        }
        "attr" => {
            let name = text(&given, 0, "name")?;
            return interpreter.attribute(&value, name);
        }
        "sort" | "unique" | "groupby" | "min" | "max" | "sum" => {
            return by_attribute(interpreter, name, &value, &given);
        }
        "join" => return join(interpreter, &value, &given),
        _ => {}
    }
    let work = &mut interpreter.work;
    match name {
        "default" | "d" => {
            let empty = argument(&given, 1, "boolean").is_some_and(Value::is_true);
            if value.is_undefined() || empty && !value.is_true() {
                let default = argument(&given, 0, "default_value").cloned();
                return Ok(default.unwrap_or_else(|| Value::from("")));
            }
            Ok(value)
        }
        "length" | "count" => match value.length(work)? {
            Some(length) => Ok(Value::from(length)),
            None => Err(format!("object of type '{}' has no len()", value.kind())),
        },
        "tojson" => json::tojson(value.defined()?, &given, work),
        "list" => {
            let entries = value.entries(work)?;
            Value::list(entries, work)
        }
        "first" | "last" => first_or_last(&value, name == "first", work),
        "items" => {
            if value.is_undefined() {
                return Value::iterator(Vec::new(), work);
            }
            let items = methods::items(&value, work)?;
            Value::iterator(items, work)
        }
        "dictsort" => dictsort(&value, &given, work),
        "reverse" => reverse(&value, work),
        "batch" | "slice" => columns(name, &value, &given, work),
        "abs" => match value.defined()? {
            Value::Float(number) => Ok(Value::Float(number.abs())),
            other => match other.as_int().and_then(i128::checked_abs) {
                Some(number) => Ok(Value::Int(number)),
                None => Err(format!("bad operand type for abs(): '{}'", other.kind())),
            },
        },
        "int" => Ok(int(&value, &given)),
        "float" => Ok(match number_of(&value) {
            Some(number) => Value::Float(number),
            None => argument(&given, 0, "default")
                .cloned()
                .unwrap_or(Value::Float(0.0)),
        }),
        "round" => round(&value, &given),
        _ => on_text(name, &value, &given, work),
    }
}

/// Filters of texts; other values are written as texts first.
fn on_text(name: &str, value: &Value, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    if !are_known(name) {
        let shown: String = name.chars().take(40).collect();
        return Err(format!("no filter named '{shown}'"));
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
        "capitalize" => made(methods::capitalised(&own), work),
        "title" => made(titled(&own), work),
        "trim" => {
            let characters = match argument(given, 0, "chars") {
                None | Some(Value::None) => None,
                Some(_) => Some(text(given, 0, "chars")?),
            };
            if let Some(characters) = characters {
                work.spend(own.len().saturating_mul(characters.len()) / 4)?;
            }
            let trimmed = own.trim_matches(|character| match characters {
                Some(characters) => characters.contains(character),
                None => is_space(character),
            });
            made(trimmed.to_owned(), work)
        }
        "e" | "escape" if matches!(value, Value::Safe(_)) => Ok(value.clone()),
        "e" | "escape" | "forceescape" => {
            let mut out = Text::new(work);
            escape(&own, &mut out)?;
            Ok(Value::Safe(out.finish().into()))
        }
        "replace" => {
            let count = number(given, 2, "count")?.unwrap_or(-1);
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let (old, new) = (
                plain_text(given, 0, "old", work)?,
                plain_text(given, 1, "new", work)?,
            );
            methods::replaced(&own, &old, &new, count, work)
        }
        "center" => {
            let width = number(given, 0, "width")?.unwrap_or(80);
            let width = usize::try_from(width.max(0)).unwrap_or(usize::MAX);
            methods::padded(&own, "center", width, " ", work)
        }
        "format" => {
            if given.named.is_empty() {
                methods::percent_format(&own, &given.plain, work)
            } else {
                let mut pairs = Vec::new();
                for (name, value) in &given.named {
                    pairs.push((Value::from(name.as_str()), value.clone()));
                }
                let named = Value::dictionary(pairs, work)?;
                methods::percent_format(&own, &[named], work)
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

/// Writes a text with what means something in HTML escaped.
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

/// What `map` and `select` go through: nothing, where the value is not true.
fn entries_or_none(value: &Value, work: &mut Work) -> Result<Vec<Value>, Fault> {
    if value.is_true() {
        value.entries(work)
    } else {
        Ok(Vec::new())
    }
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

/// Words begin at white space, hyphens and brackets.
fn titled(text: &str) -> String {
    let mut titled = String::new();
    let mut begins = true;
    for character in text.chars() {
        if begins {
            titled.extend(character.to_uppercase());
        } else {
            titled.extend(character.to_lowercase());
        }
        begins = is_space(character) || matches!(character, '-' | '(' | '{' | '[' | '<');
    }
    titled
}

fn indent(own: &str, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let is_set = |at, name: &str| argument(given, at, name).is_some_and(Value::is_true);
    let (first, blank) = (is_set(1, "first"), is_set(2, "blank"));
    let width = match argument(given, 0, "width") {
        Some(Value::Str(text) | Value::Safe(text)) => text.to_string(),
        _ => {
            let width = number(given, 0, "width")?.unwrap_or(4).max(0);
            let mut spaces = Text::new(work);
            spaces.repeat(" ", usize::try_from(width).unwrap_or(usize::MAX))?;
            spaces.finish()
        }
    };
    let mut out = Text::new(work);
    if first {
        out.push(&width)?;
    }
    // A line end behind the last line is kept.
    let whole = format!("{own}\n");
    let mut lines = methods::lines(&whole, false).into_iter();
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
    let size = |number: i128| usize::try_from(number.max(0)).unwrap_or(usize::MAX);
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
    for (at, line) in methods::lines(own, false).into_iter().enumerate() {
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

fn first_or_last(value: &Value, first: bool, work: &mut Work) -> Result<Value, Fault> {
    let found = match value {
        Value::Str(text) | Value::Safe(text) => {
            let mut characters = text.chars();
            let found = if first {
                characters.next()
            } else {
                characters.next_back()
            };
            found.map(|character| Value::from(character.to_string()))
        }
        Value::List(list) => if first {
            list.entries.first()
        } else {
            list.entries.last()
        }
        .cloned(),
        other => {
            let entries = other.entries(work)?;
            if first {
                entries.first()
            } else {
                entries.last()
            }
            .cloned()
        }
    };
    Ok(found.unwrap_or_else(|| Value::undefined("no first or last item, the sequence was empty")))
}

/// What `dict` and `namespace` are made of: a dictionary, or a list of pairs.
pub(super) fn pairs_of(value: &Value, work: &mut Work) -> Result<Vec<(Value, Value)>, Fault> {
    if let Value::Dict(dict) = value {
        work.spend_each(dict.pairs.len(), 2 * ENTRY)?;
        return Ok(dict.pairs.clone());
    }
    let mut pairs = Vec::new();
    for entry in value.defined()?.entries(work)? {
        match entry.entries(work)?.as_slice() {
            [key, value] => pairs.push((key.clone(), value.clone())),
            _ => return Err("a dictionary is made of pairs".into()),
        }
    }
    Ok(pairs)
}

/// `dictsort(case_sensitive=False, by='key', reverse=False)`
fn dictsort(value: &Value, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let items = methods::items(value.defined()?, work)?;
    let sensitive = argument(given, 0, "case_sensitive").is_some_and(Value::is_true);
    let by = match argument(given, 1, "by") {
        None => 0,
        Some(_) => match text(given, 1, "by")? {
            "key" => 0,
            "value" => 1,
            _ => return Err("you can only sort by either \"key\" or \"value\"".into()),
        },
    };
    let backwards = argument(given, 2, "reverse").is_some_and(Value::is_true);
    let mut keys = Vec::new();
    for item in &items {
        let key = item.entries(work)?.swap_remove(by);
        keys.push(folded(key, sensitive, work)?);
    }
    let order = sorted(&keys, backwards, work)?;
    let sorted = order.into_iter().map(|at| items[at].clone()).collect();
    Value::list(sorted, work)
}

/// Texts are compared without regard to case unless it is asked for.
fn folded(value: Value, sensitive: bool, work: &mut Work) -> Result<Value, Fault> {
    match value.as_str() {
        Some(text) if !sensitive => {
            work.spend_each(text.len(), 4)?;
            Ok(Value::from(text.to_lowercase()))
        }
        _ => Ok(value),
    }
}

/// The places of values in their order; equal ones keep theirs.
pub(super) fn sorted(
    keys: &[Value],
    backwards: bool,
    work: &mut Work,
) -> Result<Vec<usize>, Fault> {
    // By merging: the standard library's sorting may panic where NaN makes an order no order.
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut width = 1;
    while width < order.len() {
        work.spend_each(order.len(), STEP)?;
        let mut merged = Vec::with_capacity(order.len());
        for runs in order.chunks(2 * width) {
            let (mut one, mut two) = runs.split_at(width.min(runs.len()));
            while let (Some(left), Some(right)) = (one.first(), two.first()) {
                let compared = keys[*right].compare(&keys[*left], work)?;
                let sooner = if backwards {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                if compared == Some(sooner) {
                    merged.push(*right);
                    two = &two[1..];
                } else {
                    merged.push(*left);
                    one = &one[1..];
                }
            }
            merged.extend_from_slice(one);
            merged.extend_from_slice(two);
        }
        order = merged;
        width *= 2;
    }
    Ok(order)
}

fn reverse(value: &Value, work: &mut Work) -> Result<Value, Fault> {
    if let Some(text) = value.as_str() {
        work.spend_each(text.len(), 2)?;
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut entries = value.entries(work)?;
    entries.reverse();
    Value::iterator(entries, work)
}

/// `batch(count, fill_with)` and `slice(count, fill_with)`
fn columns(name: &str, value: &Value, given: &Given, work: &mut Work) -> Result<Value, Fault> {
    let count = number(given, 0, "linecount")?.unwrap_or(0);
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 {
        return Err(format!("{name} takes a number above 0"));
    }
    let filling = argument(given, 1, "fill_with").filter(|value| !value.is_none());
    let entries = value.entries(work)?;
    let mut rows = Vec::new();
    if name == "batch" {
        for row in entries.chunks(count) {
            let mut row = row.to_vec();
            if let Some(filling) = filling {
                work.spend_each(count - row.len(), ENTRY)?;
                row.resize(count, filling.clone());
            }
            rows.push(Value::list(row, work)?);
        }
    } else {
        work.spend_each(count, ENTRY)?;
        let (each, more) = (entries.len() / count, entries.len() % count);
        let mut at = 0;
        for row in 0..count {
            let length = each + usize::from(row < more);
            let mut entries = entries[at..at + length].to_vec();
            at += length;
            if let Some(filling) = filling
                && row >= more
            {
                entries.push(filling.clone());
            }
            rows.push(Value::list(entries, work)?);
        }
    }
    Value::iterator(rows, work)
}

/// The number that a value is, or that its text says.
fn number_of(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some(text) => text.trim_matches(is_space).replace('_', "").parse().ok(),
        None => value.as_float(),
    }
}

/// `int(default=0, base=10)`
fn int(value: &Value, given: &Given) -> Value {
    if let Some(number) = value.as_int() {
        return Value::Int(number);
    }
    if let Some(text) = value.as_str() {
        let base = argument(given, 1, "base")
            .and_then(Value::as_int)
            .unwrap_or(10);
        let text = text.trim_matches(is_space).replace('_', "");
        let digits = match base {
            16 => text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")),
            8 => text.strip_prefix("0o").or_else(|| text.strip_prefix("0O")),
            2 => text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")),
            _ => None,
        };
        if let Ok(base @ 2..=36) = u32::try_from(base)
            && let Ok(number) = i128::from_str_radix(digits.unwrap_or(&text), base)
        {
            return Value::Int(number);
        }
    }
    match number_of(value).map(f64::trunc) {
        Some(number) if number.abs() < 1e18 => Value::Int(number as i128),
        _ => argument(given, 0, "default")
            .cloned()
            .unwrap_or(Value::Int(0)),
    }
}

/// `round(precision=0, method='common')`
fn round(value: &Value, given: &Given) -> Result<Value, Fault> {
    let precision = number(given, 0, "precision")?.unwrap_or(0).clamp(-300, 300) as i32;
    let method = match argument(given, 1, "method") {
        None => "common",
        Some(_) => text(given, 1, "method")?,
    };
    let number = value.defined()?.as_float().ok_or("round takes a number")?;
    if let (Some(number), true) = (value.as_int(), method == "common" && precision >= 0) {
        return Ok(Value::Int(number));
    }
    let factor = 10f64.powi(precision);
    Ok(Value::Float(match method {
        // Python rounds the decimal that the number is, halves to even digits.
        "common" if precision >= 0 => {
            let behind = precision as usize;
            format!("{number:.behind$}").parse().unwrap_or(number)
        }
        "common" => (number * factor).round() / factor,
        "ceil" => (number * factor).ceil() / factor,
        "floor" => (number * factor).floor() / factor,
        _ => return Err("method must be common, ceil or floor".into()),
    }))
}

/// `a.0.b`, each part an entry or an attribute.
fn follow(interpreter: &mut Interpreter<'_>, value: &Value, path: &Value) -> Result<Value, Fault> {
    if path.as_int().is_some() {
        return interpreter.item(value, path);
    }
    let path = path.to_text(&mut interpreter.work)?;
    let mut value = value.clone();
    for part in path.split('.') {
        interpreter.work.spend(STEP)?;
        let part = match part.parse::<i128>() {
            Ok(at) => Value::Int(at),
            Err(_) => Value::from(part),
        };
        value = interpreter.item(&value, &part)?;
    }
    Ok(value)
}

fn map(interpreter: &mut Interpreter<'_>, value: &Value, mut given: Given) -> Result<Value, Fault> {
    let entries = entries_or_none(value, &mut interpreter.work)?;
    let mut mapped = Vec::with_capacity(entries.len());
    if let Some(at) = given.named.iter().position(|(name, _)| name == "attribute") {
        let (_, path) = given.named.swap_remove(at);
        let default = argument(&given, usize::MAX, "default").cloned();
        for entry in entries {
            let found = follow(interpreter, &entry, &path)?;
            mapped.push(match &default {
                Some(default) if found.is_undefined() => default.clone(),
                _ => found,
            });
        }
    } else {
        if given.plain.is_empty() {
            return Err("map takes a filter or an attribute".into());
        }
        let name = given.plain.remove(0);
        let name = name.as_str().ok_or("map takes the name of a filter")?;
        for entry in entries {
            interpreter
                .work
                .spend_each(given.plain.len() + given.named.len(), ENTRY)?;
            let arguments = Given {
                plain: given.plain.clone(),
                named: given.named.clone(),
            };
            interpreter.work.enter()?;
            mapped.push(apply(interpreter, name, entry, arguments)?);
            interpreter.work.leave();
        }
    }
    Value::iterator(mapped, &mut interpreter.work)
}

fn select(
    interpreter: &mut Interpreter<'_>,
    filter: &str,
    value: &Value,
    mut given: Given,
) -> Result<Value, Fault> {
    let entries = entries_or_none(value, &mut interpreter.work)?;
    let wanted = filter.starts_with("select");
    let path = if filter.ends_with("attr") {
        if given.plain.is_empty() {
            return Err("missing parameter for attribute name".into());
        }
        Some(given.plain.remove(0))
    } else {
        None
    };
    let test = if given.plain.is_empty() {
        None
    } else {
        Some(given.plain.remove(0).to_text(&mut interpreter.work)?)
    };
    let mut kept = Vec::new();
    for entry in entries {
        interpreter.work.spend(STEP)?;
        let asked = match &path {
            Some(path) => follow(interpreter, &entry, path)?,
            None => entry.clone(),
        };
        let holds = match &test {
            Some(test) => predicates::holds(test, &asked, &given.plain, &mut interpreter.work)?,
            None => asked.is_true(),
        };
        if holds == wanted {
            kept.push(entry);
        }
    }
    Value::iterator(kept, &mut interpreter.work)
}

fn join(interpreter: &mut Interpreter<'_>, value: &Value, given: &Given) -> Result<Value, Fault> {
    let mut entries = value.entries(&mut interpreter.work)?;
    let separator = match argument(given, 0, "d") {
        Some(separator) => separator.to_text(&mut interpreter.work)?,
        None => "".into(),
    };
    if let Some(path) = argument(given, 1, "attribute").filter(|path| !path.is_none()) {
        for entry in &mut entries {
            *entry = follow(interpreter, entry, path)?;
        }
    }
    let mut out = Text::new(&mut interpreter.work);
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            out.push(&separator)?;
        }
        out.work.spend(1)?;
        entry.write(&mut out)?;
    }
    Ok(Value::from(out.finish()))
}

/// Filters that look at an attribute of each entry, if one is named.
fn by_attribute(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    value: &Value,
    given: &Given,
) -> Result<Value, Fault> {
    let entries = value.entries(&mut interpreter.work)?;
    let (at, sensitive, default) = match name {
        "sort" => (2, argument(given, 1, "case_sensitive"), None),
        "groupby" => (
            0,
            argument(given, 2, "case_sensitive"),
            argument(given, 1, "default"),
        ),
        "sum" => (0, None, None),
        _ => (1, argument(given, 0, "case_sensitive"), None),
    };
    let sensitive = sensitive.is_some_and(Value::is_true);
    let path = argument(given, at, "attribute").filter(|path| !path.is_none());
    let mut keys = Vec::with_capacity(entries.len());
    for entry in &entries {
        let mut key = match path {
            Some(path) => follow(interpreter, entry, path)?,
            None => entry.clone(),
        };
        if let (true, Some(default)) = (key.is_undefined(), default) {
            key = default.clone();
        }
        if name != "sum" {
            key = folded(key, sensitive, &mut interpreter.work)?;
        }
        keys.push(key);
    }
    let work = &mut interpreter.work;
    match name {
        "sum" => {
            let mut sum = argument(given, 1, "start")
                .cloned()
                .unwrap_or(Value::Int(0));
            for key in &keys {
                work.spend(STEP)?;
                sum = super::operators::apply(super::syntax::Operator::Add, &sum, key, work)?;
            }
            Ok(sum)
        }
        "sort" => {
            let backwards = argument(given, 0, "reverse").is_some_and(Value::is_true);
            let order = sorted(&keys, backwards, work)?;
            Value::list(
                order.into_iter().map(|at| entries[at].clone()).collect(),
                work,
            )
        }
        "unique" => {
            let mut kept: Vec<usize> = Vec::new();
            for (at, key) in keys.iter().enumerate() {
                let mut is_new = true;
                for &before in &kept {
                    if keys[before].equals(key, work)? {
                        is_new = false;
                        break;
                    }
                }
                if is_new {
                    kept.push(at);
                }
            }
            Value::iterator(
                kept.into_iter().map(|at| entries[at].clone()).collect(),
                work,
            )
        }
        "groupby" => {
            let order = sorted(&keys, false, work)?;
            let mut groups: Vec<(usize, Vec<Value>)> = Vec::new();
            for at in order {
                match groups.last_mut() {
                    Some((first, group)) if keys[*first].equals(&keys[at], work)? => {
                        group.push(entries[at].clone());
                    }
                    _ => groups.push((at, vec![entries[at].clone()])),
                }
            }
            let mut made = Vec::with_capacity(groups.len());
            for (first, group) in groups {
                let group = Value::list(group, work)?;
                made.push((first, group));
            }
            let mut rows = Vec::with_capacity(made.len());
            for (first, group) in made {
                let key = match path {
                    Some(path) => follow(interpreter, &entries[first], path)?,
                    None => entries[first].clone(),
                };
                let key = match default {
                    Some(default) if key.is_undefined() => default.clone(),
                    _ => key,
                };
                rows.push(Value::tuple(vec![key, group], &mut interpreter.work)?);
            }
            Value::list(rows, &mut interpreter.work)
        }
        _ => {
            let mut best: Option<usize> = None;
            for (at, key) in keys.iter().enumerate() {
                let wins = match best {
                    None => true,
                    Some(best) => {
                        let order = key.compare(&keys[best], work)?;
                        order
                            == Some(if name == "min" {
                                Ordering::Less
                            } else {
                                Ordering::Greater
                            })
                    }
                };
                if wins {
                    best = Some(at);
                }
            }
            Ok(match best {
                Some(at) => entries[at].clone(),
                None => Value::undefined("no aggregated item, the sequence was empty"),
            })
        }
    }
}
