//! The forms in which a grammar is given.

use llguidance::api::TopLevelGrammar;
use serde_json::{Map, Value, json};

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GrammarSource {
    /// A JSON value of the schema in this text. Between its parts stand `, ` and `: ` and nothing more, unless the schema says
    /// otherwise under `x-guidance`. An object has the keys under `properties` alone, unless `additionalProperties` says otherwise.
    JsonSchema(String),
    /// A text of this grammar, in [the variant of Lark](https://github.com/guidance-ai/llguidance/blob/main/docs/syntax.md) that
    /// `llguidance` reads.
    Lark(String),
    /// A text that this pattern matches as a whole, in the syntax of the crate `regex`.
    Regex(String),
    /// One of these texts.
    OneOf(Vec<String>),
}

impl GrammarSource {
    pub(super) fn grammar(&self) -> Result<TopLevelGrammar, String> {
        Ok(match self {
            Self::JsonSchema(schema) => {
                let mut schema: Value =
                    serde_json::from_str(schema).map_err(|error| format!("not JSON: {error}"))?;
                close(&mut schema);
                if let Some(schema) = schema.as_object_mut() {
                    let settings = schema.entry("x-guidance").or_insert_with(|| json!({}));
                    if let Some(settings) = settings.as_object_mut() {
                        // Free white space would let a weak model write line breaks up to its limit.
                        settings
                            .entry("whitespace_flexible")
                            .or_insert(false.into());
                        settings.entry("item_separator").or_insert(", ".into());
                        settings.entry("key_separator").or_insert(": ".into());
                    }
                } else if !schema.is_boolean() {
                    return Err(format!("a JSON schema is an object, and this is {schema}"));
                }
                TopLevelGrammar::from_json_schema(schema)
            }
            Self::Lark(grammar) => TopLevelGrammar::from_lark(grammar.clone()),
            Self::Regex(pattern) => TopLevelGrammar::from_regex(pattern),
            Self::OneOf(texts) if texts.is_empty() || texts.iter().any(String::is_empty) => {
                return Err(
                    "the texts to choose from must be at least one, and none empty".to_owned(),
                );
            }
            Self::OneOf(texts) => {
                // String literals of Lark are written as in JSON.
                let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
                // One terminal, since there may be no more than 2,000 rules in one place.
                TopLevelGrammar::from_lark(format!("start: TEXT\nTEXT: {}", texts.join(" | ")))
            }
        })
    }
}

/// Keywords whose subschemas apply to the same value as the schema that holds them.
const IN_PLACE: [&str; 10] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "not",
    "dependentSchemas",
];

/// Keywords that hold subschemas by name.
const NAMED: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

/// Keywords that hold a subschema or a list of them.
const HELD: [&str; 6] = [
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "anyOf",
    "oneOf",
];

/// Forbids additional properties in each object schema that names its properties and does not say otherwise: free keys would
/// let a weak model write up to its limit. Schemas that are combined are left alone, since each would forbid the others'
/// keys.
fn close(schema: &mut Value) {
    let definitions_are_parts = puts_a_reference_together(schema);
    close_inside(schema, definitions_are_parts);
}

fn close_inside(schema: &mut Value, definitions_are_parts: bool) {
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    let is_put_together = is_put_together(keys);
    if keys.get("properties").is_some_and(Value::is_object)
        && !is_put_together
        && !keys.contains_key("unevaluatedProperties")
    {
        keys.entry("additionalProperties").or_insert(false.into());
    }
    let go_on = |schema: &mut Value| close_inside(schema, definitions_are_parts);
    for (key, value) in keys {
        let key = key.as_str();
        let is_part = (is_put_together && IN_PLACE.contains(&key))
            || (definitions_are_parts && matches!(key, "$defs" | "definitions"));
        match value {
            Value::Object(named) if NAMED.contains(&key) => {
                for schema in named.values_mut() {
                    if is_part {
                        close_held(schema, definitions_are_parts);
                    } else {
                        go_on(schema);
                    }
                }
            }
            Value::Array(list) if HELD.contains(&key) || key == "allOf" => {
                for schema in list {
                    if is_part {
                        close_held(schema, definitions_are_parts);
                    } else {
                        go_on(schema);
                    }
                }
            }
            Value::Object(_) if HELD.contains(&key) => go_on(value),
            _ => {}
        }
    }
}

/// Closes the schemas of a combined schema's properties and items.
fn close_held(schema: &mut Value, definitions_are_parts: bool) {
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    for (key, value) in keys {
        match value {
            Value::Object(named) if matches!(key.as_str(), "properties" | "patternProperties") => {
                let schemas = named.values_mut();
                schemas.for_each(|schema| close_inside(schema, definitions_are_parts));
            }
            Value::Object(_) if key == "items" => close_inside(value, definitions_are_parts),
            _ => {}
        }
    }
}

/// Whether several subschemas together say what a value is.
fn is_put_together(keys: &Map<String, Value>) -> bool {
    let parts = |(key, value): (&String, &Value)| match value {
        Value::Array(all) if key == "allOf" => all.len(),
        _ => usize::from(IN_PLACE.contains(&key.as_str()) || key == "properties"),
    };
    keys.iter().map(parts).sum::<usize>() > 1
}

/// Whether a `$ref` stands where schemas are combined.
fn puts_a_reference_together(schema: &Value) -> bool {
    match schema {
        Value::Object(keys) => {
            let refers = |value: &Value| value.get("$ref").is_some();
            let lists = ["allOf", "anyOf", "oneOf"].map(|key| keys.get(key)?.as_array());
            let in_lists = lists.into_iter().flatten().flatten().any(refers);
            (is_put_together(keys) && (in_lists || keys.contains_key("$ref")))
                || keys.values().any(puts_a_reference_together)
        }
        Value::Array(all) => all.iter().any(puts_a_reference_together),
        _ => false,
    }
}
