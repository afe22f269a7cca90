//! Chat messages as a question or a response.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content_part::{ContentPart, REASONING, TOOL_CALLS, TOOL_RESULTS, add};

/// The roles of messages as chat completions call them, each with other names for it, and with the types of messages of `LangChain`, which have no other
/// role.
const ROLES: &str = include_str!("roles.tsv");

/// What a response is called that was never written.
pub(super) const CUT_OFF: &str = "blank; the conversation ends without an answer";

fn roles() -> impl Iterator<Item = [&'static str; 3]> {
    ROLES.lines().map(|line| {
        let mut columns = line.split('\t');
        [(); 3].map(|()| columns.next().unwrap_or_default())
    })
}

fn is_known(role: &str) -> bool {
    roles().any(|[known, ..]| known == role)
}

/// The role under the keys `role`, `from` or `type`, as chat completions call it.
fn role_of<'m>(mut of: impl FnMut(&str) -> Option<&'m str>) -> Option<&'m str> {
    let is_type = |kind: &&str| !kind.is_empty() && roles().any(|[.., own]| own == *kind);
    let name = of("role").or_else(|| of("from"));
    let name = name.or_else(|| of("type").filter(is_type))?;
    let of_name = |[_, names, _]: &[&str; 3]| names.split(' ').any(|own| own == name);
    Some(roles().find(of_name).map_or(name, |[role, ..]| role))
}

/// One message, as chat completions have it, `ShareGPT` (`from`, `value`), `LangChain` (`type`), Gemini (`parts`) or `OpenCompass` (`prompt`).
#[derive(Debug, Deserialize)]
struct Message {
    role: Option<String>,
    from: Option<String>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    content: Option<Content>,
    #[serde(alias = "parts", alias = "prompt")]
    value: Option<Content>,
    /// The thinking, if a server separated it; it is not judged.
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    thinking: Option<Value>,
    /// Tool calls, which may stand in place of a text.
    tool_calls: Option<Value>,
    function_call: Option<IgnoredAny>,
    /// Whether a Responses API's thinking, which is an item of the list, stands before it.
    #[serde(skip)]
    reasoned: bool,
    /// The message itself, in what `LangChain`'s `messages_to_dict` writes, and its `dumpd`.
    data: Option<Value>,
    kwargs: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Debug)]
pub(super) struct Messages(Vec<Message>);

/// The text of a turn, and a description of what it is of the conversation.
pub(super) struct Turn {
    pub(super) text: String,
    pub(super) what: Cow<'static, str>,
}

impl Turn {
    /// A message's content, without the message: a JSON list of typed parts.
    pub(super) fn of_parts(json: &str) -> Option<Self> {
        let parts: Vec<Value> = serde_json::from_str(json).ok()?;
        let are_typed = parts.iter().all(|part| part["type"].is_string());
        let read = (are_typed && !parts.is_empty()).then(|| ContentPart::join(&parts));
        let (text, left_out) = read?.ok()?;
        let what = without("its text", &left_out);
        Some(Self { text, what })
    }
}

/// The list of objects in a text that is JSON: it, the one under its key `messages`, or one of itself alone if it has a `role`.
pub(super) fn listed(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return text.starts_with('[').then_some(text.into());
    }
    let mut object: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    match object.remove("messages") {
        Some(messages) => object.is_empty().then(|| messages.get().into()),
        None => (object.get("role").or(object.get("type"))).map(|_| format!("[{text}]").into()),
    }
}

