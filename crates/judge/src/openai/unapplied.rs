//! Parameters of a request that are not applied: which of them change nothing.

use serde_json::{Map, Value};

/// So many parameters that are not applied are named.
const MOST_NAMED: usize = 16;

/// Parameters that are not applied, with a value under which they change nothing, as JSON; `*` is any.
const HARMLESS: &str = include_str!("unapplied.tsv");

/// Refuses parameters that are not applied and would change the answer; all of them are named.
pub(super) fn refuse_the_rest(body: &Map<String, Value>) -> Result<(), String> {
    let changes_something = |(key, value): &(&String, &Value)| {
        let mut neutral = crate::rows(HARMLESS).filter(|(name, _)| name == key);
        !neutral.any(|(_, neutral)| {
            neutral == "*"
                || serde_json::from_str::<Value>(neutral).is_ok_and(|neutral| {
                    // 1 and 1.0 are one number.
                    neutral == **value || neutral.is_number() && neutral.as_f64() == value.as_f64()
                })
        })
    };
    let mut refused: Vec<String> = body
        .iter()
        .filter(changes_something)
        .take(MOST_NAMED)
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    refused.sort_unstable();
    let (parameters, are, them) = match refused.len() {
        0 => return Ok(()),
        1 => ("parameter", "is", "it"),
        _ => ("parameters", "are", "them"),
    };
    let refused = refused.join(", ");
    Err(format!(
        "the {parameters} {refused} {are} not applied here and could change the answer: leave {them} out, or use an engine that has {them}"
    ))
}
