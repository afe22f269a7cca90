//! Pairs of tags around a model's thinking: which are known, and which look like it.
//!
//! Models write their thinking between tags that are tokens of their vocabulary or stand in their chat template. A pair is
//! found by its shape, `<x>` and `</x>`, `[X]` and `[/X]`, `<|x_start|>` and `<|x_end|>` and their like, where the name
//! speaks of thinking; pairs of other names are listed.

use std::collections::BTreeSet;
use std::ops::Range;

use super::tags::TagName;
use crate::text::reasoning::tag_mask::{ThinkingTags, blank};

/// Pairs of published models whose names do not say what they are for.
const LISTED: [(&str, &str); 3] = [
    // Gemma 4
    ("<|channel>", "<channel|>"),
    // Apertus
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    // MedGemma
    ("<unused94>", "<unused95>"),
];

/// Phrases between which published models write their thinking; found where a template holds both.
const PHRASES: [(&str, &str); 2] = [
    // Granite 3.2
    ("Here is my thought process:", "Here is my response:"),
    // Apriel 1.5 and 1.6
    ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
];

/// What the name of a thinking tag may hold.
const WORDS: [&str; 11] = [
    "think",
    "thought",
    "reasoning",
    "reflect",
    "scratchpad",
    "scratch_pad",
    "monologue",
    "deliberat",
    "ponder",
    "rationale",
    "chain_of",
];

/// The longest tag that is looked at, in bytes.
pub(super) const MAX_TAG: usize = 64;

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
fn parts(tag: &str) -> Option<(&'static str, &str, &'static str)> {
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

/// The tags that may close what a tag opens; none where it is no opening tag.
pub(super) fn closing(tag: &str) -> Vec<String> {
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

/// Does the name of a tag speak of thinking?
fn speaks_of_thinking(tag: &str) -> bool {
    let name = tag.to_lowercase();
    let is_listed = LISTED.iter().any(|(open, _)| *open == tag);
    is_listed
        || WORDS.iter().any(|word| name.contains(word))
        || parts(tag).is_some_and(|(_, name, _)| {
            name.split(['_', '-', ':'])
                .any(|part| part.eq_ignore_ascii_case("cot"))
        })
}

/// Does a tag mean something in a verdict?
fn is_of_a_verdict(tag: &str) -> bool {
    parts(tag).is_some_and(|(open, name, _)| {
        open == "<"
            && TagName::ALL
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own.as_str()))
    })
}

