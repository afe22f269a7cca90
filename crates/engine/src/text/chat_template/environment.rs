//! How templates are compiled and run: minijinja with the settings of transformers, and what it lacks of Jinja and Python.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Tuple, Value, ValueKind, from_args};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, escape_formatter};
use minijinja_contrib::pycompat::unknown_method_callback;
use regex::Regex;

use super::clock::Clock;
use super::json::{python_float, tojson};

pub(super) const TEMPLATE: &str = "chat";

/// What any template may spend, in minijinja's fuel: an instruction, or 64 bytes written, joined, copied or looked at. Published ones
/// take some ten thousand for a conversation.
const FUEL: u64 = 1 << 18;

/// Further fuel for each byte that a template is given, its own included: a short message costs a few hundred instructions.
const PER_BYTE: u64 = 8;

pub(super) fn environment(source: &str, clock: &Clock) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true);
    environment.set_syntax(syntax.build()?);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(method);
    environment.set_formatter(|out, state, value| match float(value) {
        Some(number) => Ok(out.write_str(&python_float(number))?),
        None => escape_formatter(out, state, value),
    });
    environment.add_filter("tojson", tojson);
    environment.add_filter("int", int);
    environment.add_filter("e", escape);
    environment.add_filter("escape", escape);
    environment.add_test("iterable", |value: &Value| {
        !value.is_none() && value.try_iter().is_ok()
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::String | ValueKind::Seq | ValueKind::Map
        )
    });
    environment.add_function(
        "raise_exception",
        |message: String| -> Result<Value, Error> { Err(fault(message)) },
    );
    let clock = clock.clone();
    environment.add_function("strftime_now", move |format: String| {
        let told = clock.tell(&format);
        told.ok_or_else(|| fault(format!("strftime_now: `{format}` is no format of a date")))
    });
    environment.add_template_owned(TEMPLATE, as_in_python(source))?;
    Ok(environment)
}

/// What a rendering may cost that is given so many bytes, the template's own included.
pub(super) fn fuel(bytes: usize) -> u64 {
    FUEL.saturating_add(PER_BYTE.saturating_mul(bytes as u64))
}

pub(super) fn fault(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// A number that is no whole one.
pub(super) fn float(value: &Value) -> Option<f64> {
    let is_float = value.kind() == ValueKind::Number && !value.is_integer();
    is_float
        .then(|| f64::try_from(value.clone()).ok())
        .flatten()
}

/// Ends of lines as Jinja2 reads them, and transformers' blocks around an assistant's turn as blocks with variables of their own.
fn as_in_python(source: &str) -> String {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}").ok());
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    match &*MARK {
        Some(mark) => mark.replace_all(&source, "{%$1 ${2}with $3%}").into_owned(),
        None => source,
    }
}

/// Python's way of writing the characters of HTML.
fn escape(text: &str) -> String {
    [
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&#34;"),
        ('\'', "&#39;"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Jinja's filter: what is no number is the default.
fn int(value: &Value, default: Option<i64>) -> i64 {
    let number = match value.as_str() {
        Some(text) => {
            let text = text.trim();
            let whole = text.parse::<i64>().ok();
            whole.or_else(|| text.parse::<f64>().ok().map(|number| number as i64))
        }
        None if value.kind() == ValueKind::Bool => Some(i64::from(value.is_true())),
        None => value
            .as_i64()
            .or_else(|| float(value).map(|number| number as i64)),
    };
    number.or(default).unwrap_or(0)
}

/// Methods of Python's texts that minijinja-contrib lacks.
fn method(state: &mut State, value: &Value, name: &str, given: &[Value]) -> Result<Value, Error> {
    let Some(text) = value.as_str() else {
        return unknown_method_callback(state, value, name, given);
    };
    Ok(match name {
        "rsplit" => {
            let (separator, most): (Option<&str>, Option<i64>) = from_args(given)?;
            let most = most.and_then(|most| usize::try_from(most).ok());
            rsplit(text, separator, most.unwrap_or(usize::MAX))
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(given)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(given)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" => {
            let (separator,): (&str,) = from_args(given)?;
            let parts = text.split_once(separator);
            let parts = parts.map_or([text, "", ""], |(left, right)| [left, separator, right]);
            Value::from(Tuple::from(parts.map(Value::from)))
        }
        "rpartition" => {
            let (separator,): (&str,) = from_args(given)?;
            let parts = text.rsplit_once(separator);
            let parts = parts.map_or(["", "", text], |(left, right)| [left, separator, right]);
            Value::from(Tuple::from(parts.map(Value::from)))
        }
        "title" => {
            let () = from_args(given)?;
            let mut inside = false;
            let mut titled = String::with_capacity(text.len());
            for character in text.chars() {
                if inside {
                    titled.extend(character.to_lowercase());
                } else {
                    titled.extend(character.to_uppercase());
                }
                inside = character.is_alphabetic();
            }
            Value::from(titled)
        }
        _ => return unknown_method_callback(state, value, name, given),
    })
}

/// Python's `rsplit`: at most so many cuts, from the end.
fn rsplit(text: &str, separator: Option<&str>, most: usize) -> Value {
    let mut parts: Vec<&str> = Vec::new();
    if let Some(separator) = separator.filter(|separator| !separator.is_empty()) {
        parts.extend(text.rsplitn(most.saturating_add(1), separator));
    } else {
        let mut rest = text.trim_end();
        while !rest.is_empty() {
            let word = rest
                .rfind(char::is_whitespace)
                .filter(|_| parts.len() < most);
            // A space may be several bytes long.
            let start = word.map_or(0, |at| {
                at + rest[at..].chars().next().map_or(1, char::len_utf8)
            });
            parts.push(&rest[start..]);
            rest = rest[..start].trim_end();
        }
    }
    parts.into_iter().rev().map(Value::from).collect()
}
