//! JSON values as values of a template.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::Value;
use super::work::{Fault, Work};

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Int(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        made(|work| Value::list(entries, work))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            pairs.push((Value::from(key), value));
        }
        made(|work| Value::dictionary(pairs, work))
    }
}

/// A value from JSON whose text was read already: its work is proportional to its size.
fn made<E: serde::de::Error>(
    value: impl FnOnce(&mut Work) -> Result<Value, Fault>,
) -> Result<Value, E> {
    value(&mut Work::for_bytes(1 << 20)).map_err(E::custom)
}
