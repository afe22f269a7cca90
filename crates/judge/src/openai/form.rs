//! The form that a request's answer must have: which parameters ask for one, and what keeps the answer to it.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::conversation::ChatModel;
use super::stop::StopTexts;
use juror_engine::engine::{Guide, Next, Then, TokenSet};
use juror_engine::grammar::{Grammar, GrammarRun, GrammarSource};
use juror_engine::text::chat_template::ChatTemplate;
use juror_engine::text::reasoning::{Beginning, Thinking, Thought, opening_tokens};

/// Takes the parameters that ask for a form out of a request's body: `response_format` of OpenAI, `structured_outputs` and the older
/// `guided_…` of vLLM, `json_schema` of llama.cpp, and `regex` of SGLang.
pub(super) fn form(body: &mut Map<String, Value>) -> Result<Option<GrammarSource>, String> {
    let mut asked = Vec::new();
    if let Some(format) = body.remove("response_format") {
        asked.extend(of_response_format(format)?.map(|form| ("response_format".to_owned(), form)));
    }
    let guided = KINDS.map(|kind| (format!("guided_{kind}"), kind));
    let own = [("json_schema", "json"), ("regex", "regex")];
    let own = own.map(|(key, kind)| (key.to_owned(), kind));
    for (key, kind) in guided.into_iter().chain(own) {
        if let Some(value) = body.remove(&key).filter(|value| *value != false) {
            asked.push((key.clone(), of_kind(&key, kind, value)?));
        }
    }
    if let Some(outputs) = body.remove("structured_outputs") {
        let outputs = object("structured_outputs", outputs)?;
        for (kind, value) in outputs.into_iter().filter(|(_, value)| *value != false) {
            let key = format!("structured_outputs.{kind}");
            asked.push((key.clone(), of_kind(&key, &kind, value)?));
        }
    }
    if let [(one, _), (other, _), ..] = asked.as_slice() {
        return Err(format!(
            "both `{one}` and `{other}` ask for a form: one can be had"
        ));
    }
    Ok(asked.pop().map(|(_, form)| form))
}

/// What vLLM calls the forms.
const KINDS: [&str; 5] = ["json", "json_object", "regex", "choice", "grammar"];

fn any_object() -> GrammarSource {
    GrammarSource::JsonSchema("{\"type\": \"object\"}".to_owned())
}

/// An object, without what is null in it.
fn object(key: &str, value: Value) -> Result<Map<String, Value>, String> {
    let Value::Object(mut object) = value else {
        return Err(format!("`{key}` is no object"));
    };
    object.retain(|_, value| !value.is_null());
    Ok(object)
}

/// Refuses what is left of an object whose known keys were taken.
pub(super) fn nothing_more(
    key: &str,
    object: &Map<String, Value>,
    advice: &str,
) -> Result<(), String> {
    match object.keys().next() {
        Some(more) => Err(format!("`{key}.{more}` is not applied here: {advice}")),
        None => Ok(()),
    }
}

/// The form that `response_format` asks for. A schema stands under `json_schema.schema`, as OpenAI has it, or under `schema`, as
/// llama.cpp and Together AI take it.
fn of_response_format(format: Value) -> Result<Option<GrammarSource>, String> {
    const KEY: &str = "response_format";
    const ADVICE: &str = "a schema is asked for as {\"type\": \"json_schema\", \"json_schema\": {\"name\": …, \"schema\": {…}}}";
    let mut format = object(KEY, format)?;
    let kind = format.remove("type");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut holder = (KEY.to_owned(), format);
    if kind == "json_schema"
        && let Some(own) = holder.1.remove(kind)
    {
        nothing_more(KEY, &holder.1, ADVICE)?;
        let key = format!("{KEY}.{kind}");
        holder = (key.clone(), object(&key, own)?);
    }
    let (key, mut holder) = holder;
    let schema = match kind {
        "json_schema" => {
            // What it is called says nothing of the answer, and it is kept to whether `strict` or not.
            holder.retain(|key, value| match key.as_str() {
                "name" | "description" => !value.is_string(),
                "strict" => !value.is_boolean(),
                _ => true,
            });
            let schema = holder.remove("schema");
            nothing_more(&key, &holder, ADVICE)?;
            Some(schema.ok_or_else(|| format!("`{KEY}` has no `json_schema.schema`: {ADVICE}"))?)
        }
        "json_object" => holder.remove("schema"),
        "text" => None,
        _ => {
            return Err(format!(
                "the type of `{KEY}` is {kind:?}; it may be text, json_object or json_schema"
            ));
        }
    };
    nothing_more(&key, &holder, ADVICE)?;
    match schema {
        Some(schema) if schema.is_object() => {
            Ok(Some(GrammarSource::JsonSchema(schema.to_string())))
        }
        Some(_) => Err(format!("`{key}.schema` is no JSON schema: {ADVICE}")),
        None => Ok((kind == "json_object").then(any_object)),
    }
}

fn of_kind(key: &str, kind: &str, value: Value) -> Result<GrammarSource, String> {
    let unusable = |value: &Value| Err(format!("`{key}` is {value}, which is of another type"));
    Ok(match (kind, value) {
        ("json", schema @ Value::Object(_)) => GrammarSource::JsonSchema(schema.to_string()),
        ("json", Value::String(schema)) => GrammarSource::JsonSchema(schema),
        ("json_object", Value::Bool(true)) => any_object(),
        ("regex", Value::String(pattern)) => GrammarSource::Regex(pattern),
        ("grammar", Value::String(grammar)) => GrammarSource::Lark(grammar),
        ("choice", Value::Array(texts)) => {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
            let texts: Option<_> = texts.collect();
            GrammarSource::OneOf(texts.ok_or_else(|| format!("`{key}` is no list of texts"))?)
        }
        (kind, value) if KINDS.contains(&kind) => return unusable(&value),
        _ => {
            let known = KINDS.join(", ");
            return Err(format!("`{key}` is not applied here: there is {known}"));
        }
    })
}

