//! Log-probabilities of an answer's tokens: how a request asks for them, and how they are written.
//!
//! They are those of [`TokenLogprobs`]: by the model's logits alone, before the temperature and before a form masks any token.
//! There is an entry for each generated token, thinking and the end of sequence included, as many as
//! `usage.completion_tokens`. What a form has forced was not chosen: its entries hold null for the log-probability.

use serde_json::{Map, Value, json};

use super::conversation::ChatModel;
use super::request::{GenerationRequest, Route};
use juror_engine::engine::{Completion, TokenLogprobs};
use juror_engine::text::tokenizer::TextStream;

/// The most of the likeliest tokens that are given.
const MOST_TOP: u64 = 20;

/// Written for a token that is all but impossible, as OpenAI does.
const LOWEST: f32 = -9999.0;

/// Takes the parameters that ask for log-probabilities out of a request's body: of how many of the likeliest tokens beside
/// those of the chosen one.
///
/// # Errors
/// What of them cannot be applied.
pub(super) fn asked(route: Route, body: &mut Map<String, Value>) -> Result<Option<usize>, String> {
    let count = |key: &str, value: &Value| match value.as_u64() {
        Some(count @ 0..=MOST_TOP) => Ok(count as usize),
        _ => Err(format!(
            "`{key}` is {value}, and must be a whole number from 0 to {MOST_TOP}"
        )),
    };
    let logprobs = body.remove("logprobs").filter(|value| *value != false);
    match (route, logprobs) {
        (Route::Completions, None) => Ok(None),
        (Route::Completions, Some(value)) => count("logprobs", &value).map(Some),
        (Route::Chat, logprobs) => {
            let top = body.remove("top_logprobs").unwrap_or(json!(0));
            let top = count("top_logprobs", &top)?;
            match logprobs {
                Some(Value::Bool(true)) => Ok(Some(top)),
                None if top == 0 => Ok(None),
                None => Err("`top_logprobs` is given: set `logprobs` to true too".to_owned()),
                Some(other) => Err(format!(
                    "`logprobs` is {other}, and must be true or false: `top_logprobs` says how many"
                )),
            }
        }
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
                "text_offset": offsets(model, tokens),
            })
        }
    }
}

/// A token in the chat's shape.
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

/// Where each token begins in their text, in characters; one that goes on with a character, where that begins.
fn offsets(model: &ChatModel, tokens: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut stream = TextStream::new(model.tokenizer().clone());
    let mut characters = 0;
    let offset = |token: u32| {
        let offset = characters;
        characters += stream.push(token).chars().count();
        offset
    };
    tokens.map(offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_engine::engine::FinishReason;
    use juror_engine::engine::stats::Timing;

    #[test]
    fn each_route_asks_in_its_own_way() {
        let of = |route, body: Value| asked(route, &mut body.as_object().unwrap().clone());
        for (route, body, expected) in [
            (Route::Chat, json!({}), None),
            (
                Route::Chat,
                json!({"logprobs": false, "top_logprobs": 0}),
                None,
            ),
            (Route::Chat, json!({"logprobs": true}), Some(0)),
            (
                Route::Chat,
                json!({"logprobs": true, "top_logprobs": 20}),
                Some(20),
            ),
            (Route::Completions, json!({"logprobs": false}), None),
            (Route::Completions, json!({"logprobs": 0}), Some(0)),
            (Route::Completions, json!({"logprobs": 5}), Some(5)),
        ] {
            assert_eq!(of(route, body), Ok(expected));
        }
        for (route, body, why) in [
            (Route::Chat, json!({"logprobs": 5}), "`logprobs` is 5"),
            (
                Route::Chat,
                json!({"top_logprobs": 2}),
                "set `logprobs` to true",
            ),
            (
                Route::Chat,
                json!({"logprobs": true, "top_logprobs": 21}),
                "`top_logprobs` is 21",
            ),
            (
                Route::Completions,
                json!({"logprobs": true}),
                "`logprobs` is true",
            ),
            (
                Route::Completions,
                json!({"logprobs": -1}),
                "`logprobs` is -1",
            ),
        ] {
            let said = of(route, body).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn tokens_are_written_with_their_bytes_and_places() {
        let source = crate::catalog::resolve("tiny").unwrap();
        let model = ChatModel::load("tiny".into(), &source, None).unwrap();
        let text = "a é💩!";
        let mut tokens = model.tokenizer().encode_trusted(text).unwrap();
        tokens.push(model.eos[0]);
        let known = |index: usize| TokenLogprobs {
            logprob: -0.5,
            top: vec![(tokens[index], -0.5), (tokens[0], f32::NEG_INFINITY)],
        };
        let now = std::time::Instant::now();
        let completion = Completion {
            id: 0,
            prompt: vec![1],
            expected: Vec::new(),
            // The second one was forced.
            logprobs: (0..tokens.len())
                .map(|index| (index != 1).then(|| known(index)))
                .collect(),
            tokens: tokens.clone(),
            finish: FinishReason::EndOfSequence,
            cached_tokens: 0,
            timing: Timing {
                queued: now,
                admitted: None,
                first_token: None,
                finished: now,
            },
        };
        let of = |route: Route, body: Value| {
            let body = body.as_object().unwrap().clone();
            let request = GenerationRequest::parse(route, body).unwrap();
            written(&model, &request, &completion)
        };
        let messages = json!({"messages": [{"role": "user", "content": "x"}]});
        let chat = of(Route::Chat, messages);
        let content = chat["content"].as_array().unwrap();
        assert_eq!(content.len(), tokens.len());
        let (end, rest) = content.split_last().unwrap();
        let bytes = rest
            .iter()
            .flat_map(|entry| entry["bytes"].as_array().unwrap());
        let bytes: Vec<u8> = bytes.map(|byte| byte.as_u64().unwrap() as u8).collect();
        assert_eq!(String::from_utf8(bytes).unwrap(), text);
        assert_eq!(end["token"], model.tokenizer().piece(model.eos[0]));
        assert!(end["bytes"].is_null(), "{end}");
        assert_eq!(end["top_logprobs"][1]["logprob"], json!(LOWEST));
        assert!(content[1]["logprob"].is_null() && content[1]["top_logprobs"] == json!([]));
        let parts = content.iter().filter(|entry| {
            let token = entry["token"].as_str().unwrap();
            token.starts_with("bytes:\\x")
        });
        assert!(parts.count() > 0, "no character is in parts: {chat}");

        let raw = of(Route::Completions, json!({"prompt": "x"}));
        let texts = raw["tokens"].as_array().unwrap();
        assert!(raw["token_logprobs"][1].is_null() && raw["top_logprobs"][1].is_null());
        assert_eq!(
            raw["top_logprobs"][0][texts[0].as_str().unwrap()],
            json!(-0.5)
        );
        for (text_of_token, offset) in texts.iter().zip(raw["text_offset"].as_array().unwrap()) {
            let rest: String = text
                .chars()
                .skip(offset.as_u64().unwrap() as usize)
                .collect();
            let own = text_of_token.as_str().unwrap();
            assert!(
                rest.starts_with(own) || own.starts_with("bytes:") || rest.is_empty(),
                "{own:?} at {offset}"
            );
        }
        assert_eq!(raw["text_offset"][tokens.len() - 1], text.chars().count());
    }
}
