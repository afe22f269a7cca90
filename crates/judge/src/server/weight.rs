//! What a JSON value takes in memory, counted without keeping it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value in a list or an object, and the room that a list grows by, in bytes.
const VALUE: usize = 128;

/// An object with one key, in bytes.
const OBJECT: usize = 384;

#[derive(Default)]
pub(super) struct Weight {
    values: usize,
    objects: usize,
    pub(super) longest_text: usize,
    /// The key that it is under, if this is an object.
    pub(super) longest_key: String,
}

impl Weight {
    /// What its values take beside their texts.
    pub(super) fn bytes(&self) -> usize {
        self.values * VALUE + self.objects * OBJECT
    }

    /// How many values it has, itself among them.
    pub(super) fn values(&self) -> usize {
        self.values
    }

    fn one() -> Self {
        Self {
            values: 1,
            ..Self::default()
        }
    }

    fn add(&mut self, part: &Self) {
        self.values += part.values;
        self.objects += part.objects;
        self.longest_text = self.longest_text.max(part.longest_text);
    }
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Count)
    }
}

struct Count;

/// Values without a length.
macro_rules! one {
    ($($visit:ident($value:ty))*) => {
        $(fn $visit<E>(self, _: $value) -> Result<Weight, E> {
            Ok(Weight::one())
        })*
    };
}

impl<'de> Visitor<'de> for Count {
    type Value = Weight;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Weight, E> {
        Ok(Weight::one())
    }

    one! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }

    fn visit_str<E>(self, text: &str) -> Result<Weight, E> {
        Ok(Weight {
            longest_text: text.len(),
            ..Weight::one()
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Weight, A::Error> {
        let mut weight = Weight::one();
        while let Some(part) = list.next_element::<Weight>()? {
            weight.add(&part);
        }
        Ok(weight)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Weight, A::Error> {
        let mut weight = Weight::one();
        weight.objects = 1;
        while let Some((key, part)) = object.next_entry::<String, Weight>()? {
            if part.longest_text > weight.longest_text {
                weight.longest_key = key;
            }
            weight.add(&part);
        }
        Ok(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_and_object_is_counted() {
        let weigh = |json: &str| serde_json::from_str::<Weight>(json).unwrap();
        let weight = weigh(r#"{"a": [1, -2, 0.5, null, true], "b": {"c": "\u0041é", "d": "x"}}"#);
        assert_eq!((weight.values, weight.objects), (10, 2));
        assert_eq!((weight.longest_text, &*weight.longest_key), (3, "b"));
        // What is read of such a list takes no more, but for what the allocator adds.
        let list = format!("[{}]", vec![r#"{"":0}"#; 100].join(","));
        let each = size_of::<serde_json::Value>() * 2 + size_of::<String>() + 8;
        assert!(weigh(&list).bytes() > 100 * each);
    }
}
