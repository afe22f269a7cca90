//! The parts of a message's content: text, and what is no part of what is said.

use serde_json::Value;

/// The types of parts: what each kind is called where it is left out, `text` or `refusal`, and its types.
const KINDS: &str = include_str!("content_parts.tsv");

/// What thinking is called where it is left out.
pub const REASONING: &str = "reasoning";
pub(super) const TOOL_CALLS: &str = "tool calls";
/// What their results are called.
pub(super) const TOOL_RESULTS: &str = "tool results";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentPart<'p> {
    Text(&'p str),
    Refusal(&'p str),
    /// Thinking, or the call or the result of a tool.
    LeftOut(&'static str),
}

impl<'p> ContentPart<'p> {
    /// Reads a part: a text, or an object with a `type`, without which its only key says what it is, or it is text.
    pub fn read(part: &'p Value) -> Result<Self, String> {
        let only = part.as_object().filter(|part| part.len() == 1);
        let only = only.and_then(|part| part.keys().next());
        let kind = part["type"].as_str();
        let kind = kind.or(only.map(String::as_str)).unwrap_or("text");
        let known = KINDS.lines().filter_map(|line| line.split_once('\t'));
        let mut known = known.filter(|(_, types)| types.split(' ').any(|own| own == kind));
        // Gemini's thinking is text that is marked.
        let is_thought = part["thought"] == true;
        let name = known.next().map(|(name, _)| name);
        let text = part.as_str().or(part[kind].as_str());
        let text = text.or(part["text"].as_str());
        match (
            name.map(|name| if is_thought { REASONING } else { name }),
            text,
        ) {
            (Some("text"), Some(text)) => Ok(Self::Text(text)),
            (Some("refusal"), Some(text)) => Ok(Self::Refusal(text)),
            (Some("text" | "refusal"), None) | (None, _) => Err(format!(
                "images or other parts that are no text (a part of type `{kind}`)"
            )),
            (Some(name), _) => Ok(Self::LeftOut(name)),
        }
    }

    /// The text of all parts, a refusal's too, and the names of what is left out.
    pub fn join(parts: &[Value]) -> Result<(String, Vec<&'static str>), String> {
        let (mut said, mut left_out) = (String::new(), Vec::new());
        for part in parts {
            match ContentPart::read(part)? {
                ContentPart::Text(text) | ContentPart::Refusal(text) => said.push_str(text),
                ContentPart::LeftOut(name) => add(&mut left_out, [name]),
            }
        }
        Ok((said, left_out))
    }
}

/// Adds names to others, each once.
pub(super) fn add(names: &mut Vec<&'static str>, more: impl IntoIterator<Item = &'static str>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

#[cfg(test)]
mod tests;
