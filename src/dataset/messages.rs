//! Chat messages as a question or a response.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One message, as chat completions have it.
#[derive(Debug, Deserialize)]
struct Message {
    /// ShareGPT calls it `from`.
    #[serde(alias = "from")]
    role: String,
    /// ShareGPT calls it `value`.
    #[serde(default, alias = "value")]
    content: Option<Content>,
    /// What some servers set apart of the thinking; not judged.
    #[serde(default, alias = "reasoning")]
    reasoning_content: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message: text, or something else.
#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Messages(Vec<Message>);

/// A text of a conversation, and what of the conversation it is.
pub(super) struct Turn {
    pub(super) text: String,
    pub(super) what: &'static str,
}

impl Messages {
    /// The messages of a JSON list of objects with a `role`; `None` of anything else.
    pub(super) fn parse(json: &str) -> Option<Self> {
        // Of a list serde would read a message too.
        let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        if !elements
            .iter()
            .all(|element| element.get().starts_with('{'))
        {
            return None;
        }
        let messages: Vec<Message> = serde_json::from_str(json).ok()?;
        (!messages.is_empty()).then_some(Self(messages))
    }

    /// What is asked: the system text and the last user turn.
    ///
    /// # Errors
    /// When there is no such turn, or it holds more than text; as text for the user.
    pub(super) fn question(&self) -> Result<Turn, String> {
        let is_user = |message: &Message| matches!(message.role.as_str(), "user" | "human");
        let last = self.0.iter().rposition(is_user);
        let last = last.ok_or("chat messages without a turn of the user")?;
        let is_system =
            |message: &&Message| matches!(message.role.as_str(), "system" | "developer");
        let before = &self.0[..last];
        let mut texts = Vec::new();
        for message in before.iter().filter(is_system) {
            texts.push(message.text()?);
        }
        texts.retain(|text| !text.trim().is_empty());
        let earlier = before.iter().any(|message| !is_system(&message));
        let what = match (texts.is_empty(), earlier) {
            (true, false) => "last user turn",
            (true, true) => "last user turn; earlier turns left out",
            (false, false) => "system text and last user turn",
            (false, true) => "system text and last user turn; earlier turns left out",
        };
        texts.push(self.0[last].text()?);
        Ok(Turn {
            text: texts.join("\n\n"),
            what,
        })
    }

    /// What is answered: the last turn, which must be the assistant's.
    ///
    /// # Errors
    /// When it is not, or holds more than text; as text for the user.
    pub(super) fn response(&self) -> Result<Turn, String> {
        match self.0.last() {
            Some(message) if matches!(message.role.as_str(), "assistant" | "gpt") => Ok(Turn {
                text: message.text()?,
                what: match message.reasoning_content {
                    Some(_) => "last assistant turn; its reasoning left out",
                    None => "last assistant turn",
                },
            }),
            _ => Err("chat messages whose last turn is not the assistant's".to_owned()),
        }
    }
}

impl Message {
    fn text(&self) -> Result<String, String> {
        match &self.content {
            Some(Content::Text(text)) => Ok(text.clone()),
            Some(Content::Parts(parts)) => parts
                .iter()
                .map(|part| part.text.as_deref())
                .collect::<Option<String>>()
                .ok_or_else(|| {
                    "chat messages with images or other parts that are no text".to_owned()
                }),
            None => Err("a chat message without content".to_owned()),
        }
    }
}
