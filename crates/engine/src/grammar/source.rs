//! The forms in which a grammar is given.

use llguidance::api::TopLevelGrammar;
use serde_json::{Value, json};

use super::json_schema;

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
    OneOf(Vec<String>),
}

impl GrammarSource {
    pub fn bytes(&self) -> usize {
        match self {
            Self::JsonSchema(text) | Self::Lark(text) | Self::Regex(text) => text.len(),
            Self::OneOf(texts) => texts.iter().map(String::len).sum(),
        }
    }

    pub(super) fn grammar(&self) -> Result<TopLevelGrammar, String> {
        Ok(match self {
            Self::JsonSchema(schema) => {
                let mut schema: Value =
                    serde_json::from_str(schema).map_err(|error| format!("not JSON: {error}"))?;
                json_schema::prepare(&mut schema)?;
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
                return Err("the texts to choose from must be at least one, and none empty".into());
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
