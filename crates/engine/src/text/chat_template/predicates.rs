//! Jinja's tests, which follow `is`.

use super::operators;
use super::string_methods;
use super::syntax::Comparison;
use super::value::{Kind, Object, Value};
use super::work::{Fault, Work, shown};

/// Whether a test holds.
pub(super) fn holds(
    name: &str,
    value: &Value,
    arguments: &[Value],
    work: &mut Work,
) -> Result<bool, Fault> {
    let argument = || {
        arguments
            .first()
            .ok_or_else(|| format!("test '{name}' takes an argument"))
    };
    let whole = || {
        value
            .defined()?
            .as_int()
            .ok_or_else(|| format!("test '{name}' takes a whole number, not {}", value.kind()))
    };
    let compared =
        |how: Comparison, work: &mut Work| operators::compare(how, value, argument()?, work);
    Ok(match name {
        "defined" => !value.is_undefined(),
        "undefined" => value.is_undefined(),
        "none" => value.is_none(),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "integer" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "number" => matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_)),
        "string" => value.as_str().is_some(),
        "mapping" => matches!(value, Value::Dict(_)),
        "sequence" => match value {
            Value::Undefined(_) | Value::Str(_) | Value::Safe(_) | Value::Dict(_) => true,
            Value::List(list) => matches!(list.kind, Kind::List | Kind::Tuple | Kind::Range),
            _ => false,
        },
        "iterable" => matches!(
            value,
            Value::Undefined(_) | Value::Str(_) | Value::Safe(_) | Value::Dict(_) | Value::List(_)
        ),
        "callable" => match value {
            Value::Object(object) => !matches!(object, Object::Namespace(_) | Object::Cycler(_)),
            _ => false,
        },
        "escaped" => matches!(value, Value::Safe(_)),
        "lower" | "upper" => {
            let text = value.to_text(work)?;
            work.spend(text.len())?;
            let method = if name == "lower" {
                "islower"
            } else {
                "isupper"
            };
            string_methods::property(&text, method) == Some(true)
        }
        "odd" => whole()?.rem_euclid(2) == 1,
        "even" => whole()?.rem_euclid(2) == 0,
        "divisibleby" => match argument()?.as_int() {
            Some(by) if by != 0 => whole()?.checked_rem(by) == Some(0),
            _ => return Err("test 'divisibleby' takes a number that is not 0".into()),
        },
        "eq" | "equalto" | "==" => compared(Comparison::Equal, work)?,
        "ne" | "!=" => compared(Comparison::NotEqual, work)?,
        "lt" | "lessthan" | "<" => compared(Comparison::Less, work)?,
        "le" | "<=" => compared(Comparison::LessOrEqual, work)?,
        "gt" | "greaterthan" | ">" => compared(Comparison::Greater, work)?,
        "ge" | ">=" => compared(Comparison::GreaterOrEqual, work)?,
        "in" => operators::is_in(value, argument()?, work)?,
        "sameas" => is_same(value, argument()?, work)?,
        "filter" => argument_name(value).is_some_and(super::filters::are_known),
        "test" => argument_name(value).is_some_and(|name| {
            !matches!(
                holds(name, &Value::None, &[Value::None], work),
                Err(fault) if fault.starts_with("no test named")
            )
        }),
        _ => return Err(format!("no test named '{}'", shown(name))),
    })
}

fn argument_name(value: &Value) -> Option<&str> {
    // The test `test` itself is excluded, since it would recurse without end.
    value.as_str().filter(|name| *name != "test")
}

/// `is`: whether both are the same object, as far as values keep their identity.
fn is_same(one: &Value, two: &Value, work: &mut Work) -> Result<bool, Fault> {
    Ok(match (one, two) {
        (Value::List(one), Value::List(two)) => std::sync::Arc::ptr_eq(one, two),
        (Value::Dict(one), Value::Dict(two)) => std::sync::Arc::ptr_eq(one, two),
        _ => one.kind() == two.kind() && one.equals(two, work)?,
    })
}
