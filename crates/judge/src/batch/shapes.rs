//! A line of answers, in the shapes that engines write.
//!
//! | written by | the answer is in |
//! |---|---|
//! | OpenAI's batch API, vLLM's `run-batch`, SGLang, `juror batch run` | `response.body.choices[0].message`, or `.text` of a raw prompt |
//! | OpenAI's batch API, of `/v1/responses` | the messages in `response.body.output` |
//! | servers' own tools | `response.choices[0]`, or `choices[0]` beside `custom_id` |
//! | vLLM's Python API | `outputs[0].text` |
//! | SGLang's `/generate` | `text` and `meta_info` |
//! | one's own script | `response` as a text |

use std::borrow::Cow;

use serde_json::Value;

use crate::wire::answer::{EngineAnswer, answer, completion, error_of, given, told, usage};
use juror_data::without_nan;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputLine {
    pub(crate) custom_id: String,
    /// The answer, or why there is none.
    pub(crate) answer: Result<EngineAnswer, String>,
}

impl OutputLine {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let plain = without_nan(line.as_bytes());
        let line: Value = serde_json::from_slice(&plain)
            .map_err(|error| format!("not JSON ({error}); a line of answers is one JSON object"))?;
        if !line.is_object() {
            return Err("not a JSON object: a line of answers is one".to_owned());
        }
        let custom_id = match given(&line, "custom_id") {
            Some(Value::String(id)) => id.clone(),
            Some(_) => return Err("`custom_id` is no text".to_owned()),
            None => {
                return Err("no `custom_id`: every answer needs that of its request".to_owned());
            }
        };
        let answer = match error_of(&line) {
            Some(why) => Err(why),
            None => answer_in(&line).map_err(|why| match plain {
                Cow::Borrowed(_) => why,
                Cow::Owned(_) => format!("{why} (a bare NaN or Infinity counts as null)"),
            })?,
        };
        Ok(Self { custom_id, answer })
    }
}

/// The answer of a line without an error: in the line itself, in its `response`, or in that one's `body`.
fn answer_in(line: &Value) -> Result<Result<EngineAnswer, String>, String> {
    let response = given(line, "response").unwrap_or(line);
    if let Value::String(text) = response {
        let finish = given(line, "finish_reason");
        let read = answer(Some(text.clone()), None, &[finish], usage(line));
        return Ok(read.map_err(|(why, _)| why));
    }
    let body = given(response, "body");
    if let Some(why) = error_of(response).or(body.and_then(error_of)) {
        return Ok(Err(why));
    }
    let status = given(response, "status_code").and_then(Value::as_u64);
    if let Some(status) = status.filter(|status| !(200..300).contains(status)) {
        let body = body.map_or_else(String::new, |body| format!(" {body}"));
        return Ok(Err(told(&format!("status {status}{body}"))));
    }
    let read = completion(body.unwrap_or(response))?;
    Ok(read.map_err(|(why, _)| why))
}

#[cfg(test)]
mod tests;