fn without(taken: &'static str, left_out: &[&str]) -> Cow<'static, str> {
    match left_out {
        [] => taken.into(),
        parts => format!("{taken}; its {} left out", parts.join(" and ")).into(),
    }
}

impl Messages {
    /// The messages of a JSON list of objects with a `role`; `None` of anything else.
    pub(super) fn parse(json: &str) -> Option<Self> {
        // serde would also read a message from a list.
        let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        if elements.iter().any(|it| !it.get().starts_with('{')) {
            return None;
        }
        let all: Vec<Message> = serde_json::from_str(json).ok()?;
        let is_chat = all.iter().any(|it| it.role.is_some());
        let mut reasoned = false;
        let bare = |message: Message| {
            let bare = message.bare(is_chat);
            let reasoned = std::mem::replace(&mut reasoned, bare.is_none());
            bare.map(|it| Message { reasoned, ..it })
        };
        let messages: Vec<_> = all.into_iter().filter_map(bare).collect();
        let have_roles = messages.iter().all(|message| message.role().is_some());
        (have_roles && !messages.is_empty()).then_some(Self(messages))
    }

    /// The messages in a text that is JSON ([`listed`]). It may be a list of other objects, so each must have a known role and content.
    pub(super) fn in_text(text: &str) -> Option<Self> {
        let messages = Self::parse(&listed(text)?)?;
        let is_message = |message: &Message| {
            message.role().is_some_and(is_known)
                && (message.content().is_some() || message.thinking().is_some())
        };
        messages.0.iter().all(is_message).then_some(messages)
    }

    /// Whether a path to the texts of a role finds some.
    pub(super) fn names(&self, role: &str) -> bool {
        let mut all = self.0.iter();
        all.any(|it| it.role.as_deref() == Some(role) && it.content.is_some())
    }

    /// Refuses unknown roles, since what they say would be left out.
    pub(super) fn check_roles(&self) -> Result<(), String> {
        let mut all = self.0.iter().filter_map(Message::role);
        let Some(role) = all.find(|role| !is_known(role)) else {
            return Ok(());
        };
        let known: Vec<&str> = roles().map(|[role, ..]| role).collect();
        let known = known.join(", ");
        Err(format!(
            "chat messages with the role `{role}`, which is not known: the roles are {known}"
        ))
    }

    /// The question: the last turn of the user; if there are others before it, all of them as a [`conversation`]. The system prompt is for the model that
    /// answers, not part of the question.
    pub(super) fn question(&self) -> Result<Turn, String> {
        let is_user =
            |message: &Message| message.role() == Some("user") && !message.only(TOOL_RESULTS);
        let last = self.0.iter().rposition(is_user);
        let last = last.ok_or("chat messages without a turn of the user")?;
        let is_system = |message: &Message| matches!(message.role(), Some("system" | "developer"));
        let mut turns = Vec::new();
        let mut left_out = Vec::new();
        for message in &self.0[..=last] {
            add(&mut left_out, message.reasoned.then_some(REASONING));
            if is_system(message) {
                let says = !message.is_blank();
                add(&mut left_out, says.then_some("system text"));
            } else if message.calls_alone() {
                add(&mut left_out, [TOOL_CALLS]);
            } else {
                let (text, parts) = message.text()?;
                add(&mut left_out, parts);
                if !message.only(TOOL_RESULTS) {
                    turns.push((message.role().unwrap_or_default(), text));
                }
            }
        }
        let after = self.0[last + 1..].iter();
        let answers = usize::from(self.0.last().is_some_and(Message::is_answer));
        let has_more = after.len() > answers;
        add(&mut left_out, has_more.then_some("turns after it"));
        let (one, all) = ("last user turn", "all turns up to the user's last");
        let mut what = if turns.len() == 1 { one } else { all }.to_owned();
        for name in left_out {
            what.extend(["; ", name, " left out"]);
        }
        Ok(Turn {
            text: conversation(&turns),
            what: what.into(),
        })
    }

    /// Whether they are a rollout that was cut off: they end with a tool's call or result, and the assistant said nothing else.
    fn are_cut_off(&self) -> bool {
        let result = |message: &Message| {
            matches!(message.role(), Some("tool" | "function")) || message.only(TOOL_RESULTS)
        };
        let mut answers = self.0.iter().filter(|it| it.is_answer()).peekable();
        let last = self.0.last();
        last.is_some_and(|last| result(last) || last.calls_alone())
            && answers.peek().is_some()
            && answers.all(Message::calls_alone)
    }

    /// The response: the last turn, which must be the assistant's. Where all of its text is its thinking, it is blank, unless `in_reasoning` says that the
    /// answer is there; so it is where the conversation was cut off.
    pub(super) fn response(&self, in_reasoning: bool) -> Result<Turn, String> {
        if self.are_cut_off() {
            let (text, what) = (String::new(), CUT_OFF.into());
            return Ok(Turn { text, what });
        }
        let last = self.0.last().filter(|message| message.is_answer());
        let message = last.ok_or("chat messages whose last turn is not the assistant's")?;
        let thinking = message.thinking();
        let (text, mut left_out) = match message.content() {
            None if thinking.is_some() => (String::new(), Vec::new()),
            _ => message.text()?,
        };
        let what = match thinking {
            Some((key, thought)) if in_reasoning && text.trim().is_empty() => {
                let text = answer_in_reasoning(thought).to_owned();
                let what = format!("`{key}` of the last assistant turn").into();
                return Ok(Turn { text, what });
            }
            Some((key, _)) if text.trim().is_empty() => format!(
                "last assistant turn, blank; all of its text is in `{key}`: --answer-in-reasoning reads it there"
            )
            .into(),
            thinking => {
                let is_left_out = thinking.is_some() || message.reasoned;
                add(&mut left_out, is_left_out.then_some(REASONING));
                without("last assistant turn", &left_out)
            }
        };
        Ok(Turn { text, what })
    }
}

/// The answer in a text that a server took for thinking: what follows the thinking, if that has an end.
pub fn answer_in_reasoning(text: &str) -> &str {
    text.rsplit_once("</think>")
        .map_or(text, |(_, answer)| answer)
}

/// Turns as one text, which is how a judge sees a question of several turns: each with its speaker, its further lines indented.
pub fn conversation(turns: &[(&str, String)]) -> String {
    if let [(_, only)] = turns {
        return only.clone();
    }
    let turns = turns.iter().map(|(role, text)| {
        let speaker = match *role {
            "user" => "User",
            "assistant" | "function_call" => "Assistant",
            "tool" | "function" => "Tool",
            _ => "Other",
        };
        format!("{speaker}: {}", indented(text))
    });
    turns.collect::<Vec<_>>().join("\n\n")
}

/// A turn with its further lines indented, so that none of them reads as the beginning of another turn: earlier turns may be the policy's own.
fn indented(text: &str) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        lines.push(character);
        let is_break = matches!(
            character,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        );
        if is_break && (character, characters.peek()) != ('\r', Some(&'\n')) {
            lines.push_str("  ");
        }
    }
    lines
}

