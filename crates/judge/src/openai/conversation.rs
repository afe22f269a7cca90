//! A request's messages as the token ids that a model sees.
//!
//! The chat template is rendered with a mark in the place of each content, and cut at the marks: its own text is tokenised
//! with control tokens on, each content apart with control tokens off, so that `<|im_end|>` in a message ends no message.
//! Control tokens are the special ones and those that the chat template writes, but for white space; what else the vocabulary adds (tags such as
//! `<tool_call>`) is read in contents as any engine reads it.
//!
//! A template may do more with a content than write it. So the conversation is rendered as it is, too, and the contents, as
//! they are or trimmed, must give the same text in the place of the marks.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Map, Value, json};

use super::TOO_LONG;
use super::request::{GenerationInput, GenerationRequest, Message, RawPrompt};
use crate::judge::GenerationDefaults;
use crate::judge::text::model_text::{ModelText, guarded, optional};
use crate::wire::Route;
use juror_base::threads::lock;
use juror_engine::checkpoint::{CheckpointError, ModelConfig, ModelSource, Weights};
use juror_engine::engine::TokenSet;
use juror_engine::grammar::{Grammar, GrammarError, GrammarSource, Grammars};
use juror_engine::text::TextError;
use juror_engine::text::chat_template::ChatTemplate;
use juror_engine::text::reasoning::{Thinking, ThinkingStyle};
use juror_engine::text::tokenizer::{Place, Tokenizer};

/// Around a mark's number: Unicode noncharacters.
const MARK: (char, char) = ('\u{FDD4}', '\u{FDD5}');

const ROLES: &str = "system, developer, user, assistant, tool, function";

/// What of a text a chat template keeps: it is a part of the text.
type Keeps = fn(&str) -> &str;

/// What chat templates keep of an answer, often without its thinking, and of another message.
const KEEPS: [(Keeps, Keeps); 6] = [
    (|answer| answer, |text| text),
    (str::trim, str::trim),
    (after_thinking, |text| text),
    (
        |answer| after_thinking(answer).trim_start_matches('\n'),
        |text| text,
    ),
    (|answer| after_thinking(answer).trim(), |text| text),
    (|answer| after_thinking(answer).trim(), str::trim),
];

/// Generation prompts whose thinking is remembered.
const REMEMBERED: usize = 64;

/// Texts of up to so many bytes are tokenised without a check of how many tokens they have at least.
const SURELY_TOKENISED: usize = 64 << 10;

pub struct ChatModel {
    /// What clients may call it, the first where they do not say.
    pub names: Vec<String>,
    pub config: ModelConfig,
    pub generation: GenerationDefaults,
    pub(crate) eos: Arc<[u32]>,
    /// Settings of the model's files that are not applied.
    pub notes: Vec<String>,
    tokenizer: Arc<Tokenizer>,
    /// The same without control tokens.
    contents: Tokenizer,
    control: HashSet<u32>,
    /// None where the model has no chat template: then it answers raw prompts alone.
    pub chat: Option<ChatTemplate>,
    pub(super) style: Option<ThinkingStyle>,
    grammars: OnceLock<Grammars>,
    blank: OnceLock<TokenSet>,
    /// See [`Tokenizer::token_bytes`]; empty where there are none.
    token_bytes: OnceLock<Vec<Vec<u8>>>,
    /// By generation prompt.
    thinking: Mutex<HashMap<String, Arc<Thinking>>>,
}

/// A request as a model sees it.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) tokens: Vec<u32>,
    /// How the model's thinking is told from its answer; none for a raw prompt.
    pub(crate) thinking: Option<Arc<Thinking>>,
}

/// A content of a message, or the template's own text.
enum Stretch<'r> {
    Own(&'r str),
    Content(usize),
}

impl ChatModel {
    /// Reads configuration, tokenizer and chat template; `style` is how the model writes its thinking, where that is not to be found out.
    pub fn load(
        names: Vec<String>,
        source: &ModelSource,
        style: Option<ThinkingStyle>,
    ) -> Result<Self, TextError> {
        guarded(source, || Self::read(names, source, style))
    }