/// Keeps an answer to its form; thinking before it is free.
pub(super) struct FormedAnswer {
    state: AnswerState,
    grammar: Arc<Grammar>,
    run: GrammarRun,
    model: Arc<ChatModel>,
    stop: Option<StopTexts>,
    /// Why the answer could not be kept to its form.
    failure: Arc<OnceLock<String>>,
}

enum AnswerState {
    /// Thinking may begin with one of these tokens, and then ends with the text beside it.
    Opening(Vec<(u32, String)>),
    Thinking(Thought),
    /// Behind thinking: white space, or the answer.
    Break,
    Answer,
}

/// Whether thinking may come before an answer in a form.
#[cfg(feature = "serve")]
pub(super) fn may_think(model: &ChatModel, thinking: &Thinking) -> bool {
    !matches!(AnswerState::new(model, Some(thinking)), AnswerState::Answer)
}

/// How many tokens of an answer in a form stand before what is kept to it.
pub(super) fn thinking_tokens(model: &ChatModel, thinking: &Thinking, tokens: &[u32]) -> usize {
    let mut state = AnswerState::new(model, Some(thinking));
    let begins = tokens.iter().position(|&token| state.push(token, model));
    begins.unwrap_or(tokens.len())
}

impl AnswerState {
    fn new(model: &ChatModel, thinking: Option<&Thinking>) -> Self {
        let tokenizer = model.tokenizer();
        match thinking.map(|thinking| thinking.beginning(tokenizer)) {
            None | Some(Beginning::Answer) => AnswerState::Answer,
            Some(Beginning::Thinking(thought)) => AnswerState::Thinking(thought),
            Some(Beginning::Either(mut pairs)) => {
                // A model whose template knows nothing of thinking does not think, whatever its vocabulary holds, unless the user says
                // how it writes its thinking.
                if model.style.is_none() {
                    let template = model.chat.as_ref().map_or("", ChatTemplate::source);
                    pairs.retain(|tags| {
                        template.contains(&tags.open) || template.contains(&tags.close)
                    });
                }
                match opening_tokens(&pairs, tokenizer) {
                    opens if opens.is_empty() => AnswerState::Answer,
                    opens => AnswerState::Opening(opens),
                }
            }
        }
    }

    /// Takes a token; whether it is one of what is kept to the form.
    fn push(&mut self, token: u32, model: &ChatModel) -> bool {
        let (state, is_answer) = match std::mem::replace(self, Self::Answer) {
            Self::Opening(opens) => match opens.into_iter().find(|(open, _)| *open == token) {
                Some((_, close)) => {
                    let thought = Thought::until(&close, model.tokenizer());
                    (Self::Thinking(thought), false)
                }
                None => (Self::Answer, true),
            },
            Self::Thinking(mut thought) => match (thought.push(token), thought.has_break()) {
                (false, _) => (Self::Thinking(thought), false),
                (true, true) => (Self::Break, false),
                (true, false) => (Self::Answer, false),
            },
            Self::Break if model.blank().contains(token) => (Self::Answer, false),
            Self::Break | Self::Answer => (Self::Answer, true),
        };
        *self = state;
        is_answer
    }
}

impl FormedAnswer {
    /// For an answer of `grammar`, which one of the texts of `stop` ends too.
    pub(super) fn new(
        model: &Arc<ChatModel>,
        thinking: Option<&Thinking>,
        grammar: Arc<Grammar>,
        stop: Option<StopTexts>,
        failure: &Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            state: AnswerState::new(model, thinking),
            run: grammar.begin(),
            grammar,
            model: Arc::clone(model),
            stop,
            failure: Arc::clone(failure),
        }
    }

    fn one_of(&self, more: impl Iterator<Item = u32>) -> Next {
        let tokens: TokenSet = self.grammar.firsts().iter().chain(more).collect();
        Next {
            append: Vec::new(),
            then: Then::OneOf {
                tokens: Arc::new(tokens.into()),
                choices: None,
            },
        }
    }

    fn keep_error(&self) {
        if let Some(why) = self.run.error() {
            // The first is the cause.
            let _ = self.failure.set(why);
        }
    }

    /// What follows in the state at hand.
    fn next(&mut self) -> Next {
        match &self.state {
            AnswerState::Opening(opens) => self.one_of(opens.iter().map(|(token, _)| *token)),
            AnswerState::Thinking(_) => Next::FREE,
            AnswerState::Break => self.one_of(self.model.blank().iter()),
            AnswerState::Answer => {
                let mut next = self.run.next(Vec::new());
                self.keep_error();
                // A text that ends the answer may stand in what is forced.
                if let Some(stop) = &mut self.stop
                    && next.append.iter().any(|&token| stop.ends_with(token))
                {
                    next.then = Then::End;
                }
                next
            }
        }
    }
}

impl Guide for FormedAnswer {
    fn begin(&mut self) -> Next {
        self.next()
    }

    fn push(&mut self, token: u32) -> Next {
        if self.stop.as_mut().is_some_and(|stop| stop.ends_with(token)) {
            return Next::END;
        }
        if self.state.push(token, &self.model) {
            self.run.push(token);
        }
        self.next()
    }

    fn end(&mut self) -> Option<Next> {
        // All that may be chosen where the tokens that may come next could not be found.
        self.keep_error();
        None
    }
}
