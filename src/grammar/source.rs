//! The forms in which a grammar is given.

use llguidance::api::TopLevelGrammar;
use serde_json::{Value, json};

/// What an answer must be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GrammarSource {
    /// A JSON value of the schema in this text. Between its tokens stand `, ` and `: ` and nothing more, unless the schema has settings of its
    /// own under `x-guidance`.
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
                if let Some(schema) = schema.as_object_mut() {
                    // White space that is free would let a weak model write line breaks up to its limit.
                    schema.entry("x-guidance").or_insert_with(tight);
                } else if !schema.is_boolean() {
                    return Err(format!("a JSON schema is an object, and this is {schema}"));
                }
                TopLevelGrammar::from_json_schema(schema)
            }
            Self::Lark(grammar) => TopLevelGrammar::from_lark(grammar.clone()),
            Self::Regex(pattern) => TopLevelGrammar::from_regex(pattern),
            Self::OneOf(texts) if texts.iter().all(String::is_empty) => {
                return Err("there is no text to choose".to_owned());
            }
            Self::OneOf(texts) => {
                // A text of Lark is written as one of JSON.
                let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
                TopLevelGrammar::from_lark(format!("start: {}", texts.join(" | ")))
            }
        })
    }
}

fn tight() -> Value {
    json!({"whitespace_flexible": false, "item_separator": ", ", "key_separator": ": "})
}
