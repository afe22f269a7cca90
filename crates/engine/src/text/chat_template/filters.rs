//! Filters, as Jinja has them.

use super::interpreter::{Given, Interpreter};
use super::json;
use super::lexer::is_space;
use super::list_filters::{
    by_attribute, columns, dictsort, first_or_last, join, map, reverse, select,
};
use super::methods::{self, argument, number, text};
use super::operators::on_number;
use super::string_filters::on_text;
use super::value::Value;
use super::work::{Fault, STEP};

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

/// Whether there is a filter of that name.
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
            interpreter.work.spend(name.len())?;
            // Attributes only: a dictionary's entries do not count.
            if matches!(value, Value::Dict(_)) && !methods::are_known(&value, name) {
                return Ok(value.no_attribute(name));
            }
            return interpreter.attribute(&value, name);
        }
        "sort" | "unique" | "groupby" | "min" | "max" | "sum" => {
            return by_attribute(interpreter, name, &value, &given);
        }
        "join" => return join(interpreter, &value, &given),
        _ => {}
    }
    let work = &mut interpreter.work;
    if let ("int" | "float", Some(text)) = (name, value.as_str()) {
        // A number's text is copied and read at most twice.
        work.spend_each(text.len(), 2)?;
    }
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
        "abs" => on_number("abs()", &value, f64::abs, i128::checked_abs),
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

/// The number that a value is, or that its text spells.
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
        // Python rounds the exact decimal value of the number, halves to even digits.
        "common" if precision >= 0 => {
            let places = precision as usize;
            format!("{number:.places$}").parse().unwrap_or(number)
        }
        "common" => (number * factor).round() / factor,
        "ceil" => (number * factor).ceil() / factor,
        "floor" => (number * factor).floor() / factor,
        _ => return Err("method must be common, ceil or floor".into()),
    }))
}