    fn read(
        names: Vec<String>,
        source: &ModelSource,
        style: Option<ThinkingStyle>,
    ) -> Result<Self, TextError> {
        let text = ModelText::load(source)?;
        let separate = optional(source, "chat_template.jinja")?;
        let settings = optional(source, "tokenizer_config.json")?.unwrap_or_else(|| "{}".into());
        let chat = match ChatTemplate::of_model(&settings, separate) {
            Ok(chat) => Some(chat),
            Err(_) if !settings.contains("chat_template") => None,
            Err(error) => return Err(error),
        };
        let markup = chat.as_ref().map_or("", ChatTemplate::source);
        let (contents, control) =
            Tokenizer::from_json_hiding(&source.read_text("tokenizer.json")?, &|name, special| {
                // White space is text, whatever the vocabulary adds (Gemma's line breaks), and tokens that the model lacks are none.
                let is_text = name.replace('\u{2581}', " ").trim().is_empty();
                special
                    || text.tokenizer.added_token(name).is_none()
                    || (markup.contains(name) && !is_text)
            })?;
        let mut model = Self {
            names,
            eos: text.ends(chat.as_ref()).iter().map(|end| end.id).collect(),
            config: text.config,
            generation: text.generation,
            notes: text.notes,
            tokenizer: text.tokenizer,
            contents,
            control,
            chat,
            style,
            grammars: OnceLock::new(),
            blank: OnceLock::new(),
            token_bytes: OnceLock::new(),
            thinking: Mutex::default(),
        };
        if model.chat.is_some() {
            // Also finds a style that the vocabulary does not have.
            let thinking = model.thinking_after("")?;
            model.eos = thinking.ends(&model.eos, &model.tokenizer).into();
        }
        Ok(model)
    }

    /// Takes up an output head that the weights hold and the configuration does not mention.
    pub fn settle_head(&mut self, source: &ModelSource) -> Result<(), CheckpointError> {
        self.config = Weights::open(source)?.settle(&self.config)?.into_owned();
        Ok(())
    }

    pub(crate) fn tokenizer(&self) -> &Arc<Tokenizer> {
        &self.tokenizer
    }

    pub(super) fn grammar(&self, source: &GrammarSource) -> Result<Arc<Grammar>, GrammarError> {
        let new = || Grammars::new(&self.tokenizer, &self.eos);
        self.grammars.get_or_init(new).get(source)
    }

    pub(super) fn blank(&self) -> &TokenSet {
        self.blank
            .get_or_init(|| self.tokenizer.blank().into_iter().collect())
    }

    /// A token by itself: a text for it, and its bytes if it has any. The text of a part of a character is `bytes:` and these, that of a token without bytes
    /// its name in the vocabulary, and of one that the vocabulary does not have `token_id:` and its id.
    pub(super) fn token(&self, id: u32) -> (String, Option<&[u8]>) {
        let read = || self.tokenizer.token_bytes().unwrap_or_default();
        let bytes = self.token_bytes.get_or_init(read);
        let bytes = bytes.get(id as usize).filter(|bytes| !bytes.is_empty());
        let text = match bytes.map(|bytes| std::str::from_utf8(bytes).map_err(|_| bytes)) {
            Some(Ok(text)) => text.to_owned(),
            Some(Err(part)) => {
                let mut text = "bytes:".to_owned();
                for byte in part {
                    let _ = write!(text, "\\x{byte:02x}");
                }
                text
            }
            None => match self.tokenizer.piece(id) {
                piece if piece.is_empty() => format!("token_id:{id}"),
                piece => piece,
            },
        };
        (text, bytes.map(Vec::as_slice))
    }

    /// A request's prompts, if none has more tokens than `most`.
    pub(crate) fn prompts(
        &self,
        request: &GenerationRequest,
        most: usize,
    ) -> Result<Vec<Prompt>, String> {
        match &request.asked {
            GenerationInput::Prompts(prompts) => {
                let raw = |prompt| self.raw(prompt, request.add_special_tokens, most);
                prompts.iter().map(raw).collect()
            }
            GenerationInput::Chat(messages, variables) => {
                Ok(vec![self.conversation(messages, variables, most)?])
            }
        }
    }

