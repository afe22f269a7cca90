//! What a template may use: as transformers sets up Jinja for chat templates.

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};
use regex::{Captures, NoExpand, Regex};

use super::clock::Clock;
use super::{json, methods};
use crate::model::ModelError;

/// Steps that a template may take: far more than any real one, and an end to one that never would.
const STEPS: u64 = 50_000_000;

/// An environment with transformers' settings, functions and filters.
pub(super) fn new(clock: &Clock) -> Result<Environment<'static>, ModelError> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| ModelError::ChatTemplate(error.to_string()))?;
    environment.set_syntax(syntax);
    environment.set_fuel(Some(STEPS));
    environment.set_unknown_method_callback(methods::call);
    environment.add_function(
        "raise_exception",
        |message: &Value| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message.to_string()))
        },
    );
    let clock = clock.clone();
    environment.add_function(
        "strftime_now",
        move |format: &str| -> Result<String, Error> {
            clock.tell(format).ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidOperation,
                    format!("strftime_now: `{format}` is no format of a date"),
                )
            })
        },
    );
    minijinja_contrib::add_to_environment(&mut environment);
    environment.add_function("cycler", |items: Rest<Value>| {
        minijinja_contrib::globals::cycler(items.0)
    });
    environment.add_filter("tojson", json::tojson);
    environment.add_filter("int", int);
    for name in ["e", "escape"] {
        environment.add_filter(name, |value: &Value| {
            let text = value.to_string();
            if value.is_safe() {
                return Value::from_safe_string(text);
            }
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            let text = text.replace('>', "&gt;").replace('\'', "&#39;");
            Value::from_safe_string(text.replace('"', "&#34;"))
        });
    }
    environment.add_filter("center", |text: &str, width: Option<usize>| {
        methods::centred(text, width.unwrap_or(80), ' ')
    });
    environment.add_filter("wordcount", |text: &str| text.split_whitespace().count());
    environment.add_test("callable", |value: &Value| {
        value.kind() == ValueKind::Plain && !value.is_undefined()
    });
    environment.add_filter("float", |value: &Value, default: Option<Value>| {
        number_of(value).map_or_else(|| default.unwrap_or(Value::from(0.0)), Value::from)
    });
    // Python's strings and dictionaries have a length and can be indexed.
    environment.add_test("sequence", |value: &Value| match value.kind() {
        ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map => true,
        ValueKind::Iterable => value.len().is_some(),
        _ => false,
    });
    environment.add_test("iterable", |value: &Value| match value.kind() {
        ValueKind::None => false,
        ValueKind::Undefined => true,
        _ => value.try_iter().is_ok(),
    });
    environment.set_formatter(|out, _, value| {
        match value.kind() {
            ValueKind::Number if !value.is_integer() => match f64::try_from(value.clone()) {
                Ok(number) => out.write_str(&json::python_float(number)),
                Err(_) => write!(out, "{value}"),
            },
            _ => write!(out, "{value}"),
        }
        .map_err(Error::from)
    });
    Ok(environment)
}

/// `int(default=0, base=10)`
#[expect(
    clippy::needless_pass_by_value,
    reason = "minijinja hands named arguments over"
)]
fn int(
    value: &Value,
    default: Option<Value>,
    base: Option<u32>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let default = match default {
        Some(default) => Some(default),
        None => kwargs.get("default")?,
    };
    let base: Option<u32> = match base {
        Some(base) => Some(base),
        None => kwargs.get("base")?,
    };
    kwargs.assert_all_used()?;
    if value.is_integer() {
        return Ok(value.clone());
    }
    if let (Some(text), Some(base @ 2..=36)) = (value.as_str(), base)
        && let Ok(number) = i64::from_str_radix(text.trim(), base)
    {
        return Ok(Value::from(number));
    }
    Ok(match number_of(value).map(f64::trunc) {
        Some(number) if number.abs() < 1e18 => Value::from(number as i64),
        _ => default.unwrap_or(Value::from(0)),
    })
}

/// The number that a value is, or that its text says.
fn number_of(value: &Value) -> Option<f64> {
    match value.kind() {
        ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        ValueKind::Number => f64::try_from(value.clone()).ok(),
        ValueKind::String => value.as_str()?.trim().replace('_', "").parse().ok(),
        _ => None,
    }
}

/// The template with what minijinja reads otherwise than Jinja written in its way:
///
/// - `{% generation %}` marks the model's own turns for training; it renders as what it holds, with variables of its own.
/// - `[::-1]` of an empty list is an empty list.
/// - Line ends are `\n`.
pub(super) fn as_minijinja_reads_it(source: &str) -> String {
    static GENERATION: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\{%([-+]?)\s*(end)?generation\s*([-+]?)%\}").ok());
    static CODE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?s)\{\{.*?\}\}|\{%.*?%\}").ok());
    static REVERSED: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\[\s*:\s*:\s*-\s*1\s*\]").ok());
    let mut source = source.replace("\r\n", "\n").replace('\r', "\n");
    if let Some(tag) = &*GENERATION {
        source = tag
            .replace_all(&source, "{%${1} ${2}with ${3}%}")
            .into_owned();
    }
    if let (Some(code), Some(reversed)) = (&*CODE, &*REVERSED) {
        let call = format!(".{}()", methods::REVERSED);
        source = code
            .replace_all(&source, |code: &Captures<'_>| {
                reversed.replace_all(&code[0], NoExpand(&call)).into_owned()
            })
            .into_owned();
    }
    source
}
