//! A request's body: what is to be answered, and how tokens are chosen.
//!
//! A parameter that would change the answer and is not known is an error, never ignored.

use serde_json::{Map, Value};

use super::form::form;
use super::logprobs;
use super::tools::{self, Tools};
use super::unapplied::refuse_the_rest;
use crate::wire::{BYTES_PER_TOKEN, Route};
use juror_data::{ContentPart, REASONING};
use juror_engine::engine::Sampling;
use juror_engine::grammar::GrammarSource;

const MOST_STOPS: usize = 64;

/// Bytes of a stop text: each is looked for at every token.
const LONGEST_STOP: usize = 1024;

/// The largest count of tokens that is accepted.
const MOST_TOKENS: u64 = 1 << 30;

const MOST_ANSWERS: u64 = 128;

const MOST_PROMPTS: usize = 2048;

/// What a parameter must be.
pub(crate) const BOOL: &str = "true or false";
const TEXT: &str = "a text";

/// Variables of a chat template that a request may not set.
const OWN_VARIABLES: [&str; 4] = ["messages", "add_generation_prompt", "tools", "documents"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Who says it: `system`, `user`, `assistant`, …
    pub(crate) role: String,
    /// Its author among others of this role.
    pub(crate) name: Option<String>,
    /// Its text, in parts that are tokenised apart.
    pub(crate) parts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GenerationInput {
    /// Messages, and further variables of the chat template.
    Chat(Vec<Message>, Map<String, Value>),
    /// Raw prompts, each answered by itself.
    Prompts(Vec<RawPrompt>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawPrompt {
    /// As text, which may hold markup.
    Text(String),
    Tokens(Vec<u32>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRequest {
    pub(crate) model: Option<String>,
    pub(crate) asked: GenerationInput,
    pub n: u32,
    /// As [`Sampling`]; what is not given is the model's.
    pub temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<usize>,
    pub(crate) min_p: Option<f64>,
    pub max_tokens: Option<usize>,
    /// Equal requests with equal seeds have equal answers.
    pub seed: Option<u64>,
    pub stop: Vec<String>,
    pub(crate) form: Option<GrammarSource>,
    /// Give how likely each token of an answer was, and so many of the likeliest tokens in its place.
    pub(crate) logprobs: Option<usize>,
    /// The prompt comes before the answer, with the log-probabilities of its tokens where they are asked for.
    pub(crate) echo: bool,
    /// A raw prompt as text gets the tokens that the model's tokenizer puts around every text.
    pub(crate) add_special_tokens: bool,
    /// The answer is a call of one of these.
    pub(crate) tools: Option<Tools>,
}

impl GenerationRequest {
    pub(crate) fn parse(route: Route, mut body: Map<String, Value>) -> Result<Self, String> {
        body.retain(|_, value| !value.is_null());
        let tools = match route {
            Route::Chat => tools::tools(&mut body)?,
            Route::Completions => None,
        };
        let mut asked = match route {
            Route::Chat => {
                GenerationInput::Chat(messages(body.remove("messages"))?, variables(&mut body)?)
            }
            Route::Completions => GenerationInput::Prompts(prompts(body.remove("prompt"))?),
        };
        if let (Some(tools), GenerationInput::Chat(messages, _)) = (&tools, &mut asked) {
            tools.tell(messages);
        }
        let is_raw = route == Route::Completions;
        let echo = is_raw && take(&mut body, "echo", BOOL, Value::as_bool)? == Some(true);
        let add_special_tokens = take(&mut body, "add_special_tokens", BOOL, Value::as_bool)?;
        if !is_raw && add_special_tokens == Some(true) {
            return Err(
                "`add_special_tokens` is not applied to a chat: its template writes what the model needs".to_owned(),
            );
        }
        let add_special_tokens = is_raw && add_special_tokens != Some(false);
        let request = Self {
            model: take(&mut body, "model", TEXT, text)?,
            asked,
            n: take(
                &mut body,
                "n",
                &format!("a whole number from 1 to {MOST_ANSWERS}"),
                |n| n.as_u64().filter(|n| (1..=MOST_ANSWERS).contains(n)),
            )?
            .map_or(1, |n| n as u32),
            temperature: take(&mut body, "temperature", "a number", Value::as_f64)?,
            top_p: take(&mut body, "top_p", "a number", Value::as_f64)?,
            // -1 is vLLM's value for no limit.
            top_k: count(&mut body, "top_k", 0, |value| (value == -1).then_some(0))?,
            min_p: take(&mut body, "min_p", "a number", Value::as_f64)?,
            // A prompt may be all that is asked for.
            max_tokens: longest(&mut body, u64::from(!echo))?,
            seed: take(&mut body, "seed", "a whole number", |seed| {
                seed.as_u64().or(seed.as_i64().map(|seed| seed as u64))
            })?,
            stop: stops(body.remove("stop"))?,
            form: match (form(&mut body)?, &tools) {
                (Some(_), Some(_)) => {
                    return Err(
                        "both `tools` and a form of the answer are asked for: one can be had"
                            .to_owned(),
                    );
                }
                (form, tools) => form.or(tools.as_ref().map(Tools::form)),
            },
            logprobs: logprobs::asked(route, &mut body)?,
            echo,
            add_special_tokens,
            tools,
        };
        request
            .sampling(Sampling::GREEDY)
            .validate()
            .map_err(|error| error.to_string())?;
        if body.get("best_of").and_then(Value::as_u64) == Some(request.n.into()) {
            body.remove("best_of");
        }
        refuse_the_rest(&body)?;
        Ok(request)
    }

    pub(crate) fn answers(&self) -> usize {
        let prompts = match &self.asked {
            GenerationInput::Chat(..) => 1,
            GenerationInput::Prompts(prompts) => prompts.len(),
        };
        prompts * self.n as usize
    }

    /// Which of the two shapes it has.
    pub(crate) fn route(&self) -> Route {
        match self.asked {
            GenerationInput::Chat(..) => Route::Chat,
            GenerationInput::Prompts(_) => Route::Completions,
        }
    }

    /// The bytes of its longest prompt: of token ids about as many as their text has, and 64 a message for the markup of the chat template.
    pub(crate) fn bytes(&self) -> usize {
        match &self.asked {
            GenerationInput::Prompts(prompts) => {
                let bytes = prompts.iter().map(|prompt| match prompt {
                    RawPrompt::Text(text) => text.len(),
                    RawPrompt::Tokens(tokens) => tokens.len() * BYTES_PER_TOKEN,
                });
                bytes.max().unwrap_or(0)
            }
            GenerationInput::Chat(messages, _) => {
                let parts = messages.iter().flat_map(|message| &message.parts);
                parts.map(String::len).sum::<usize>() + 64 * messages.len()
            }
        }
    }

    /// How tokens are chosen; what the request leaves out is as in `default`.
    pub(crate) fn sampling(&self, default: Sampling) -> Sampling {
        let sampling = Sampling {
            temperature: self.temperature.unwrap_or(default.temperature),
            top_k: self.top_k.unwrap_or(default.top_k),
            top_p: self.top_p.unwrap_or(default.top_p),
            min_p: self.min_p.unwrap_or(default.min_p),
        };
        if sampling.temperature == 0.0 && sampling.validate().is_ok() {
            Sampling::GREEDY
        } else {
            sampling
        }
    }
}

/// One text, a list of texts, a list of token ids, or a list of those.
fn prompts(value: Option<Value>) -> Result<Vec<RawPrompt>, String> {
    let ids = |value: &Value| -> Option<Vec<u32>> {
        let ids = value.as_array()?.iter();
        ids.map(|id| u32::try_from(id.as_u64()?).ok()).collect()
    };
    let prompt = |value: Value| match value {
        Value::String(text) if !text.is_empty() => Ok(RawPrompt::Text(text)),
        Value::String(_) => Err("`prompt` is empty".to_owned()),
        other => match ids(&other) {
            Some(tokens) if !tokens.is_empty() => Ok(RawPrompt::Tokens(tokens)),
            _ => {
                Err("`prompt` must be a text, a list of token ids, or a list of either".to_owned())
            }
        },
    };
    match value {
        None => Err("`prompt` is missing".to_owned()),
        Some(Value::Array(list)) if list.len() > MOST_PROMPTS && !list[0].is_number() => {
            Err(format!("`prompt` is a list of more than {MOST_PROMPTS}"))
        }
        Some(Value::Array(list)) if list.first().is_some_and(|first| !first.is_number()) => {
            list.into_iter().map(prompt).collect()
        }
        Some(one) => Ok(vec![prompt(one)?]),
    }
}

fn messages(value: Option<Value>) -> Result<Vec<Message>, String> {
    let Some(Value::Array(messages)) = value else {
        return Err("`messages` is missing, or no list".to_owned());
    };
    if messages.is_empty() {
        return Err("`messages` is empty".to_owned());
    }
    let read = messages.into_iter().enumerate();
    read.map(|(at, message)| {
        let at = at + 1;
        let Value::Object(mut message) = message else {
            return Err(format!("message {at} is no object"));
        };
        leave_out_empty(&mut message);
        let is_name = |role: &str| {
            (1..=32).contains(&role.len()) && role.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        let is_plain = |name: &str| {
            name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        let role = match message.remove("role") {
            Some(Value::String(role)) if is_name(&role) => role,
            Some(other) => return Err(format!("message {at} has the role {other}, which is no name of a role")),
            None => return Err(format!("message {at} has no role")),
        };
        let calls = match message.remove("tool_calls").as_ref().map(tools::written) {
            Some(None) => return Err(format!("message {at}: `tool_calls` is no list of calls of functions")),
            Some(Some(calls)) => Some(calls).filter(|calls| !calls.is_empty()),
            None => None,
        };
        // A call is told from others by its place, and the function of a result by its call.
        message.remove("tool_call_id");
        let name = match message.remove("name").filter(|_| role != "tool") {
            None => None,
            Some(Value::String(name)) if is_plain(&name) => Some(name),
            Some(other) => return Err(format!("message {at} has the name {other}, which is no word of at most 64 letters, digits, `_` and `-`")),
        };
        let is_answer = role == "assistant";
        if is_answer {
            // An earlier answer's thinking and sources are no part of what it says.
            for about in ["reasoning_content", "reasoning", "annotations"] {
                message.remove(about);
            }
        }
        let content = message.remove("content");
        let refusal = || {
            let said = is_answer.then(|| message.remove("refusal"));
            said.flatten()
        };
        let mut parts = match content.or_else(refusal) {
            None if calls.is_some() => Vec::new(),
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(parts)) => {
                let parts = parts.into_iter().map(|one| part(one, is_answer));
                parts
                    .filter_map(Result::transpose)
                    .collect::<Result<_, _>>()
                    .map_err(|why| format!("message {at}: {why}"))?
            }
            Some(_) => {
                return Err(format!("message {at}: `content` is neither a text nor a list of parts"));
            }
            None => return Err(format!("message {at} has no content")),
        };
        parts.extend(calls);
        // Some clients name the kind of a message, which is always text here.
        message.remove("type");
        if let Some(key) = message.keys().next() {
            return Err(format!(
                "message {at}: `{key}` is not applied here: leave it out, or use an engine that has it"
            ));
        }
        Ok(Message { role, name, parts })
    })
    .collect()
}

/// Leaves out keys that hold nothing, but for an empty text as content: what an answer of OpenAI's has of these says nothing when it is sent back.
fn leave_out_empty(object: &mut Map<String, Value>) {
    object.retain(|key, value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty() || matches!(key.as_str(), "content" | "text"),
        Value::Array(list) => !list.is_empty() || key == "content",
        Value::Object(object) => !object.is_empty(),
        _ => true,
    });
}

/// The text of a content part; none of an earlier answer's thinking.
fn part(mut part: Value, is_answer: bool) -> Result<Option<String>, String> {
    if let Some(part) = part.as_object_mut() {
        leave_out_empty(part);
        // It says what a cache keeps, and changes no answer.
        part.remove("cache_control");
    }
    match ContentPart::read(&part) {
        Ok(ContentPart::Text(_) | ContentPart::Refusal(_)) if let Some(key) = unread(&part) => {
            Err(format!(
                "a content part is {{\"type\": \"text\", \"text\": \"…\"}} and nothing more: `{key}` is not read"
            ))
        }
        Ok(ContentPart::Text(text) | ContentPart::Refusal(text)) => Ok(Some(text.to_owned())),
        Ok(ContentPart::LeftOut(REASONING)) if is_answer => Ok(None),
        _ => Err(format!(
            "a content part of type {} is not read: text alone is",
            part["type"]
        )),
    }
}

/// A key of a part of a text or a refusal beside its type and the one under which it is read.
fn unread(part: &Value) -> Option<&String> {
    let kind = part["type"].as_str().unwrap_or("text");
    let read = if part[kind].is_string() { kind } else { "text" };
    let mut keys = part.as_object().into_iter().flat_map(Map::keys);
    keys.find(|key| *key != "type" && *key != read)
}

fn variables(body: &mut Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut variables = match body.remove("chat_template_kwargs") {
        None => Map::new(),
        Some(Value::Object(variables)) => variables,
        Some(_) => return Err("`chat_template_kwargs` is no object".to_owned()),
    };
    let mut own = OWN_VARIABLES.iter();
    if let Some(name) = own.find(|name| variables.contains_key(**name)) {
        return Err(format!("`chat_template_kwargs` may not set `{name}`"));
    }
    if let Some(effort) = take(body, "reasoning_effort", TEXT, text)? {
        variables.insert("reasoning_effort".to_owned(), Value::String(effort));
    }
    Ok(variables)
}

fn longest(body: &mut Map<String, Value>, least: u64) -> Result<Option<usize>, String> {
    let mut tokens = |key| count(body, key, least, |_| None);
    match (tokens("max_completion_tokens")?, tokens("max_tokens")?) {
        (Some(one), Some(other)) if one != other => {
            Err("`max_completion_tokens` and `max_tokens` differ: give one of them".to_owned())
        }
        (one, other) => Ok(one.or(other)),
    }
}

fn stops(value: Option<Value>) -> Result<Vec<String>, String> {
    let texts: Option<Vec<String>> = match value {
        None => return Ok(Vec::new()),
        Some(Value::Array(texts)) => texts.iter().map(text).collect(),
        Some(one) => text(&one).map(|text| vec![text]),
    };
    let is_good = |text: &String| (1..=LONGEST_STOP).contains(&text.len());
    let texts = texts.filter(|texts| texts.len() <= MOST_STOPS && texts.iter().all(is_good));
    texts.ok_or_else(|| {
        format!(
            "`stop` must be a text or a list of at most {MOST_STOPS} texts, none of them empty or of more than {LONGEST_STOP} bytes"
        )
    })
}

/// Takes a parameter that must be `what` out of a body.
pub(crate) fn take<T>(
    body: &mut Map<String, Value>,
    key: &str,
    what: &str,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let value = body.remove(key).filter(|value| !value.is_null());
    let read = value.map(|value| read(&value).ok_or(value)).transpose();
    read.map_err(|value| format!("`{key}` is {value}, and must be {what}"))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn count(
    body: &mut Map<String, Value>,
    key: &str,
    least: u64,
    other: impl FnOnce(&Value) -> Option<usize>,
) -> Result<Option<usize>, String> {
    let what = format!("a whole number from {least} to {MOST_TOKENS}");
    take(body, key, &what, |value| {
        let count = value.as_u64();
        let count = count.filter(|count| (least..=MOST_TOKENS).contains(count));
        count.map(|count| count as usize).or_else(|| other(value))
    })
}

#[cfg(test)]
mod tests;
