//! A line of a batch file, and the line that answers it.

use serde_json::{Map, Value, json};

use crate::openai::request::GenerationRequest;
use crate::wire::Route;

#[derive(Debug, Clone, PartialEq)]
pub struct BatchRequest {
    pub custom_id: String,
    pub request: GenerationRequest,
}

/// A line that is no request that can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequest {
    /// The request's name, if it has one.
    pub(crate) custom_id: Option<String>,
    /// What is wrong and what to do.
    pub(crate) why: String,
}

impl BatchRequest {
    pub fn parse(line: &str) -> Result<Self, BadRequest> {
        let nameless = |why: String| BadRequest {
            custom_id: None,
            why,
        };
        let line: Value = serde_json::from_str(line).map_err(|error| {
            nameless(format!(
                "not JSON ({error}); a request is one JSON object a line"
            ))
        })?;
        let Value::Object(mut line) = line else {
            return Err(nameless("not a JSON object: a request is one".to_owned()));
        };
        let Some(Value::String(custom_id)) = line.remove("custom_id") else {
            return Err(nameless(
                "`custom_id` is missing, or no text: every request needs one".to_owned(),
            ));
        };
        match read(&mut line) {
            Ok(request) => Ok(Self { custom_id, request }),
            Err(why) => Err(BadRequest {
                custom_id: Some(custom_id),
                why,
            }),
        }
    }
}

fn read(line: &mut Map<String, Value>) -> Result<GenerationRequest, String> {
    match line.remove("method") {
        None | Some(Value::Null) => {}
        Some(Value::String(method)) if method == "POST" => {}
        Some(other) => return Err(format!("`method` is {other}, and must be \"POST\"")),
    }
    let url = line.remove("url").unwrap_or_default();
    let Some(Value::Object(body)) = line.remove("body") else {
        return Err("`body` is missing, or no object".to_owned());
    };
    let Some(route) = url.as_str().and_then(Route::from_path) else {
        let [chat, completions] = [Route::Chat, Route::Completions].map(Route::path);
        return Err(format!(
            "`url` is {url}; requests to \"{chat}\" and \"{completions}\" are answered"
        ));
    };
    GenerationRequest::parse(route, body)
}

pub(super) fn answered(custom_id: &str, body: &Value) -> Value {
    let name = short_hash(custom_id);
    json!({
        "id": format!("batch_req_{name}"),
        "custom_id": custom_id,
        "response": {"status_code": 200, "request_id": name, "body": body},
        "error": null,
    })
}

/// The line for a request that is not answered; `line` is its number in the batch.
pub(super) fn refused(bad: &BadRequest, line: usize) -> Value {
    let message = format!("line {line}: {}", bad.why);
    error(bad.custom_id.as_deref(), "invalid_request", &message)
}

/// The code of a request that could not be answered, and of one that this engine has no room for, which a later run asks again.
pub(super) const NOT_ANSWERED: &str = "not_answered";
pub(super) const NO_ROOM: &str = "no_room";

/// The line for such a request.
pub(super) fn failed(custom_id: &str, code: &str, why: &str) -> Value {
    error(Some(custom_id), code, why)
}

fn error(custom_id: Option<&str>, code: &str, message: &str) -> Value {
    json!({
        "id": format!("batch_req_{}", short_hash(custom_id.unwrap_or(message))),
        "custom_id": custom_id,
        "response": null,
        "error": {"code": code, "message": message},
    })
}

/// The name of a request in its answer.
pub(super) fn short_hash(text: &str) -> String {
    let mut hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    hash.truncate(24);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_keeps_its_name_where_it_has_one() {
        for (line, name, why) in [
            ("{", None, "not JSON"),
            ("[]", None, "not a JSON object"),
            ("{\"body\": {}}", None, "`custom_id` is missing"),
            (
                "{\"custom_id\": \"a\", \"url\": \"/v1/embeddings\", \"body\": {}}",
                Some("a"),
                "`url` is \"/v1/embeddings\"",
            ),
            (
                "{\"custom_id\": \"a\", \"url\": \"/v1/completions\", \"body\": {\"prompt\": [\"\"]}}",
                Some("a"),
                "`prompt` is empty",
            ),
            (
                "{\"custom_id\": \"a\", \"method\": \"GET\"}",
                Some("a"),
                "`method`",
            ),
            ("{\"custom_id\": \"a\"}", Some("a"), "`body` is missing"),
        ] {
            let bad = BatchRequest::parse(line).unwrap_err();
            assert_eq!(bad.custom_id.as_deref(), name, "{line}");
            assert!(bad.why.contains(why), "{}", bad.why);
        }
    }
}