    /// A raw prompt, as every engine reads one: its author writes its markup, but for what the tokenizer puts `around` every text.
    fn raw(&self, prompt: &RawPrompt, around: bool, most: usize) -> Result<Prompt, String> {
        let tokens = match prompt {
            RawPrompt::Text(text) => {
                self.check_length(text, most)?;
                let tokens = self.tokenizer.encode_trusted(text);
                let tokens = tokens.map_err(|error| error.to_string())?;
                match self.tokenizer.around() {
                    (before, behind) if around => [before, &tokens, behind].concat(),
                    _ => tokens,
                }
            }
            RawPrompt::Tokens(tokens) => {
                let vocab = self.config.vocab;
                if let Some(id) = tokens.iter().find(|id| **id as usize >= vocab) {
                    return Err(format!(
                        "`prompt` has the token id {id}, and the model's vocabulary ends at {}",
                        vocab - 1
                    ));
                }
                tokens.clone()
            }
        };
        self.checked(tokens, most, None)
    }

    fn conversation(
        &self,
        messages: &[Message],
        variables: &Map<String, Value>,
        most: usize,
    ) -> Result<Prompt, String> {
        let Some(chat) = &self.chat else {
            return Err(format!(
                "the model has no chat template: it answers requests to {}, with a raw `prompt`",
                Route::Completions.path()
            ));
        };
        check_roles(messages, chat.source())?;
        for part in messages.iter().flat_map(|message| &message.parts) {
            self.check_length(part, most)?;
        }
        let render = |messages: Value| {
            let mut given = variables.clone();
            given.insert("messages".to_owned(), messages);
            given.insert("add_generation_prompt".to_owned(), json!(true));
            chat.render_variables(&Value::Object(given).to_string())
                .map_err(|error| error.to_string())
        };
        let mut number = 0;
        let marked = written(messages, chat.source(), |message| {
            let mut content = String::new();
            for _ in &message.parts {
                let _ = write!(content, "{}{number}{}", MARK.0, MARK.1);
                number += 1;
            }
            content
        });
        let rendered = render(marked)?;
        let stretches = cut(&rendered);
        let real = written(messages, chat.source(), |message| message.parts.concat());
        let real = render(real)?;
        let contents = as_rendered(messages, &stretches, &real)?;
        let mut tokens = Vec::new();
        let mut place = Place::Beginning;
        for stretch in &stretches {
            let ids = match stretch {
                Stretch::Own(text) => self.tokenizer.encode_trusted_at(text, place),
                Stretch::Content(at) => self.contents.encode_trusted_at(&contents[*at], place),
            };
            let ids = ids.map_err(|error| error.to_string())?;
            if let Stretch::Content(_) = stretch
                && let Some(id) = ids.iter().find(|id| self.control.contains(id))
            {
                return Err(format!(
                    "a message would become the control token {}",
                    self.tokenizer.decode(&[*id])
                ));
            }
            place = self.tokenizer.place_after(&ids).unwrap_or(place);
            tokens.extend(ids);
        }
        let after = match stretches.last() {
            Some(Stretch::Own(text)) => text,
            _ => "",
        };
        let thinking = self.thinking_after(after);
        let thinking = thinking.map_err(|error| error.to_string())?;
        self.checked(tokens, most, Some(thinking))
    }

    fn check_length(&self, text: &str, most: usize) -> Result<(), String> {
        if text.len() > SURELY_TOKENISED
            && let Some(least) = self.tokenizer.more_tokens_than(most, text)
        {
            return Err(self.too_long(&format!("at least {least}"), most));
        }
        Ok(())
    }

    fn checked(
        &self,
        tokens: Vec<u32>,
        most: usize,
        thinking: Option<Arc<Thinking>>,
    ) -> Result<Prompt, String> {
        if tokens.is_empty() {
            return Err("the prompt has no tokens".to_owned());
        }
        if tokens.len() > most {
            return Err(self.too_long(&tokens.len().to_string(), most));
        }
        Ok(Prompt { tokens, thinking })
    }

    fn too_long(&self, tokens: &str, most: usize) -> String {
        let context = self.config.max_positions;
        format!(
            "{TOO_LONG} {context} tokens, and beside {} new there is room for {most}: the prompt has {tokens}; shorten it, or \
             ask for fewer new tokens",
            context - most
        )
    }

    /// How thinking is told from the answer after this generation prompt.
    fn thinking_after(&self, generation_prompt: &str) -> Result<Arc<Thinking>, TextError> {
        let mut known = lock(&self.thinking);
        if let Some(thinking) = known.get(generation_prompt) {
            return Ok(Arc::clone(thinking));
        }
        let template = self.chat.as_ref().map_or("", ChatTemplate::source);
        let style = self.style.clone();
        let thinking = Thinking::find(style, &self.tokenizer, template, generation_prompt)?;
        let thinking = Arc::new(thinking);
        if known.len() < REMEMBERED {
            known.insert(generation_prompt.to_owned(), Arc::clone(&thinking));
        }
        Ok(thinking)
    }
}

