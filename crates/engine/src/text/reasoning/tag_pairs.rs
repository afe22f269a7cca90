//! Pairs of tags around a model's thinking: the known ones, and those that look like it.
//!
//! Models write their thinking between tags that are tokens of their vocabulary or stand in their chat template. A pair is found by its shape, `<x>` and
//! `</x>`, `[X]` and `[/X]`, `<|x_start|>` and `<|x_end|>` and their like, if the name speaks of thinking; pairs with other names are listed.

use std::collections::BTreeSet;
use std::ops::Range;

use super::READER_TAGS;
use super::style::ThinkingTags;

/// Tags of published models whose names do not speak of thinking.
const LISTED: [(&str, &str); 3] = [
    // Gemma 4
    ("<|channel>", "<channel|>"),
    // Apertus
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    // MedGemma
    ("<unused94>", "<unused95>"),
];

/// Phrases between which published models write their thinking; they count if a chat template contains both.
const PHRASES: [(&str, &str); 2] = [
    // Granite 3.2
    ("Here is my thought process:", "Here is my response:"),
    // Apriel 1.5 and 1.6
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
];

/// Words that make a tag's name one of thinking.
const WORDS: &str = "think thought reasoning reflect scratchpad scratch_pad monologue deliberat ponder rationale chain_of";

/// The longest text that is taken for a tag, in bytes.
pub const MAX_TAG: usize = 64;

/// How a tag may begin and end.
const BRACKETS: [(&str, &str); 6] = [
    ("<|", "|>"),
    ("<｜", "｜>"),
    ("<|", ">"),
    ("<", ">"),
    ("[", "]"),
    ("◁", "▷"),
];

/// Beginnings and ends of names that say whether a tag opens or closes.
const PREFIXES: [(&str, &str); 6] = [
    ("begin_of_", "end_of_"),
    ("start_of_", "end_of_"),
    ("begin_", "end_"),
    ("BEGIN_", "END_"),
    ("start_", "end_"),
    ("START_", "END_"),
];
const SUFFIXES: [(&str, &str); 6] = [
    ("_begin", "_end"),
    ("▁begin", "▁end"),
    ("_BEGIN", "_END"),
    ("_start", "_end"),
    ("_START", "_END"),
    ("_prefix", "_suffix"),
];

/// The brackets of a tag, and the name between them.
pub fn parts(tag: &str) -> Option<(&'static str, &str, &'static str)> {
    BRACKETS.into_iter().find_map(|(open, close)| {
        let name = tag.strip_prefix(open)?.strip_suffix(close)?;
        is_name(name).then_some((open, name, close))
    })
}

fn is_name(name: &str) -> bool {
    let may_stand = |character: char| {
        character.is_alphanumeric() || matches!(character, '_' | '-' | ':' | '.' | '▁')
    };
    name.chars().all(may_stand) && name.starts_with(char::is_alphabetic)
}

/// The tags that may close what `tag` opens; empty if it is not an opening tag.
pub fn closing(tag: &str) -> Vec<String> {
    if let Some((_, close)) = LISTED.iter().find(|(open, _)| *open == tag) {
        return vec![(*close).to_owned()];
    }
    let Some((open, name, close)) = parts(tag) else {
        return Vec::new();
    };
    for (begins, ends) in PREFIXES {
        if let Some(rest) = name.strip_prefix(begins) {
            return vec![format!("{open}{ends}{rest}{close}")];
        }
        if name.starts_with(ends) {
            return Vec::new();
        }
    }
    for (begins, ends) in SUFFIXES {
        if let Some(rest) = name.strip_suffix(begins) {
            return vec![format!("{open}{rest}{ends}{close}")];
        }
        if name.ends_with(ends) {
            return Vec::new();
        }
    }
    match (open, close) {
        ("<|", ">") => vec![format!("<{name}|>")],
        ("<|", "|>") => vec![
            format!("<|/{name}|>"),
            format!("</|{name}|>"),
            format!("<|end_{name}|>"),
            format!("<|{name}_end|>"),
            format!("<|end_of_{name}|>"),
        ],
        _ => vec![format!("{open}/{name}{close}")],
    }
}

fn speaks_of_thinking(tag: &str) -> bool {
    let name = tag.to_lowercase();
    let is_listed = LISTED.iter().any(|(open, _)| *open == tag);
    is_listed
        || WORDS.split(' ').any(|word| name.contains(word))
        || parts(tag).is_some_and(|(_, name, _)| {
            name.split(['_', '-', ':'])
                .any(|part| part.eq_ignore_ascii_case("cot"))
        })
}

/// Whether every protocol's reader knows the tag.
fn is_known_to_the_reader(tag: &str) -> bool {
    READER_TAGS
        .iter()
        .any(|(open, _)| tag.eq_ignore_ascii_case(open))
}

