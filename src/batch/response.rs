//! A line of answers, as `juror run-batch` writes it: OpenAI's shape.

use serde_json::{Value, json};

use super::conversation::ChatModel;
use super::request::{Asked, BadRequest, BatchRequest};
use super::stop::first;
use crate::engine::{Completion, FinishReason};
use crate::text::reasoning::{Apart, Thinking};

/// What is the same in all answers of a run.
#[derive(Debug, Clone)]
pub(super) struct Responder {
    /// The model's name, where a request names none.
    pub(super) model: String,
    /// When the run began, in seconds since 1970.
    pub(super) created: u64,
    /// Add token ids.
    pub(super) raw: bool,
}

impl Responder {
    /// The answer to a request whose completions these are, in the order of its choices.
    ///
    /// # Errors
    /// Why the engine did not answer it.
    pub(super) fn answer(
        &self,
        model: &ChatModel,
        request: &BatchRequest,
        thinking: Option<&Thinking>,
        completions: &[Completion],
    ) -> Result<Value, String> {
        let mut choices = Vec::with_capacity(completions.len());
        for (index, completion) in completions.iter().enumerate() {
            choices.push(self.choice(model, request, thinking, index, completion)?);
        }
        let prompt = completions.first();
        let prompt_tokens = prompt.map_or(0, |completion| completion.prompt.len());
        let generated: usize = completions.iter().map(|own| own.tokens.len()).sum();
        let (object, prefix) = match request.asked {
            Asked::Chat(..) => ("chat.completion", "chatcmpl"),
            Asked::Prompt(_) => ("text_completion", "cmpl"),
        };
        let name = short_hash(&request.custom_id);
        let mut body = json!({
            "id": format!("{prefix}-{name}"),
            "object": object,
            "created": self.created,
            "model": request.model.as_deref().unwrap_or(&self.model),
            "choices": choices,
            "usage": {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": generated,
                "total_tokens": prompt_tokens + generated,
                "prompt_tokens_details": {"cached_tokens": prompt.map_or(0, |own| own.cached_tokens)},
            },
        });
        if self.raw {
            body["prompt_token_ids"] = json!(prompt.map(|own| &own.prompt));
        }
        Ok(json!({
            "id": format!("batch_req_{name}"),
            "custom_id": request.custom_id,
            "response": {"status_code": 200, "request_id": name, "body": body},
            "error": null,
        }))
    }

    fn choice(
        &self,
        model: &ChatModel,
        request: &BatchRequest,
        thinking: Option<&Thinking>,
        index: usize,
        completion: &Completion,
    ) -> Result<Value, String> {
        let (tokens, reason) = match &completion.finish {
            FinishReason::Rejected(why) => return Err(why.clone()),
            FinishReason::EndOfSequence => {
                (&completion.tokens[..completion.tokens.len() - 1], "stop")
            }
            FinishReason::Stop => (&completion.tokens[..], "stop"),
            FinishReason::Length => (&completion.tokens[..], "length"),
        };
        let tokenizer = model.tokenizer();
        let cut = |text: String| match first(&text, &request.stop) {
            Some(end) => (text[..end].to_owned(), "stop"),
            None => (text, reason),
        };
        let mut choice = if let Some(thinking) = thinking {
            let Apart {
                content,
                thinking: thought,
            } = thinking.apart(thinking.read(tokenizer, tokens));
            let cut = content.map(cut);
            let reason = cut.as_ref().map_or(reason, |(_, reason)| *reason);
            let content = cut.map(|(content, _)| content);
            let mut message = json!({"role": "assistant", "content": content});
            if let Some(thought) = thought {
                message["reasoning_content"] = json!(thought);
            }
            json!({"message": message, "finish_reason": reason})
        } else {
            let (text, reason) = cut(tokenizer.decode(tokens));
            json!({"text": text, "finish_reason": reason})
        };
        choice["index"] = json!(index);
        choice["logprobs"] = Value::Null;
        if self.raw {
            choice["token_ids"] = json!(completion.tokens);
        }
        Ok(choice)
    }
}

/// The line for a request that is not answered; `line` is its number in the batch.
pub(super) fn refused(bad: &BadRequest, line: usize) -> Value {
    failed(
        bad.custom_id.as_deref(),
        "invalid_request",
        &format!("line {line}: {}", bad.why),
    )
}

/// The line for a request that could not be answered.
pub(super) fn failed(custom_id: Option<&str>, code: &str, message: &str) -> Value {
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
