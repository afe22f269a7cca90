//! Parameters of a request that are not applied: which of them change nothing.

use serde_json::{Map, Value};

/// Parameters that say nothing of the answer.
const WITHOUT_EFFECT: [&str; 10] = [
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "priority",
    "request_id",
    "parallel_tool_calls",
];

/// So many parameters that are not applied are named.
const MOST_NAMED: usize = 16;

/// Parameters that are not applied, with the value under which they change nothing, as JSON.
const NEUTRAL: [(&str, &str); 24] = [
    ("stream", "false"),
    ("frequency_penalty", "0"),
    ("presence_penalty", "0"),
    ("repetition_penalty", "1"),
    ("length_penalty", "1"),
    ("top_logprobs", "0"),
    ("prompt_logprobs", "0"),
    ("logit_bias", "{}"),
    ("tools", "[]"),
    ("tool_choice", "\"none\""),
    // Without tools there is nothing to choose.
    ("tool_choice", "\"auto\""),
    ("skip_special_tokens", "true"),
    ("functions", "[]"),
    ("function_call", "\"none\""),
    ("modalities", "[\"text\"]"),
    ("best_of", "1"),
    ("echo", "false"),
    ("suffix", "\"\""),
    ("min_tokens", "0"),
    ("ignore_eos", "false"),
    ("stop_token_ids", "[]"),
    ("bad_words", "[]"),
    ("add_generation_prompt", "true"),
    ("continue_final_message", "false"),
];

/// Refuses parameters that are not applied and would change the answer; all of them are named.
pub(super) fn refuse_the_rest(body: &Map<String, Value>) -> Result<(), String> {
    let changes_something = |(key, value): &(&String, &Value)| {
        let mut neutral = NEUTRAL.iter().filter(|(name, _)| *name == key.as_str());
        let is_neutral = neutral.any(|(_, neutral)| {
            serde_json::from_str::<Value>(neutral).is_ok_and(|neutral| {
                // 1 and 1.0 are one number.
                neutral == **value
                    || neutral
                        .as_f64()
                        .is_some_and(|number| value.as_f64() == Some(number))
            })
        });
        !WITHOUT_EFFECT.contains(&key.as_str()) && !is_neutral
    };
    let mut refused: Vec<String> = body
        .iter()
        .filter(changes_something)
        .take(MOST_NAMED)
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    refused.sort_unstable();
    let (are, them) = match refused.len() {
        0 => return Ok(()),
        1 => ("the parameter", "is"),
        _ => ("the parameters", "are"),
    };
    Err(format!(
        "{are} {} {them} not applied here and could change the answer: leave {} out, or use an engine that has {}",
        refused.join(", "),
        if refused.len() == 1 { "it" } else { "them" },
        if refused.len() == 1 { "it" } else { "them" },
    ))
}
