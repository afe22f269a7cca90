//! How a model writes its thinking: `--thinking-style` and `--thinking-tags`.

use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ThinkingStyle {
    /// Between `<think>` and `</think>`; also where a chat template has opened the thinking.
    #[default]
    Think,
    /// It does not think: what it writes is the answer from the first token on. Should it write `<think>` all the same, that block does not count.
    None,
    /// In channels of gpt-oss' harmony format (<https://cookbook.openai.com/articles/openai-harmony>): only what stands in the channel `final` is the answer.
    Harmony,
    /// Between two tags of its own.
    Tags(ThinkingTags),
}

impl fmt::Display for ThinkingStyle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Think => out.write_str("think"),
            Self::None => out.write_str("none"),
            Self::Harmony => out.write_str("harmony"),
            Self::Tags(tags) => write!(out, "{},{}", tags.open, tags.close),
        }
    }
}

impl FromStr for ThinkingStyle {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "think" => Ok(Self::Think),
            "none" => Ok(Self::None),
            "harmony" => Ok(Self::Harmony),
            _ => Err("a thinking style is think, none or harmony; --thinking-tags gives tags of another name".into()),
        }
    }
}

/// The two tags around a model's thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkingTags {
    pub open: String,
    pub close: String,
}

impl FromStr for ThinkingTags {
    type Err = String;

    /// `<a>,</a>`: a comma between the two.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "the tags are written as `<a>,</a>`: the opening one, a comma, the closing one"
                .to_owned()
        };
        let (open, close) = text.split_once(',').ok_or_else(wrong)?;
        let (open, close) = (open.trim(), close.trim());
        if open.is_empty() || close.is_empty() || close.contains(',') {
            return Err(wrong());
        }
        if open == close {
            return Err("the opening and the closing tag of the thinking are the same".into());
        }
        Ok(Self {
            open: open.into(),
            close: close.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ThinkingTags;

    #[test]
    fn tags_are_read_from_the_command_line() {
        let tags: ThinkingTags = "[THINK],[/THINK]".parse().unwrap();
        assert_eq!(
            (tags.open.as_str(), tags.close.as_str()),
            ("[THINK]", "[/THINK]")
        );
        for wrong in ["<a>", "<a>,", ",", "<a>,<a>", "<a>,</a>,</b>"] {
            assert!(wrong.parse::<ThinkingTags>().is_err(), "{wrong}");
        }
    }
}