/// The pairs of thinking tags among a vocabulary's added tokens and in a chat template's text. Those that every reader
/// knows (`<think>`, `<thinking>`, `<analysis>`) are not among them.
pub fn find<'t>(added: impl Iterator<Item = &'t str>, template: &str) -> Vec<ThinkingTags> {
    let mut tags: BTreeSet<&str> = added.filter(|tag| tag.len() <= MAX_TAG).collect();
    tags.extend(in_text(template).into_iter().map(|place| &template[place]));
    let mut pairs = Vec::new();
    for &open in &tags {
        if !speaks_of_thinking(open) || is_of_a_verdict(open) {
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

/// Where a text has something of the shape of a tag, closing ones too.
fn in_text(text: &str) -> Vec<Range<usize>> {
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
        // A tag holds no bracket and no space.
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

/// A completion in which tags that nothing is known of are spaces: its judge does not think, whatever it writes.
pub fn without_unknown(completion: &str) -> String {
    let mut plain = String::with_capacity(completion.len());
    let mut copied = 0;
    for place in in_text(completion) {
        if is_watched(&completion[place.clone()]) {
            plain.push_str(&completion[copied..place.start]);
            blank(&mut plain, place.len());
            copied = place.end;
        }
    }
    plain.push_str(&completion[copied..]);
    plain
}

/// Names of tags that judges put around a whole answer, or use to format it: what stands in them is no thinking.
const ORDINARY: [&str; 81] = [
    "result",
    "results",
    "report",
    "score",
    "scores",
    "explanation",
    "justification",
    "comment",
    "comments",
    "rubric",
    "json",
    "answer",
    "final",
    "final_answer",
    "finalanswer",
    "response",
    "output",
    "solution",
    "verdicts",
    "evaluation",
    "assessment",
    "judgement",
    "judgment",
    "grading",
    "grade",
    "grades",
    "feedback",
    "review",
    "critique",
    "final_verdict",
    "final_judgment",
    "final_judgement",
    "final_evaluation",
    "xml",
    "root",
    "document",
    "html",
    "body",
    "div",
    "span",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "pre",
    "code",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "caption",
    "strong",
    "small",
    "mark",
    "del",
    "ins",
    "sub",
    "sup",
    "font",
    "center",
    "summary",
    "details",
    "question",
    "student_answer",
    "reference_answer",
    "few_shots",
    "student",
    "reference",
    "problem",
    "math",
    "latex",
    "boxed",
    "inst",
    "unk",
    "pad",
    "bos",
    "eos",
    "mask",
    "sep",
    "cls",
];

/// The shortest name that is taken for a tag's: shorter ones are formatting, or variables between signs of order.
const SHORTEST: usize = 3;

/// A tag in a completion, as [`Wrappers`] sees it. In square brackets stand notes and links too: there only names in
/// capital letters count.
fn is_watched(tag: &str) -> bool {
    parts(tag).is_some_and(|(open, name, _)| {
        let is_note =
            open == "[" && (name.len() <= SHORTEST || name.chars().any(char::is_lowercase));
        let name = name.to_lowercase();
        !is_note && name.chars().count() >= SHORTEST && !ORDINARY.contains(&name.as_str())
    }) && !is_of_a_verdict(tag)
}

/// Watches a completion for pairs of tags that nothing is known of, piece by piece, in bounded memory. What stands in them
/// may be thinking.
#[derive(Debug, Clone, Default)]
pub(super) struct Wrappers {
    /// The beginning of what may be a tag.
    pending: String,
    /// A letter or a digit stands right before: `vector<int>` holds no tag.
    in_word: bool,
    /// Opening tags that are not closed yet, the outermost first.
    open: Vec<String>,
    /// What was seen since the outermost of them.
    inside: Inside,
    /// Text, or a field, stood before the outermost of them.
    late: bool,
    /// Something was seen outside of all of them.
    begun: bool,
    /// A pair that holds a verdict and more.
    found: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Inside {
    text: bool,
    /// Fields of a verdict: process, outcome, perfect.
    fields: [bool; 3],
}

impl Inside {
    fn holds_verdict_and_more(&self) -> bool {
        self.text && self.fields == [true; 3]
    }
}

/// More tags than these are not open at once.
const MAX_OPEN: usize = 32;

impl Wrappers {
    /// Is there a tag open that nothing is known of, or was there a pair around a verdict and more?
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty() || self.found.is_some()
    }

    /// Takes text between known tags. `counts`: it stands outside of every field.
    pub(super) fn text(&mut self, text: &str, counts: bool) {
        for character in text.chars() {
            let opens = matches!(character, '<' | '[' | '◁');
            if self.pending.is_empty() || opens {
                self.flush(counts);
                if opens {
                    self.pending.push(character);
                } else {
                    self.plain(character.is_whitespace(), counts);
                    self.in_word = character.is_alphanumeric();
                }
                continue;
            }
            self.pending.push(character);
            if matches!(character, '>' | ']' | '▷') {
                let tag = std::mem::take(&mut self.pending);
                self.tag(&tag, counts);
                self.in_word = false;
            } else if character.is_whitespace() || self.pending.len() > MAX_TAG {
                self.flush(counts);
                self.in_word = character.is_alphanumeric();
            }
        }
    }

    /// A known tag ends what was begun.
    pub(super) fn interrupt(&mut self, counts: bool) {
        self.flush(counts);
        self.in_word = false;
    }

    /// A field of a verdict was read.
    pub(super) fn field(&mut self, name: TagName) {
        let at = match name {
            TagName::Process => 0,
            TagName::Perfect => 2,
            _ => 1,
        };
        if self.open.is_empty() {
            self.begun = true;
        } else {
            self.inside.fields[at] = true;
        }
    }

    /// The pair of tags that keeps the completion from being read.
    pub(super) fn finish(&self) -> Option<&str> {
        if let Some(found) = &self.found {
            return Some(found);
        }
        // What begins a completion and is never closed may be thinking that did not end.
        let outermost = self.open.first()?;
        (!self.late && self.inside.holds_verdict_and_more()).then_some(outermost)
    }

    fn flush(&mut self, counts: bool) {
        self.in_word = self.pending.ends_with(char::is_alphanumeric)
            || self.pending.is_empty() && self.in_word;
        if !self.pending.is_empty() {
            self.pending.clear();
            self.plain(false, counts);
        }
    }

    fn plain(&mut self, blank: bool, counts: bool) {
        if blank || !counts {
            return;
        }
        if self.open.is_empty() {
            self.begun = true;
        } else {
            self.inside.text = true;
        }
    }

    fn tag(&mut self, tag: &str, counts: bool) {
        if let Some(at) = self
            .open
            .iter()
            .rposition(|open| closing(open).iter().any(|close| close == tag))
        {
            self.open.truncate(at);
            if at == 0 {
                if self.inside.holds_verdict_and_more() && self.found.is_none() {
                    self.found = Some(tag.to_owned());
                }
                self.begun = true;
            }
        } else if !self.in_word && is_watched(tag) && !closing(tag).is_empty() {
            if self.open.is_empty() {
                self.inside = Inside::default();
                self.late = self.begun;
            }
            if self.open.len() < MAX_OPEN {
                self.open.push(tag.to_owned());
            }
        } else {
            self.plain(false, counts);
        }
    }
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

    /// The pairs that published models write their thinking in.
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
            // One in each place.
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
        let mut wrappers = Wrappers::default();
        wrappers.text(&"<abc>".repeat(200_000), true);
        assert_eq!(wrappers.open.len(), MAX_OPEN);
    }
}