/// The pairs of thinking tags among a vocabulary's added tokens and in a chat template's text. Those that every reader
/// knows (`<think>`, `<thinking>`, `<analysis>`) are not among them.
pub(super) fn find<'t>(added: impl Iterator<Item = &'t str>, template: &str) -> Vec<ThinkingTags> {
    let mut tags: BTreeSet<&str> = added.filter(|tag| tag.len() <= MAX_TAG).collect();
    tags.extend(in_text(template).into_iter().map(|place| &template[place]));
    let mut pairs = Vec::new();
    for &open in &tags {
        if !speaks_of_thinking(open) || is_known_to_the_reader(open) {
            continue;
        }
        if let Some(close) = closing(open)
            .into_iter()
            .find(|close| tags.contains(close.as_str()))
        {
            pairs.push(ThinkingTags {
                open: open.to_owned(),
                close,
            });
        }
    }
    for (open, close) in PHRASES {
        if template.contains(open) && template.contains(close) {
            pairs.push(ThinkingTags {
                open: open.to_owned(),
                close: close.to_owned(),
            });
        }
    }
    pairs
}

/// The places in a text that have the shape of a tag, opening or closing.
pub fn in_text(text: &str) -> Vec<Range<usize>> {
    let mut tags = Vec::new();
    for (at, first) in text.char_indices() {
        let end = match first {
            '<' => '>',
            '[' => ']',
            '◁' => '▷',
            _ => continue,
        };
        let start = at + first.len_utf8();
        let inside = &text[start..];
        let inside = &inside[..inside.floor_char_boundary(MAX_TAG)];
        // A tag contains no bracket and no space.
        let stops = |character: char| {
            character.is_whitespace()
                || matches!(character, '<' | '>' | '[' | ']' | '◁' | '▷' | '\'' | '"')
        };
        if let Some(length) = inside.find(stops)
            && inside[length..].starts_with(end)
        {
            tags.push(at..start + length + end.len_utf8());
        }
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(open: &str, close: &str) -> ThinkingTags {
        ThinkingTags {
            open: open.into(),
            close: close.into(),
        }
    }

    /// The pairs of tags in which published models write their thinking.
    const PUBLISHED: [(&str, &str); 25] = [
        ("[THINK]", "[/THINK]"),
        ("<seed:think>", "</seed:think>"),
        ("<mm:think>", "</mm:think>"),
        ("<|channel>", "<channel|>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<|thought_start|>", "<|thought_end|>"),
        ("<|thinking_start|>", "<|thinking_end|>"),
        ("◁think▷", "◁/think▷"),
        ("<unused94>", "<unused95>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|think|>", "<|/think|>"),
        ("<|thinking|>", "</|thinking|>"),
        ("<thought>", "</thought>"),
        ("<reasoning>", "</reasoning>"),
        ("<reflection>", "</reflection>"),
        ("<think_fast>", "</think_fast>"),
        ("<think_faster>", "</think_faster>"),
        ("<longcat_think>", "</longcat_think>"),
        ("<ernie_think>", "</ernie_think>"),
        ("<inner_thoughts>", "</inner_thoughts>"),
        ("<|cot|>", "<|end_cot|>"),
        ("<|reasoning|>", "<|end_of_reasoning|>"),
        ("<｜thinking▁begin｜>", "<｜thinking▁end｜>"),
        ("<scratchpad>", "</scratchpad>"),
    ];

    #[test]
    fn published_pairs_are_found_in_the_vocabulary_and_in_the_template() {
        for (open, close) in PUBLISHED {
            let wanted = vec![pair(open, close)];
            assert_eq!(find(["<s>", open, close, "</s>"].into_iter(), ""), wanted);
            let template =
                format!("{{{{ '{open}\\n' + thoughts + \"\\n{close}\" }}}}[INST] x [/INST]");
            assert_eq!(find(["<s>"].into_iter(), &template), wanted);
            // One tag in the vocabulary, the other in the template.
            assert_eq!(find([close].into_iter(), open), wanted);
        }
    }

    #[test]
    fn other_tags_are_no_thinking() {
        let none: Vec<ThinkingTags> = Vec::new();
        let template = "<|im_start|>a<|im_end|><tools></tools><tool_call></tool_call>[INST][/INST]<reason></reason>\
            <think></think><thinking></thinking><analysis></analysis><|vision_start|><|vision_end|>[TOOL_CALLS]";
        assert_eq!(
            find(
                ["<reason>", "</reason>", "<think>", "</think>", "[INST]"].into_iter(),
                template
            ),
            none
        );
        assert_eq!(find(["<thought>"].into_iter(), "</thoughts>"), none);
        let (open, close) = PHRASES[0];
        assert_eq!(find(std::iter::empty(), open), none);
        assert_eq!(
            find(std::iter::empty(), &format!("{open} … {close}")),
            vec![pair(open, close)]
        );
    }

    #[test]
    fn a_megabyte_of_brackets_is_linear() {
        assert!(find(std::iter::empty(), &"<".repeat(1_000_000)).is_empty());
    }
}
