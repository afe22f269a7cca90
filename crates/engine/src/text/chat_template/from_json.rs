//! JSON values as values of a template.

use serde_json::Value as Json;

use super::value::Value;
use super::work::{Fault, Work};

/// A value from JSON whose text was read already: its work is proportional to its size.
pub(super) fn from_json(json: Json) -> Result<Value, Fault> {
    let mut work = Work::for_bytes(1 << 20);
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number.into()),
            (None, Some(number)) => Value::Int(number.into()),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text),
        Json::Array(list) => {
            let entries = list.into_iter().map(from_json);
            Value::list(entries.collect::<Result<_, _>>()?, &mut work)?
        }
        Json::Object(map) => {
            let pairs = map
                .into_iter()
                .map(|(key, value)| Ok::<_, Fault>((Value::from(key), from_json(value)?)));
            Value::dictionary(pairs.collect::<Result<Vec<_>, _>>()?, &mut work)?
        }
    })
}