/// The messages of a conversation in the form of chat completions, without an answer at its end. A message that has more than a role and text stays as it is.
pub(super) fn prompt_of(json: &str) -> Vec<Value> {
    let mut messages: Vec<Value> = serde_json::from_str(json).unwrap_or_default();
    messages = messages.into_iter().map(plain).collect();
    messages.pop_if(|message| role_of(|key| message[key].as_str()) == Some("assistant"));
    messages
}

fn plain(mut message: Value) -> Value {
    let own = ["role", "from", "content", "value", "parts", "prompt"];
    for around in ["data", "kwargs"] {
        let inner = &message[around];
        if own.iter().all(|key| message[key].is_null())
            && role_of(|key| inner[key].as_str()).is_some()
        {
            message = message[around].take();
        }
    }
    let Some(role) = role_of(|key| message[key].as_str()) else {
        return message;
    };
    // LangChain tells of each message much that none of its readers asks for.
    let is_typed = message["role"].is_null() && message["from"].is_null();
    let says = |value: &Value| !value.is_null() && value.as_array().is_none_or(|it| !it.is_empty());
    let mut entries = message.as_object().into_iter().flatten();
    let more = entries.any(|(key, value)| {
        !own.contains(&&**key) && says(value) && (!is_typed || key.contains("tool_call"))
    });
    let read = Message::deserialize(&message);
    match read.ok().and_then(|it| it.text().ok()) {
        Some((text, out)) if !more && out.is_empty() => json!({"role": role, "content": text}),
        _ => message,
    }
}

impl Message {
    /// The message itself, without what is around it. Among others, a Responses API's thinking is none; its calls of tools and their results are turns.
    fn bare(self, is_of_chat: bool) -> Option<Self> {
        if is_of_chat
            && self.role().is_none()
            && let part = json!({"type": self.kind})
            && let Ok(ContentPart::LeftOut(name)) = ContentPart::read(&part)
        {
            let role = match name {
                REASONING => return None,
                TOOL_RESULTS => "tool",
                _ => "assistant",
            };
            return Some(Self {
                role: Some(role.to_owned()),
                content: Some(Content::Parts(vec![part])),
                ..self
            });
        }
        if self.role.is_some() || self.from.is_some() || self.content().is_some() {
            return Some(self);
        }
        let inner = self.data.as_ref().or(self.kwargs.as_ref());
        let inner = inner.and_then(|data| Self::deserialize(data).ok());
        Some(inner.filter(|it| it.role().is_some()).unwrap_or(self))
    }

    fn role(&self) -> Option<&str> {
        role_of(|key| match key {
            "role" => self.role.as_deref(),
            "from" => self.from.as_deref(),
            _ => self.kind.as_ref()?.as_str(),
        })
    }

    fn content(&self) -> Option<&Content> {
        self.content.as_ref().or(self.value.as_ref())
    }

    /// The thinking that a server separated, and its key.
    fn thinking(&self) -> Option<(&'static str, &str)> {
        let keys = [
            ("reasoning_content", &self.reasoning_content),
            ("reasoning", &self.reasoning),
            ("thinking", &self.thinking),
        ];
        let mut texts = keys
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_ref()?.as_str()?)));
        texts.find(|(_, text)| !text.trim().is_empty())
    }

    fn is_blank(&self) -> bool {
        self.text().is_ok_and(|(text, _)| text.trim().is_empty())
    }

    fn is_answer(&self) -> bool {
        self.role() == Some("assistant")
    }

    /// Whether the message has parts of this kind and no text.
    fn only(&self, kind: &str) -> bool {
        let text = self.text();
        text.is_ok_and(|(text, left_out)| text.trim().is_empty() && left_out.contains(&kind))
    }

    /// Whether the message calls tools and has no text.
    fn calls_alone(&self) -> bool {
        let calls = |calls: &Value| calls.as_array().is_none_or(|it| !it.is_empty());
        (self.tool_calls.as_ref().is_some_and(calls) || self.function_call.is_some())
            && (self.content().is_none() || self.is_blank())
            || self.only(TOOL_CALLS)
    }

    /// Its text, and what of its content is left out.
    fn text(&self) -> Result<(String, Vec<&'static str>), String> {
        match self.content() {
            Some(Content::Text(text)) => Ok((text.clone(), Vec::new())),
            Some(Content::Parts(parts)) => {
                ContentPart::join(parts).map_err(|why| format!("chat messages with {why}"))
            }
            None => Err("a chat message without content".to_owned()),
        }
    }
}
