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
/// `guided_…` of vLLM.
pub(super) fn form(body: &mut Map<String, Value>) -> Result<Option<GrammarSource>, String> {
    let mut asked = Vec::new();
    if let Some(format) = body.remove("response_format") {
        asked.extend(of_response_format(&format)?.map(|form| ("response_format".to_owned(), form)));
    }
    for kind in KINDS {
        let key = format!("guided_{kind}");
        if let Some(value) = body.remove(&key).filter(|value| *value != false) {
            asked.push((key.clone(), of_kind(&key, kind, value)?));
        }
    }
    match body.remove("structured_outputs") {
        None => {}
        Some(Value::Object(outputs)) => {
            let is_said = |(_, value): &(String, Value)| !value.is_null() && *value != false;
            for (kind, value) in outputs.into_iter().filter(is_said) {
                let key = format!("structured_outputs.{kind}");
                asked.push((key.clone(), of_kind(&key, &kind, value)?));
            }
        }
        Some(_) => return Err("`structured_outputs` is no object".to_owned()),
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

/// Any JSON object.
fn any_object() -> GrammarSource {
    GrammarSource::JsonSchema("{\"type\": \"object\"}".to_owned())
}

fn of_response_format(format: &Value) -> Result<Option<GrammarSource>, String> {
    let schema = &format["json_schema"]["schema"];
    match format["type"].as_str() {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(any_object())),
        Some("json_schema") if schema.is_object() => {
            Ok(Some(GrammarSource::JsonSchema(schema.to_string())))
        }
        Some("json_schema") => Err("`response_format` has no `json_schema.schema`".to_owned()),
        _ => Err(format!(
            "`response_format` is {format}; its type may be text, json_object or json_schema"
        )),
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
            match texts.collect() {
                Some(texts) => GrammarSource::OneOf(texts),
                None => return Err(format!("`{key}` is no list of texts")),
            }
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
    state: State,
    grammar: Arc<Grammar>,
    run: GrammarRun,
    model: Arc<ChatModel>,
    stop: Option<StopTexts>,
    /// Why the answer could not be kept to its form.
    failure: Arc<OnceLock<String>>,
}

enum State {
    /// Thinking may begin with one of these tokens, and then ends with the text beside it.
    Opening(Vec<(u32, String)>),
    Thinking(Thought),
    /// Behind thinking: white space, or the answer.
    Break,
    Answer,
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
        let tokenizer = model.tokenizer();
        let state = match thinking.map(|thinking| thinking.beginning(tokenizer)) {
            None | Some(Beginning::Answer) => State::Answer,
            Some(Beginning::Thinking(thought)) => State::Thinking(thought),
            Some(Beginning::Either(mut pairs)) => {
                // A model whose template knows nothing of thinking does not think, whatever its vocabulary holds, unless the user says
                // how it writes its thinking.
                if !model.has_style() {
                    let template = model.chat.as_ref().map_or("", ChatTemplate::source);
                    pairs.retain(|tags| {
                        template.contains(&tags.open) || template.contains(&tags.close)
                    });
                }
                match opening_tokens(&pairs, tokenizer) {
                    opens if opens.is_empty() => State::Answer,
                    opens => State::Opening(opens),
                }
            }
        };
        Self {
            state,
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

    /// Keeps the error that has ended the answer, if one has.
    fn keep_error(&self) {
        if let Some(why) = self.run.error() {
            // The first is the cause.
            let _ = self.failure.set(why);
        }
    }

    /// What follows in the state at hand.
    fn next(&mut self) -> Next {
        match &self.state {
            State::Opening(opens) => self.one_of(opens.iter().map(|(token, _)| *token)),
            State::Thinking(_) => Next::FREE,
            State::Break => self.one_of(self.model.blank().iter()),
            State::Answer => {
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
        self.state = match std::mem::replace(&mut self.state, State::Answer) {
            State::Opening(opens) => {
                if let Some((_, close)) = opens.into_iter().find(|(open, _)| *open == token) {
                    State::Thinking(Thought::until(&close, self.model.tokenizer()))
                } else {
                    self.run.push(token);
                    State::Answer
                }
            }
            State::Thinking(mut thought) => match (thought.push(token), thought.has_break()) {
                (false, _) => State::Thinking(thought),
                (true, true) => State::Break,
                (true, false) => State::Answer,
            },
            State::Break if self.model.blank().contains(token) => State::Answer,
            State::Break | State::Answer => {
                self.run.push(token);
                State::Answer
            }
        };
        self.next()
    }

    fn end(&mut self) -> Option<Next> {
        // All that may be chosen where the tokens that may come next could not be found.
        self.keep_error();
        None
    }
}
