//! Tokens that end a generation. Files often name only one of them, and what tuning a base model leaves may name none that the
//! model writes: all files say `<|endoftext|>`, and the chat template ends turns with `<|im_end|>`. So what the template writes
//! after an assistant's turn counts too, and control tokens that are known by their text.

use serde_json::json;

use super::chat_template::ChatTemplate;
use super::tokenizer::Tokenizer;

/// The texts, one a line. A second column has tokens beside which it ends nothing: a channel of gpt-oss ends with `<|end|>`, and
/// `</s>` is of HTML for Gemma.
const KNOWN: &str = include_str!("end_tokens.tsv");

/// The answer in a conversation that is rendered to see what follows it.
const ANSWER: &str = "Forty-two";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// `eos_token_id` of `generation_config.json`, or of `config.json`; the `eos`, `eot` and `eom` tokens of a GGUF file.
    Named,
    /// The chat template writes it after an assistant's turn.
    Template,
    /// `eos_token` of `tokenizer_config.json`.
    Tokenizer,
    Text,
}

impl EndReason {
    /// Where it is known from, in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Named => "eos_token_id",
            Self::Template => "ends a turn in the chat template",
            Self::Tokenizer => "eos_token",
            Self::Text => "known by its text",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndToken {
    pub id: u32,
    pub why: EndReason,
}

/// The tokens that end a generation, that of the template first: it is the one that an answer ends with. `named` are those of the model's files.
pub fn end_tokens(
    named: &[u32],
    tokenizer: &Tokenizer,
    chat: Option<&ChatTemplate>,
) -> Vec<EndToken> {
    let of_template = chat.and_then(|chat| after_answer(chat, tokenizer));
    let of_tokenizer = chat
        .and_then(|chat| chat.special_token("eos_token"))
        .and_then(|token| tokenizer.token_id(token));
    let known = lines().filter_map(|(text, unless)| {
        let other = |text| tokenizer.added_token(text).is_some();
        let id = tokenizer.added_token(text)?;
        (tokenizer.is_control(id) && !unless.split_whitespace().any(other)).then_some(id)
    });
    let all = of_template
        .map(|id| (id, EndReason::Template))
        .into_iter()
        .chain(named.iter().map(|id| (*id, EndReason::Named)))
        .chain(of_tokenizer.map(|id| (id, EndReason::Tokenizer)))
        .chain(known.map(|id| (id, EndReason::Text)));
    let mut ends: Vec<EndToken> = Vec::new();
    for (id, why) in all {
        if !ends.iter().any(|end| end.id == id) {
            let why = if named.contains(&id) {
                EndReason::Named
            } else {
                why
            };
            ends.push(EndToken { id, why });
        }
    }
    ends
}

/// The texts, each with the tokens beside which it ends nothing.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN
        .lines()
        .map(|line| line.split_once('\t').unwrap_or((line, "")))
}

/// The control token that a template writes after an assistant's turn; where it writes none after the last turn (GLM), the one that begins the next.
fn after_answer(chat: &ChatTemplate, tokenizer: &Tokenizer) -> Option<u32> {
    let turn = |role: &str, content: &str| json!({ "role": role, "content": content });
    let mut messages = vec![turn("user", "How many?"), turn("assistant", ANSWER)];
    for next in [None, Some(turn("user", "Why?"))] {
        messages.extend(next);
        let variables = json!({ "messages": &messages, "add_generation_prompt": false });
        let Ok(text) = chat.render_variables(&variables.to_string()) else {
            continue;
        };
        let (_, mut rest) = text.rsplit_once(ANSWER)?;
        loop {
            rest = rest.trim_start();
            let begins = tokenizer
                .added_tokens()
                .filter(|token| rest.starts_with(token));
            let Some(token) = begins.max_by_key(|token| token.len()) else {
                break;
            };
            if tokenizer.is_special(token) || lines().any(|(text, _)| text == token) {
                return tokenizer.added_token(token);
            }
            // A tag around the answer, such as `</answer>`.
            rest = &rest[token.len()..];
        }
    }
    None
}

#[cfg(test)]
mod tests;
