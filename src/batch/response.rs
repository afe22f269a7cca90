//! A line of answers, as `juror run-batch` writes it: OpenAI's shape.

use serde_json::{Value, json};

use super::conversation::ChatModel;
use super::request::{Asked, BadRequest, BatchRequest};
use super::stop::first;
use crate::engine::{Completion, FinishReason};
use crate::text::reasoning::{Answer, Thinking};

/// What is the same in all answers of a run.
pub(super) struct Responder<'m> {
    pub(super) model: &'m ChatModel,
    /// When the run began, in seconds since 1970.
    pub(super) created: i64,
    /// Add token ids.
    pub(super) raw: bool,
}

impl Responder<'_> {
    /// The answer to a request whose completion this is.
    ///
    /// # Errors
    /// Why the engine did not answer it.
    pub(super) fn answer(
        &self,
        request: &BatchRequest,
        thinking: Option<&Thinking>,
        completion: &Completion,
    ) -> Result<Value, String> {
        let tokens = &completion.tokens;
        let (tokens, mut reason) = match &completion.finish {
            FinishReason::Rejected(why) => return Err(why.clone()),
            FinishReason::EndOfSequence => (&tokens[..tokens.len() - 1], "stop"),
            FinishReason::Stop => (&tokens[..], "stop"),
            FinishReason::Length => (&tokens[..], "length"),
        };
        let mut cut = |mut text: String| {
            if let Some(end) = first(&text, &request.stop) {
                text.truncate(end);
                reason = "stop";
            }
            text
        };
        let tokenizer = self.model.tokenizer();
        let mut choice = if let Some(thinking) = thinking {
            let (content, thought) = apart(thinking.read(tokenizer, tokens));
            let mut message = json!({"role": "assistant", "content": content.map(cut)});
            if let Some(thought) = thought {
                message["reasoning_content"] = json!(thought);
            }
            json!({"message": message})
        } else {
            json!({"text": cut(tokenizer.decode(tokens))})
        };
        choice["index"] = json!(0);
        choice["finish_reason"] = json!(reason);
        choice["logprobs"] = Value::Null;
        let (object, prefix) = match request.asked {
            Asked::Chat(..) => ("chat.completion", "chatcmpl"),
            Asked::Prompt(_) => ("text_completion", "cmpl"),
        };
        let name = short_hash(&request.custom_id);
        let (prompt, generated) = (completion.prompt.len(), completion.tokens.len());
        let mut body = json!({
            "id": format!("{prefix}-{name}"),
            "object": object,
            "created": self.created,
            "model": request.model.as_deref().unwrap_or(&self.model.name),
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": generated,
                "total_tokens": prompt + generated,
                "prompt_tokens_details": {"cached_tokens": completion.cached_tokens},
            },
        });
        if self.raw {
            body["prompt_token_ids"] = json!(completion.prompt);
            choice["token_ids"] = json!(completion.tokens);
        }
        body["choices"] = json!([choice]);
        Ok(json!({
            "id": format!("batch_req_{name}"),
            "custom_id": request.custom_id,
            "response": {"status_code": 200, "request_id": name, "body": body},
            "error": null,
        }))
    }
}

/// A completion's answer and its thinking. Thinking in tags that every reader knows (`<think> … </think>`) stays in the answer.
fn apart(answer: Answer) -> (Option<String>, Option<String>) {
    let Answer { written, visible } = answer;
    match visible {
        None => (None, Some(written)),
        Some(visible) if visible == written => (Some(visible), None),
        Some(visible) => {
            // Masked thinking is spaces, byte for byte.
            let content = visible.trim_start();
            let thought = written.get(..visible.len() - content.len());
            (Some(content.to_owned()), thought.map(str::to_owned))
        }
    }
}

/// The line for a request that is not answered; `line` is its number in the batch.
pub(super) fn refused(bad: &BadRequest, line: usize) -> Value {
    let message = format!("line {line}: {}", bad.why);
    error(bad.custom_id.as_deref(), "invalid_request", &message)
}

/// The line for a request that could not be answered.
pub(super) fn failed(custom_id: &str, why: &str) -> Value {
    error(Some(custom_id), "not_answered", why)
}

fn error(custom_id: Option<&str>, code: &str, message: &str) -> Value {
    json!({
        "id": format!("batch_req_{}", short_hash(custom_id.unwrap_or(message))),
        "custom_id": custom_id,
        "response": null,
        "error": {"code": code, "message": message},
    })
}

fn short_hash(text: &str) -> String {
    let mut hash = blake3::hash(text.as_bytes()).to_hex().to_string();
    hash.truncate(24);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_that_readers_do_not_know_is_taken_out() {
        for (written, visible, content, thought) in [
            (
                "<think>a</think>b",
                Some("<think>a</think>b"),
                Some("<think>a</think>b"),
                None,
            ),
            (
                "[T]a[/T] b",
                Some("         b"),
                Some("b"),
                Some("[T]a[/T] "),
            ),
            ("[T]a", None, None, Some("[T]a")),
        ] {
            let answer = Answer {
                written: written.to_owned(),
                visible: visible.map(str::to_owned),
            };
            let expected = (content.map(str::to_owned), thought.map(str::to_owned));
            assert_eq!(apart(answer), expected);
        }
    }
}