/// Messages as a chat template takes them; what a developer says, as the system's where the template has no developer.
fn written(
    messages: &[Message],
    template: &str,
    mut content: impl FnMut(&Message) -> String,
) -> Value {
    messages
        .iter()
        .map(|message| {
            let role = match message.role.as_str() {
                "developer" if !names(template, "developer") => "system",
                role => role,
            };
            let mut written = json!({"role": role, "content": content(message)});
            if let Some(name) = &message.name {
                written["name"] = json!(name);
            }
            written
        })
        .collect()
}

/// Refuses roles that neither OpenAI's API nor the chat template has: the template would leave out what they say, or write it as
/// nothing that the model was trained on.
fn check_roles(messages: &[Message], template: &str) -> Result<(), String> {
    let is_known =
        |role: &str| ROLES.split(", ").any(|known| known == role) || names(template, role);
    let unknown = messages.iter().position(|message| !is_known(&message.role));
    match unknown {
        Some(at) => Err(format!(
            "`messages`: message {} has the role `{}`, which neither OpenAI's API nor the model's chat template has: use {ROLES}",
            at + 1,
            messages[at].role
        )),
        None => Ok(()),
    }
}

fn after_thinking(answer: &str) -> &str {
    answer.rsplit("</think>").next().unwrap_or(answer)
}

fn names(template: &str, role: &str) -> bool {
    let mut quotes = ['\'', '"'].iter();
    quotes.any(|quote| template.contains(&format!("{quote}{role}{quote}")))
}

fn cut(rendered: &str) -> Vec<Stretch<'_>> {
    let mut stretches = Vec::new();
    let mut rest = rendered;
    while let Some(open) = rest.find(MARK.0) {
        let after = &rest[open + MARK.0.len_utf8()..];
        let Some(close) = after.find(MARK.1) else {
            break;
        };
        let Ok(number) = after[..close].parse() else {
            break;
        };
        if open > 0 {
            stretches.push(Stretch::Own(&rest[..open]));
        }
        stretches.push(Stretch::Content(number));
        rest = &after[close + MARK.1.len_utf8()..];
    }
    if !rest.is_empty() {
        stretches.push(Stretch::Own(rest));
    }
    stretches
}

/// What the template writes of each part.
fn as_rendered(
    messages: &[Message],
    stretches: &[Stretch],
    real: &str,
) -> Result<Vec<String>, String> {
    let marks = stretches.iter().filter_map(|stretch| match stretch {
        Stretch::Own(_) => None,
        Stretch::Content(mark) => Some(*mark),
    });
    let (marks, mut first): (HashSet<usize>, _) = (marks.collect(), 0);
    for (at, message) in messages.iter().enumerate() {
        let mut own = first..first + message.parts.len();
        first = own.end;
        let is_blank = message.parts.iter().all(|part| part.trim().is_empty());
        if !is_blank && !own.any(|mark| marks.contains(&mark)) {
            return Err(format!(
                "`messages`: the model's chat template leaves out message {}, of the role `{}`: put its text into another",
                at + 1,
                message.role
            ));
        }
    }
    for (of_answer, of_other) in KEEPS {
        let mut contents = Vec::new();
        for message in messages {
            let text = message.parts.concat();
            let is_answer = message.role == "assistant";
            let kept = if is_answer { of_answer } else { of_other }(&text);
            let from = kept.as_ptr().addr() - text.as_ptr().addr();
            let mut at = 0;
            for part in &message.parts {
                let [from, to] =
                    [from, from + kept.len()].map(|end| end.clamp(at, at + part.len()) - at);
                contents.push(part[from..to].to_owned());
                at += part.len();
            }
        }
        let own = stretches.iter().map(|stretch| match stretch {
            Stretch::Own(own) => own,
            Stretch::Content(at) => contents.get(*at).map_or("", String::as_str),
        });
        if own.collect::<String>() == real {
            return Ok(contents);
        }
    }
    Err(
        "the model's chat template changes the messages in a way that is not followed here: leave thinking out of earlier \
         answers, and empty messages out"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests;
