//! Log-probabilities of an answer's tokens: how a request asks for them, and how they are written.
//!
//! They are those of [`TokenLogprobs`]: by the model's logits alone, before the temperature and before a form masks any token.
//! There is an entry for each generated token, thinking and the end of sequence included, as many as
//! `usage.completion_tokens`. What a form has forced was not chosen: its entries hold null for the log-probability.

use serde_json::{Map, Value, json};

use super::conversation::ChatModel;
use super::request::{GenerationInput, GenerationRequest, RawPrompt, take};
use crate::wire::Route;
use juror_engine::engine::{Completion, TokenLogprobs};
use juror_engine::text::tokenizer::TextStream;

/// The most of the likeliest tokens that are given.
const MOST_TOP: u64 = 20;

/// Written for a token that is all but impossible, as OpenAI does.
const LOWEST: f32 = -9999.0;

/// Takes the parameters that ask for log-probabilities out of a request's body: of how many of the likeliest tokens beside those of the chosen one.
pub(super) fn asked(route: Route, body: &mut Map<String, Value>) -> Result<Option<usize>, String> {
    if body.get("logprobs") == Some(&json!(false)) {
        body.remove("logprobs");
    }
    let what = format!("a whole number from 0 to {MOST_TOP}");
    let mut count = |key| {
        let count = |value: &Value| value.as_u64().filter(|count| *count <= MOST_TOP);
        take(body, key, &what, |value| {
            count(value).map(|count| count as usize)
        })
    };
    if route == Route::Completions {
        return count("logprobs");
    }
    let top = count("top_logprobs")?;
    let says = "true or false: `top_logprobs` says how many";
    match (take(body, "logprobs", says, Value::as_bool)?, top) {
        (Some(true), top) => Ok(Some(top.unwrap_or(0))),
        (_, None | Some(0)) => Ok(None),
        _ => Err("`top_logprobs` is given: set `logprobs` to true too".to_owned()),
    }
}

/// The log-probabilities of a completion that has them, in the shape of the request's route; those of its prompt before them, where it
/// is echoed. Its first token has none.
pub(super) fn written(
    model: &ChatModel,
    request: &GenerationRequest,
    completion: &Completion,
) -> Value {
    let before: &[u32] = if request.echo {
        &completion.prompt
    } else {
        &[]
    };
    let tokens = before.iter().chain(&completion.tokens).copied();
    let none = before.iter().map(|_| &None);
    let known = tokens.clone().zip(none.chain(&completion.logprobs));
    match request.route() {
        Route::Chat => {
            let content = known.map(|(token, logprobs)| {
                let mut entry = entry(model, token, logprobs.as_ref().map(|known| known.logprob));
                let top = logprobs.iter().flat_map(|known| &known.top);
                entry["top_logprobs"] = top
                    .map(|&(token, logprob)| self::entry(model, token, Some(logprob)))
                    .collect();
                entry
            });
            json!({"content": content.collect::<Value>(), "refusal": null})
        }
        Route::Completions => {
            let own = known.clone().map(|(_, logprobs)| {
                let own = logprobs.as_ref().map(|known| known.logprob);
                json!(own.map(number))
            });
            let top = known.map(|(token, logprobs)| {
                let top = logprobs.as_ref().map(|known| by_text(model, token, known));
                json!(top)
            });
            json!({
                "tokens": tokens.clone().map(|token| model.token(token).0).collect::<Value>(),
                "token_logprobs": own.collect::<Value>(),
                "top_logprobs": top.collect::<Value>(),
                "text_offset": offsets(model, tokens, put_before(model, request)),
            })
        }
    }
}

fn entry(model: &ChatModel, token: u32, logprob: Option<f32>) -> Value {
    let (text, bytes) = model.token(token);
    json!({"token": text, "logprob": logprob.map(number), "bytes": bytes})
}

/// The likeliest tokens by their texts; the chosen one too.
fn by_text(model: &ChatModel, token: u32, known: &TokenLogprobs) -> Value {
    let mut texts = Map::new();
    let own = (token, known.logprob);
    for &(token, logprob) in known.top.iter().chain([&own]) {
        // Of tokens with the same text the likeliest.
        let text = model.token(token).0;
        texts.entry(text).or_insert(json!(number(logprob)));
    }
    Value::Object(texts)
}

fn number(logprob: f32) -> f32 {
    logprob.max(LOWEST)
}

/// How many tokens stand before the text of an echoed prompt, and are no part of it.
fn put_before(model: &ChatModel, request: &GenerationRequest) -> usize {
    let is_text = |prompt: &RawPrompt| matches!(prompt, RawPrompt::Text(_));
    match &request.asked {
        GenerationInput::Prompts(all)
            if request.echo && request.add_special_tokens && all.iter().all(is_text) =>
        {
            model.tokenizer().around().0.len()
        }
        _ => 0,
    }
}

/// Where each token behind the first `before` ones begins in their text, in characters; one that goes on with a character, where that begins.
fn offsets(model: &ChatModel, tokens: impl Iterator<Item = u32>, before: usize) -> Vec<usize> {
    let mut stream = TextStream::new(model.tokenizer().clone());
    let mut characters = 0;
    let offset = |(at, token): (usize, u32)| {
        let offset = characters;
        if at >= before {
            characters += stream.push(token).chars().count();
        }
        offset
    };
    tokens.enumerate().map(offset).collect()
}

#[cfg(test)]
mod tests;
