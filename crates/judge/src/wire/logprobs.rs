//! Log-probabilities of an answer's tokens, as servers tell them.

use serde_json::Value;

/// What a server tells of a token.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToldToken {
    pub(crate) bytes: Vec<u8>,
    pub(crate) logprob: Option<f32>,
    /// The likeliest tokens in its place with their log-probabilities, it among them.
    pub(crate) candidates: Vec<(String, f32)>,
}

impl ToldToken {
    fn new(
        text: &str,
        bytes: Option<Vec<u8>>,
        logprob: Option<f32>,
        top: Vec<(String, f32)>,
    ) -> Self {
        let mut candidates = top;
        if let Some(logprob) = logprob
            && candidates.iter().all(|(other, _)| other != text)
        {
            candidates.push((text.to_owned(), logprob));
        }
        Self {
            bytes: bytes.unwrap_or_else(|| text.as_bytes().to_vec()),
            logprob,
            candidates,
        }
    }
}

/// What is told of tokens, in a chat's shape or in a raw completion's.
pub(crate) fn tokens_of(logprobs: &Value) -> Vec<ToldToken> {
    // A probability is no more than one, but for rounding.
    let number = |value: &Value| {
        let logprob = value.as_f64().map(|number| number as f32)?;
        (logprob <= 0.01).then_some(logprob.min(0.0))
    };
    if let Some(content) = logprobs["content"].as_array() {
        let one = |entry: &Value| {
            let bytes = entry["bytes"].as_array().map(|bytes| {
                let bytes = bytes.iter().filter_map(Value::as_u64);
                bytes.map(|byte| byte as u8).collect()
            });
            let top = entry["top_logprobs"].as_array().into_iter().flatten();
            let top = top.filter_map(|one| {
                Some((one["token"].as_str()?.to_owned(), number(&one["logprob"])?))
            });
            let text = entry["token"].as_str().unwrap_or_default();
            ToldToken::new(text, bytes, number(&entry["logprob"]), top.collect())
        };
        return content.iter().map(one).collect();
    }
    let list = |key: &str| {
        logprobs[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let (tops, own) = (list("top_logprobs"), list("token_logprobs"));
    let tokens = list("tokens").iter().enumerate().map(|(at, token)| {
        let top = tops.get(at).and_then(Value::as_object).into_iter();
        let top = top.flatten();
        let top = top.filter_map(|(token, logprob)| Some((token.clone(), number(logprob)?)));
        let logprob = own.get(at).and_then(number);
        ToldToken::new(
            token.as_str().unwrap_or_default(),
            None,
            logprob,
            top.collect(),
        )
    });
    tokens.collect()
}
