//! Methods of Python's strings, lists and dictionaries. Methods that would change a list or a dictionary do not exist, as in
//! transformers' sandbox.

use super::interpreter::{Given, Interpreter};
use super::string_methods::on_string;
use super::value::{Kind, Value};
use super::work::{ENTRY, Fault, Text, Work};

const OF_STRINGS: [&str; 43] = [
    "strip",
    "lstrip",
    "rstrip",
    "split",
    "rsplit",
    "splitlines",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "startswith",
    "endswith",
    "expandtabs",
    "casefold",
    "title",
    "swapcase",
    "ljust",
    "rjust",
    "center",
    "zfill",
    "upper",
    "lower",
    "capitalize",
    "replace",
    "join",
    "format",
    "format_map",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "istitle",
    "isupper",
    "isidentifier",
];

const OF_LISTS: [&str; 3] = ["index", "count", "copy"];

const OF_DICTIONARIES: [&str; 5] = ["get", "keys", "values", "items", "copy"];

/// Methods that would change a list.
const CHANGING_LISTS: [&str; 8] = [
    "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse",
];

/// Methods that would change a dictionary.
const CHANGING_DICTIONARIES: [&str; 5] = ["pop", "clear", "popitem", "setdefault", "update"];

/// Whether the value has a method of that name.
pub(super) fn are_known(value: &Value, name: &str) -> bool {
    match value {
        Value::Str(_) | Value::Safe(_) => OF_STRINGS.contains(&name),
        Value::List(list) => {
            matches!(list.kind, Kind::List | Kind::Tuple)
                && (OF_LISTS.contains(&name) || changes(value, name))
        }
        Value::Dict(_) => OF_DICTIONARIES.contains(&name) || changes(value, name),
        _ => false,
    }
}

fn changes(value: &Value, name: &str) -> bool {
    match value {
        Value::Dict(_) => CHANGING_DICTIONARIES.contains(&name),
        Value::List(list) => list.kind == Kind::List && CHANGING_LISTS.contains(&name),
        _ => false,
    }
}

pub(super) fn call(
    interpreter: &mut Interpreter<'_>,
    value: &Value,
    method: &str,
    given: &Given,
) -> Result<Value, Fault> {
    let work = &mut interpreter.work;
    let result = match value {
        Value::Str(text) | Value::Safe(text) => {
            // Most methods look at the whole text.
            work.spend(text.len() / 4)?;
            on_string(text, method, given, work)?
        }
        Value::List(list) => on_list(value, &list.entries, method, given, work)?,
        Value::Dict(_) => on_dictionary(value, method, given, work)?,
        _ => None,
    };
    result.ok_or_else(|| {
        if changes(value, method) {
            format!(
                "'{method}' would change a {}, which a chat template may not",
                value.kind()
            )
        } else {
            format!("'{}' object has no method '{method}'", value.kind())
        }
    })
}

/// An argument by its position or its name.
pub(super) fn argument<'g>(given: &'g Given, at: usize, name: &str) -> Option<&'g Value> {
    let named = || given.named.iter().find(|(own, _)| own == name);
    given
        .plain
        .get(at)
        .or_else(|| named().map(|(_, value)| value))
}

/// An argument that is a text.
pub(super) fn text<'g>(given: &'g Given, at: usize, name: &str) -> Result<&'g str, Fault> {
    let value = argument(given, at, name).ok_or_else(|| format!("argument '{name}' is missing"))?;
    value
        .defined()?
        .as_str()
        .ok_or_else(|| format!("argument '{name}' must be str, not {}", value.kind()))
}

/// An argument that is a number, if it is given.
pub(super) fn number(given: &Given, at: usize, name: &str) -> Result<Option<i128>, Fault> {
    match argument(given, at, name) {
        None | Some(Value::None) => Ok(None),
        Some(value) => match value.defined()?.as_int() {
            Some(number) => Ok(Some(number)),
            None => Err(format!(
                "argument '{name}' must be int, not {}",
                value.kind()
            )),
        },
    }
}

/// A count or an index as `usize`: 0 if it is negative.
pub(super) fn size(number: i128) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

/// The indentation that an argument asks for, as a text or as a number of spaces; `None` if it is not given.
pub(super) fn indentation(
    given: &Given,
    at: usize,
    name: &str,
    work: &mut Work,
) -> Result<Option<String>, Fault> {
    if let Some(text) = argument(given, at, name).and_then(Value::as_str) {
        return Ok(Some(text.to_owned()));
    }
    let Some(width) = number(given, at, name)? else {
        return Ok(None);
    };
    let mut spaces = Text::new(work);
    spaces.repeat(" ", size(width))?;
    Ok(Some(spaces.finish()))
}

fn on_list(
    value: &Value,
    entries: &[Value],
    method: &str,
    given: &Given,
    work: &mut Work,
) -> Result<Option<Value>, Fault> {
    let what = || given.plain.first().ok_or("an argument is missing");
    Ok(Some(match method {
        "index" => {
            let what = what()?;
            for (at, entry) in entries.iter().enumerate() {
                if entry.equals(what, work)? {
                    return Ok(Some(Value::from(at)));
                }
            }
            return Err("the value is not in the list".into());
        }
        "count" => {
            let what = what()?;
            let mut count = 0;
            for entry in entries {
                count += usize::from(entry.equals(what, work)?);
            }
            Value::from(count)
        }
        "copy" => value.clone(),
        _ => return Ok(None),
    }))
}

fn on_dictionary(
    value: &Value,
    method: &str,
    given: &Given,
    work: &mut Work,
) -> Result<Option<Value>, Fault> {
    let Value::Dict(dict) = value else {
        return Ok(None);
    };
    let view = |name, entries, work: &mut Work| Value::sequence(entries, Kind::View(name), work);
    Ok(Some(match method {
        "get" => {
            let key = given.plain.first().ok_or("get takes a key")?;
            match value.lookup(key, work)? {
                Some(found) => found,
                None => argument(given, 1, "default")
                    .cloned()
                    .unwrap_or(Value::None),
            }
        }
        "keys" => {
            work.spend_each(dict.pairs.len(), ENTRY)?;
            let keys = dict.pairs.iter().map(|(key, _)| key.clone());
            view("dict_keys", keys.collect(), work)?
        }
        "values" => {
            work.spend_each(dict.pairs.len(), ENTRY)?;
            let values = dict.pairs.iter().map(|(_, value)| value.clone());
            view("dict_values", values.collect(), work)?
        }
        "items" => view("dict_items", items(value, work)?, work)?,
        "copy" => value.clone(),
        _ => return Ok(None),
    }))
}

/// A dictionary's pairs.
pub(super) fn items(value: &Value, work: &mut Work) -> Result<Vec<Value>, Fault> {
    let Value::Dict(dict) = value else {
        return Err(format!("'{}' object is not a mapping", value.kind()));
    };
    let mut items = Vec::new();
    for (key, value) in &dict.pairs {
        items.push(Value::tuple(vec![key.clone(), value.clone()], work)?);
    }
    Ok(items)
}
