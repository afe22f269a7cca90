//! Global functions: `range`, `namespace`, `dict`, …

use std::collections::HashMap;

use super::interpreter::{Given, Interpreter};
use super::value::{Kind, Object, Value};
use super::work::{ENTRY, Fault, shown};

/// The names of the global functions.
const NAMES: [&str; 7] = [
    "range",
    "dict",
    "namespace",
    "cycler",
    "joiner",
    "raise_exception",
    "strftime_now",
];

/// The longest range, as in Jinja's sandbox.
const MAX_RANGE: i128 = 100_000;

/// The function of a name.
pub(super) fn find(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|own| *own == name)
}

/// Calls the function of a name.
pub(super) fn call(
    interpreter: &mut Interpreter<'_>,
    name: &str,
    given: Given,
) -> Result<Value, Fault> {
    match name {
        "range" => range(interpreter, &given.plain),
        "dict" => {
            let mut pairs = match given.plain.first() {
                Some(first) => super::list_filters::pairs_of(first, &mut interpreter.work)?,
                None => Vec::new(),
            };
            for (name, value) in given.named {
                pairs.push((Value::from(name), value));
            }
            Value::dictionary(pairs, &mut interpreter.work)
        }
        "namespace" => {
            let mut own = HashMap::new();
            if let Some(first) = given.plain.first() {
                for (name, value) in super::list_filters::pairs_of(first, &mut interpreter.work)? {
                    let name = name.as_str().ok_or("the names of a namespace are texts")?;
                    interpreter.work.spend(name.len())?;
                    own.insert(name.to_owned(), value);
                }
            }
            own.extend(given.named);
            interpreter.work.spend_each(own.len() + 1, 4 * ENTRY)?;
            interpreter.namespaces.push(own);
            let at = interpreter.namespaces.len() - 1;
            Ok(Value::Object(Object::Namespace(at)))
        }
        "cycler" => {
            if given.plain.is_empty() {
                return Err("at least one item has to be provided".into());
            }
            interpreter.work.spend_each(given.plain.len() + 1, ENTRY)?;
            interpreter.cyclers.push((given.plain, 0));
            let at = interpreter.cyclers.len() - 1;
            Ok(Value::Object(Object::Cycler(at)))
        }
        "joiner" => {
            let separator = given.plain.into_iter().next();
            interpreter.work.spend(ENTRY)?;
            let separator = separator.unwrap_or_else(|| Value::from(", "));
            interpreter.joiners.push((separator, false));
            let at = interpreter.joiners.len() - 1;
            Ok(Value::Object(Object::Joiner(at)))
        }
        "raise_exception" => {
            let message = given.plain.first().cloned().unwrap_or(Value::None);
            Err(message.to_text(&mut interpreter.work)?.to_string())
        }
        "strftime_now" => {
            let format = given.plain.first().cloned().unwrap_or(Value::None);
            let Some(format) = format.as_str() else {
                return Err("strftime_now takes a format".into());
            };
            interpreter.work.spend_each(format.len(), 64)?;
            interpreter
                .clock
                .tell(format)
                .map(Value::from)
                .ok_or_else(|| format!("strftime_now: `{}` is no format of a date", shown(format)))
        }
        _ => Err(format!("no function `{name}`")),
    }
}

fn range(interpreter: &mut Interpreter<'_>, plain: &[Value]) -> Result<Value, Fault> {
    let mut numbers = Vec::new();
    for value in plain {
        numbers.push(value.defined()?.as_int().ok_or_else(|| {
            format!(
                "'{}' object cannot be interpreted as an integer",
                value.kind()
            )
        })?);
    }
    let (start, stop, step) = match numbers.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] if *step != 0 => (*start, *stop, *step),
        _ => return Err("range takes one to three numbers, the last not 0".into()),
    };
    let count = if step > 0 {
        (stop.saturating_sub(start).saturating_add(step - 1) / step).max(0)
    } else {
        (start.saturating_sub(stop).saturating_sub(step + 1) / step.saturating_neg()).max(0)
    };
    if count > MAX_RANGE {
        return Err(format!(
            "range too big: a template may have {MAX_RANGE} numbers at most"
        ));
    }
    interpreter.work.spend_each(count as usize, ENTRY)?;
    let numbers = (0..count).map(|at| Value::Int(start.saturating_add(at.saturating_mul(step))));
    Value::sequence(numbers.collect(), Kind::Range, &mut interpreter.work)
}
