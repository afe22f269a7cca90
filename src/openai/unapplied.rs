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

/// Refuses parameters that are not applied and would change the answer.
pub(super) fn refuse_the_rest(body: &Map<String, Value>) -> Result<(), String> {
    for (key, value) in body {
        if WITHOUT_EFFECT.contains(&key.as_str()) {
            continue;
        }
        let mut neutral = NEUTRAL.iter().filter(|(name, _)| name == key);
        let is_neutral = neutral.any(|(_, neutral)| {
            serde_json::from_str::<Value>(neutral).is_ok_and(|neutral| {
                // 1 and 1.0 are one number.
                neutral == *value
                    || neutral
                        .as_f64()
                        .is_some_and(|number| value.as_f64() == Some(number))
            })
        });
        if !is_neutral {
            return Err(format!(
                "the parameter `{key}` is not applied here and could change the answer: leave it out, or use an engine that has \
                 it"
            ));
        }
    }
    Ok(())
}
